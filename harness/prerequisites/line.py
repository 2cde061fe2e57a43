"""Represent each finding about a prerequisite on a system as one line of text, which also names the remedy."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from harness.printable import one_line

MAX_PREREQUISITE_FINDING_CHARACTERS = 400


class PrerequisiteState(StrEnum):
    """The state of a prerequisite, such as an address or a queue of the system (the subject of a finding)."""

    OK = "ok"
    MISSING = "missing"
    """The SUT file declares the subject, but the system does not provide it."""
    WRONG = "wrong"
    """The system provides the subject, but not as declared in the SUT file."""
    NOT_SEEN = "not seen"
    """The state of the subject cannot be observed."""
    NOT_DECLARED = "not declared"
    """The SUT file does not declare the subject."""


@dataclass(frozen=True, slots=True)
class PrerequisiteFinding:
    """One finding about a prerequisite on a system. ``ends_run``: whether no run is possible because of the finding.
    ``about``: the key of a queue in [queues].
    """

    subject: str
    state: PrerequisiteState
    said: str
    remedy: str = ""
    ends_run: bool = False
    about: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "said", one_line(self.said, MAX_PREREQUISITE_FINDING_CHARACTERS))

    @property
    def is_missing(self) -> bool:
        """Whether the system does not provide the subject as declared in the SUT file."""
        return self.state in (PrerequisiteState.MISSING, PrerequisiteState.WRONG)

    @property
    def sentence(self) -> str:
        """The finding as one sentence, with the place and the remedy."""
        return f"{self.said}: {self.remedy}" if self.remedy else self.said

    def __str__(self) -> str:
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{self.subject:16}{self.state:14}{self.said}{remedy}"
