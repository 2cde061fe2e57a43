"""The command ``mqconform replay``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.errors import UsageError
from harness.exit_codes import EXIT_NOT_CONFORMANT, EXIT_TOO_FEW_CHECKS
from harness.interrupts import unwind_on_signals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.results.replayed import ReplayResult

MAX_LISTED_DIFFERENCES = 50
"""The maximum number of checks that are listed for one reason; `--format json` lists all checks."""


def register(app: typer.Typer) -> None:
    """Add the command to ``mqconform``."""
    app.command("replay")(replay_run)


def replay_run(
    run: Annotated[Path, typer.Argument(help="The run folder, with its captures.")],
    rule: Annotated[
        list[str] | None, typer.Option(help="Replay only checks with a verdict on this rule. Repeatable.")
    ] = None,
    keyword: Annotated[
        str | None, typer.Option("-k", help="Replay only checks whose names match this expression, as in pytest -k.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Save the replay as a run in this folder.")] = None,
    format_: Annotated[str, typer.Option("--format", help="Format of the output: text or json.")] = "text",
) -> None:
    """Run the checks of a run again on their captures, without the system, and compare the verdicts. Exit with 0 when
    all replayed checks reproduce the verdicts of the run. Exit with 1 when a verdict differs, with 5 when no check can
    be replayed.
    """
    from harness.cli.progress import show_progress
    from harness.results.replayed import replay_checks_of_run
    from harness.results.run_results import read_run_json
    from harness.rules.catalogue import load_catalogue
    from harness.run.run import build_rules_json

    if format_ not in ("text", "json"):
        raise UsageError(f"--format {format_}: the format must be text or json")
    if read_run_json(run).get("suites") != build_rules_json(load_catalogue())[1]:
        typer.echo(
            "the run used a different rule set from the one installed here: its checks may have been different",
            err=True,
        )
    with unwind_on_signals(), show_progress("checks replayed") as progress:
        found = replay_checks_of_run(run, rule or (), keyword, out, progress)
    if format_ == "json":
        typer.echo(json.dumps(found.to_json(), indent=1))
    else:
        for line in describe_replay_result(found):
            typer.echo(line)
    if found.differences_by_check:
        raise typer.Exit(EXIT_NOT_CONFORMANT)
    if not found.checks_with_same_verdicts:
        raise typer.Exit(EXIT_TOO_FEW_CHECKS)


def describe_replay_result(found: ReplayResult) -> Iterator[str]:
    """Yield the lines for the terminal: the verdicts that differ, the checks that cannot be replayed, and the
    counts.
    """
    for test, differences in found.differences_by_check.items():
        yield f"{test}:"
        for one in differences:
            yield f"  {one.rule}: verdict in the run: {one.verdict_in_run}"
            yield f"  {one.rule}: verdict in the replay: {one.verdict_in_replay}"
    by_reason: dict[str, list[str]] = {}
    for test, why in found.reason_by_unplayable_check.items():
        by_reason.setdefault(why, []).append(test)
    for why, tests in by_reason.items():
        for test in tests[:MAX_LISTED_DIFFERENCES]:
            yield f"{test}: {why}"
        if len(tests) > MAX_LISTED_DIFFERENCES:
            yield f"{len(tests) - MAX_LISTED_DIFFERENCES:,} more checks: {why}"
    whole = (
        len(found.checks_with_same_verdicts) + len(found.differences_by_check) + len(found.reason_by_unplayable_check)
    )
    yield (
        f"{len(found.checks_with_same_verdicts):,} of {whole:,} checks reproduced the verdicts of the run; "
        f"{len(found.differences_by_check):,} differed, {len(found.reason_by_unplayable_check):,} cannot be replayed"
    )
