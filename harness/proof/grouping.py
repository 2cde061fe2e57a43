"""Divide the readings of errata (interpretations of contradictory passages) into groups. One trial installs the
variants of the reference for all readings of a group.

Most readings change one step in a rare case. A separate trial of each reading would therefore run hundreds of checks
that show no difference. A system may follow any combination of readings. So the variants for readings of different
errata that change different steps are first installed together. If the verdicts of a check then differ from its
verdicts on the clean reference, the check runs again, on each reading of the group separately.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from harness.proof.steps import ReferenceSteps
from harness.proof.trials import ResultOnCleanReference, TrialVerdict


@dataclass(frozen=True, slots=True)
class ReadingWithChecks:
    """A reading of an erratum that a trial must run, with the steps of the reference that the variant for this reading
    changes (None if unknown), and with the checks whose verdicts these changes may affect.
    """

    name: str
    changed_steps: ReferenceSteps | None
    checks: tuple[str, ...]

    @property
    def erratum_id(self) -> str:
        """The id of the erratum that the reading belongs to."""
        return self.name.partition(".")[0]

    def is_compatible_with(self, other: ReadingWithChecks) -> bool:
        """Return whether one trial can run both readings. This is possible if they belong to different errata and
        change different steps of the reference.
        """
        disjoint = (
            self.changed_steps is None
            or other.changed_steps is None
            or self.changed_steps.isdisjoint(other.changed_steps)
        )
        return self.erratum_id != other.erratum_id and disjoint


@dataclass(slots=True)
class ReadingGroup:
    """A group of readings of errata. One trial installs the variants of all readings of the group."""

    readings: list[ReadingWithChecks] = field(default_factory=list)
    checks: dict[str, None] = field(default_factory=dict)
    """The checks whose verdicts may be affected by at least one of the readings."""

    @property
    def name(self) -> str:
        """The names of the readings, separated by spaces."""
        return " ".join(one.name for one in self.readings)

    def take(self, reading: ReadingWithChecks) -> None:
        """Add a reading to the group."""
        self.readings.append(reading)
        self.checks |= dict.fromkeys(reading.checks)

    def list_single_readings(self, checks: Collection[str]) -> list[ReadingWithChecks]:
        """Return each reading of the group with those of the given checks whose verdicts it may affect. A reading that
        affects none of the given checks is omitted.
        """
        chosen = [replace(one, checks=tuple(check for check in one.checks if check in checks)) for one in self.readings]
        return [one for one in chosen if one.checks]


def group_readings(readings: Iterable[ReadingWithChecks], seconds: Mapping[str, float]) -> list[ReadingGroup]:
    """Divide the readings of errata into groups with a greedy algorithm, so that the trials of all groups together run
    few checks; return the groups. ``seconds``: the duration of each check.
    """
    groups: list[ReadingGroup] = []

    def compute_added_cost(reading: ReadingWithChecks, group: ReadingGroup) -> float:
        """Return the total duration (s) of the checks that a reading would add to the checks of a group."""
        return sum(seconds[check] for check in reading.checks if check not in group.checks)

    for reading in sorted(readings, key=lambda one: (-compute_added_cost(one, ReadingGroup()), one.name)):
        fitting = [group for group in groups if all(reading.is_compatible_with(one) for one in group.readings)]
        if not fitting:
            fitting = [ReadingGroup()]
            groups += fitting
        min(fitting, key=lambda group: compute_added_cost(reading, group)).take(reading)
    return groups


def find_differing_checks(
    lines: Iterable[TrialVerdict], clean: Mapping[str, ResultOnCleanReference], checks: Iterable[str]
) -> set[str]:
    """Return the checks whose verdicts in a trial differ from their verdicts on the clean reference."""
    found: dict[str, list[tuple[str, str]]] = {check: [] for check in checks}
    for line in lines:
        found[line.test].append((line.rule, line.verdict))
    return {
        check
        for check, verdicts in found.items()
        if verdicts != [(line.rule, line.verdict) for line in clean[check].lines]
    }
