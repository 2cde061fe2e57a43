"""Define the findings about a system that belong to no rule of the documents, such as a crash. These findings form
a closed set.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from harness.capture.recorder import Frame
from harness.rules.catalogue import Rule

ROBUSTNESS_DOCUMENT = "ROBUSTNESS"
ROBUSTNESS_TITLE = "Robustness: the system survives all input"


class SystemCondition(StrEnum):
    """The conditions of a system (such as a crash) that the tester can diagnose."""

    ALIVE = "alive"
    CRASHED = "crashed"
    HANGS = "hangs"
    RESTARTED = "restarted"
    FLOODS = "floods"


@dataclass(frozen=True, slots=True)
class SystemDiagnosis:
    """The diagnosis of a system: its condition, the observation that shows this condition, and the packets that
    contain the observation.
    """

    condition: SystemCondition
    says: str
    evidence: tuple[Frame, ...] = ()

    @property
    def is_alive(self) -> bool:
        """Return whether the system still serves its peers as usual."""
        return self.condition is SystemCondition.ALIVE


FINDING_BY_CONDITION = {
    SystemCondition.CRASHED: (
        "ROBUSTNESS-1-CRASH",
        "The system continues to listen after every input, until it is stopped.",
    ),
    SystemCondition.HANGS: (
        "ROBUSTNESS-1-HANG",
        "The system answers a request for a session after every input.",
    ),
    SystemCondition.RESTARTED: (
        "ROBUSTNESS-1-RESTART",
        "The system does not restart unless it is requested to restart.",
    ),
    SystemCondition.FLOODS: ("ROBUSTNESS-1-FLOOD", "The system does not send packets endlessly."),
}
"""The rule for each condition, with its id and the behavior that it requires."""

RULE_BY_CONDITION = {
    condition: Rule(
        name,
        ROBUSTNESS_DOCUMENT,
        "1",
        name.rpartition("-")[2],
        title="Robustness",
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
    for condition, (name, says) in FINDING_BY_CONDITION.items()
}
"""The row of the report for each condition."""
