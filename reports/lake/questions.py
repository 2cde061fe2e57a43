"""Implements the commands that query the lake without changing it: ``mqconform lake history``, ``diff`` and
``export``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from reports.lake.command import (
    LakeFolderOption,
    SparkMasterOption,
    SparkSettingsOption,
    open_lake,
    print_error_in_one_line,
)
from reports.rollup_error import RollupError
from reports.text import one_line

if TYPE_CHECKING:
    from reports.lake.store import Lake

ResultFormatter = TypeVar("ResultFormatter")
EXIT_NEW_FAILURES = 1
OutputFileOption = Annotated[
    Path | None, typer.Option("--out", help="File to write. Without this option, the answer is printed.")
]


def register(app: typer.Typer) -> None:
    """Add the commands to ``lake``."""
    app.command("history")(show_history)
    app.command("diff")(show_difference)
    app.command("export")(export_table)


def show_history(
    about: Annotated[str, typer.Argument(metavar="RULE|SUT", help="The id of a rule, or the name or key of a system.")],
    lake: LakeFolderOption,
    last: Annotated[int, typer.Option("--last", min=1, max=10_000, help="Maximum number of runs to show.")] = 50,
    form: Annotated[str, typer.Option("--format", help="Output format: text or json.")] = "text",
    master: SparkMasterOption = "local[*]",
    conf: SparkSettingsOption = None,
) -> None:
    """Show the verdicts of a rule, or of a system, over its runs."""
    with print_error_in_one_line("lake history"):
        from reports.lake.history import read_history as ask
        from reports.lake.history_shown import HISTORY_FORMATTER_BY_NAME

        show = _parse_format(form, HISTORY_FORMATTER_BY_NAME)
    with open_lake("lake history", lake, master, conf) as (at, stage):
        stage("history")
        _adapt_shuffle_partitions(at)
        sys.stdout.write(show(ask(at.table, about, last)))


def show_difference(
    a: Annotated[
        str,
        typer.Argument(
            help="The older side: a run, a version or key of a system, or a day (all runs that had started by then)."
        ),
    ],
    b: Annotated[str, typer.Argument(help="The newer side: a run, version or day.")],
    lake: LakeFolderOption,
    sut: Annotated[
        str | None, typer.Option("--sut", help="The name or key of the system, when A and B are versions or days.")
    ] = None,
    form: Annotated[str, typer.Option("--format", help="Output format: text, markdown or json.")] = "text",
    master: SparkMasterOption = "local[*]",
    conf: SparkSettingsOption = None,
) -> None:
    """Compare two runs, versions or days, rule by rule.

    Exit 0: no rule newly fails; 1: at least one rule newly fails; 2: bad input.
    """
    with print_error_in_one_line("lake diff"):
        from reports.lake.difference import NEWLY_FAILING_KIND, compare_sides
        from reports.lake.difference_shown import FORMATTER_BY_NAME

        show = _parse_format(form, FORMATTER_BY_NAME)
    with open_lake("lake diff", lake, master, conf) as (at, stage):
        stage("reading the current verdicts of both sides")
        _adapt_shuffle_partitions(at)
        found = compare_sides(at.table, a, b, sut)
    sys.stdout.write(show(found))
    if found.of(NEWLY_FAILING_KIND):
        raise typer.Exit(EXIT_NEW_FAILURES)


def export_table(
    table: Annotated[str, typer.Argument(help="Name of a table of the lake (docs/reports.md).")],
    lake: LakeFolderOption,
    form: Annotated[str, typer.Option("--format", help="Output format: csv or json.")] = "csv",
    out: OutputFileOption = None,
    master: SparkMasterOption = "local[*]",
    conf: SparkSettingsOption = None,
) -> None:
    """Write a table as CSV or JSON."""
    with print_error_in_one_line("lake export"):
        from reports.lake.exporting import TABLE_WRITER_BY_FORMAT, sort_table
        from reports.lake.schemas import COLUMN_TYPES_BY_TABLE

        write = _parse_format(form, TABLE_WRITER_BY_FORMAT)
        if table not in COLUMN_TYPES_BY_TABLE:
            raise RollupError(
                f"{one_line(table, 60)!r} is not a table of a lake; known tables: {', '.join(COLUMN_TYPES_BY_TABLE)}"
            )
        target = None if out is None else _require_writable(out)
    with open_lake("lake export", lake, master, conf) as (at, stage):
        stage(f"writing {table}")
        _adapt_shuffle_partitions(at)
        rows = sort_table(at.table(table), table)
        if target is None:
            write(rows, sys.stdout)
        else:
            with target.open("w", encoding="utf-8", newline="") as file:
                write(rows, file)


def _adapt_shuffle_partitions(lake: Lake) -> None:
    """Adapt the number of shuffle partitions to the size of the lake."""
    from reports.lake.writing import set_shuffle_partition_count

    set_shuffle_partition_count(lake.spark, sum(run.size for run in lake.manifest.runs.values()))


def _parse_format(name: str, formats: dict[str, ResultFormatter]) -> ResultFormatter:
    if name not in formats:
        raise RollupError(f"--format {one_line(name, 40)} is not one of {', '.join(formats)}")
    return formats[name]


def _require_writable(path: Path) -> Path:
    try:
        path.open("ab").close()
    except OSError as error:
        raise RollupError(f"cannot write {one_line(str(path))}: {error.strerror}") from error
    return path
