"""The derived tables of the systems that an ingest touched, written anew below ``data/<commit>``; the others stay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql

from reports.lake import changes, current, derived
from reports.lake.files import as_pattern
from reports.lake.manifest import Known, table_folder
from reports.lake.schemas import DERIVED, ddl
from reports.lake.store import Lake
from reports.lake.writing import write

LINES_AT_ONCE = 2_500_000
"""Lines of the runs whose systems are derived in one job: what it holds in memory does not grow with the lake."""


def derive(
    lake: Lake, commit: str, suts: set[str], products: set[str], stage: Callable[[str], None]
) -> dict[str, dict[str, str]]:
    """Write the rows of these systems and products; return which commit holds which unit of each derived table.

    ``lake`` is the state to come, with its facts; its derived tables are of the state before.
    """

    def keep(table: str, frame: DataFrame) -> None:
        stage(table)
        write(
            frame.repartition("unit"), f"{lake.uri}/{table_folder(commit, table)}", partition_by="unit", mode="append"
        )

    runs, catalogue = lake.table("runs").cache(), lake.table("catalogue")
    known = lake.manifest.runs
    for some in _batches(suts, {sut: [run for run in known.values() if run.sut == sut] for sut in suts}):
        of, holders = sql.col("sut").isin(some), {each.commit for each in known.values() if each.sut in some}
        mine, tests = runs.where(of), lake.table("test_runs", holders).where(of)
        names = [run for run, each in known.items() if each.sut in some]
        evidence = lake.table("evidence", holders).where(sql.col("run").isin(names))
        rows = current.rule_current(tests, mine, catalogue, lake.table("verdicts", holders).where(of), evidence)
        keep("rule_current", rows.withColumn("unit", sql.col("sut")))
        keep("flaky", derived.flaky(tests, mine).withColumn("unit", sql.col("sut")))
    stands = lake.spark.read.schema(ddl("rule_current")).parquet(
        as_pattern(f"{lake.uri}/{table_folder(commit, 'rule_current')}")
    )
    keep("matrix", derived.matrix(stands).withColumn("unit", sql.col("sut")))
    keep("pairs", derived.pairs(stands, runs, catalogue))
    for some in _batches(products, {key: [run for run in known.values() if run.product == key] for key in products}):
        unit_of = {run.sut: run.product for run in known.values() if run.product in some}
        of, holders = sql.col("sut").isin(sorted(unit_of)), {run.commit for run in known.values() if run.sut in unit_of}
        rows = changes.changes(lake.table("test_runs", holders).where(of), runs.where(of), catalogue)
        units = runs.where(of).select("run", _unit(unit_of).alias("unit"))
        keep("changes", rows.join(sql.broadcast(units), "run").select(*DERIVED["changes"], "unit"))
    runs.unpersist()
    return {table: _units(lake, commit, table, products if table == "changes" else suts) for table in DERIVED}


def _unit(unit_of: dict[str, str]) -> Column:
    pairs = (sql.lit(each) for pair in sorted(unit_of.items()) for each in pair)
    return sql.create_map(*pairs)[sql.col("sut")]


def _batches(units: Iterable[str], runs: dict[str, list[Known]]) -> Iterator[list[str]]:
    """Group the units so that the runs of a group have `LINES_AT_ONCE` lines; leave out those without a run."""
    batch: list[str] = []
    lines = 0
    for unit in sorted(unit for unit in units if runs[unit]):
        more = sum(run.lines for run in runs[unit])
        if batch and lines + more > LINES_AT_ONCE:
            yield batch
            batch, lines = [], 0
        batch.append(unit)
        lines += more
    if batch:
        yield batch


def _units(lake: Lake, commit: str, table: str, touched: set[str]) -> dict[str, str]:
    """Return the commit of each unit: the touched ones are here now, or have no rows."""
    others = {unit: old for unit, old in lake.manifest.derived.get(table, {}).items() if unit not in touched}
    found = lake.files.entries(f"{lake.uri}/{table_folder(commit, table)}")
    return others | {each.name.removeprefix("unit="): commit for each in found if each.name.startswith("unit=")}
