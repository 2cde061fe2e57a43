"""The facts of one ingest, written below ``data/<commit>``; nothing of it is the lake until a manifest names it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from reports.lake import facts, lines, sources
from reports.lake.files import as_pattern
from reports.lake.manifest import Commit, table_folder
from reports.lake.schemas import SYSTEM, ddl
from reports.lake.sources import VERDICTS, Source
from reports.lake.store import Lake
from reports.rollup_error import RollupError
from reports.text import one_line

SHUFFLE_PARTITION = 32 << 20
"""Octets of the input that make one partition of a shuffle."""
SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions"
OF_THE_RUN = (*SYSTEM, "run", "folder", "reach", "started", "suites", "partial")
RUN_DDL = (
    "path string, schema int, ingest bigint, sut string, sut_name string, sut_version string, profile string, "
    "run string, folder string, reach string, started timestamp, suites string, partial boolean"
)


def size_shuffles(spark: SparkSession, octets: int) -> None:
    """Have shuffles of as many partitions as that much input needs."""
    cores = spark.sparkContext.defaultParallelism
    spark.conf.set(SHUFFLE_PARTITIONS, str(max(cores, min(4096, 1 + octets // SHUFFLE_PARTITION))))


def write(frame: DataFrame, folder: str, *, partition_by: str | None = None, mode: str = "error") -> None:
    """Write Parquet files."""
    writer = frame.write.mode(mode)
    (writer.partitionBy(partition_by) if partition_by else writer).parquet(folder)


def write_facts(
    lake: Lake, commit: str, runs: Sequence[Source], fresh: Sequence[Source], stage: Callable[[str], None]
) -> tuple[dict[int, int], list[str]]:
    """Write every fact table. ``fresh``: a source for each version of the suites that the lake lacks.

    Returns the lines kept by ``ingest``, and the names of the tables.
    """
    spark, written = lake.spark, []

    def keep(table: str, frame: DataFrame) -> DataFrame:
        stage(table)
        folder = f"{lake.uri}/{table_folder(commit, table)}"
        write(frame, folder)
        written.append(table)
        return spark.read.schema(ddl(table)).parquet(as_pattern(folder))

    catalogue = lake.table("catalogue")
    if fresh:
        rules = sources.rules_of(spark, fresh)
        catalogue = catalogue.unionByName(keep("catalogue", sources.catalogue(rules)))
        keep("suites", sources.suites(rules))
    rows = spark.createDataFrame([_run_row(source) for source in runs], RUN_DDL)
    by_schema = {
        schema: rows.where(sql.col("schema") == schema).drop("schema") for schema in {each.schema for each in runs}
    }
    taken = {
        schema: lines.parsed(_lines(lake, [each for each in runs if each.schema == schema]), of, schema)
        for schema, of in by_schema.items()
    }
    known = catalogue.where(sql.col("suites").isin(sorted({each.row["suites"] for each in runs})))
    verdicts = keep("verdicts", lines.union([lines.verdicts(each, known, schema) for schema, each in taken.items()]))
    keep("evidence", lines.union([lines.evidence(each, schema) for schema, each in taken.items()]))
    kept = {row.ingest: row["count"] for row in verdicts.groupBy("ingest").count().collect()}
    if short := [each for each in runs if each.lines != kept.get(each.ingest, 0)]:
        found = [
            _rejected(lake, [each for each in short if each.schema == schema], of) for schema, of in by_schema.items()
        ]
        counted = keep("rejected", lines.union([each for each in found if each is not None])).groupBy("run").count()
        _account(short, kept, {row.run: row["count"] for row in counted.collect()})
    tests = keep("test_runs", facts.test_runs(verdicts, rows).sortWithinPartitions("sut", "ingest"))
    keep("rule_runs", facts.rule_runs(tests, rows).sortWithinPartitions("sut", "ingest"))
    keep("runs", _runs(spark, runs, kept))
    return kept, written


def leave_out(lake: Lake, gone: set[str], commit: str) -> Lake:
    """Write the commits that hold these runs anew without them, under names that begin with ``commit``'s."""
    commits: list[Commit] = []
    for number, old in enumerate(lake.manifest.commits):
        if gone.isdisjoint(old.runs):
            commits.append(old)
            continue
        new = Commit(f"{commit}-{number}", tuple(run for run in old.runs if run not in gone), old.tables)
        for table in old.tables:
            rows = lake.spark.read.schema(ddl(table)).parquet(
                as_pattern(f"{lake.uri}/{table_folder(old.commit, table)}")
            )
            if "run" in rows.columns:
                rows = rows.where(~sql.col("run").isin(sorted(gone)))
            write(rows, f"{lake.uri}/{table_folder(new.commit, table)}")
        commits.append(new)
    state = lake.manifest
    moved = {old.commit: new.commit for old, new in zip(state.commits, commits, strict=True)}
    return replace(
        lake,
        manifest=replace(
            state,
            commits=tuple(commits),
            runs={
                run: replace(known, commit=moved[known.commit]) for run, known in state.runs.items() if run not in gone
            },
            catalogues={suites: moved[of] for suites, of in state.catalogues.items()},
        ),
    )


def rejected_lines(lake: Lake, commit: str, limit: int) -> list[tuple[str, int, str]]:
    """Return folder, line and reason of the first rejected lines of a commit."""
    rows = lake.spark.read.schema(ddl("rejected")).parquet(as_pattern(f"{lake.uri}/{table_folder(commit, 'rejected')}"))
    return [(row.folder, row.line, row.reason) for row in rows.orderBy("folder", "line").limit(limit).collect()]


def _run_row(source: Source) -> tuple[object, ...]:
    return (
        source.folder.path(VERDICTS),
        source.schema,
        source.ingest,
        *(source.row[name] for name in OF_THE_RUN),
    )


def _lines(lake: Lake, runs: Sequence[Source]) -> DataFrame:
    return lines.read(lake.spark, [each.folder.files[VERDICTS].uri for each in runs])


def _rejected(lake: Lake, short: Sequence[Source], of: DataFrame) -> DataFrame | None:
    """Read the files that hold rejected lines again, with the numbers of their lines."""
    if not short:
        return None
    scan = _lines(lake, short)
    return lines.rejected(lines.parsed(scan, of, short[0].schema), scan)


def _account(short: Sequence[Source], kept: dict[int, int], rejected: dict[str, int]) -> None:
    """Hold what is in the tables against the files: lines = kept + rejected. Raises `RollupError`."""
    for each in short:
        good, bad = kept.get(each.ingest, 0), rejected.get(each.run, 0)
        if each.lines != good + bad:
            raise RollupError(
                f"run {one_line(each.run, 120)}: {each.lines} lines in the file, but {good} kept and {bad} rejected: "
                "was it written to meanwhile? Ingest again when the run has ended"
            )


def _runs(spark: SparkSession, runs: Sequence[Source], kept: dict[int, int]) -> DataFrame:
    now = datetime.now(UTC)
    rows = []
    for each in runs:
        good = kept.get(each.ingest, 0)
        rows.append(
            each.row
            | {"ingest": each.ingest, "ingested": now, "digest": each.digest}
            | {"lines": each.lines, "kept": good, "rejected": each.lines - good}
        )
    return spark.createDataFrame(rows, ddl("runs")).coalesce(1)
