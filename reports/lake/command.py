"""Provides the common parts of the commands that open a lake: options, exit codes, the session, and messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

import typer

from reports.extra import require_installed_packages
from reports.lake.local import is_url, require_existing_lake, require_writable_folder
from reports.progress import Progress
from reports.rollup_error import RollupError
from reports.text import one_line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from reports.lake.ingest import IngestReport
    from reports.lake.store import Lake

BAD_INPUT_EXIT_CODE, LINES_REJECTED_EXIT_CODE, INTERRUPTED_EXIT_CODE = 2, 3, 130
LARGE_INGEST_OCTETS = 100 << 20
"""The total size of verdict files, in octets, above which an ingest counts as large: such an ingest takes minutes."""
SHORT_INGEST_SETTINGS = {
    "spark.driver.defaultJavaOptions": "-XX:+UseSerialGC -Xmn512m",
    "spark.broadcast.blockSize": "128k",
    "spark.broadcast.checksum": "false",
    "spark.broadcast.compress": "false",
    "spark.buffer.pageSize": "1m",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.lightweightPlanChangeValidation": "false",
    "spark.sql.parquet.columnarReaderBatchSize": "256",
}
"""The settings of a session for a short ingest.

Without these settings, a short ingest spends a fifth of its time on adaptive planning between stages, as much time on a
concurrent garbage collector, and as much time on memory that Spark reserves for large tables: 64 MiB for each of some
hundred sorts and aggregations, and 4 MiB for each of as many broadcasts.
"""
MAX_REJECTED_LINES_ON_TERMINAL = 3
"""The maximum number of rejected lines that a command prints on the terminal. If there are more rejected lines, the
command prints the number of the omitted lines.
"""

SparkMasterOption = Annotated[str, typer.Option("--master", help="Spark master, such as spark://HOST:7077.")]
SparkSettingsOption = Annotated[
    list[str] | None, typer.Option("--conf", metavar="KEY=VALUE", help="A setting of Spark as KEY=VALUE. Repeatable.")
]
LakeFolderOption = Annotated[
    str, typer.Option("--lake", help="The lake: a folder, or a URL in a file system that Hadoop supports.")
]


@contextmanager
def open_lake(
    command: str,
    lake: str,
    master: str,
    conf: list[str] | None,
    *,
    new: bool = False,
    runs: Iterable[str] = (),
    settings: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[tuple[Lake, Progress]]:
    """Open a lake in a new session. A `RollupError` in this context becomes a one-line message on stderr and exit
    code 2.

    ``runs``: the run folders to ingest. ``settings``: the settings of the session; ``conf`` overrides them.
    """
    with print_error_in_one_line(command):
        if new:
            require_writable_folder(lake, "--lake")
        else:
            require_existing_lake(lake)
    with print_error_in_one_line(command), open_session(command, master, conf, settings, runs) as (spark, progress):
        from reports.lake.store import Lake

        yield (Lake.open_or_create if new else Lake.open)(spark, lake), progress


@contextmanager
def open_session(
    command: str, master: str, conf: list[str] | None, settings: Mapping[str, str], runs: Iterable[str] = ()
) -> Iterator[tuple[SparkSession, Progress]]:
    """Start a session of Spark. ``conf`` overrides the command's ``settings``."""
    given = dict(_parse_setting(each) for each in conf or ())
    from reports.spark import open_spark_session

    runs = list(runs)
    much = _is_large_ingest(runs)
    quick = SHORT_INGEST_SETTINGS if runs and not much else {}
    with Progress(command) as progress:
        progress("starting Java")
        with open_spark_session(master, conf={**quick, **settings, **given}, much=much) as spark:
            progress("reading the lake")
            yield spark, progress


@contextmanager
def print_error_in_one_line(command: str, extra: str = "reports") -> Iterator[None]:
    """Convert a `RollupError`, or the error of a missing package, into a one-line message on stderr and exit code 2."""
    try:
        require_installed_packages(extra)
        yield
    except RollupError as error:
        typer.echo(f"mqconform {command}: {error}", err=True)
        raise typer.Exit(BAD_INPUT_EXIT_CODE) from error
    except KeyboardInterrupt:
        typer.echo("mqconform: interrupted", err=True)
        raise typer.Exit(INTERRUPTED_EXIT_CODE) from None


def report_results(command: str, report: IngestReport) -> None:
    """Print the result for each argument, and exit with the code that follows from the results."""
    print_report(report, command)
    exit_with_report_code([report])


def exit_with_report_code(reports: Iterable[IngestReport]) -> None:
    """Exit with the code that follows from all reports of the command. If this code is 0, return instead."""
    reports = list(reports)
    if any(report.refused for report in reports):
        raise typer.Exit(BAD_INPUT_EXIT_CODE)
    if any(report.rejected_line_count for report in reports):
        raise typer.Exit(LINES_REJECTED_EXIT_CODE)


def print_report(report: IngestReport, command: str, *, captures: bool = False) -> None:
    """Print the result for each argument.

    ``captures``: whether the rejected items are captures instead of lines. The command has already reported rejected
    captures.
    """
    for line in report.refused:
        typer.echo(f"mqconform {command}: {line}", err=True)
    for folder in report.unfinished_folders:
        where = one_line(folder.removeprefix("file://"))
        typer.echo(f"mqconform {command}: {where} has not finished: skipped for now", err=True)
    if report.rejected_line_count and not captures:
        named = [
            f"{one_line(folder.removeprefix('file://'))}/verdicts.jsonl:{line} ({one_line(why)})"
            for folder, line, why in report.named_rejected_lines[:MAX_REJECTED_LINES_ON_TERMINAL]
        ]
        more = (
            f" and {report.rejected_line_count - MAX_REJECTED_LINES_ON_TERMINAL} more"
            if report.rejected_line_count > MAX_REJECTED_LINES_ON_TERMINAL
            else ""
        )
        typer.echo(
            f"mqconform {command}: {report.rejected_line_count} of "
            f"{report.kept_line_count + report.rejected_line_count} lines rejected: "
            f"{'; '.join(named)}{more}; the table `rejected` lists all of them",
            err=True,
        )
    parts = [f"{len(report.ingested_runs)} runs ingested ({report.kept_line_count} verdicts)"]
    parts += (
        [f"{len(report.replaced_runs)} replaced: {one_line(', '.join(report.replaced_runs))}"]
        if report.replaced_runs
        else []
    )
    parts += [f"{report.ingested_pair_count} pairs ingested"] if report.ingested_pair_count else []
    parts += [f"{report.known_argument_count} already in the lake"] if report.known_argument_count else []
    parts += [f"{len(report.refused)} refused"] if report.refused else []
    parts += [f"{len(report.unfinished_folders)} skipped for now"] if report.unfinished_folders else []
    typer.echo(f"lake state {report.number}: {', '.join(parts)}")


def _is_large_ingest(runs: Iterable[str]) -> bool:
    """Return whether an ingest of the run folders is large. An ingest is large if the size of the folders exceeds
    `LARGE_INGEST_OCTETS`, or is unknown because a folder is remote.
    """
    octets = 0
    for run in runs:
        if is_url(run):
            return True
        with suppress(OSError, ValueError):  # reported later, with the other refused folders
            octets += (Path(run) / "verdicts.jsonl").stat().st_size
    return octets > LARGE_INGEST_OCTETS


def _parse_setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise RollupError(f"--conf {one_line(text)}: give KEY=VALUE, such as spark.executor.memory=4g")
    return key, value
