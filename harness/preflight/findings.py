"""Represent the findings about a set-up, and the number of rules that a run can judge with this set-up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from harness.prerequisites.line import PrerequisiteFinding


@dataclass(frozen=True, slots=True)
class MustRuleCounts:
    """Three numbers of MUST rules. ``of``: the rules with a check. ``judged``: the rules that a run can judge now.
    ``promised``: the rules that a run could judge if the system provided everything that the SUT file declares.
    """

    of: int
    judged: int
    promised: int | None
    """The number of rules that a run could judge if the system provided everything that the SUT file declares. It is
    None while the control channel's facilities are unknown.
    """


@dataclass(frozen=True, slots=True)
class PreflightReport:
    """All findings about a set-up. ``file``: the path of the SUT file."""

    file: str
    count: MustRuleCounts
    lines: tuple[PrerequisiteFinding, ...] = field(default=())

    @property
    def is_system_ready(self) -> bool:
        """Return whether the system provides everything that the SUT file declares."""
        return not any(line.is_missing for line in self.lines)

    @property
    def blocking_subjects(self) -> list[str]:
        """Return the subjects of the findings that prevent a run from beginning."""
        return [line.subject for line in self.lines if line.ends_run and line.is_missing]

    def text(self) -> Iterator[str]:
        """Yield the lines of the report as plain text."""
        yield from map(str, self.lines)
        yield self.summary

    @property
    def summary(self) -> str:
        """Return one line that summarizes the report."""
        count, begins = self.count, not self.blocking_subjects
        known = count.promised not in (None, count.judged)
        more = f"; {count.promised} if the system provides everything that {self.file} declares" if known else ""
        # The number of rules that a missing queue costs is unknown.
        most = "at most " if count.judged and not self.is_system_ready else ""
        judged = f"{most}{count.judged} of {count.of} MUST rules can be judged with this set-up{more}"
        return judged if begins else f"a run cannot begin ({', '.join(self.blocking_subjects)}): {judged}"

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON."""
        return {
            "file": self.file,
            "ready": self.is_system_ready,
            "in_the_way": self.blocking_subjects,
            "must_rules": asdict(self.count),
            "lines": [asdict(line) for line in self.lines],
        }
