"""Findings that share a cause, together: five rules that one wrong answer breaks are one thing to repair.

The harness groups by the same rules for the terminal and for machines (`harness.run.causes`), because neither
package imports the other; a test compares the two.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from reports.model import Standing
from reports.text import check

_WORD = re.compile(r"\b(?!True\b|False\b|None\b|nothing\b)[A-Za-z]{3,}\b")
"""What makes an observation say by itself what went wrong: an empty list or a number may come of anything."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Findings of one verdict with one cause, in the order in which they came. ``seen``: what all have in common."""

    findings: tuple[Standing, ...]
    seen: str

    @property
    def title(self) -> str:
        """How many rules it concerns, and what was seen. Not how many checks: of a rule only the worst is here."""
        rules = len(self.findings)
        return f"{rules} rule{'s' if rules > 1 else ''}: {self.seen}"


def causes_of(
    findings: Iterable[Standing],
    named: Callable[[str], str] = str,
    root_of: Callable[[Standing], str] = lambda _: "",
) -> list[Cause]:
    """Group findings by cause, the cause of most rules first, equals as they came; a lone finding is its own cause.

    ``named``: writes the names of numbers into what was observed (`reports.values`). What was not decided has the
    cause that its reason says, or the missing root on which its check rests (``root_of``; empty: on none). A miss has
    that of each other miss with the same observation, of whatever check; where the observation does not say by itself
    what went wrong, of the same check.
    """
    groups: dict[tuple[str, ...], list[Standing]] = {}
    seen: dict[tuple[str, ...], str] = {}
    for one in findings:
        decided = one.verdict in ("fail", "warn") and one.observed
        words = named(one.observed) if decided else root_of(one) or one.reason or named(one.observed)
        alone = "" if not decided or _WORD.search(words) else function_of(one.test)
        key = (one.verdict, words, alone) if words else (one.verdict, words, one.rule)
        groups.setdefault(key, []).append(one)
        seen[key] = f"observed {words}" if decided else words or "no reason is known"
    causes = [Cause(tuple(some), seen[key]) for key, some in groups.items()]
    return sorted(causes, key=lambda cause: -len(cause.findings))


def function_of(test: str) -> str:
    """Return the id of a check without its parameters."""
    path, name = check(test)
    return f"{path}::{name.partition('[')[0]}" if path else name.partition("[")[0]
