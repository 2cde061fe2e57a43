"""What a look at a set-up finds: a line for each thing, with the way out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from harness.printable import one_line

SAID_LIMIT = 300


class State(StrEnum):
    """How a thing was found."""

    OK = "ok"
    MISSING = "missing"
    """The SUT file promises it, and it is not there."""
    WRONG = "wrong"
    """It is there, and is not what the SUT file says."""
    NOT_SEEN = "not seen"
    """There is no way to look."""
    NOT_DECLARED = "not declared"
    """The SUT file does not promise it."""


@dataclass(frozen=True, slots=True)
class Line:
    """One thing. ``ends_run``: a run does not even begin with it."""

    subject: str
    state: State
    said: str
    way_out: str = ""
    ends_run: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "said", one_line(self.said, SAID_LIMIT))

    @property
    def bad(self) -> bool:
        """Return whether something that the SUT file promises is not there."""
        return self.state in (State.MISSING, State.WRONG)

    def __str__(self) -> str:
        way_out = f"; {self.way_out}" if self.way_out else ""
        return f"{self.subject:16}{self.state:14}{self.said}{way_out}"


@dataclass(frozen=True, slots=True)
class Count:
    """MUST rules: all that checks judge, those that can be judged with what there is, and with all that is promised."""

    of: int
    judged: int
    promised: int | None
    """None: what the control channel offers is not known."""


@dataclass(frozen=True, slots=True)
class Report:
    """All that was found. ``file``: the SUT file."""

    file: str
    count: Count
    lines: tuple[Line, ...] = field(default=())

    @property
    def ready(self) -> bool:
        """Return whether a run can be made with all that the SUT file promises."""
        return not any(line.bad for line in self.lines)

    @property
    def in_the_way(self) -> list[str]:
        """Return what keeps a run from beginning."""
        return [line.subject for line in self.lines if line.ends_run and line.bad]

    def text(self) -> Iterator[str]:
        """Yield it as plain text."""
        yield from map(str, self.lines)
        yield self.summary

    @property
    def summary(self) -> str:
        """Return in one line what it comes to."""
        count, begins = self.count, not self.in_the_way
        known = count.promised not in (None, count.judged)
        more = f"; {count.promised} with all that {self.file} promises" if known else ""
        most = "at most " if count.judged and not self.ready else ""  # who knows what a missing queue costs
        judged = f"{most}{count.judged} of {count.of} MUST rules can be judged with what there is{more}"
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
