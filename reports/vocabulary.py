"""Defines the closed set of verdicts, and how each of them is displayed: with a color, a symbol and a word."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class VerdictKind:
    """One of the defined verdicts, or the value for a rule without a verdict."""

    name: str
    symbol: str
    label: str
    meaning: str
    terminal_style: str


VERDICT_KINDS_WORST_FIRST: tuple[VerdictKind, ...] = (
    VerdictKind("fail", "✗", "fail", "the system broke the rule", "bold red"),
    VerdictKind(
        "harness_error",
        "!",
        "harness error",
        "the tester failed, so the system was not judged",
        "bold magenta",
    ),
    VerdictKind("inconclusive", "?", "inconclusive", "the check ran without deciding the rule", "yellow"),
    VerdictKind("warn", "▲", "warn", "a recommendation (SHOULD) was not followed", "dark_orange"),
    VerdictKind("pass", "✓", "pass", "the system kept the rule", "green"),
    VerdictKind("not_exercised", "~", "not exercised", "the rule's condition never occurred", "dim"),
    VerdictKind("not_applicable", "—", "not applicable", "the SUT file declares that the rule does not apply", "dim"),
    VerdictKind("not_observable", "○", "not observable", "the system offers no way to observe the rule", "dim"),
)
NOT_JUDGED_VERDICT_KIND = VerdictKind("not_judged", "·", "no verdict", "no run has a verdict for this rule", "dim")

VERDICT_KIND_BY_NAME: dict[str, VerdictKind] = {
    kind.name: kind for kind in (*VERDICT_KINDS_WORST_FIRST, NOT_JUDGED_VERDICT_KIND)
}
VERDICT_NAMES: tuple[str, ...] = tuple(kind.name for kind in VERDICT_KINDS_WORST_FIRST)
SEVERITY_BY_VERDICT: dict[str, int] = {
    kind.name: rank for rank, kind in enumerate((*VERDICT_KINDS_WORST_FIRST, NOT_JUDGED_VERDICT_KIND))
}
"""The rank of each verdict. Rank 0 is the worst."""
DECIDED_VERDICTS: tuple[str, ...] = ("fail", "warn", "pass")
"""The verdicts that decide about the system. A line with an undecided verdict contains the reason why the rule is
undecided.
"""
SCENARIO_RESULTS: tuple[str, ...] = ("fail", "broken", "unsupported", "pass")
"""The results of a scenario of a pair, the worst first."""
FINDING_VERDICTS: tuple[str, ...] = ("fail", "harness_error", "inconclusive", "warn")
"""The verdicts that need attention, the worst first."""
