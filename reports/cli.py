"""Implements the command ``mqconform rollup``, which ingests runs and writes the site.

Spark is imported only when the command runs.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from reports.captures import CaptureStore
from reports.errata import load_errata
from reports.lake import cli as lake_cli
from reports.lake.command import (
    LakeFolderOption,
    SparkMasterOption,
    SparkSettingsOption,
    exit_with_report_code,
    open_lake,
    print_error_in_one_line,
    report_results,
)
from reports.lake.local import require_existing_argument, require_existing_lake
from reports.matrix import write_matrix
from reports.model import SiteContents
from reports.packets import get_packet_reader
from reports.progress import Progress
from reports.rollup_error import RollupError
from reports.site import write_site
from reports.summary import build_terminal_matrix
from reports.text import one_line
from reports.values import get_value_name_adder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from reports.lake.store import Lake

SITE_MARKER_FILE_NAME = ".mqconform-rollup"
"""The name of a file that every rollup writes to its folder --out. The command replaces ``site/`` only in a folder that
already contains this file.
"""
SPARK_HEAP_SETTINGS_FOR_SITE = MappingProxyType({"spark.driver.memory": "1g"})
"""The memory settings of Java for a command that only writes the pages of a site. An ingest needs more memory."""
PIPED_WIDTH_CHARACTERS = 1_000
MAX_NAMED_ENTRIES = 3
"""The maximum number of entries in one line on the terminal. If there are more entries, the line ends with the number
of omitted entries.
"""


def register(app: typer.Typer) -> None:
    """Add ``rollup`` to the command line."""
    app.command("rollup")(roll_up_runs)


def register_lake(app: typer.Typer) -> None:
    """Add ``lake`` to the command line, with the command that writes the site of a lake."""
    lake_cli.register(app)
    lake_cli.app.command("site")(write_site_of_lake)


def roll_up_runs(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...",
            help="Run folders, or folders that `mqconform pair` wrote: paths, URLs, or patterns of URLs.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder for lake/, site/ and matrix.json.")],
    replace: Annotated[
        bool,
        typer.Option(
            "--replace", help="If the lake contains a run of the same name with different content, replace that run."
        ),
    ] = False,
    follow_runs: Annotated[
        bool,
        typer.Option("--follow", help="Watch RUN, a folder of run folders, and ingest each run when it is finished."),
    ] = False,
    every: Annotated[
        float,
        typer.Option(
            "--every", min=1, help="With --follow: the number of seconds between two searches for finished runs."
        ),
    ] = 60,
    once: Annotated[bool, typer.Option("--once", help="With --follow: ingest the new runs once, and exit.")] = False,
    wait: Annotated[
        float, typer.Option("--wait", min=0, help="Maximum time in seconds to wait for the given runs to finish.")
    ] = 0,
    master: SparkMasterOption = "local[*]",
    conf: SparkSettingsOption = None,
) -> None:
    """Ingest run folders into the lake in the folder --out, and write the interop matrix and the static site of this
    lake.

    Exit code 0: done; 2: an argument was refused, or the command failed; 3: done, but some lines of the input were
    not verdicts.
    """
    if follow_runs:
        _follow_runs(runs, out, replace or wait > 0, None if once else every, master, conf)
        return
    with print_error_in_one_line("rollup"):
        if not wait:
            require_existing_argument(runs, "run folder")
        _require_replaceable(out)
        where = str(out / "lake")
        with open_lake("rollup", where, master, conf, new=True, runs=runs) as (lake, progress):
            from reports.lake.finishing import wait_until_finished
            from reports.lake.ingest import ingest, note_published_on_failure
            from reports.lake.store import Lake

            wait_until_finished(lake.spark, runs, wait, progress)
            report = ingest(lake, runs, replacing=replace, stage=progress)
            shown = None
            with note_published_on_failure(report):
                if Lake.open_or_create(lake.spark, where).manifest.number:
                    shown = _write_site(Lake.open(lake.spark, where), out, progress)
    if shown:
        _print_ingest_result("rollup", *shown, out)
    report_results("rollup", report)


def _follow_runs(
    runs: list[str], out: Path, of_named: bool, every: float | None, master: str, conf: list[str] | None
) -> None:
    """Keep the lake and the site up to date with a folder of runs. If ``every`` is None, search the folder only
    once.

    ``of_named``: whether the user gave an option that cannot be combined with --follow, because it applies only to runs
    named on the command line.
    """
    from reports.following import follow_runs

    with print_error_in_one_line("rollup"):
        if len(runs) != 1 or of_named:
            raise RollupError("--follow needs exactly one folder of runs, and cannot be used with --replace or --wait")
        require_existing_argument(runs, "folder")
        _require_replaceable(out)
        where = str(out / "lake")
        with open_lake("rollup", where, master, conf, new=True) as (lake, progress):
            progress.pause()
            reports = follow_runs(lake.spark, where, runs[0], every, partial(_rewrite_site, lake.spark, where, out))
    if every is None:
        exit_with_report_code(reports)


def _rewrite_site(spark: SparkSession, where: str, out: Path, progress: Progress) -> None:
    from reports.lake.store import Lake

    shown = _write_site(Lake.open(spark, where), out, progress)
    progress.erase_line()
    _print_ingest_result("rollup", *shown, out)


def write_site_of_lake(
    lake: LakeFolderOption,
    out: Annotated[Path, typer.Option("--out", help="Folder for site/ and matrix.json.")],
    master: SparkMasterOption = "local[*]",
    conf: SparkSettingsOption = None,
) -> None:
    """Write the interop matrix and the static site of a lake."""
    with print_error_in_one_line("lake site"):
        require_existing_lake(lake)
        _require_replaceable(out)
        with open_lake("lake site", lake, master, conf, settings=SPARK_HEAP_SETTINGS_FOR_SITE) as (opened, progress):
            contents, missing = _write_site(opened, out, progress)
    _print_ingest_result("lake site", contents, missing, out)


def _write_site(lake: Lake, out: Path, progress: Callable[..., None]) -> tuple[SiteContents, list[str]]:
    """Write the site. Return its content, and the captures that verdicts name and that no run folder contains."""
    from reports.site_of_lake import get_run_folder, load_contents

    progress("reading the lake")
    contents = load_contents(lake)
    captures = CaptureStore(out / "site", partial(get_run_folder, lake), get_packet_reader())
    missing = write_site(contents, captures, progress, load_errata(), get_value_name_adder())
    write_matrix(contents, out / "matrix.json")
    return contents, missing


def _print_ingest_result(command: str, contents: SiteContents, missing: list[str], out: Path) -> None:
    if missing:
        left = len(missing) - MAX_NAMED_ENTRIES
        more = f" and {left} more (the pages of the verdicts report them)" if left > 0 else ""
        names = "; ".join(missing[:MAX_NAMED_ENTRIES])
        line = f"{len(missing)} captures are missing from their run folders: {names}{more}"
        typer.echo(f"mqconform {command}: {line}", err=True)
    make_matrix_console().print(build_terminal_matrix(contents))
    typer.echo(f"site: {(out / 'site' / 'index.html').resolve()}")


def make_matrix_console() -> Console:
    """Return the console for the matrix. The console does not wrap rows if the output is not a terminal and no
    width is given.
    """
    console = Console()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPED_WIDTH_CHARACTERS
    return console


def _require_replaceable(out: Path) -> None:
    """Raise `RollupError` if the command would replace a file that no earlier rollup has written."""
    marker = out / SITE_MARKER_FILE_NAME
    try:
        out.mkdir(parents=True, exist_ok=True)
        if (out / "site").exists() and not marker.exists():
            raise RollupError(f"{one_line(str(out / 'site'))} was not written by rollup: give --out another folder")
        marker.write_text("mqconform rollup replaces the folder site/ here\n", encoding="ascii")
    except OSError as error:
        raise RollupError(f"cannot write to {one_line(str(out))}: {error.strerror}") from error
