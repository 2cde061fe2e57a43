"""Answers one SQL query about a local lake with duckdb, without Java. The query can only read, and its memory and time
are limited.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from reports.lake import manifest
from reports.rollup_error import RollupError
from reports.text import one_line

PERMITTED_SQL_STATEMENT_TYPES = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
MEMORY_LIMIT_MIB = 2_048


@dataclass(frozen=True, slots=True)
class SqlQueryResult:
    """The rows of the result of a query, as Python values. ``has_more_rows``: whether the result has more rows than the
    limit.
    """

    columns: list[str]
    rows: list[tuple[Any, ...]]
    has_more_rows: bool


def run_query(lake: Path, query: str, rows: int, seconds: float) -> SqlQueryResult:
    """Run a query about the tables in the newest state of the lake, and return at most ``rows`` rows of its result.

    Raise `RollupError` for a statement that is not a query, an invalid query, and a query that exceeds a limit.
    """
    with (
        duckdb.connect(":memory:") as connection,
        _raise_error_in_one_line(seconds),
        _limit_query_time(connection, seconds),
    ):
        _create_table_views(connection, lake)
        _restrict_access(connection, lake)
        statements = connection.extract_statements(query)
        if len(statements) != 1 or statements[0].type not in PERMITTED_SQL_STATEMENT_TYPES:
            raise RollupError("give one query that only reads, such as select * from rule_current limit 3")
        done = connection.execute(statements[0])
        columns = [column[0] for column in done.description or ()]
        found = done.fetchmany(rows + 1)
    return SqlQueryResult(columns, found[:rows], len(found) > rows)


def _create_table_views(connection: duckdb.DuckDBPyConnection, lake: Path) -> None:
    """Create a view for each table of the newest state, from the files of the table."""
    state = manifest.read_newest_manifest(manifest.LocalFileSystem(), str(lake))
    if not state.number:
        raise RollupError(f"the lake at {one_line(str(lake))} is empty: fill it with mqconform lake ingest")
    for table in sorted({*state.derived, *(name for commit in state.commits for name in commit.tables)}):
        files = [str(file) for folder in state.folders(table) for file in sorted((lake / folder).glob("*.parquet"))]
        if files:
            connection.read_parquet(files, union_by_name=True, hive_partitioning=False).create_view(table)


def _restrict_access(connection: duckdb.DuckDBPyConnection, lake: Path) -> None:
    """Restrict what queries can do: they can read only the files of the lake, and use only the permitted memory."""
    data = str(lake / "data").replace("'", "''")
    connection.execute(
        f"set temp_directory = ''; set memory_limit = '{MEMORY_LIMIT_MIB}MiB'; set timezone = 'UTC';"
        f"set allowed_directories = ['{data}/']; set enable_external_access = false; set lock_configuration = true"
    )


@contextmanager
def _limit_query_time(connection: duckdb.DuckDBPyConnection, seconds: float) -> Iterator[None]:
    timer = threading.Timer(seconds, connection.interrupt)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def _raise_error_in_one_line(seconds: float) -> Iterator[None]:
    try:
        yield
    except duckdb.InterruptException as error:
        raise RollupError(
            f"the query took longer than {seconds:g} s: narrow the query, or increase --seconds"
        ) from error
    except duckdb.OutOfMemoryException as error:
        raise RollupError(f"the query needs more than {MEMORY_LIMIT_MIB} MiB of memory: narrow the query") from error
    except duckdb.CatalogException as error:
        reason = one_line(str(error).partition("\n")[0], 300)
        raise RollupError(f"{reason} `show tables` lists the tables") from error
    except duckdb.Error as error:
        raise RollupError(one_line(str(error).partition("\n\n")[0], 300)) from error
