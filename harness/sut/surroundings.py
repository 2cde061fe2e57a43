"""The commands of a SUT file that take away what a system depends on, and give it back."""

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
from reference_qm.surface.surroundings import CLOCK, ChangeEnvironment

PARTS = tuple(one.name for one in dataclasses.fields(ChangeEnvironment) if one.name != CLOCK)
SECONDS = "{seconds}"
"""Stands in the command that sets the clock for the seconds by which it is to be fast."""
SAID_LIMIT = 200
"""Bytes of what a command says that are repeated."""


@dataclass(frozen=True, slots=True)
class EnvironmentTable:
    """[environment]: by the names of the parts (docs/control-protocol.md), the commands that take each away and give it
    back; and the one that sets the clock.
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
        """Return the command that gives a part back, takes it away, or sets it; empty when there is none."""
        if part == CLOCK:
            return tuple(word.replace(SECONDS, str(value)) for word in self.set_clock)
        found: tuple[str, ...] = getattr(self, f"{'give' if value else 'take'}_{part}")
        return found

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that have commands."""
        return tuple(part for part in (*PARTS, CLOCK) if self.command(part, False))

    def complaint(self) -> str | None:
        """Say in one line what is wrong with the table; None when nothing is."""
        for part in PARTS:
            if bool(self.command(part, True)) is not bool(self.command(part, False)):
                return f"environment.take_{part} and environment.give_{part} go together: give both or neither"
        if self.set_clock and not any(SECONDS in word for word in self.set_clock):
            return f"environment.set_clock does not say where the seconds go: write {SECONDS}"
        return None if self.timeout_s > 0 else f"environment.timeout_s is {self.timeout_s}; it must be 1 at least"


SetPart = Callable[[str, int], None]
"""Takes a part away, gives it back, or sets it; SutUnavailable with one line when that fails."""


@dataclass(slots=True)
class SurroundingsByCommand:
    """The parts of a system's surroundings that commands change, and which of them are there."""

    parts: tuple[str, ...]
    set_part: SetPart
    there: dict[str, int | None] = field(init=False)
    """Of each part whether it is there, of the clock by how many seconds it is fast; None: nobody knows."""

    def __post_init__(self) -> None:
        self.there = {part: 0 if part == CLOCK else True for part in self.parts}

    def change(self, wanted: Mapping[str, int]) -> None:
        """Run the commands for what is to be otherwise; SutUnavailable with one line when one fails.

        What a command that failed has done is not known, so that its part is given back in any case.
        """
        for part, value in wanted.items():
            if part in self.there and self.there[part] != value:
                self.there[part] = None
                self.set_part(part, value)
                self.there[part] = value


def by_commands(table: EnvironmentTable) -> SurroundingsByCommand:
    """Return what the commands of a SUT file change."""
    return SurroundingsByCommand(table.parts, partial(_run, table))


def _run(table: EnvironmentTable, part: str, value: int) -> None:
    command = table.command(part, value)
    shown = " ".join(command)
    with tempfile.TemporaryFile() as said:  # a pipe would be waited for as long as anything that it starts has it
        try:
            process = subprocess.Popen(  # noqa: S603 - the command is the user's own, as that which starts the system
                command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True
            )
        except OSError as error:
            raise SutUnavailable(f"environment: {shown}: {error.strerror}") from error
        try:
            code = process.wait(table.timeout_s)
        except subprocess.TimeoutExpired as error:
            raise SutUnavailable(f"environment: {shown}: not over after {table.timeout_s} s") from error
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)  # with what it started
                process.wait()
        if code:
            said.seek(0)
            words = " ".join(said.read(SAID_LIMIT).decode(errors="replace").split())
            raise SutUnavailable(f"environment: {shown}: exit code {code}{': ' if words else ''}{words}")
