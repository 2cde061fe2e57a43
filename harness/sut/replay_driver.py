"""Drive a SUT that is replayed from a capture. The SUT repeats its recorded actions while the harness repeats its
own recorded actions.

What a check does depends only on time, random values and external input. All three can be derived from the capture of
the check, which contains the packets, the control messages and the set-up (harness/sut/replay_tape.py). Therefore the
check can run again in virtual time and judge its rules again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

from harness import errors
from harness.errors import HarnessError, MqconformError
from harness.printable import one_line
from harness.rules.renamed_checks import get_current_check
from harness.sut import control as control_errors
from harness.sut.replay_environment import ReplayEnvironment
from harness.sut.replay_items import NotReplayable, read_items
from harness.sut.replay_player import CapturePlayer
from harness.sut.replay_setup import build_sut_file, read_recorded_setup
from harness.sut.replay_tape import RECORDED_SUT_ATTRIBUTES, VERB_OF_ENVIRONMENT_NOTES
from harness.sut.shown import NotShown
from harness.sut.surroundings import EnvironmentChangedByCommands
from harness.sut.sut import Sut
from harness.sut.sut_file import SutFile
from harness.sut.sut_process import ProcessEnd
from harness.sut.timeouts import Timeouts
from harness.sut.wires import MissingElement

Kind = TypeVar("Kind")
_LONGEST_REASON_CHARACTERS = 300
_EXCEPTION_TYPE_BY_NAME: Mapping[str, type[MqconformError]] = {
    one.__name__: one
    for module in (control_errors, errors)
    for one in vars(module).values()
    if isinstance(one, type) and issubclass(one, MqconformError)
} | {NotShown.__name__: NotShown, MissingElement.__name__: MissingElement}
"""The types of exceptions that a call on the recorded control channel may have raised, by name."""


class ReplayDriver:
    """A driver that gives each check its own capture as the SUT. ``captures`` contains the captures, by check.
    ``deaths`` contains the records of how the SUT's process ended in the recorded run, by check.
    """

    def __init__(
        self, file: SutFile, captures: Mapping[str, Path], run: str, deaths: Iterable[ProcessEnd] = ()
    ) -> None:
        self.file = file
        self.shared = self.are_other_workers_running = False
        self.start_wait_s = 0
        self.identifier: UUID | None = None
        self.captures = captures
        self.differences: dict[str, str] = {}
        """The reasons why checks cannot be replayed, by check."""
        self._run = run
        self._deaths = {one.check: one for one in deaths}
        self._player: CapturePlayer | None = None
        """The player of the current check's capture."""

    def start(self) -> None:
        """Do nothing, because a replay needs only files."""

    def open(
        self, seed: str, run: str = "", fresh_peer: int | None = None, needs: Collection[str] = frozenset()
    ) -> Sut:
        try:
            return self._open_capture(seed, needs)
        except (MqconformError, OSError) as error:
            self._note_difference(seed, str(error))
            raise NotReplayable(str(error)) from error

    def _note_difference(self, seed: str, why: str) -> None:
        self.differences.setdefault(seed, one_line(why, _LONGEST_REASON_CHARACTERS))

    def _open_capture(self, seed: str, needs: Collection[str]) -> Sut:
        if "topology" in needs:
            raise NotReplayable("the check needs three systems")
        items = read_items(self.captures[seed])
        setup = read_recorded_setup(items)
        if (setup["run"], get_current_check(setup["test"])) != (self._run, seed):
            raise NotReplayable(f"the capture of this check was recorded for {setup['test']} in the run {setup['run']}")
        self._player = player = CapturePlayer(items, lambda why: self._note_difference(seed, why))
        environment = player.environment = ReplayEnvironment(player, setup["began"], virtual=setup["virtual"])
        control = ReplayControl(player, environment)
        view = _ReplaySut(
            build_sut_file(setup),
            environment,
            control,
            identifier=None if setup["identifier"] is None else UUID(setup["identifier"]),
            facilities=frozenset(setup["facilities"]),
            encryption_keys=bytes.fromhex(setup["keys"]),
            timeouts=Timeouts(**setup["timeouts"]),
            **{name: setup[name] for name in ("tcp_port", "ping_port", "rpc_port", "scale")},
        )
        for name in RECORDED_SUT_ATTRIBUTES:
            setattr(view, name, setup[name])
        view.tape = player
        view.commanded_environment = EnvironmentChangedByCommands(tuple(setup["parts"]), control.set_part)
        view.process_ended = self.describe_end
        view.hangs = lambda: player.record_observation("hangs") is not None
        return view

    def describe_end(self, within_s: float = 0) -> str | None:
        """Return a description of how the SUT's process ended in the recorded check, or None if it did not end."""
        return None if self._player is None else self._player.record_observation("ended")

    def describe_unexpected_end(self, *, has_other_side_closed_connection: bool) -> str | None:
        """Return a description of how the SUT's process ended in the recorded check, or None if it did not end."""
        return self.describe_end()

    def take_process_end(self, check: str | None) -> ProcessEnd | None:
        """Return the record of how the SUT's process ended in this check. The record is returned only once."""
        return self._deaths.pop(check, None)

    def start_again(self) -> None:
        """Do nothing, because a replay has no process."""

    def confirm_same_system(self) -> None:
        """Do nothing, because a replay has no system."""

    def stop(self) -> None:
        """Do nothing, because a replay has no process."""


class _ReplaySut(Sut):
    """A SUT that does not undo the changes of a check when the check ends, because later events do not influence
    the verdict.
    """

    def restore_state(self) -> None:
        """Do nothing, because a replay leaves no queues or messages."""


class ReplayControl:
    """The control channel of a capture. It returns the recorded answers at the recorded times."""

    def __init__(self, player: CapturePlayer, environment: ReplayEnvironment) -> None:
        self._player = player
        self._environment = environment

    def call(self, verb: str, **arguments: Any) -> dict[str, Any]:
        return self._play_answer("call", verb, arguments, dict)

    def begin(self, verb: str, **arguments: Any) -> int:
        return self._play_answer("begin", verb, arguments, int)

    def set_part(self, part: str, value: int) -> None:
        """Return the recorded result of the command that changed a part of the system's environment."""
        self.call(VERB_OF_ENVIRONMENT_NOTES, part=part, value=value)

    def _play_answer(self, how: str, verb: str, arguments: Mapping[str, Any], kind: type[Kind]) -> Kind:
        self._player.ask_control(how, verb, arguments)
        self._environment.run_until(self._player.has_answer, self._player.get_remaining_ms())
        return self._check_answer(self._player.take_recorded_control_answer().said, "answered", kind)

    def answer(self, request: int) -> dict[str, Any] | None:
        note = self._player.late.pop(request, None)
        return None if note is None else self._check_answer(note.said, "answer", dict)

    def _check_answer(self, said: Mapping[str, Any], key: str, kind: type[Kind]) -> Kind:
        if "refused" in said:
            raise _EXCEPTION_TYPE_BY_NAME.get(str(said["refused"]), HarnessError)(str(said.get("why", "")))
        found = said.get(key)
        if not isinstance(found, kind):
            self._player.end_check_for_difference(
                f"an answer of the control channel is not of type {kind.__name__}: not replayable"
            )
        return found

    def close(self) -> None:
        """Do nothing, because no channel is open."""
