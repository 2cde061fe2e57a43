"""Keeps the lake and the site up to date with a folder of runs, for ``mqconform rollup --follow``."""

from __future__ import annotations

import time
from collections.abc import Callable

import typer
from pyspark.sql import SparkSession

from reports.lake.command import print_report
from reports.lake.following import RunFolderFollower, repeat_searches_for_new_runs
from reports.lake.ingest import IngestReport
from reports.lake.store import Lake
from reports.progress import Progress
from reports.text import one_line

ROLLUP_COMMAND_NAME = "rollup"


def follow_runs(
    spark: SparkSession,
    where: str,
    folder: str,
    every_s: float | None,
    write_site: Callable[[Progress], None],
    wait: Callable[[float], None] = time.sleep,
) -> list[IngestReport]:
    """Ingest the runs of ``folder`` into the lake at ``where``, and write the site when the lake has changed.

    ``every_s``: the time in seconds between two searches, which continue until Ctrl-C, or None to search only once.
    Return the reports of a single search, or an empty list after repeated searches.
    """
    reports: list[IngestReport] = []

    def note_report(report: IngestReport) -> None:
        if every_s is None:
            reports.append(report)
        if report.ingested_runs or report.refused or report.unfinished_folders:
            print_report(report, ROLLUP_COMMAND_NAME)

    follower = RunFolderFollower(spark, where, folder, note_report)
    written = -1

    def ingest_new_runs() -> None:
        nonlocal written
        with Progress(ROLLUP_COMMAND_NAME) as progress:
            follower.ingest_new_runs(progress)
            number = Lake.open_or_create(spark, where).manifest.number
            if number not in (0, written):
                write_site(progress)
            written = number

    if every_s is None:
        ingest_new_runs()
        return reports
    typer.echo(f"following {one_line(folder)}: one search every {every_s:g} s; Ctrl-C ends it")
    try:
        repeat_searches_for_new_runs(ingest_new_runs, every_s, _print_follow_error, wait)
    except KeyboardInterrupt:
        typer.echo("ended: the lake contains the runs that the last complete search found")
    return reports


def _print_follow_error(line: str) -> None:
    typer.echo(f"mqconform {ROLLUP_COMMAND_NAME}: {line}", err=True)
