"""Define two wrappers of control channels: one hides facilities of the wrapped channel, the other adds remote reading
to it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from harness.environment import Environment
from harness.sut import remote_control
from harness.sut.control import Control, Unsupported
from harness.sut.remote_control import RemoteControl
from harness.sut.sut_file import SutFile
from harness.sut.view import SutIdentity
from reference_qm.control import find_verb_refusal_reason, list_offered_facilities


class ControlWithFewerFacilities:
    """A control channel that offers only some of the facilities of another control channel."""

    def __init__(self, control: Control, offered: Collection[str]) -> None:
        self._control = control
        self._offered = offered

    def call(self, verb: str, **arguments: Any) -> dict[str, Any]:
        self._require_offered(verb)
        return self._control.call(verb, **arguments)

    def begin(self, verb: str, **arguments: Any) -> int:
        self._require_offered(verb)
        return self._control.begin(verb, **arguments)

    def _require_offered(self, verb: str) -> None:
        if (why := find_verb_refusal_reason(verb, self._offered)) is not None:
            raise Unsupported(why)

    def answer(self, request: int) -> dict[str, Any] | None:
        return self._control.answer(request)

    def close(self) -> None:
        self._control.close()


def limit_facilities_of_control(
    control: Control, identity: SutIdentity, offered: Collection[str]
) -> tuple[Control, SutIdentity]:
    """Wrap a control channel so that it offers only the facilities in ``offered``. Return the wrapper, and the identity
    with its facilities reduced accordingly.
    """
    facilities = frozenset(list_offered_facilities(sorted(identity.facilities), offered))
    return ControlWithFewerFacilities(control, offered), replace(identity, facilities=facilities)


class ControlWithRemoteReading:
    """A control channel that does not read queues, combined with remote reading over qm2qm."""

    def __init__(self, control: Control, remote: RemoteControl) -> None:
        self._control = control
        self._remote = remote

    def call(self, verb: str, **arguments: Any) -> dict[str, Any]:
        if verb == "cancel" and (request := arguments["request"]) < 0:
            return self._remote.call(verb, request=_convert_remote_request(request))
        return (self._remote if self._remote.offers_verb(verb) else self._control).call(verb, **arguments)

    def begin(self, verb: str, **arguments: Any) -> int:
        if not self._remote.offers_verb(verb):
            return self._control.begin(verb, **arguments)
        return _convert_remote_request(self._remote.begin(verb, **arguments))

    def answer(self, request: int) -> dict[str, Any] | None:
        return self._remote.answer(_convert_remote_request(request)) if request < 0 else self._control.answer(request)

    def close(self) -> None:
        self._remote.close()
        self._control.close()


def _convert_remote_request(request: int) -> int:
    """Convert between the two ids of a request for remote reading. The remote reader uses ids from 0 upwards; checks
    use negative ids for the same requests.
    """
    return -request - 1


def add_remote_reading_to_control(
    control: Control | None, who: SutIdentity, environment: Environment, file: SutFile, rpc_port: int
) -> tuple[Control | None, SutIdentity]:
    """If a control channel does not read queues and the SUT serves qm2qm, add remote reading to the channel. Return
    the channel and the identity.
    """
    if "receive" in who.facilities or not file.capabilities.get("qm2qm", False):
        return control, who
    remote = RemoteControl(environment, file, rpc_port, who.identifier)
    who = replace(who, facilities=who.facilities | remote_control.FACILITIES_OF_REMOTE_CONTROL)
    return remote if control is None else ControlWithRemoteReading(control, remote), who
