"""Show the difference between two runs as text, Markdown, JSON and JUnit XML. Markup in texts from a system is
displayed as text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any
from xml.etree import ElementTree

from harness.printable import escape_unprintable, one_line
from harness.results.difference import WORSE_CHANGE_KINDS, ChangeKind, RunDifference, VerdictChange
from harness.results.run_results import RunResults
from harness.results.summary import escape_markdown
from harness.run.results import RuleResult

_LONGEST_TEXT_CHARACTERS = 160
"""The maximum length, in characters, of an expected or observed value in the output."""


def format_difference_as_text(difference: RunDifference) -> str:
    """Return the lines for a terminal. Unchanged rules are only counted."""
    lines = [
        f"{name}: {_describe_side(run)}" for name, run in (("A", difference.first_run), ("B", difference.second_run))
    ]
    for kind, steps in _list_change_kinds(difference):
        lines += ["", f"{kind}: {len(steps)}"]
        if kind is not ChangeKind.UNCHANGED:
            lines += [line for step in steps for line in _describe_step(step)]
    return "\n".join(lines) + "\n"


def format_difference_as_markdown(difference: RunDifference) -> str:
    """Return a page in Markdown for a comment on a pull request or for the summary of a CI job."""
    lines = [
        f"{name}: {escape_markdown(_describe_side(run))}  "
        for name, run in (("A", difference.first_run), ("B", difference.second_run))
    ]
    for kind, steps in _list_change_kinds(difference):
        lines += ["", f"## {kind.capitalize()}: {len(steps)}"]
        if kind is not ChangeKind.UNCHANGED:
            lines += ["", "| rule | A | B | check | expected | observed |", "| --- | --- | --- | --- | --- | --- |"]
            lines += [f"| {' | '.join(map(escape_markdown, _build_cells(step)))} |" for step in steps]
    return "\n".join(lines) + "\n"


def format_difference_as_json(difference: RunDifference) -> str:
    """Return the JSON object. It contains ``a`` and ``b`` (each with ``run``, ``system`` and ``partial``) and, for
    each kind of change, the rules that changed in this way.
    """
    kinds = {
        kind: [_build_difference_json(step) for step in difference.list_changes_of_kind(kind)] for kind in ChangeKind
    }
    sides = {
        name: {"run": run.run.get("run"), "system": run.system, "partial": run.reason_for_partial_run}
        for name, run in (("a", difference.first_run), ("b", difference.second_run))
    }
    return json.dumps({"schema": 1, **sides, **kinds}, indent=1) + "\n"


def format_difference_as_junit(difference: RunDifference) -> str:
    """Return the difference as JUnit XML, with a test case for each rule of the second run. A change for the worse
    is a failure.
    """
    root = ElementTree.Element("testsuite", name=f"{difference.first_run.system} to {difference.second_run.system}")
    worse = 0
    for step in difference.steps:
        section = step.rule.rpartition("-")[0].replace("-", ".", 1)
        case = ElementTree.SubElement(root, "testcase", classname=section, name=step.rule)
        if step.kind in WORSE_CHANGE_KINDS:
            worse += 1
            ElementTree.SubElement(
                case, "failure", type=str(step.kind), message=" ".join(map(str.strip, _describe_step(step)))
            )
        elif step.after is None:
            ElementTree.SubElement(case, "skipped", message=str(step.kind))
    for key, number in (("tests", len(difference.steps)), ("failures", worse), ("errors", 0)):
        root.set(key, str(number))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


DIFFERENCE_FORMATTER_BY_NAME: Mapping[str, Callable[[RunDifference], str]] = MappingProxyType(
    {
        "text": format_difference_as_text,
        "markdown": format_difference_as_markdown,
        "json": format_difference_as_json,
        "junit": format_difference_as_junit,
    }
)


def _list_change_kinds(difference: RunDifference) -> Iterator[tuple[ChangeKind, list[VerdictChange]]]:
    return ((kind, steps) for kind in ChangeKind if (steps := difference.list_changes_of_kind(kind)))


def _describe_side(run: RunResults) -> str:
    partial = f", partial: {run.reason_for_partial_run}" if run.reason_for_partial_run else ""
    return one_line(f"{run.system}, {run.run.get('run')}{partial}", 300)


def _describe_step(step: VerdictChange) -> Iterator[str]:
    yield f"  {step.rule}  {_describe_result(step.before)} -> {_describe_result(step.after)}"
    if step.kind in WORSE_CHANGE_KINDS and step.after is not None:
        expected, observed = (
            one_line(text, _LONGEST_TEXT_CHARACTERS) for text in (step.after.expected, step.after.observed)
        )
        yield f"    expected {expected}; observed {observed}"
        for check in step.checks[:3]:
            yield f"    {escape_unprintable(check)}"
        if len(step.checks) > 3:
            yield f"    and {len(step.checks) - 3} more checks"


def _describe_result(result: RuleResult | None) -> str:
    return "none" if result is None else str(result.verdict)


def _build_cells(step: VerdictChange) -> list[str]:
    last = step.after or step.before
    said = (last.line.get("test") or "", last.expected, last.observed) if last is not None else ("", "", "")
    return [
        step.rule,
        _describe_result(step.before),
        _describe_result(step.after),
        *(one_line(text, _LONGEST_TEXT_CHARACTERS) for text in said),
    ]


def _build_difference_json(step: VerdictChange) -> dict[str, Any]:
    after = step.after.line if step.after is not None else {}
    said = {name: after.get(name) for name in ("expected", "observed", "reason", "test")}
    verdicts = {"before": step.before and step.before.verdict, "after": step.after and step.after.verdict}
    return {"rule": step.rule, **verdicts, **said, "checks": list(step.checks)}
