"""What a look at a system finds: a line for each thing, with the way out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from harness.printable import one_line

SAID_LIMIT = 400


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
    """One thing. ``ends_run``: a run does not even begin with it; ``about``: the key of a queue in [queues]."""

    subject: str
    state: State
    said: str
    way_out: str = ""
    ends_run: bool = False
    about: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "said", one_line(self.said, SAID_LIMIT))

    @property
    def bad(self) -> bool:
        """Return whether something that the SUT file promises is not there."""
        return self.state in (State.MISSING, State.WRONG)

    @property
    def sentence(self) -> str:
        """What is missing, which says by itself where, and how to mend it."""
        return f"{self.said}: {self.way_out}" if self.way_out else self.said

    def __str__(self) -> str:
        way_out = f"; {self.way_out}" if self.way_out else ""
        return f"{self.subject:16}{self.state:14}{self.said}{way_out}"
