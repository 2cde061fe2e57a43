"""What it takes to replay a test, written into its capture between the packets: its set-up, and its control channel.

Notes are JSON objects. The first is the set-up (``{"setup": ...}``); of the control channel there is one for each
question and for each answer (``call`` and ``begin``; ``answered``, ``answer`` and ``refused``), with its time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID

from harness.environment import Environment
from harness.errors import MqconformError

if TYPE_CHECKING:
    from harness.capture.recorder import Recorder
    from harness.sut.control import Control
    from harness.sut.sut import Sut

TAPE_SCHEMA = 1
SAVED = (
    *("tcp_port", "ping_port", "rpc_port", "scale", "own", "first_message_id", "shared", "knows_peer", "forgets"),
    *("peer_returns", "controls_environment", "found_at_port"),
)
"""What a test's view of its system has beside the SUT file, identifier, facilities, keys and timeouts."""


class Notes(Protocol):
    """A recorder that takes notes."""

    def note(self, text: bytes, /) -> None:
        """Write one."""


class BeginsTape(Protocol):
    """What is to know when a test begins to be recorded: it writes a tape, or plays one."""

    def begin(self, recorder: Recorder, sut: Sut) -> None:
        """Begin."""


class Tape:
    """The notes of one test; kept until there is a recorder for them."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._notes: Notes | None = None
        self._waiting: list[bytes] = []
        now = environment.now()
        self._began = {"monotonic_ms": now.monotonic_ms, "utc_s": now.utc_s, "epoch_us": environment.epoch_us()}

    def begin(self, recorder: Notes, sut: Sut) -> None:
        """Write the set-up, and what was noted before."""
        self._notes = recorder
        recorder.note(as_line({"setup": self._setup(sut)}))
        for one in self._waiting:
            recorder.note(one)
        self._waiting.clear()

    def note(self, **values: Any) -> None:
        """Write a note with the time."""
        line = as_line({"us": self._environment.epoch_us(), **values})
        if self._notes is None:
            self._waiting.append(line)
        else:
            self._notes.note(line)

    def _setup(self, sut: Sut) -> dict[str, Any]:
        file = sut.file
        control = asdict(file.control) | {"command": ["-"] if file.control.kind == "stdio" else []}
        driver = asdict(file.driver) | {"command": ["-"] if file.driver.kind == "process" else []}
        tables = {name: asdict(getattr(file, name)) for name in ("sut", "queues", "provisioned", "timeouts")}
        return {
            "schema": TAPE_SCHEMA,
            "began": self._began,
            "virtual": self._environment.virtual,
            "file": {**tables, "driver": driver, "control": control, "capabilities": dict(file.capabilities)},
            "identifier": sut.identifier,
            "facilities": sorted(sut.facilities),
            "keys": sut.encryption_keys.hex(),
            "timeouts": asdict(sut.timeouts),
            **{name: getattr(sut, name) for name in SAVED},
        }


def as_line(values: Mapping[str, Any]) -> bytes:
    """Return a note as it is written."""
    return json.dumps(values, separators=(",", ":"), default=_plain).encode()


def _plain(value: object) -> Any:
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, MappingProxyType):
        return dict(value)
    if isinstance(value, frozenset):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


class RecordedControl:
    """A control channel whose questions and answers are noted."""

    def __init__(self, control: Control, tape: Tape) -> None:
        self._control = control
        self._tape = tape

    def call(self, verb: str, **arguments: Any) -> dict[str, Any]:
        self._tape.note(call=verb, with_=arguments)
        try:
            found = self._control.call(verb, **arguments)
        except MqconformError as error:
            self._tape.note(refused=type(error).__name__, why=str(error))
            raise
        self._tape.note(answered=found)
        return found

    def begin(self, verb: str, **arguments: Any) -> int:
        self._tape.note(begin=verb, with_=arguments)
        try:
            number = self._control.begin(verb, **arguments)
        except MqconformError as error:
            self._tape.note(refused=type(error).__name__, why=str(error))
            raise
        self._tape.note(answered=number)
        return number

    def answer(self, request: int) -> dict[str, Any] | None:
        try:
            found = self._control.answer(request)
        except MqconformError as error:
            self._tape.note(to=request, refused=type(error).__name__, why=str(error))
            raise
        if found is not None:
            self._tape.note(to=request, answer=found)
        return found

    def close(self) -> None:
        self._control.close()
