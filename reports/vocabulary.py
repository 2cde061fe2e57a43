"""Defines the closed set of verdicts, and how each of them is displayed: with a color, a symbol and a word."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """One of the defined verdicts, or the value for a rule without a verdict."""

    name: str
    symbol: str
    label: str
    meaning: str
    terminal_style: str


WORST_FIRST: tuple[Kind, ...] = (
    Kind("fail", "✗", "fail", "the system broke the rule", "bold red"),
    Kind(
        "harness_error",
        "!",
        "harness error",
        "the tester failed, so the system was not judged",
        "bold magenta",
    ),
    Kind("inconclusive", "?", "inconclusive", "the check ran without deciding the rule", "yellow"),
    Kind("warn", "▲", "warn", "a recommendation (SHOULD) was not followed", "dark_orange"),
    Kind("pass", "✓", "pass", "the system kept the rule", "green"),
    Kind("not_exercised", "~", "not exercised", "the rule's condition never occurred", "dim"),
    Kind("not_applicable", "—", "not applicable", "the SUT file declares that the rule does not apply", "dim"),
    Kind("not_observable", "○", "not observable", "the system offers no way to observe the rule", "dim"),
)
NOT_JUDGED = Kind("not_judged", "·", "no verdict", "no run has a verdict for this rule", "dim")

KINDS: dict[str, Kind] = {kind.name: kind for kind in (*WORST_FIRST, NOT_JUDGED)}
VERDICTS: tuple[str, ...] = tuple(kind.name for kind in WORST_FIRST)
SEVERITY: dict[str, int] = {kind.name: rank for rank, kind in enumerate((*WORST_FIRST, NOT_JUDGED))}
"""The rank of each verdict. Rank 0 is the worst."""
DECIDED_VERDICTS: tuple[str, ...] = ("fail", "warn", "pass")
"""The verdicts that decide about the system. A line with any other verdict contains the reason why the rule is
undecided.
"""
RESULTS: tuple[str, ...] = ("fail", "broken", "unsupported", "pass")
"""The results of a scenario of a pair, the worst first."""
FINDINGS: tuple[str, ...] = ("fail", "harness_error", "inconclusive", "warn")
"""The verdicts that need attention, the worst first."""
