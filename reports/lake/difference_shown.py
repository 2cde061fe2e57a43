"""Formats a difference as text, Markdown and JSON. Strings of a system are escaped."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict

from reports.lake.difference import (
    KINDS_OF_CHANGE,
    NEWLY_FAILING_KIND,
    UNCHANGED_VERDICT_KIND,
    ComparedSide,
    ComparisonOfSides,
    RuleComparison,
    RuleVerdictOfSide,
)
from reports.text import format_repeat_command, format_system_label, one_line, shorten_check_id
from reports.values import get_value_name_adder

_MAX_TEXT_CHARACTERS = 120
"""The maximum number of characters of an expected or observed value in a difference."""


def format_difference_text(difference: ComparisonOfSides) -> str:
    """Return the lines of a difference for a terminal. The lines give only the number of unchanged rules."""
    sides = ("A", difference.first_side), ("B", difference.second_side)
    lines = [f"{name}: {line}" for name, side in sides for line in side.roots]
    lines += [f"{name}: {_describe_side(side)}" for name, side in sides]
    for kind, steps in _group_steps_by_kind(difference):
        lines += ["", f"{kind}: {len(steps)}"]
        if kind != UNCHANGED_VERDICT_KIND:
            lines += [f"  {step.rule}  {_describe_verdicts(step)}{_describe_reason(step)}" for step in steps]
    return "\n".join(lines) + "\n"


def format_difference_markdown(difference: ComparisonOfSides) -> str:
    """Return a difference as a page of Markdown, for a comment on a change request or a release note."""
    sides = ("A", difference.first_side), ("B", difference.second_side)
    lines = [f"**{name}: {_escape_markdown(line)}**  " for name, side in sides for line in side.roots]
    lines += [f"{name}: {_escape_markdown(_describe_side(side))}  " for name, side in sides]
    for kind, steps in _group_steps_by_kind(difference):
        lines += ["", f"## {kind.capitalize()}: {len(steps)}"]
        if kind != UNCHANGED_VERDICT_KIND:
            lines += ["", "| rule | A | B | check | expected | observed |", "| --- | --- | --- | --- | --- | --- |"]
            lines += [_format_row(step) for step in steps]
    return "\n".join(lines) + "\n"


def format_as_json(difference: ComparisonOfSides) -> str:
    """Return a difference as JSON, with both sides and the rules of each kind of change. For an unchanged rule, the
    JSON contains only the current verdict.
    """
    kinds = {kind: [asdict(step) for step in steps] for kind, steps in _group_steps_by_kind(difference, empty=True)}
    for steps in kinds.values():
        for step in steps:
            del step["kind"]
    value = {"schema": 1, "a": asdict(difference.first_side), "b": asdict(difference.second_side), **kinds}
    return json.dumps(value, indent=1, ensure_ascii=True) + "\n"


FORMATTER_BY_NAME: dict[str, Callable[[ComparisonOfSides], str]] = {
    "text": format_difference_text,
    "markdown": format_difference_markdown,
    "json": format_as_json,
}


def _group_steps_by_kind(
    difference: ComparisonOfSides, *, empty: bool = False
) -> Iterable[tuple[str, list[RuleComparison]]]:
    for kind in KINDS_OF_CHANGE:
        if (steps := difference.of(kind)) or empty:
            yield kind, steps


def _describe_side(side: ComparedSide) -> str:
    system = one_line(format_system_label(side.sut_name, side.sut_version, side.profile), 80)
    runs = "1 run" if side.runs == 1 else f"{side.runs} runs"
    partial = ", partial: rules that this side did not judge are missing" if side.partial else ""
    return f"{one_line(side.asked, 80)} ({system}, {runs}{partial})"


def _describe_verdicts(step: RuleComparison) -> str:
    return " -> ".join("none" if each is None else each.verdict for each in (step.before, step.after))


def _describe_reason(step: RuleComparison) -> str:
    if step.kind != NEWLY_FAILING_KIND or step.after is None:
        return ""
    after = step.after
    seen = {
        "expected": _add_value_names(after.expected),
        "observed": _add_value_names(after.observed),
        "check": _shorten_check_name(after),
        "again": format_repeat_command(step.rule),
    }
    return "".join(f"\n    {name:9}{_shorten_value(text)}" for name, text in seen.items())


def _shorten_check_name(judged: RuleVerdictOfSide) -> str:
    """Return the name of the check without its file, because the line already shows the file."""
    return shorten_check_id(judged.test or "").name


def _add_value_names(text: str | None) -> str:
    return get_value_name_adder()(text or "")


def _shorten_value(text: str | None) -> str:
    return one_line(text or "-", _MAX_TEXT_CHARACTERS)


def _format_row(step: RuleComparison) -> str:
    last: RuleVerdictOfSide | None = step.after or step.before
    words = ["none" if each is None else each.verdict for each in (step.before, step.after)]
    of_last = (
        (_shorten_check_name(last), _add_value_names(last.expected), _add_value_names(last.observed)) if last else ()
    )
    words += map(_shorten_value, of_last)
    return f"| {' | '.join(_escape_markdown(word) for word in (step.rule, *words))} |"


def _escape_markdown(text: str) -> str:
    """Escape a text so that Markdown shows it literally, and does not create links, tags or table cells from it."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|&~@:])", r"\\\1", one_line(text, 300))
