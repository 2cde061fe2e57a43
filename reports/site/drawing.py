"""Computes the numbers of bars and charts for inline SVG, and draws badges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from reports.model import Run
from reports.text import escape_unprintable_characters
from reports.vocabulary import DECIDED_VERDICTS, FINDING_VERDICTS

BADGE_COLOURS = {"fail": "#b3261e", "pass": "#0d652d", "none": "#4e5967"}
_VERDICTS_SHOWN_IN_BAR = (*FINDING_VERDICTS, "pass")
_LETTER_WIDTH_PX = 6.6
"""The width in pixels of a letter in a badge."""


@dataclass(frozen=True, slots=True)
class VerdictBarPart:
    """A part of a bar. Its numbers are relative to a bar whose whole width is 100."""

    verdict: str
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class TrendBarOfRun:
    """The bar of a run in a trend chart of 100 x 100: its place, and its parts from top to bottom."""

    run: Run
    x: float
    width: float
    parts: tuple[VerdictBarPart, ...]


def place_verdicts_on_bar(counts: Mapping[str, int], whole: int) -> list[VerdictBarPart]:
    """Return the parts of a bar that represents ``whole`` rules, one part for each verdict with its count. Rules
    without a verdict leave the end of the bar empty.
    """
    whole, start, parts = max(whole, sum(counts.get(name, 0) for name in _VERDICTS_SHOWN_IN_BAR), 1), 0.0, []
    for name in _VERDICTS_SHOWN_IN_BAR:
        if width := 100 * counts.get(name, 0) / whole:
            parts.append(VerdictBarPart(name, round(start, 2), round(width, 2)))
            start += width
    return parts


def place_trend_bars(runs: Sequence[Run]) -> list[TrendBarOfRun]:
    """Return one bar for each run, which shows the decided rules of the run. All bars have the same scale, and failures
    are at the top.
    """
    highest = max((_count_decided_rules(run) for run in runs), default=0) or 1
    step = 100 / max(len(runs), 1)
    stacks = []
    for index, run in enumerate(runs):
        top, parts = 100 - 100 * _count_decided_rules(run) / highest, []
        for name in DECIDED_VERDICTS:
            if height := 100 * run.counts.get(name, 0) / highest:
                parts.append(VerdictBarPart(name, round(top, 2), round(height, 2)))
                top += height
        stacks.append(TrendBarOfRun(run, round(index * step + step * 0.1, 2), round(step * 0.8, 2), tuple(parts)))
    return stacks


def draw_badge(counts: Counter[str], judgeable: int) -> str:
    """Return a badge in the usual form, which shows a subject and a result. The badge contains no text from a
    tested system.
    """
    decided = sum(counts[name] for name in DECIDED_VERDICTS)
    share = f"{100 * decided / judgeable:.0f} % judged" if judgeable else "nothing judged"
    if counts["fail"]:
        words, colour = f"{counts['fail']} fail · {share}", BADGE_COLOURS["fail"]
    elif decided:
        words, colour = f"{counts['pass']} pass · {share}", BADGE_COLOURS["pass"]
    else:
        words, colour = "not judged", BADGE_COLOURS["none"]
    left, right = _estimate_text_width_px("MSMQ"), _estimate_text_width_px(words)
    text = escape(escape_unprintable_characters(words))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="MSMQ conformance: {text}">'
        f'<rect width="{left}" height="20" fill="#333b45"/><rect x="{left}" width="{right}" height="20" '
        f'fill="{colour}"/><g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" '
        f'text-anchor="middle"><text x="{left / 2}" y="14">MSMQ</text>'
        f'<text x="{left + right / 2}" y="14">{text}</text></g></svg>\n'
    )


def _count_decided_rules(run: Run) -> int:
    return sum(run.counts.get(name, 0) for name in DECIDED_VERDICTS)


def _estimate_text_width_px(words: str) -> int:
    return round(len(words) * _LETTER_WIDTH_PX) + 12
