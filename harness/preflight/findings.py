"""The findings of a check of a whole set-up, and the rules that a run can judge with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from harness.roots.line import Line


@dataclass(frozen=True, slots=True)
class Count:
    """MUST rules: all with a check, those that can be judged now, and those that could be judged if the SUT file's
    declarations held.
    """

    of: int
    judged: int
    promised: int | None
    """None: the facilities of the control channel are unknown."""


@dataclass(frozen=True, slots=True)
class Report:
    """All findings. ``file``: the SUT file."""

    file: str
    count: Count
    lines: tuple[Line, ...] = field(default=())

    @property
    def ready(self) -> bool:
        """Return whether a run can be made with all that the SUT file promises."""
        return not any(line.bad for line in self.lines)

    @property
    def in_the_way(self) -> list[str]:
        """Return the findings that prevent a run from beginning."""
        return [line.subject for line in self.lines if line.ends_run and line.bad]

    def text(self) -> Iterator[str]:
        """Yield it as plain text."""
        yield from map(str, self.lines)
        yield self.summary

    @property
    def summary(self) -> str:
        """Return a summary in one line."""
        count, begins = self.count, not self.in_the_way
        known = count.promised not in (None, count.judged)
        more = f"; {count.promised} with everything that {self.file} declares" if known else ""
        most = "at most " if count.judged and not self.ready else ""  # who knows what a missing queue costs
        judged = f"{most}{count.judged} of {count.of} MUST rules can be judged with this set-up{more}"
        return judged if begins else f"a run does not begin ({', '.join(self.in_the_way)}): {judged}"

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "file": self.file,
            "ready": self.ready,
            "in_the_way": self.in_the_way,
            "must_rules": asdict(self.count),
            "lines": [asdict(line) for line in self.lines],
        }
