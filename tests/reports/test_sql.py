"""``mqconform lake sql`` answers queries about a local lake, reads no other files, and stops at its limits."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from pathlib import Path

import duckdb
import pytest
import typer
from typer.testing import CliRunner

import reports.cli
from reports.extra import PACKAGES_BY_EXTRA
from reports.lake import sql_command
from reports.lake.schemas import COLUMN_TYPES_BY_TABLE

ROOT = Path(reports.cli.__file__).parents[1]
DOCUMENTED = [
    query
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    for query in re.findall(r'\$ mqconform lake sql "([^"]+)"', page.read_text(encoding="utf-8"))
]
APP = typer.Typer()
APP.callback()(lambda: None)
reports.cli.register_lake(APP)


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """Return a lake with facts of two ingests, a derived table, and files of an ingest that was not published."""
    folder = tmp_path / "it's a lake"
    (folder / "manifests").mkdir(parents=True)
    write(folder, "c1/runs", "select 'one' as run, timestamptz '2026-11-22 23:30:00+00' as started")
    write(folder, "c2/runs", "select 'two' as run, timestamptz '2026-11-23 00:30:00+00' as started")
    write(folder, "c3/runs", "select 'unpublished' as run, now() as started")
    write(folder, "c2/matrix/unit=a", "select 'Contoso' as sut_name, '=1+1' as verdict, 3 as rules")
    manifest = {
        "schema": 1,
        "number": 2,
        "commits": [{"commit": name, "runs": [], "tables": ["runs"]} for name in ("c1", "c2")],
        "runs": {},
        "derived": {"matrix": {"a": "c2"}},
        "catalogues": {},
        "last_ingest": 2,
    }
    (folder / "manifests" / "00000002.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder


def write(lake: Path, folder: str, query: str) -> None:
    target = lake / "data" / folder
    target.mkdir(parents=True)
    duckdb.sql(query).write_parquet(str(target / "part-0.parquet"))


def ask(lake: Path, query: str, *options: str):
    return CliRunner().invoke(APP, ["lake", "sql", query, "--lake", str(lake), *options])


def rows(result) -> list[list[str]]:
    assert result.exit_code == 0, result.stderr
    return list(csv.reader(io.StringIO(result.stdout)))


def refused(result, words: str) -> None:
    assert result.exit_code == 2
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""


def test_sql_table_has_the_rows_of_the_newest_lake_state(lake: Path) -> None:
    found = rows(ask(lake, "select run, started::date as day from runs order by run"))
    assert found == [["run", "day"], ["one", "2026-11-22"], ["two", "2026-11-23"]]


def test_the_tables_of_the_lake_can_be_listed(lake: Path) -> None:
    assert rows(ask(lake, "show tables")) == [["name"], ["matrix"], ["runs"]]


def test_sql_csv_text_that_begins_like_a_formula_gets_an_apostrophe(lake: Path) -> None:
    assert rows(ask(lake, "select verdict, rules from matrix")) == [["verdict", "rules"], ["'=1+1", "3"]]


@pytest.mark.parametrize("query", DOCUMENTED)
def test_documented_sql_queries_run_on_the_tables(query: str) -> None:
    with duckdb.connect() as connection:
        for table, columns in COLUMN_TYPES_BY_TABLE.items():
            nested = ("array", "map", "struct")
            types = (f"{name} {'json' if kind.startswith(nested) else kind}" for name, kind in columns.items())
            connection.execute(f"create table {table} ({', '.join(types)})")
        assert connection.execute(query).fetchall() == []


def test_sql_result_on_a_terminal_is_a_table(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    console = sql_command.Console
    monkeypatch.setattr(sql_command, "Console", lambda: console(force_terminal=True, color_system=None, width=60))
    shown = ask(lake, "select sut_name, rules, null as nothing from matrix").stdout
    assert "┃ sut_name ┃ rules ┃ nothing ┃" in shown
    assert "│ Contoso  │ 3     │         │" in shown


def test_sql_rows_beyond_the_limit_are_left_out_and_the_limit_is_named(lake: Path) -> None:
    result = ask(lake, "from range(5)", "--rows", "2")
    assert rows(result) == [["range"], ["0"], ["1"]]
    assert "more than 2 rows" in result.stderr


def test_query_beyond_time_limit_gives_one_line_error(lake: Path) -> None:
    refused(ask(lake, "select count(*) from range(100000000000) a", "--seconds", "0.05"), "longer than 0.05 s")


@pytest.mark.parametrize(
    "statement",
    [
        "copy (select 1) to 'x.csv'",
        "create table x as select 1",
        "set threads = 1",
        "attach 'x.db'",
        "select 1; select 2",
        "",
    ],
)
def test_sql_text_that_is_not_a_single_query_is_refused(lake: Path, statement: str) -> None:
    refused(ask(lake, statement), "give one query that only reads")


@pytest.mark.parametrize("query", ["select * from read_text('/etc/passwd')", "select * from glob('/etc/*')"])
def test_sql_query_reads_no_file_outside_the_lake(lake: Path, query: str) -> None:
    refused(ask(lake, query), "disabled by configuration")


@pytest.mark.parametrize(
    ("query", "words"), [("selec", 'syntax error at or near "selec"'), ("from rule_curent", "`show tables` lists")]
)
def test_invalid_sql_query_gives_one_line_error(lake: Path, query: str, words: str) -> None:
    refused(ask(lake, query), words)


def test_sql_on_empty_missing_or_remote_lake_gives_one_line_error(tmp_path: Path) -> None:
    refused(ask(tmp_path, "select 1"), "is empty: fill it with mqconform lake ingest")
    refused(ask(tmp_path / "none", "select 1"), "no lake at")
    refused(ask(Path("hdfs://host/lake"), "select 1"), "is not a local folder")


def test_sql_query_needs_duckdb_and_no_spark(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pyspark", "pyarrow", "pandas"):
        monkeypatch.setitem(sys.modules, name, None)
    assert rows(ask(lake, "select 1 as one")) == [["one"], ["1"]]


def test_a_missing_duckdb_gives_one_line_error_with_the_remedy(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reports.extra.PACKAGES_BY_EXTRA", {**PACKAGES_BY_EXTRA, "sql": ("no_such_package",)})
    refused(ask(lake, "select 1"), "pip install 'mqconform[sql]'")
