"""What a run finds about a system as such, beside the rules of the documents: a closed set."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from harness.capture.recorder import Frame
from harness.rules.catalogue import Rule

DOCUMENT = "ROBUSTNESS"
TITLE = "Robustness: what a system does whatever it receives"


class Condition(StrEnum):
    """The conditions of a system that are told apart."""

    ALIVE = "alive"
    CRASHED = "crashed"
    HANGS = "hangs"
    RESTARTED = "restarted"
    FLOODS = "floods"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A condition, how it showed itself, and in which packets."""

    condition: Condition
    says: str
    evidence: tuple[Frame, ...] = ()

    @property
    def alive(self) -> bool:
        """Return whether the system goes on as before."""
        return self.condition is Condition.ALIVE


FINDINGS = {
    Condition.CRASHED: ("ROBUSTNESS-1-CRASH", "It listens until it is stopped, whatever it receives."),
    Condition.HANGS: ("ROBUSTNESS-1-HANG", "It answers a request for a session, whatever it received before."),
    Condition.RESTARTED: ("ROBUSTNESS-1-RESTART", "It does not start anew, unless it is told to."),
    Condition.FLOODS: ("ROBUSTNESS-1-FLOOD", "It does not send without an end."),
}
"""The id of the finding and what was expected, by the condition."""

ROWS = {
    condition: Rule(
        name,
        DOCUMENT,
        "1",
        name.rpartition("-")[2],
        title="Going on",
        level="MUST",
        form="rule",
        observe="wire",
        role="any",
        says=says,
        why=None,
        errata=(),
        note=None,
        link="",
        folder="",
    )
    for condition, (name, says) in FINDINGS.items()
}
"""The rows of the report."""
