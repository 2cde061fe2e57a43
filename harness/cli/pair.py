"""The command ``mqconform pair``: let two systems exchange messages through relays, and judge both."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.errors import UsageError
from harness.exit_codes import EXIT_NOT_CONFORMANT, EXIT_NOTHING_JUDGED
from harness.interrupts import unwound

if TYPE_CHECKING:
    from harness.pair.running import Cell

RESULTS_FILE = "pair.json"
SCHEMA = 1


def register(app: typer.Typer) -> None:
    """Add the command to ``mqconform``."""
    app.command()(pair)


def pair(
    a: Annotated[Path, typer.Option(help="The SUT file of system A.")],
    b: Annotated[Path, typer.Option(help="The SUT file of system B.")],
    out: Annotated[
        Path, typer.Option(help="The folder for captures and results. The folder must be missing or empty.")
    ],
    scenario: Annotated[list[str] | None, typer.Option(help="Run only this scenario. Repeatable.")] = None,
) -> None:
    """Let two systems exchange messages through relays of the tester, in both directions, and judge both.

    Exit with 1 when a scenario fails or a system breaks a rule, with 3 when no scenario could run.
    """
    from harness.cli.outputs import confirm_new, make_folder, report_write_errors
    from harness.pair.outcomes import Result
    from harness.pair.running import run_pair
    from harness.pair.scenarios import SCENARIOS
    from harness.pair.systems import Drivers
    from harness.rules.catalogue import load_catalogue
    from harness.sut.sut_file import load_sut_file

    known = {one.name: one for one in SCENARIOS}
    chosen = scenario or list(known)
    for name in chosen:
        if name not in known:
            raise UsageError(f"--scenario {name}: unknown scenario; known: {', '.join(known)}")
    confirm_new(out, may_be_empty=True)
    make_folder(out)
    files = load_sut_file(a), load_sut_file(b)
    drivers = Drivers(*files, out)
    with unwound():
        try:
            drivers.start()
            cells = run_pair(drivers, out, load_catalogue(), _print_cell, [known[name] for name in chosen])
        finally:
            drivers.stop()
    results = {
        "schema": SCHEMA,
        "systems": {role: asdict(file.sut) for role, file in zip("AB", files, strict=True)},
        "cells": [asdict(one) for one in cells],
    }
    with report_write_errors(out):
        (out / RESULTS_FILE).write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    if any(one.outcome.result in (Result.FAIL, Result.BROKEN) or one.broken for one in cells):
        raise typer.Exit(EXIT_NOT_CONFORMANT)
    if all(one.outcome.result is Result.UNSUPPORTED for one in cells):
        raise typer.Exit(EXIT_NOTHING_JUDGED)


def _print_cell(cell: Cell) -> None:
    why = f": {cell.outcome.why}" if cell.outcome.why else ""
    typer.echo(f"{cell.origin} -> {cell.target}  {cell.scenario:16} {cell.outcome.result}{why}")
    for role, rules in sorted(cell.broken.items()):
        typer.echo(f"    {role} breaks {', '.join(rules)} ({cell.capture})")
