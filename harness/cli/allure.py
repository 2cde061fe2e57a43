"""The command ``mqconform allure``: make one HTML file of a run with Allure's own program, which npm installs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.outputs import convert_write_errors_to_usage_errors, require_writable_file
from harness.errors import UsageError
from harness.interrupts import unwind_on_signals

if TYPE_CHECKING:
    from harness.results.run_results import RunResults

ALLURE_PACKAGE = "allure@3"
NPM_TIMEOUT_S = 600
"""int s: the time limit for npm, which may have to download the package first."""
_ALLURE_PAGE_FILE_NAME = "index.html"


def register(app: typer.Typer) -> None:
    """Add the command to ``mqconform``."""
    app.command()(allure)


def allure(
    run: Annotated[Path, typer.Argument(help="The run folder.")],
    out: Annotated[Path, typer.Option(help="The HTML file. An existing file is replaced.")] = Path("allure.html"),
) -> None:
    """Make one HTML file of a run's allure-results with Allure from npm. In this file, each document is an epic, and
    each rule is a story.
    """
    from harness.results.run_results import read_run
    from harness.run.results import ALLURE_FOLDER

    found = read_run(run)
    npx = shutil.which("npx")
    if npx is None:
        raise UsageError(
            "npx, which runs Allure, is missing: install Node.js. If Allure is installed in another way, let it read "
            "the folder allure-results of a run that was made with --allure"
        )
    require_writable_file(out)
    with unwind_on_signals(), TemporaryDirectory(prefix="mqconform-allure-") as folder:
        results = run / ALLURE_FOLDER
        if not results.is_dir():
            results = _make_allure_results(found, Path(folder))
        partial = f" (partial: {found.reason_for_partial_run})" if found.reason_for_partial_run else ""
        name = f"MSMQ conformance: {found.system}{partial}"
        options = ["--single-file", "--output", folder, "--report-name", name]
        command = [npx, "--yes", ALLURE_PACKAGE, "awesome", *options, str(results.resolve())]
        try:
            done = subprocess.run(  # noqa: S603 - a program from npm, with our own files
                command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=NPM_TIMEOUT_S, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise UsageError(
                f"npx {ALLURE_PACKAGE} took longer than {NPM_TIMEOUT_S} s; check that npm's registry is reachable"
            ) from error
        page = Path(folder) / _ALLURE_PAGE_FILE_NAME
        if done.returncode or not page.is_file():
            last = (done.stderr or done.stdout).strip().splitlines()[-1:]
            raise UsageError(f"npx {ALLURE_PACKAGE} ended with exit code {done.returncode}: {''.join(last)[:300]}")
        with convert_write_errors_to_usage_errors(out):
            shutil.copyfile(page, out)
    typer.echo(f"the page is in {out} ({out.stat().st_size:,} bytes)")


def _make_allure_results(found: RunResults, folder: Path) -> Path:
    """Write a folder allure-results for a run that was made without ``--allure``; return the path of the folder."""
    from dataclasses import replace
    from functools import partial

    from harness.rules.catalogue import load_catalogue
    from harness.run.causes import add_shared_causes_to_results
    from harness.run.findings import describe_finding
    from harness.run.named_roots import RootCauses
    from harness.run.results import ALLURE_FOLDER, write_allure

    known = (found.run.get("baseline") or {}).get("expected", {})
    rules = [
        replace(one, reason_of_known_deviation=known[one.rule]["reason"]) if one.rule in known else one
        for one in found.rules.values()
    ]
    tell = partial(describe_finding, catalogue=load_catalogue(), again="--sut FILE")
    by_cause = add_shared_causes_to_results(rules, RootCauses.from_json(found.run.get("roots", ())))
    write_allure(by_cause, folder / ALLURE_FOLDER, found.folder, tell, found.reason_for_partial_run)
    return folder / ALLURE_FOLDER
