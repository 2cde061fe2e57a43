"""The command ``allure``: a run as one HTML file, made by Allure's own program (npm)."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from harness.errors import UsageError

ALLURE = "allure@3"
LIMIT_S = 600
"""It may have to be fetched first."""
_PAGE = "index.html"


def register(app: typer.Typer) -> None:
    """Add the command to ``mqconform``."""
    app.command()(allure)


def allure(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    out: Annotated[Path, typer.Option(help="The HTML file; replaced when it is there.")] = Path("allure.html"),
) -> None:
    """Make one HTML file of a run's allure-results with npm's allure: epics are documents, stories are rules."""
    from harness.results.run_results import read_run
    from harness.run.results import ALLURE_FOLDER

    found = read_run(run)
    results = run / ALLURE_FOLDER
    if not results.is_dir():
        raise UsageError(f"{results}: is missing: the run has not ended, or was made without allure-pytest")
    npx = shutil.which("npx")
    if npx is None:
        raise UsageError(
            "npx is missing: Allure is a program of npm; install Node.js, or open allure-results otherwise"
        )
    with TemporaryDirectory(prefix="mqconform-allure-") as folder:
        name = f"MSMQ conformance: {found.system}{f' (partial: {found.partial})' if found.partial else ''}"
        options = ["--single-file", "--output", folder, "--report-name", name]
        command = [npx, "--yes", ALLURE, "awesome", *options, str(results.resolve())]
        try:
            done = subprocess.run(  # noqa: S603 - npm's program, on files of ours
                command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise UsageError(f"npx {ALLURE} took longer than {LIMIT_S} s; is npm's registry to be reached?") from error
        page = Path(folder) / _PAGE
        if done.returncode or not page.is_file():
            last = (done.stderr or done.stdout).strip().splitlines()[-1:]
            raise UsageError(f"npx {ALLURE} ended with {done.returncode}: {''.join(last)[:300]}")
        try:
            shutil.copyfile(page, out)
        except OSError as error:
            raise UsageError(f"{out}: cannot be written: {error.strerror}") from error
    typer.echo(f"{out}: {out.stat().st_size:,} bytes")
