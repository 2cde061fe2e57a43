"""Groups findings that have the same cause: if one wrong answer breaks five rules, one correction repairs all five.

The harness contains a second implementation for the terminal and for machines (`harness.run.causes`), because neither
package may import the other. A test compares both implementations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from reports.model import StandingVerdict
from reports.text import shorten_check_id

_WORD_PATTERN = re.compile(r"\b(?!True\b|False\b|None\b|nothing\b)[A-Za-z]{3,}\b")
"""The pattern of a word. Findings are grouped by their observation only if the observation contains a word, because an
empty list or a number does not identify a cause.
"""


@dataclass(frozen=True, slots=True)
class FindingCause:
    """A group of findings with the same verdict and the same cause, in display order. ``common_observation``: the
    observation that these findings share.
    """

    findings: tuple[StandingVerdict, ...]
    common_observation: str

    @property
    def title(self) -> str:
        """Return the number of rules and the common observation of a cause.

        The title does not count checks, because only the worst verdict of each rule is known.
        """
        rules = len(self.findings)
        return f"{rules} rule{'s' if rules > 1 else ''}: {self.common_observation}"


def group_findings_by_cause(
    findings: Iterable[StandingVerdict],
    named: Callable[[str], str] = str,
    root_of: Callable[[StandingVerdict], str] = lambda _: "",
) -> list[FindingCause]:
    """Group findings by cause. The cause that affects the most rules comes first. A finding that shares its cause with
    no other finding forms a group of its own.

    ``named``: the function that adds a symbolic name to each number in an observation (`reports.values`). The cause of
    an undecided finding is its reason, or the root cause of its check, which ``root_of`` returns (an empty text if the
    check has none). Failed rules with the same observation have the same cause; if the observation is not specific, the
    rules must also have failed in the same check.
    """
    groups: dict[tuple[str, ...], list[StandingVerdict]] = {}
    seen: dict[tuple[str, ...], str] = {}
    for one in findings:
        decided = one.verdict in ("fail", "warn") and one.observed
        words = named(one.observed) if decided else root_of(one) or one.reason or named(one.observed)
        alone = "" if not decided or _WORD_PATTERN.search(words) else get_check_function(one.test)
        key = (one.verdict, words, alone) if words else (one.verdict, words, one.rule)
        groups.setdefault(key, []).append(one)
        seen[key] = f"observed {words}" if decided else words or "no reason is known"
    causes = [FindingCause(tuple(some), seen[key]) for key, some in groups.items()]
    return sorted(causes, key=lambda cause: -len(cause.findings))


def get_check_function(test: str) -> str:
    """Return the id of a check without its parameters."""
    path, name = shorten_check_id(test)
    return f"{path}::{name.partition('[')[0]}" if path else name.partition("[")[0]
