"""Writes the facts of one ingest below ``data/<commit>``. The facts belong to the lake as soon as a manifest names
them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from reports.lake import facts, lines, rows, side_by_side, sources
from reports.lake.files import escape_path_pattern
from reports.lake.manifest import IngestCommit, get_table_folder
from reports.lake.schemas import COLUMN_TYPES_BY_FACT_TABLE, SYSTEM_COLUMN_TYPES, build_table_ddl
from reports.lake.sources import VERDICTS_FILE, RunSource
from reports.lake.store import Lake
from reports.rollup_error import RollupError
from reports.text import one_line

SHUFFLE_PARTITION_OCTETS = 32 << 20
"""The size of the input per shuffle partition, in octets."""
SHUFFLE_PARTITIONS_SETTING = "spark.sql.shuffle.partitions"
RUN_GROUP_OCTETS = 512 << 20
"""The maximum total size, in octets, of the runs whose lines are read together and written to one commit."""
RUN_COLUMNS = ("schema", "ingest", *SYSTEM_COLUMN_TYPES, "run", "folder", "reach", "started", "suites", "partial")
TYPES_OF_RUN_COLUMNS: Final = {"path": "string"} | {
    name: COLUMN_TYPES_BY_FACT_TABLE["runs"][name] for name in RUN_COLUMNS
}


class FileChangedDuringIngest(RollupError):
    """Raised when the length of verdict files changed during the ingest. ``said``: one line for each affected run."""

    def __init__(self, said: dict[str, str]) -> None:
        super().__init__("; ".join(said.values()))
        self.said = said


def set_shuffle_partition_count(spark: SparkSession, octets: int) -> None:
    """Set the number of shuffle partitions for an input of the given size."""
    cores = spark.sparkContext.defaultParallelism
    spark.conf.set(SHUFFLE_PARTITIONS_SETTING, str(max(cores, min(4096, 1 + octets // SHUFFLE_PARTITION_OCTETS))))


def write_parquet(frame: DataFrame, folder: str, *, partition_by: str | None = None, mode: str = "error") -> None:
    """Write a table as Parquet files."""
    writer = frame.write.mode(mode)
    (writer.partitionBy(partition_by) if partition_by else writer).parquet(folder)


def write_facts(
    lake: Lake, name: str, runs: Sequence[RunSource], fresh: Sequence[RunSource], stage: Callable[[str], None]
) -> tuple[list[IngestCommit], dict[int, int]]:
    """Write every fact table.

    ``fresh``: a source for each new version of the suites. Each commit contains all runs of some systems. Therefore
    memory does not grow with the number of runs, and the runs of a system can be read without reading every commit.
    Return the commits, whose names begin with ``name``, and the number of kept lines by ``ingest``.
    """
    commits: list[IngestCommit] = []
    kept: dict[int, int] = {}
    catalogue = lake.table("catalogue")
    parts = _group_runs(runs)
    for number, part in enumerate(parts):
        writer = _CommitWriter(lake, f"{name}-{number}", f", {number + 1} of {len(parts)}" if parts[1:] else "", stage)
        if fresh and not commits:
            rules = sources.read_rules_files(lake.spark, fresh)
            side_by_side.run_parts_of_spark_job(
                sum(run.lines for run in runs),
                partial(writer.cache_table, "catalogue", sources.build_catalogue_table(rules)),
                partial(writer.cache_table, "suites", sources.build_suites_table(rules)),
            )
            catalogue = catalogue.unionByName(writer.read_written_table("catalogue"))
        kept |= _write_run_group(writer, part, catalogue)
        commits.append(IngestCommit(writer.commit, tuple(source.run for source in part), tuple(sorted(writer.written))))
    return commits, kept


class _CommitWriter:
    """Writes the tables of one commit. ``written``: the names of the tables written so far."""

    def __init__(self, lake: Lake, commit: str, place: str, stage: Callable[[str], None]) -> None:
        self.lake, self.commit = lake, commit
        self.written: list[str] = []
        self._place, self._stage = place, stage

    def cache_table(self, table: str, frame: DataFrame) -> None:
        """Write a table of the commit."""
        self._stage(f"{table}{self._place}")
        write_parquet(frame, self._get_table_folder(table))
        self.written.append(table)

    def read_written_table(self, table: str) -> DataFrame:
        """Return the rows of a table that was written to this commit. They are read from the files of the table."""
        return self.lake.spark.read.schema(build_table_ddl(table)).parquet(
            escape_path_pattern(self._get_table_folder(table))
        )

    def _get_table_folder(self, table: str) -> str:
        return f"{self.lake.uri}/{get_table_folder(self.commit, table)}"


def _group_runs(runs: Sequence[RunSource]) -> list[list[RunSource]]:
    """Split the runs into groups. The runs of a group are written together, and all runs of a system are in one
    group.
    """
    parts: list[list[RunSource]] = []
    size = RUN_GROUP_OCTETS
    for run in sorted(runs, key=lambda each: (each.row["sut"], each.ingest)):
        octets = run.folder.files[VERDICTS_FILE].size
        if size + octets > RUN_GROUP_OCTETS:
            parts.append([])
            size = 0
        parts[-1].append(run)
        size += octets
    return parts


def _write_run_group(writer: _CommitWriter, runs: Sequence[RunSource], catalogue: DataFrame) -> dict[int, int]:
    """Write the rows of a group of runs. Return the number of kept lines by ``ingest``."""
    lake, spark = writer.lake, writer.lake.spark
    set_shuffle_partition_count(spark, sum(run.folder.files[VERDICTS_FILE].size for run in runs))
    of_runs = rows.make_table(spark, map(_build_run_row, runs), TYPES_OF_RUN_COLUMNS)
    by_schema = {
        schema: of_runs.where(sql.col("schema") == schema).drop("schema") for schema in {each.schema for each in runs}
    }
    taken = {
        schema: lines.parse_lines(_read_lines(lake, [each for each in runs if each.schema == schema]), of, schema)
        for schema, of in by_schema.items()
    }

    def write_evidence() -> None:
        writer.cache_table(
            "evidence",
            lines.union_data_frames([lines.build_evidence_table(each, schema) for schema, each in taken.items()]),
        )

    def write_verdicts() -> None:
        known = catalogue.where(sql.col("suites").isin(sorted({each.row["suites"] for each in runs})))
        writer.cache_table(
            "verdicts",
            lines.union_data_frames(
                [lines.build_verdicts_table(each, known, schema) for schema, each in taken.items()]
            ),
        )
        verdicts = writer.read_written_table("verdicts")
        kept.update({row.ingest: row["count"] for row in verdicts.groupBy("ingest").count().collect()})
        if short := [each for each in runs if each.lines != kept.get(each.ingest, 0)]:
            _write_rejected_lines(writer, short, by_schema, kept)
        writer.cache_table("test_runs", facts.derive_test_runs(verdicts, of_runs))
        writer.cache_table("rule_runs", facts.derive_rule_runs(writer.read_written_table("test_runs"), of_runs))

    kept: dict[int, int] = {}
    side_by_side.run_parts_of_spark_job(sum(run.lines for run in runs), write_evidence, write_verdicts)
    writer.cache_table("runs", _build_runs(spark, runs, kept))
    return kept


def _write_rejected_lines(
    writer: _CommitWriter, short: Sequence[RunSource], by_schema: Mapping[int, DataFrame], kept: dict[int, int]
) -> None:
    """Write the rejected lines, and check that every line of the files was either kept or rejected."""
    found = [
        _read_rejected_lines(writer.lake, [each for each in short if each.schema == schema], of)
        for schema, of in by_schema.items()
    ]
    writer.cache_table("rejected", lines.union_data_frames([each for each in found if each is not None]))
    counted = writer.read_written_table("rejected").groupBy("run").count()
    _check_line_counts(short, kept, {row.run: row["count"] for row in counted.collect()})


def rewrite_without_runs(lake: Lake, gone: set[str], commit: str) -> Lake:
    """Replace the commits that contain the given runs by copies without the rows of these runs.

    The names of the copies begin with the name of ``commit``.
    """
    commits: list[IngestCommit] = []
    for number, old in enumerate(lake.manifest.commits):
        if gone.isdisjoint(old.runs):
            commits.append(old)
            continue
        new = IngestCommit(f"{commit}-rest-{number}", tuple(run for run in old.runs if run not in gone), old.tables)
        for table in old.tables:
            left = lake.table(table, {old.commit})
            if "run" in left.columns:
                left = left.where(~sql.col("run").isin(sorted(gone)))
            write_parquet(left, f"{lake.uri}/{get_table_folder(new.commit, table)}")
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


def list_rejected_lines(lake: Lake, commits: Sequence[IngestCommit], limit: int) -> list[tuple[str, int, str]]:
    """Return the folder, the line and the reason of the first rejected lines in the given commits."""
    found = lake.table("rejected", {each.commit for each in commits})
    return [(row.folder, row.line, row.reason) for row in found.orderBy("folder", "line").limit(limit).collect()]


def _build_run_row(source: RunSource) -> dict[str, object]:
    return source.row | {"path": source.folder.path(VERDICTS_FILE), "ingest": source.ingest}


def _read_lines(lake: Lake, runs: Sequence[RunSource]) -> DataFrame:
    return lines.read_verdict_lines(lake.spark, [each.folder.files[VERDICTS_FILE].uri for each in runs])


def _read_rejected_lines(lake: Lake, short: Sequence[RunSource], of: DataFrame) -> DataFrame | None:
    """Read the files that contain rejected lines a second time, to find the line numbers."""
    if not short:
        return None
    scan = _read_lines(lake, short)
    return lines.build_rejected_table(lines.parse_lines(scan, of, short[0].schema), scan)


def _check_line_counts(short: Sequence[RunSource], kept: dict[int, int], rejected: dict[str, int]) -> None:
    """Check that the tables have as many kept and rejected lines as each file has lines. Raise
    `FileChangedDuringIngest` if the numbers differ.
    """
    said = {}
    for each in short:
        good, bad = kept.get(each.ingest, 0), rejected.get(each.run, 0)
        if each.lines != good + bad:
            said[each.run] = (
                f"run {one_line(each.run, 120)} is still being written, because its lines changed from {each.lines} to "
                f"{good + bad}: ingest it when it has finished"
            )
    if said:
        raise FileChangedDuringIngest(said)


def _build_runs(spark: SparkSession, runs: Sequence[RunSource], kept: dict[int, int]) -> DataFrame:
    now = datetime.now(UTC)
    found = []
    for each in runs:
        good = kept.get(each.ingest, 0)
        found.append(
            each.row
            | {"ingest": each.ingest, "ingested": now, "digest": each.digest}
            | {"lines": each.lines, "kept": good, "rejected": each.lines - good}
        )
    return rows.make_table(spark, found, COLUMN_TYPES_BY_FACT_TABLE["runs"])
