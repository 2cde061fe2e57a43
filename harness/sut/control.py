"""Speak the control protocol with a SUT (docs/control-protocol.md), over a wire or within this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from harness.environment import Environment
from harness.environment.system_host import SystemHost
from harness.errors import ConformanceFailure, RootMissing, SutUnavailable
from harness.printable import one_line
from harness.sut.control_schema import find_error_in_answer
from harness.sut.shown import CheckedAnswerObject, NotShown, parse_reply
from harness.sut.wires import ControlReply, ControlRoute, describe_missing_answer, describe_non_agent
from reference_qm.control import CONTROL_PROTOCOL_VERSION, build_answer, parse_request
from reference_qm.surface.commands import CancelWaiting, Request, Result
from reference_qm.surface.effects import CommandCompleted, CommandRejected
from reference_qm.surface.queue_manager_environment import EnvironmentRequest

CONTROL_ANSWER_TIMEOUT_MS = 10_000
MAX_UNREAD_ANSWERS = 1_000
"""The maximum number of answers that wait to be read by the tester."""
MAX_REASON_CHARACTERS = 500
"""The maximum length, in characters, of the part of a SUT's refusal that a message of the tester repeats."""


class ControlRefused(ConformanceFailure):
    """Raised when the SUT answers a request with ok = false."""


class Unsupported(NotShown):
    """Raised when the SUT answers that it does not support a verb or an argument. Rules that need the verb or argument
    cannot be judged.
    """


class ContractBroken(RootMissing):
    """Raised when an answer on the control channel violates the contract of the control protocol. No rule is judged
    from such an answer.
    """


UNUSABLE_CHANNEL_ERRORS = (NotShown, RootMissing)
"""The errors of the control channel. Code that catches ConformanceFailure as the outcome of a request must not
catch these errors.
"""


class Control(Protocol):
    """The interface of a control channel, through which a check sends requests to the SUT."""

    def call(self, verb: str, **arguments: Any) -> dict[str, Any]:
        """Send a request with a verb, and return the answer. Raise ControlRefused if the SUT refuses the request,
        SutUnavailable if no answer arrives, Unsupported if the SUT does not support the verb, and ContractBroken if
        the answer violates the contract of the control protocol.
        """

    def begin(self, verb: str, **arguments: Any) -> int:
        """Send a request that may be answered much later. Return the id of the request, which ``cancel`` needs."""

    def answer(self, request: int) -> dict[str, Any] | None:
        """Return the answer to a request that ``begin`` sent, or None if the answer has not arrived yet. Each
        answer is returned only once. Raise Unsupported and ContractBroken like ``call``.
        """

    def close(self) -> None:
        """Close the control channel."""


class VirtualControl:
    """The control protocol for a reference core in this process. It has the same verbs as for other systems, but
    uses no socket.
    """

    def __init__(self, host: SystemHost) -> None:
        self.host = host
        self._verbs: dict[int, str] = {}
        """The requests that have not been answered yet, by request id."""
        self._on_host: dict[str, Callable[[], None]] = {"restart": host.restart, "reset": host.reset}

    def call(self, verb: str, **arguments: Any) -> dict[str, Any]:
        if verb in self._on_host:
            self._on_host[verb]()
            self._require_running_system(verb)
            return {}
        number = self.begin(verb, **arguments)
        timeout_ms = CONTROL_ANSWER_TIMEOUT_MS + int(arguments.get("timeout_ms") or 0)
        self.host.environment.run_until(lambda: number in self.host.answers or not self.host.is_running, timeout_ms)
        reply = self.answer(number)
        if reply is None:
            self._require_running_system(verb)
            raise SutUnavailable(f"control: {verb}: no answer arrived in time")
        return _require_done(verb, reply)

    def begin(self, verb: str, **arguments: Any) -> int:
        number = self.host.begin(_send_request(verb, arguments))
        self._verbs[number] = verb
        return number

    def _require_running_system(self, verb: str) -> None:
        if not self.host.is_running:
            how = f"ended with {self.host.ended}" if self.host.ended else "hangs"
            raise SutUnavailable(f"control: {verb}: the system {how}")

    def answer(self, request: int) -> dict[str, Any] | None:
        found = self.host.answers.pop(request, None)
        return None if found is None else _check_reply(self._verbs.pop(request), _build_reply(found))

    def close(self) -> None:
        """Do nothing, because no connection is open."""


class JsonlControl:
    """A control channel over the stream that a route opens. It sends and receives one JSON object per line."""

    def __init__(
        self, environment: Environment, route: ControlRoute, *, answer_ms: int = CONTROL_ANSWER_TIMEOUT_MS
    ) -> None:
        self.environment = environment
        self.answer_ms = answer_ms
        self._answers: dict[int, ControlReply] = {}
        self._verbs: dict[int, str] = {}
        """The verbs of the requests that have not been answered yet, by request id."""
        self._checks_contract = True
        """Whether answers are checked against the contract, which applies from version 2 of the control protocol."""
        self._state = "connecting"
        self._wire = route.open(environment, self)
        self._name = route.name
        environment.run_until(lambda: self._state != "connecting", answer_ms)
        if self._state != "open":
            raise SutUnavailable(f"{self._name} does not answer: {self._state}")

    def on_connection_open(self) -> None:
        self._state = "open"

    def on_reply(self, reply: ControlReply) -> None:
        """Store an answer until ``answer`` or ``call`` reads it."""
        self._answers[reply["id"]] = reply
        if len(self._answers) > MAX_UNREAD_ANSWERS:
            self._wire.close()
            self._state = f"more than {MAX_UNREAD_ANSWERS} unread answers"

    def on_end(self, why: str) -> None:
        self._state = why

    def begin(self, verb: str, **arguments: Any) -> int:
        number = self._wire.send_request(verb, arguments)
        self._verbs[number] = verb
        return number

    def answer(self, request: int) -> dict[str, Any] | None:
        reply = self._answers.pop(request, None)
        if reply is None:
            return None
        verb = self._verbs.pop(request)
        if verb == "identity":
            if (complaint := describe_non_agent(reply)) is not None:
                raise SutUnavailable(f"{self._name}: {complaint}")
            version = reply.get("protocol")
            self._checks_contract = type(version) is int and version == CONTROL_PROTOCOL_VERSION
        return _check_reply(verb, reply) if self._checks_contract else _require_offered(verb, reply)

    def call(self, verb: str, **arguments: Any) -> dict[str, Any]:
        number = self.begin(verb, **arguments)
        timeout = max(self.answer_ms, self._wire.min_answer_wait_ms) + int(arguments.get("timeout_ms") or 0)
        self.environment.run_until(lambda: number in self._answers or self._state != "open", timeout)
        reply = self.answer(number)
        if reply is None:
            why = describe_missing_answer(self._wire.unmatched_ids) if self._state == "open" else self._state
            raise SutUnavailable(f"{self._name}: {verb}: {why}")
        return _require_done(verb, reply)

    def close(self) -> None:
        self._wire.close()


def _send_request(verb: str, arguments: dict[str, Any]) -> Request | EnvironmentRequest:
    """Return the request to pass to a core in this process. ``cancel`` identifies the request to end by its id,
    which is the token of the core.
    """
    if verb == "cancel":
        return CancelWaiting(arguments["request"])
    return parse_request({"verb": verb, **arguments})


def _build_reply(found: Result | str) -> dict[str, Any]:
    return build_answer(0, CommandRejected(0, found) if isinstance(found, str) else CommandCompleted(0, found))


def check_answer(verb: str, reply: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a verb if the SUT carried out the verb. Otherwise, raise the same exceptions as
    ``Control.call``.
    """
    return _require_done(verb, _check_reply(verb, reply))


def _check_reply(verb: str, reply: dict[str, Any]) -> dict[str, Any]:
    """Check an answer against the contract of the control protocol, and return the answer. If a key that the
    contract makes optional is missing, reading it raises NotShown.
    """
    if (complaint := find_error_in_answer(verb, reply)) is not None:
        raise ContractBroken(f"control: `{verb}`: {complaint} (docs/control-protocol.md)")
    believed: dict[str, Any] = parse_reply(_require_offered(verb, reply), CheckedAnswerObject)
    return believed


def _require_offered(verb: str, reply: dict[str, Any]) -> dict[str, Any]:
    if reply.get("ok") is not True and reply.get("unsupported") is True:
        raise Unsupported(f"the SUT's control channel does not offer {verb}: {_describe_refusal(reply)}")
    return reply


def _require_done(verb: str, reply: dict[str, Any]) -> dict[str, Any]:
    if reply.get("ok") is not True:
        raise ControlRefused(f"the SUT refused {verb}: {_describe_refusal(reply)}")
    return reply


def _describe_refusal(reply: dict[str, Any]) -> str:
    said = "" if reply.get("ok") is False else f", and ok is {reply.get('ok')!r}"
    return one_line(str(reply.get("error", f"no reason is given{said}")), MAX_REASON_CHARACTERS)
