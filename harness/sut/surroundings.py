"""The commands of a SUT file that take away what a system depends on, and give it back."""

from __future__ import annotations

import dataclasses
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.errors import SutUnavailable
from reference_qm.surface.surroundings import ChangeEnvironment

PARTS = tuple(one.name for one in dataclasses.fields(ChangeEnvironment))
SAID_LIMIT = 200
"""Characters of what a command says that are repeated."""


@dataclass(frozen=True, slots=True)
class EnvironmentTable:
    """[environment]: by the names of the parts (docs/control-protocol.md), the commands that take each away and give it
    back.
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
    take_service: tuple[str, ...] = ()
    give_service: tuple[str, ...] = ()
    timeout_s: int = 60

    def command(self, part: str, there: bool) -> tuple[str, ...]:
        """Return the command that gives a part back, or takes it away; empty when there is none."""
        found: tuple[str, ...] = getattr(self, f"{'give' if there else 'take'}_{part}")
        return found

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that have commands."""
        return tuple(part for part in PARTS if self.command(part, False))

    def complaint(self) -> str | None:
        """Say in one line what is wrong with the table; None when nothing is."""
        for part in PARTS:
            if bool(self.command(part, True)) is not bool(self.command(part, False)):
                return f"environment.take_{part} and environment.give_{part} go together: give both or neither"
        return None if self.timeout_s > 0 else f"environment.timeout_s is {self.timeout_s}; it must be 1 at least"


@dataclass(slots=True)
class SurroundingsByCommand:
    """The parts of a system's surroundings that commands change, and which of them are there."""

    table: EnvironmentTable
    there: dict[str, bool] = field(init=False)

    def __post_init__(self) -> None:
        self.there = dict.fromkeys(self.table.parts, True)

    def change(self, wanted: Mapping[str, bool]) -> None:
        """Run the commands for what is to be otherwise; SutUnavailable with one line when one fails.

        What a command that failed has done is not known: its part counts as taken away, so that it is given back.
        """
        for part, there in wanted.items():
            if part in self.there and (not there or not self.there[part]):
                self.there[part] = False
                self._run(self.table.command(part, there))
                self.there[part] = there

    def _run(self, command: tuple[str, ...]) -> None:
        shown = " ".join(command)
        try:
            done = subprocess.run(  # noqa: S603 - the command is the user's own, as the one that starts the system
                command, capture_output=True, timeout=self.table.timeout_s, text=True, errors="replace", check=False
            )
        except OSError as error:
            raise SutUnavailable(f"environment: {shown}: {error.strerror}") from error
        except subprocess.TimeoutExpired as error:
            raise SutUnavailable(f"environment: {shown}: not over after {self.table.timeout_s} s") from error
        if done.returncode:
            said = " ".join((done.stderr or done.stdout).split())[:SAID_LIMIT]
            raise SutUnavailable(f"environment: {shown}: exit code {done.returncode}{': ' if said else ''}{said}")
