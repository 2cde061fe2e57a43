"""Print the findings of a run on the terminal when the run ends. The findings are grouped by cause, the worst
first, each with the command that repeats its check.

A deviation that the baseline expects is not a finding.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.judging.verdicts import RUN_FAILING_VERDICTS
from harness.printable import one_line
from harness.rules.catalogue import Rule
from harness.run.causes import find_root_cause_of_finding, group_by_cause
from harness.run.evidence import format_frame_numbers
from harness.run.options import CHECK_LIMIT_S

if TYPE_CHECKING:
    from harness.run.named_roots import RootCauses
    from harness.run.results import RuleResult

RESUME_OPTIONS: Mapping[str, Any] = {
    **dict.fromkeys(("--rule", "--select")),
    "-k": "",
    **dict.fromkeys(("--baseline", "--sut", "--topology", "--deadline")),
    "--strength": 2,
    "--workers": 1,
    "--wait": 0,
    "--check-limit": CHECK_LIMIT_S,
    "--maxfail": 0,
    "--allure": False,
}
"""The default values of the options that the command for resuming a run must repeat. The run folder does not record
these options.
"""
MAX_SHOWN_RULES = 20
"""The maximum number of rules that are shown with full details for each verdict. Further rules are listed by id."""
MAX_SHOWN_RULES_OF_CAUSE = 5
"""The maximum number of rules that are shown with full details for each cause. Further rules are listed by id."""
_LONGEST_FINDING_CHARACTERS = 300


def list_findings(
    results: Iterable[RuleResult], catalogue: Mapping[str, Rule], again: str, roots: RootCauses
) -> Iterator[str]:
    """Yield the lines of the findings. ``again`` is the end of the command that repeats a check, such as ``--sut
    sut.toml``.

    ``roots`` are the root causes (missing prerequisites), which are printed first. Rules that are inconclusive only
    because of a root cause are listed by id.
    """
    yield from roots.lines()
    found = [one for one in results if one.reason_of_known_deviation is None]
    resting = [one for one in found if find_root_cause_of_finding(one, roots)]
    if resting:
        yield roots.describe_dependent_rules([one.rule for one in resting])
        found = [one for one in found if one not in resting]
    for verdict in RUN_FAILING_VERDICTS:
        room, also = MAX_SHOWN_RULES, list[str]()
        for cause in group_by_cause([one for one in found if one.verdict is verdict], roots):
            shared = len(cause.findings) > 1
            shown = cause.findings[: min(room, MAX_SHOWN_RULES_OF_CAUSE)]
            if shared:
                yield one_line(cause.title, _LONGEST_FINDING_CHARACTERS)
            yield from _list_finding_lines(shown, catalogue, again)
            left = [one.rule for one in cause.findings[len(shown) :]]
            if shared and left:
                yield f"{verdict} for the same cause: {', '.join(left)}"
            else:
                also += left
            room -= len(shown)
        if also:
            yield f"{verdict} also: {', '.join(also)}"


def _list_finding_lines(of_cause: Iterable[RuleResult], catalogue: Mapping[str, Rule], again: str) -> Iterator[str]:
    """Yield the lines of findings with one cause. After the first finding, the lines omit the text that all
    findings share.
    """
    said: set[str] = set()
    for one in of_cause:
        first, *rest = describe_finding(one, catalogue, again)
        yield first
        yield from (f"    {line}" for line in rest if line not in said)
        said.update(rest)


def describe_finding(result: RuleResult, catalogue: Mapping[str, Rule], again: str) -> Iterator[str]:
    """Yield the lines about the verdict on a rule: the rule's sentence, the expected and observed values, the
    place, and the command that repeats the check.
    """
    line, row = result.line, catalogue.get(result.rule)
    yield f"{result.verdict} {result.rule}{f'  {row.says}' if row is not None else ''}"
    if result.shared_cause:
        yield f"one of:   {one_line(result.shared_cause, _LONGEST_FINDING_CHARACTERS)}"
    if result.expected or result.observed:
        yield f"expected: {one_line(result.expected, _LONGEST_FINDING_CHARACTERS)}"
        yield f"observed: {one_line(result.observed, _LONGEST_FINDING_CHARACTERS)}"
    if result.reason:
        yield f"because:  {one_line(result.reason, _LONGEST_FINDING_CHARACTERS)}"
    where = f"; {line['capture']}, {frames}" if (frames := format_frame_numbers(line)) else ""
    yield f"check:    {line['test'] or 'the whole run'}{where}"
    yield " ".join(["again: mqconform run", *_choose_check_option(line["test"], row), again])


def _choose_check_option(test: str | None, row: Rule | None) -> Iterator[str]:
    """Yield the command-line option that selects the check of a finding: an option that names the rule or, if no check
    covers the rule, an option that names the check.
    """
    if row is not None and row.observe != "passive":
        yield f"--rule {row.id}"
    elif test:
        yield f"-k {test.rpartition('::')[2].partition('[')[0]}"


def build_resume_command(given: Mapping[str, Any], folder: Path) -> str:
    """Return the command that resumes a run. The command repeats the options that selected the checks of the run;
    without them, all other checks would run. ``given`` contains the values of the options in `RESUME_OPTIONS`.
    """
    return f"{build_rerun_command(given, folder)} --resume"


def build_rerun_command(given: Mapping[str, Any], folder: Path | None) -> str:
    """Return the command that repeats a run from the beginning. The new run uses ``folder``, or the default folder
    if ``folder`` is None.
    """
    words = list[str]()
    for option, value in given.items():
        if value in (None, RESUME_OPTIONS[option]):
            continue
        for each in value if isinstance(value, list) else [value]:
            words += [option] if each is True else [option, str(each)]
    out = [] if folder is None else ["--out", str(folder)]
    return shlex.join(["mqconform", "run", *words, *out])


def build_repeat_options(sut: str | None, topology: str | None) -> str:
    """Return the end of the command that repeats a check."""
    option, path = ("--topology", topology) if topology is not None else ("--sut", sut)
    return f"{option} {shlex.quote(str(path))}"
