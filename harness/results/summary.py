"""Write a run as one page of Markdown for the summary of a CI job (``mqconform summary RUN``)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from harness.judging.verdicts import RUN_FAILING_VERDICTS, VERDICTS_WORST_FIRST, Verdict
from harness.printable import one_line
from harness.results.run_results import RunResults
from harness.rules.catalogue import Rule
from harness.run.causes import find_root_cause_of_finding, group_by_cause
from harness.run.named_roots import RootCauses
from harness.run.results import RuleResult

MAX_SHOWN_RULES = 50
"""The maximum number of rules that the page lists. Further rules are only counted."""
_LONGEST_TEXT_CHARACTERS = 200
_ESCAPABLE_PUNCTUATION = re.escape("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_MARKDOWN_SYNTAX_PATTERN = re.compile(
    rf"""
    \\(?=[{_ESCAPABLE_PUNCTUATION}]|$)          # a backslash of its own, before what it would take
    | [`*\[\]<>\#|&~@]                # code, emphasis, links, tags, numbers of issues, cells, entities, names of users
    | (?<!\w)_ | _(?!\w)              # emphasis, which never begins or ends within a word
    | :(?=//) | (?<=\w):(?=[\w+-]+:) | (?<!\w):(?=[\w+-]+:)     # addresses, emoji
    """,
    re.VERBOSE,
)
"""A pattern for text that Markdown would not display unchanged."""


def build_summary(found: RunResults, catalogue: Mapping[str, Rule]) -> str:
    """Return the page. It contains the tested system, the number of judged rules, the findings, and the known
    deviations.
    """
    return "\n".join(_list_lines(found, catalogue)) + "\n"


def _list_lines(found: RunResults, catalogue: Mapping[str, Rule]) -> Iterator[str]:
    run = found.run
    yield f"# MSMQ conformance: {escape_markdown(found.system)}"
    yield ""
    roots = RootCauses.from_json(run.get("roots", ()))
    known = (run.get("baseline") or {}).get("expected", {})
    bad = [one for one in found.rules.values() if one.verdict in RUN_FAILING_VERDICTS and one.rule not in known]
    resting = [one for one in bad if find_root_cause_of_finding(one, roots)]
    for root in roots.lines():
        yield from (f"**{escape_markdown(root)}**", "")
    if resting:
        yield from (
            escape_markdown(roots.describe_dependent_rules([one.rule for one in resting], MAX_SHOWN_RULES)),
            "",
        )
    name, harness, reach = (
        escape_markdown(one_line(str(run[key]), _LONGEST_TEXT_CHARACTERS)) for key in ("run", "harness", "reach")
    )
    yield f"Run {name}, {len(found.checks):,} checks, mqconform {harness}, reached as {reach}."
    if found.reason_for_partial_run is not None:
        yield f"**The run is partial: {escape_markdown(found.reason_for_partial_run)}.**"
    yield ""
    yield from _list_counts(found)
    for verdict in RUN_FAILING_VERDICTS:
        some = [one for one in bad if one.verdict is verdict and one not in resting]
        if some:
            yield from ("", f"## {_describe_verdict(verdict)}: {len(some)}")
            yield from _list_cause_tables(some, catalogue)
    if known:
        yield from ("", f"## Known deviations: {len(known)}", "", "| rule | why it is accepted |", "| --- | --- |")
        reasons = {rule: one_line(str(why["reason"]), _LONGEST_TEXT_CHARACTERS) for rule, why in known.items()}
        yield from (f"| {escape_markdown(rule)} | {escape_markdown(reason)} |" for rule, reason in reasons.items())
    if stale := (run.get("baseline") or {}).get("stale"):
        names = escape_markdown(one_line(", ".join(stale), _LONGEST_TEXT_CHARACTERS))
        yield from ("", f"**In the baseline, but no longer failing: {names}**")


def _list_counts(found: RunResults) -> Iterator[str]:
    documents: dict[str, Counter[Verdict]] = {}
    for one in found.rules.values():
        documents.setdefault(one.rule.partition("-")[0], Counter())[one.verdict] += 1
    there = [verdict for verdict in VERDICTS_WORST_FIRST if any(counts[verdict] for counts in documents.values())]
    yield f"| document | {' | '.join(map(_describe_verdict, there))} |"
    yield f"| --- |{' ---: |' * len(there)}"
    for name, counts in sorted(documents.items()):
        yield f"| {escape_markdown(name)} | {' | '.join(f'{counts[verdict]:,}' for verdict in there)} |"


def _list_cause_tables(bad: list[RuleResult], catalogue: Mapping[str, Rule]) -> Iterator[str]:
    """Yield one table for each cause that several rules share, and a last table for all other rules."""
    causes = group_by_cause(bad, RootCauses())
    shared = [cause for cause in causes if len(cause.findings) > 1]
    alone = [one for cause in causes if len(cause.findings) == 1 for one in cause.findings]
    tables = [(cause.title, cause.findings) for cause in shared]
    room = MAX_SHOWN_RULES
    for title, findings in [*tables, ("single causes" if shared else "", tuple(alone))]:
        if not findings:
            continue
        yield from ("", f"**{escape_markdown(one_line(title, _LONGEST_TEXT_CHARACTERS))}**") if title else ()
        if room:
            yield from ("", "| rule | demands | expected | observed | check |", "| --- | --- | --- | --- | --- |")
            yield from (_build_markdown_row(one, catalogue) for one in findings[:room])
        if len(findings) > room:
            yield from ("", f"and {len(findings) - room} more")
        room = max(0, room - len(findings))


def _build_markdown_row(result: RuleResult, catalogue: Mapping[str, Rule]) -> str:
    row, line = catalogue.get(result.rule), result.line
    seen = result.observed or line["reason"] or ""
    cells = (result.rule, row.says if row else "", result.expected, seen, line["test"] or "")
    return f"| {' | '.join(escape_markdown(one_line(cell, _LONGEST_TEXT_CHARACTERS)) for cell in cells)} |"


def _describe_verdict(verdict: Verdict) -> str:
    return str(verdict).replace("_", " ")


def escape_markdown(text: str) -> str:
    """Return text that Markdown displays unchanged: no part of the text becomes a link, a tag or the end of a table
    cell.
    """
    return _MARKDOWN_SYNTAX_PATTERN.sub(r"\\\g<0>", text)


def unescape_markdown(markdown: str) -> str:
    """Return a page without the backslashes that `escape_markdown` added, because a terminal would display the
    backslashes.
    """
    return re.sub(rf"\\([{_ESCAPABLE_PUNCTUATION}])", r"\1", markdown)
