"""Write the notes that are needed to replay a check into the capture of the check, between the packets.

Notes are JSON objects. The first note is the set-up (``setup``). Each request on the control channel has a note
(``call`` or ``begin``, with its arguments in ``with``). Each answer also has a note: ``answered``, or ``to`` and
``answer`` for the answer to a request that ``begin`` sent, or ``refused`` with ``why``.

The other keys are: ``bytes``: the number of bytes from the system that the harness received in one piece.
``together``: true marks the beginning of a group of events that occurred before the waiting check continued, false
marks its end. ``timed_out``: the timeout of a wait expired, in real time. ``picked``: the port that was chosen for
a listener. ``ended``: how the system's process ended. ``hangs``: the process was found in an endless computation.
``looked``: the number of the observation that found ``ended`` or ``hangs``. ``over``: the check is over. ``lost``:
the information that the capture lacks. ``us``: the time (int microseconds).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import lru_cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from uuid import UUID

from harness.capture.pcapng import MAX_NOTE_TEXT_BYTES
from harness.environment import Environment
from harness.errors import MqconformError
from reference_qm.surface.inputs import Endpoint

if TYPE_CHECKING:
    from harness.capture.recorder import Recorder
    from harness.sut.control import Control
    from harness.sut.surroundings import SetEnvironmentPartToState
    from harness.sut.sut import Sut

NOTE_SCHEMA_VERSION = 2
VERB_OF_ENVIRONMENT_NOTES = "[environment]"
"""The name that replaces the verb in the note about a command of the SUT file."""
RECORDED_SUT_ATTRIBUTES = (
    *("tcp_port", "ping_port", "rpc_port", "scale", "own", "first_message_id", "shared", "knows_peer", "forgets"),
    *("peer_returns", "controls_environment", "found_at_port"),
)
"""The names of attributes of a check's view of its system. The set-up contains their values in addition to the SUT
file, the identifier, the facilities, the keys and the timeouts.
"""


class CheckNoteWriter:
    """The writer of the notes of one check. It stores notes until a recorder is available."""

    def __init__(self, environment: Environment, address: str) -> None:
        """Prepare to store notes until ``begin`` is called. ``address`` is the address of the system."""
        self._environment = environment
        self._address = address
        self._recorder: Recorder | None = None
        self._waiting: list[dict[str, Any]] = []
        self._is_check_over = self._is_waiting_for_control = False
        self._observation_count_by_name: Counter[str] = Counter()
        now = environment.now()
        self._start_times = {
            "monotonic_ms": now.monotonic_ms,
            "utc_s": now.utc_s,
            "epoch_us": environment.get_epoch_us_at(now.monotonic_ms),
        }
        environment.unseen_event_recorder = self

    def begin(self, recorder: Recorder, sut: Sut, run: str, test: str) -> None:
        """Write the notes about the set-up, then the notes that were stored before this call."""
        self._is_check_over = recorder.path is None
        self._recorder = recorder
        if not self._is_check_over:
            self._write_note({"setup": {"run": run, "test": test, **self._describe_setup(sut)}})
            for one in self._waiting:
                self._write_note(one)
        self._waiting.clear()

    def note(self, **values: Any) -> None:
        """Write a note with the current time."""
        if self._is_check_over:
            return
        values["us"] = self._environment.epoch_us()
        if self._recorder is None:
            self._waiting.append(values)
        else:
            self._write_note(values)

    def lose(self, why: str) -> None:
        self.note(lost=why)

    def record_observation(self, what: str, found: str | None) -> str | None:
        """Write the result of an observation with the number of the observation. An observation without a result is
        counted, but not written.
        """
        self._observation_count_by_name[what] += 1
        if found is not None:
            self.note(**{what: found, "looked": self._observation_count_by_name[what]})
        return found

    def ask_control(self, how: str, verb: str, arguments: Mapping[str, Any], ask: Callable[[], Any]) -> Any:
        """Send a request on the control channel, and return the answer. Write the request and the answer as notes."""
        self.note(**{how: verb, "with": arguments})
        try:
            found = ask()
        except MqconformError as error:
            self.note(refused=type(error).__name__, why=str(error))
            raise
        self.note(answered=found)
        return found

    def end(self) -> None:
        """Write the note that the check is over. If the system stalled, also write a note about this, because the
        packets do not show a stall.
        """
        pulse = self._environment.pulse
        if pulse is not None and (pulse.longest_stall_ms or pulse.was_gone):
            self.lose("the system stalled or was unreachable for a time")
        self.note(over=True)
        self._is_check_over = True

    def note_waiting(self, asking: bool) -> None:
        """Record whether the check is waiting for an answer on the control channel. The end of such a wait needs no
        note, because the note of the answer marks it.
        """
        self._is_waiting_for_control = asking

    def note_timeout(self) -> None:
        """Write a note that a wait ended because its timeout expired. Write no note if the check waits for an
        answer on the control channel.
        """
        if not self._is_waiting_for_control:
            self.note(timed_out=True)

    def note_event_group(self, begins: bool) -> None:
        """Write the note that marks the beginning or the end of a group of events that occur before the waiting
        check continues.
        """
        self.note(together=begins)

    def note_port(self, endpoint: Endpoint) -> None:
        """Write a note with the chosen port, unless the address belongs to the system. In virtual time, the system
        itself chooses its ports.
        """
        if not self._environment.is_time_virtual or endpoint.host != self._address:
            self.note(picked=endpoint.port)

    def _write_note(self, values: Mapping[str, Any]) -> None:
        assert self._recorder is not None
        line = encode_note(values)
        if len(line) > MAX_NOTE_TEXT_BYTES:
            line = encode_note({"us": values.get("us", 0), "lost": f"a note of {len(line)} bytes"})
        self._recorder.note(line)

    def _describe_setup(self, sut: Sut) -> dict[str, Any]:
        file = sut.file
        control = _convert_table(file.control) | {"command": ["-"] if file.control.kind == "stdio" else []}
        driver = _convert_table(file.driver) | {"command": ["-"] if file.driver.kind == "process" else []}
        tables = {
            name: _convert_table(getattr(file, name)) for name in ("sut", "queues", "provisioned", "timers", "timeouts")
        }
        return {
            "schema": NOTE_SCHEMA_VERSION,
            "began": self._start_times,
            "virtual": self._environment.is_time_virtual,
            "file": {
                **tables,
                "driver": driver,
                "control": control,
                "capabilities": dict(file.capabilities),
                "more_queues": [_convert_table(entry) for entry in file.more_queues],
            },
            "identifier": sut.identifier,
            "facilities": sorted(sut.facilities),
            "parts": list(sut.commanded_environment.parts),
            "keys": sut.shown_keys.hex(),
            "timeouts": _convert_table(sut.timeouts),
            **{name: getattr(sut, name) for name in RECORDED_SUT_ATTRIBUTES},
        }


def _to_json_value(value: object) -> Any:
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, MappingProxyType):
        return dict(value)
    if isinstance(value, frozenset):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


_LINE_ENCODER = json.JSONEncoder(separators=(",", ":"), default=_to_json_value)


def encode_note(values: Mapping[str, Any]) -> bytes:
    """Return a note as one line of bytes."""
    return _LINE_ENCODER.encode(values).encode()


@lru_cache(maxsize=64)
def _convert_table(table: Any) -> dict[str, Any]:
    """Return a table of a SUT file as JSON values. The result is cached, because the table is the same for all
    checks.
    """
    return asdict(table)


class RecordedControl:
    """A control channel whose requests and answers are also written to the capture of the check, as notes."""

    def __init__(self, control: Control, tape: CheckNoteWriter) -> None:
        self._control = control
        self._tape = tape

    def call(self, verb: str, **arguments: Any) -> dict[str, Any]:
        self._tape.note_waiting(True)
        try:
            found: dict[str, Any] = self._tape.ask_control(
                "call", verb, arguments, partial(self._control.call, verb, **arguments)
            )
        finally:
            self._tape.note_waiting(False)
        return found

    def begin(self, verb: str, **arguments: Any) -> int:
        number: int = self._tape.ask_control("begin", verb, arguments, partial(self._control.begin, verb, **arguments))
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


class RecordedEnvironmentCommands:
    """The commands that change the system's environment. Their results are also written to the capture of the check, as
    notes.
    """

    def __init__(self, set_part: SetEnvironmentPartToState, tape: CheckNoteWriter) -> None:
        self._set_part = set_part
        self._tape = tape

    def __call__(self, part: str, value: int) -> None:
        self._tape.ask_control(
            "call", VERB_OF_ENVIRONMENT_NOTES, {"part": part, "value": value}, partial(self._carry_out, part, value)
        )

    def _carry_out(self, part: str, value: int) -> dict[str, Any]:
        self._set_part(part, value)
        return {}
