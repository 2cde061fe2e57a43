"""Implements the command ``mqconform lake sql``. duckdb is imported only when the command runs."""

from __future__ import annotations

import csv
import sys
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from reports.lake.command import print_error_in_one_line
from reports.lake.local import get_lake_folder
from reports.text import escape_formula, one_line

if TYPE_CHECKING:
    from reports.lake.sql import SqlQueryResult

COMMAND_NAME = "lake sql"


def register(app: typer.Typer) -> None:
    """Add ``sql`` to ``lake``."""
    app.command("sql")(answer_sql_query)


def answer_sql_query(
    query: Annotated[
        str, typer.Argument(help="One query in duckdb's SQL that only reads; `show tables` lists the tables.")
    ],
    lake: Annotated[str, typer.Option("--lake", help="Local folder of the lake.")],
    rows: Annotated[
        int, typer.Option("--rows", min=1, max=1_000_000, help="Maximum number of rows to print.")
    ] = 10_000,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0.001, help="Maximum duration of the query, in seconds.")
    ] = 60,
) -> None:
    """Answer a query about the tables of a lake: as a table on a terminal, as CSV in a pipe or a file.

    The command needs duckdb (the extra `sql`), but not Java. Exit 0: answered; 2: bad input, or the query exceeded a
    limit.
    """
    with print_error_in_one_line(COMMAND_NAME, extra="sql"):
        folder = get_lake_folder(lake)
        from reports.lake.sql import run_query

        answer = run_query(folder, query, rows, seconds)
    _print_answer(answer)
    if answer.has_more_rows:
        typer.echo(
            f"mqconform {COMMAND_NAME}: the query has more than {rows} rows: give --rows, or a narrower query", err=True
        )


def _print_answer(answer: SqlQueryResult) -> None:
    console = Console()
    if console.is_terminal:
        table = Table(*answer.columns)
        for row in answer.rows:
            table.add_row(*(Text("" if cell is None else one_line(str(cell), 200)) for cell in row))
        console.print(table)
        return
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(answer.columns)
    writer.writerows([escape_formula(cell) if isinstance(cell, str) else cell for cell in row] for row in answer.rows)
