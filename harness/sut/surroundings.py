"""Run the commands of a SUT file that make parts of a system's environment, such as its disk or its directory,
unavailable and later available again.
"""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from harness.errors import SutUnavailable
from reference_qm.surface.queue_manager_environment import CLOCK_PART_NAME, ChangeEnvironment

ENVIRONMENT_PARTS = tuple(one.name for one in dataclasses.fields(ChangeEnvironment) if one.name != CLOCK_PART_NAME)
SECONDS_PLACEHOLDER = "{seconds}"
"""The placeholder in the command that sets the clock. It stands for the number of seconds by which the clock is to
be fast.
"""
MAX_COMMAND_OUTPUT_BYTES_IN_ERROR = 200
"""int bytes: the maximum amount of a command's output that an error message repeats."""


@dataclass(frozen=True, slots=True)
class EnvironmentTable:
    """The table [environment]. For each part of the environment (docs/control-protocol.md), it contains the
    commands that make the part unavailable and available again. It also contains the command that sets the clock.
    """

    take_directory: tuple[str, ...] = ()
    give_directory: tuple[str, ...] = ()
    take_domain: tuple[str, ...] = ()
    give_domain: tuple[str, ...] = ()
    take_own_domain: tuple[str, ...] = ()
    give_own_domain: tuple[str, ...] = ()
    take_registration: tuple[str, ...] = ()
    give_registration: tuple[str, ...] = ()
    take_coordinator: tuple[str, ...] = ()
    give_coordinator: tuple[str, ...] = ()
    take_storage: tuple[str, ...] = ()
    give_storage: tuple[str, ...] = ()
    take_store: tuple[str, ...] = ()
    give_store: tuple[str, ...] = ()
    take_configuration: tuple[str, ...] = ()
    give_configuration: tuple[str, ...] = ()
    take_service: tuple[str, ...] = ()
    give_service: tuple[str, ...] = ()
    set_clock: tuple[str, ...] = ()
    timeout_s: int = 60

    def command(self, part: str, value: int) -> tuple[str, ...]:
        """Return the command that makes a part available or unavailable, or that sets the clock. Return an empty
        command if the table contains none.
        """
        if part == CLOCK_PART_NAME:
            return tuple(word.replace(SECONDS_PLACEHOLDER, str(value)) for word in self.set_clock)
        found: tuple[str, ...] = getattr(self, f"{'give' if value else 'take'}_{part}")
        return found

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of the environment for which the SUT file has commands."""
        return tuple(part for part in (*ENVIRONMENT_PARTS, CLOCK_PART_NAME) if self.command(part, False))

    def describe_error(self) -> str | None:
        """Return one line that describes the error in the table, or None if the table is valid."""
        for part in ENVIRONMENT_PARTS:
            if bool(self.command(part, True)) is not bool(self.command(part, False)):
                return (
                    f"environment.take_{part} and environment.give_{part} must be given together: give both, or neither"
                )
        if self.set_clock and not any(SECONDS_PLACEHOLDER in word for word in self.set_clock):
            return f"environment.set_clock needs the placeholder for the seconds: add {SECONDS_PLACEHOLDER}"
        return None if self.timeout_s > 0 else f"environment.timeout_s is {self.timeout_s}; it must be at least 1"


SetEnvironmentPartToState = Callable[[str, int], None]
"""The type of functions that change a part of the environment. If such a function fails, it raises SutUnavailable
with a one-line message.
"""


@dataclass(slots=True)
class EnvironmentChangedByCommands:
    """The parts of a system's environment that commands can change, and the current state of each part."""

    parts: tuple[str, ...]
    set_part: SetEnvironmentPartToState
    current_value_by_part: dict[str, int | None] = field(init=False)
    """The state of each part: whether the part is available or, for the clock, by how many seconds it is fast. The
    state is None if it is unknown.
    """

    def __post_init__(self) -> None:
        self.current_value_by_part = {part: 0 if part == CLOCK_PART_NAME else True for part in self.parts}

    def change_parts(self, wanted: Mapping[str, int]) -> None:
        """Run the commands that change parts of the environment. Raise SutUnavailable with a one-line message if a
        command fails. The effect of a failed command is unknown, so the part is always restored later.
        """
        for part, value in wanted.items():
            if part in self.current_value_by_part and self.current_value_by_part[part] != value:
                self.current_value_by_part[part] = None
                self.set_part(part, value)
                self.current_value_by_part[part] = value


def build_environment_changed_by_commands(table: EnvironmentTable) -> EnvironmentChangedByCommands:
    """Return an object that changes the environment of a system with the commands of the SUT file."""
    return EnvironmentChangedByCommands(table.parts, partial(_run_command, table))


def _run_command(table: EnvironmentTable, part: str, value: int) -> None:
    command = table.command(part, value)
    shown = " ".join(command)
    with tempfile.TemporaryFile() as said:  # a wait for a pipe would last until all child processes close the pipe
        try:
            process = subprocess.Popen(  # noqa: S603 - the user's own command, like the command that starts the system
                command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True
            )
        except OSError as error:
            raise SutUnavailable(f"environment: {shown}: {error.strerror}") from error
        try:
            code = process.wait(table.timeout_s)
        except subprocess.TimeoutExpired as error:
            raise SutUnavailable(
                f"environment: {shown}: the command did not exit within {table.timeout_s} s"
            ) from error
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)  # also kill the processes that the command started
                process.wait()
        if code:
            said.seek(0)
            words = " ".join(said.read(MAX_COMMAND_OUTPUT_BYTES_IN_ERROR).decode(errors="replace").split())
            raise SutUnavailable(
                f"environment: {shown}: the command ended with exit code {code}{': ' if words else ''}{words}"
            )
