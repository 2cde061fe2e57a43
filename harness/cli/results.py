"""The commands that read run folders: ``mqconform diff``, ``summary`` and ``baseline``."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.outputs import convert_write_errors_to_usage_errors, require_writable_file
from harness.errors import UsageError
from harness.exit_codes import EXIT_NOT_CONFORMANT

EXIT_NEWER_RUN_WORSE = 1
"""The exit code when a rule fails in the newer run but not in the older run."""


class DiffFormat(StrEnum):
    """The output formats of ``mqconform diff``."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"
    JUNIT = "junit"


def register(app: typer.Typer) -> None:
    """Add the commands to ``mqconform``."""
    app.command()(diff)
    app.command()(summary)
    baselines = typer.Typer(help="Maintain the known deviations of `mqconform run --baseline FILE`.")
    baselines.command()(update)
    app.add_typer(baselines, name="baseline", no_args_is_help=True)


def diff(
    run_a: Annotated[Path, typer.Argument(help="The older run folder.")],
    run_b: Annotated[Path, typer.Argument(help="The newer run folder.")],
    format_: Annotated[DiffFormat, typer.Option("--format", help="Format of the output.")] = DiffFormat.TEXT,
    out: Annotated[Path | None, typer.Option(help="Write to this file instead of standard output.")] = None,
) -> None:
    """Compare two runs, rule by rule. Exit with 1 when a rule fails in the newer run but not in the older run."""
    from harness.results.difference import compare_runs
    from harness.results.difference_shown import DIFFERENCE_FORMATTER_BY_NAME
    from harness.results.run_results import read_run

    _require_writable_output(out)
    difference = compare_runs(read_run(run_a), read_run(run_b))
    text = DIFFERENCE_FORMATTER_BY_NAME[format_](difference)
    if out is None:
        typer.echo(text, nl=False)
    else:
        _write_output(out, text)
    if difference.is_worse:
        raise typer.Exit(EXIT_NEWER_RUN_WORSE)


def summary(
    run: Annotated[Path, typer.Argument(help="The run folder.")],
    out: Annotated[Path | None, typer.Option(help="Write to this file instead of standard output.")] = None,
) -> None:
    """Print a run as one page of Markdown: counts, failures by cause, known deviations.

    On a terminal, names are printed unchanged; in a file or a pipe, characters with a meaning in Markdown are escaped.
    """
    from harness.results.run_results import read_run
    from harness.results.summary import build_summary, unescape_markdown
    from harness.rules.catalogue import load_catalogue

    _require_writable_output(out)
    text = build_summary(read_run(run), load_catalogue())
    if out is None:
        typer.echo(unescape_markdown(text) if sys.stdout.isatty() else text, nl=False)
    else:
        _write_output(out, text)


def update(
    run: Annotated[Path, typer.Argument(help="The run folder with the failures to accept.")],
    baseline: Annotated[Path, typer.Option(help="The baseline file to write. Reasons in an existing file are kept.")],
) -> None:
    """Write the failures of a run into a baseline, and remove the entries of rules that no longer fail. New entries
    have an empty reason. A partial run can create a baseline, but not change one.

    Exit with 1 when the run left rules undecided: a baseline cannot accept undecided rules, so a run with this baseline
    also exits with 1.
    """
    from harness.judging.baseline import load_baseline, write_baseline
    from harness.judging.verdicts import RUN_FAILING_VERDICTS, Verdict
    from harness.results.run_results import read_run
    from harness.rules.catalogue import load_catalogue
    from harness.run.named_roots import RootCauses

    require_writable_file(baseline, "--baseline")
    found = read_run(run)
    if found.reason_for_partial_run and (baseline.exists() or found.ended_early):
        raise UsageError(
            f"{run} is partial ({found.reason_for_partial_run}), so rules that the run did not judge could fail; "
            "give the folder of a complete run"
        )
    if roots := RootCauses.from_json(found.run.get("roots", ())).lines():
        raise UsageError(
            f"{run}: {roots[0]}; remove this cause, repeat the run, and give the folder of the repeated run"
        )
    failing = {rule for rule, one in found.rules.items() if one.verdict is Verdict.FAIL}
    known = load_baseline(baseline, load_catalogue()).deviations if baseline.exists() else {}
    unsettled = {
        rule: str(one.line["reason"] or one.observed)
        for rule, one in found.rules.items()
        if one.verdict in RUN_FAILING_VERDICTS and rule not in failing
    }
    _write_output(baseline, write_baseline(failing, known, unsettled))
    new, gone = sorted(failing - known.keys()), sorted(known.keys() - failing)
    typer.echo(f"{baseline}: {len(failing)} deviations, {len(new)} new, {len(gone)} removed")
    if new:
        typer.echo(f"enter a reason for {', '.join(new)}")
    if unsettled:
        typer.echo(
            f"a baseline accepts only failures, but {len(unsettled)} "
            f"rules are undecided: {', '.join(sorted(unsettled))}"
        )
        raise typer.Exit(EXIT_NOT_CONFORMANT)


def _require_writable_output(out: Path | None) -> None:
    if out is not None:
        require_writable_file(out)


def _write_output(path: Path, text: str) -> None:
    with convert_write_errors_to_usage_errors(path):
        path.write_text(text, encoding="utf-8")
