"""The command ``mqconform rollup``. Spark is imported when the command runs, not before."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from reports.matrix import write_matrix
from reports.model import Rollup
from reports.rollup_error import RollupError
from reports.runs import load_runs, nameable
from reports.site import write_site
from reports.summary import terminal_matrix
from reports.text import one_line

MARKER = ".mqconform-rollup"
"""The mark of a folder whose lake/ and site/ are ours to replace."""
BAD_INPUT, LINES_REJECTED = 2, 3
NAMED = 3
"""Entries that one line on the terminal names before it only counts."""


def register(app: typer.Typer) -> None:
    """Add ``rollup`` to the command line."""
    app.command("rollup")(rollup)


def rollup(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Run folders (run.json, rules.json, verdicts.jsonl).")
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder for lake/, site/ and matrix.json.")],
    master: Annotated[str, typer.Option("--master", help="Spark master.")] = "local[*]",
) -> None:
    """Roll run folders up into a Parquet lake, an interop matrix and a static site.

    Exit 0: done; 2: bad input or no Java, the site stays as it was; 3: done, but lines of the input were no verdicts.
    """
    try:
        result = roll_up_to(runs, out, master)
    except RollupError as error:
        typer.echo(f"mqconform rollup: {error}", err=True)
        raise typer.Exit(BAD_INPUT) from error
    Console().print(terminal_matrix(result))
    typer.echo(f"site: {(out / 'site' / 'index.html').resolve()}")
    if result.rejected_count:
        raise typer.Exit(LINES_REJECTED)


def roll_up_to(folders: list[Path], out: Path, master: str) -> Rollup:
    """Do the whole roll-up, saying on stderr what was left out. Raises `RollupError`."""
    runs = load_runs(folders)
    _claim(out)
    from reports.rollup_job import roll_up
    from reports.spark import session

    with session(master, out / "spark.log") as spark:
        result = roll_up(spark, runs, out / "lake")
    write_matrix(result, out / "matrix.json")
    missing = write_site(result, out / "site")
    if result.rejected_count:
        named = [
            f"{one_line(bad.folder)}/verdicts.jsonl:{bad.line} ({one_line(bad.reason)})" for bad in result.rejected
        ]
        whole = result.kept + result.rejected_count
        _say(
            f"{result.rejected_count} of {whole} lines rejected", named, result.rejected_count, "lake/rejected has all"
        )
    if missing:
        _say(f"{len(missing)} captures not in their run folder", missing, len(missing), "their pages say so")
    return result


def _claim(out: Path) -> None:
    """Make sure that what will be replaced is ours."""
    marker = nameable(out) / MARKER
    try:
        out.mkdir(parents=True, exist_ok=True)
        foreign = [name for name in ("lake", "site") if (out / name).exists()]
        if foreign and not marker.exists():
            raise RollupError(f"{out / foreign[0]} was not written by rollup: give --out another folder")
        marker.write_text("lake/ and site/ here are replaced by mqconform rollup\n", encoding="ascii")
    except OSError as error:
        raise RollupError(f"cannot write to {out}: {error.strerror}") from error


def _say(what: str, named: list[str], count: int, rest: str) -> None:
    more = f" and {count - NAMED} more; {rest}" if count > NAMED else ""
    typer.echo(f"mqconform rollup: {what}: {'; '.join(named[:NAMED])}{more}", err=True)
