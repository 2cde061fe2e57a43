"""Determine the outcome of a scenario in one direction from the identities of the received messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class ScenarioResult(StrEnum):
    """The result of a scenario, which states whether the scenario had the required outcome."""

    PASS = "pass"  # noqa: S105 - a verdict
    FAIL = "fail"
    UNSUPPORTED = "unsupported"
    """The scenario could not run, because it needs a facility or capability that is missing. A control channel does not
    announce the facility, or answers that it does not support one of the facility's verbs. A capability is missing if a
    SUT file does not declare it.
    """
    BROKEN = "broken"
    """The scenario ended early, because a system refused a command or did not answer."""


@dataclass(frozen=True, slots=True)
class ScenarioOutcome:
    """The outcome of a scenario. It consists of the result and of the reason for it (a difference, a missing
    facility, or a failure).
    """

    result: ScenarioResult
    why: str = ""


def compare_messages(sent: Sequence[str], arrived: Sequence[str], *, in_order: bool) -> ScenarioOutcome:
    """Return the outcome for the labels that were sent and received. Each message must arrive once; if ``in_order``
    is true, the messages must arrive in the order in which they were sent.
    """
    wanted, found = Counter(sent), Counter(arrived)
    parts = {
        "missing": sorted((wanted - found).elements()),
        "arrived again": sorted(label for label in found if found[label] > 1 and label in wanted),
        "not expected": sorted(set(found) - set(wanted)),
    }
    differences = [f"{name}: {', '.join(labels)}" for name, labels in parts.items() if labels]
    if not differences and in_order and list(arrived) != list(sent):
        differences = [f"in the wrong order: {', '.join(arrived)}"]
    return (
        ScenarioOutcome(ScenarioResult.FAIL, "; ".join(differences))
        if differences
        else ScenarioOutcome(ScenarioResult.PASS)
    )


def judge_received_acknowledgment_classes(expected: Sequence[str], observed: Sequence[str]) -> ScenarioOutcome:
    """Return the outcome for the expected and the received classes of acknowledgments. The order of the
    acknowledgments does not matter.
    """
    if Counter(expected) == Counter(observed):
        return ScenarioOutcome(ScenarioResult.PASS)
    wanted, found = ", ".join(sorted(expected)), ", ".join(sorted(observed)) or "none"
    return ScenarioOutcome(ScenarioResult.FAIL, f"acknowledgments: {found}; expected: {wanted}")
