"""Judges captures on the executors, for ``mqconform lake judge``.

Spark writes a run folder for each folder of captures; these run folders are ingested like all others. The code that
judges is found through an entry point and sent to the executors, because the package `reports` contains no protocol
code.
"""

from __future__ import annotations

import tempfile
import uuid
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Final

from pyspark import cloudpickle
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sql

from reports.lake import ingest, judging_worker
from reports.lake.captures import (
    CapturedSystem,
    CaptureJudge,
    CaptureRunFolder,
    expand_capture_names,
    list_capture_folders,
    read_captures,
    read_tests_of_captures,
)
from reports.lake.files import FileAccess, get_full_name
from reports.lake.ingest import IngestReport, StageReporter
from reports.lake.sources import RULES_FILE, RUN_FILE, VERDICTS_FILE, RunFolder
from reports.lake.store import Lake
from reports.lake.writing import SHUFFLE_PARTITIONS_SETTING
from reports.rollup_error import RollupError
from reports.text import one_line

CAPTURE_JUDGE_ENTRY_POINT_GROUP = "mqconform.captures"
"""The group of entry points that the judge of captures provides: ``judge``, ``rules``, ``profiles`` and ``code``."""
CODE_ARCHIVE_NAME = "mqconform-code"
ARROW_SETTINGS: Final = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "16",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(16 << 20),
}
"""The settings of a session that judges batches of captures. Both Java and Python hold the captures of a batch in
memory.
"""
CAPTURE_MEMORY_OCTETS: Final = 2 << 30
"""The maximum memory in octets that judging one capture may use."""
_LINE_COLUMNS = (
    *("rule", "verdict", "expected", "observed", "reason", "advice"),
    *("test", "capture", "evidence", "errata", "notes"),
)
_CAPTURES_TO_JUDGE_SCHEMA = "folder string, unit string, profile string, started_ms bigint"


@dataclass(frozen=True, slots=True)
class JudgingLimits:
    """The limits for judging a capture: the maximum size of the capture in octets, and the maximum time in seconds."""

    octets: int
    seconds: float


@dataclass(slots=True)
class WrittenRunFolders:
    """The result of judging: the written run folders, and the number of ``captures``.

    ``known``: the folders of captures whose verdicts the lake already has. ``refused``: a line for each refused
    folder. ``rejected``: a line with the reason for each capture that could not be judged.
    """

    folders: list[RunFolder] = field(default_factory=list)
    captures: int = 0
    known: int = 0
    refused: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)

    @property
    def judged(self) -> int:
        """The number of judged captures, with or without verdicts."""
        return self.captures - len(self.rejected)


@dataclass(frozen=True, slots=True)
class RunFolderMadeFromCaptures(RunFolder):
    """A run folder that was made from captures. ``uri``, size and time describe the folder of captures."""

    octets: int
    latest: int

    @property
    def size(self) -> int:
        return self.octets

    @property
    def modified(self) -> int:
        return self.latest


def judge_into_lake(
    lake: Lake,
    captures: Iterable[str],
    given: CapturedSystem,
    bounds: JudgingLimits,
    *,
    replacing: bool,
    stage: StageReporter,
) -> tuple[IngestReport, WrittenRunFolders]:
    """Judge the captures that the lake does not have, ingest the verdicts, and return the results."""
    work_folder = f"{lake.uri}/data/judging-{uuid.uuid4().hex}"
    there = {(run, known.size, known.modified) for run, known in lake.manifest.runs.items()}
    try:
        written = _judge_folders(
            *(lake.spark, captures, given, bounds, work_folder, stage),
            known=lambda unit: (unit.run, unit.octets, unit.modified) in there,
        )
        report = IngestReport(lake.manifest.number, refused=written.refused)
        ingest.ingest_folders(lake, written.folders, report, replacing=replacing, stage=stage)
        report.known_argument_count += written.known
    finally:
        lake.files.delete(work_folder)
    return report, written


def judge_into_folder(
    spark: SparkSession,
    captures: Iterable[str],
    given: CapturedSystem,
    bounds: JudgingLimits,
    out: str,
    stage: StageReporter,
) -> WrittenRunFolders:
    """Judge the captures, and write a run folder for each folder of captures below the new folder ``out``."""
    files, target = FileAccess(spark), get_full_name(out)
    if files.entries(target):
        raise RollupError(f"{one_line(out)} is not empty: give --out a new folder")
    written = _judge_folders(spark, captures, given, bounds, target, stage, known=lambda _: False)
    if written.folders:
        rules = files.read_text(f"{target}/{RULES_FILE}")
        for folder in written.folders:
            files.write_text(f"{folder.files[RUN_FILE].uri.rpartition('/')[0]}/{RULES_FILE}", rules)
        files.delete(f"{target}/{RULES_FILE}")
    return written


def _judge_folders(
    spark: SparkSession,
    captures: Iterable[str],
    given: CapturedSystem,
    bounds: JudgingLimits,
    work_folder: str,
    stage: StageReporter,
    *,
    known: Callable[[CaptureRunFolder], bool],
) -> WrittenRunFolders:
    """Write run.json and verdicts.jsonl below ``work_folder`` for each folder of captures that is not in the lake."""
    files, written = FileAccess(spark), WrittenRunFolders()
    stage("looking for captures")
    names = expand_capture_names(files, captures)
    judge = _find_entry_point("judge")
    rules, suites = _find_entry_point("rules").load()()
    by = CaptureJudge(suites, judge.dist.version if judge.dist else "", tuple(_find_entry_point("profiles").load()))
    units, written.refused = list_capture_folders(spark, files, names, given, by)
    fresh = [unit for unit in units if not known(unit)]
    written.known = len(units) - len(fresh)
    if not fresh:
        return written
    written.captures = sum(unit.captures for unit in fresh)
    stage(f"judging {written.captures} captures")
    files.write_text(f"{work_folder}/{RULES_FILE}", rules)
    spark.conf.set(SHUFFLE_PARTITIONS_SETTING, str(min(len(fresh), spark.sparkContext.defaultParallelism)))
    rows = spark.createDataFrame(
        [(unit.folder, unit.key, unit.profile, unit.started_ms) for unit in fresh], _CAPTURES_TO_JUDGE_SCHEMA
    )
    with _send_code_to_spark_workers(spark) as archive:
        worker = judging_worker.CaptureJudgingWorker(
            judge.value, archive, bounds.seconds, CAPTURE_MEMORY_OCTETS, given.sut
        )
        judged = _judge_all_captures(
            read_captures(spark, names).join(sql.broadcast(rows), "folder"), bounds.octets, worker
        )
        _build_verdict_lines(judged, rows, read_tests_of_captures(spark, fresh)).write.partitionBy("unit").text(
            f"{work_folder}/lines"
        )
    written.rejected = _describe_rejected_captures(
        spark, f"{work_folder}/lines", {unit.key: unit.folder for unit in fresh}
    )
    for unit in fresh:
        written.folders.append(_assemble_run_folder(files, work_folder, unit))
    files.delete(f"{work_folder}/lines")
    return written


def _judge_all_captures(captures: DataFrame, octets: int, worker: judging_worker.CaptureJudgingWorker) -> DataFrame:
    """Return the rows of `judging_worker.JUDGED_ROWS_SCHEMA` for all captures."""
    # Executors have only the code that is sent to them.
    cloudpickle.register_pickle_by_value(judging_worker)  # type: ignore[no-untyped-call]
    # Too large files are never read: the source drops them before opening them.
    small = captures.where(sql.col("length") <= octets).select(*judging_worker.CAPTURE_COLUMNS, "content")
    why = sql.concat("length", sql.lit(f" octets exceed the maximum of {octets} octets"))
    large = captures.where(sql.col("length") > octets).select("unit", "capture", why.alias("rejected"))
    rows = small.mapInArrow(worker, judging_worker.VERDICTS_SCHEMA_DDL)
    return rows.unionByName(large, allowMissingColumns=True)


def _build_verdict_lines(judged: DataFrame, units: DataFrame, tests: DataFrame) -> DataFrame:
    """Convert the rows of the results to lines of verdicts.jsonl, in the order of the captures. Return the columns unit
    (the key of the folder) and value (the line).
    """
    rows = judged.join(tests, ["unit", "capture"], "left").join(
        sql.broadcast(units.select("unit", "started_ms")), "unit"
    )
    ms = sql.floor(sql.col("ended_us") / 1000).cast("bigint") - sql.col("started_ms")
    columns: dict[str, Column] = {
        "schema": sql.lit(2),
        "seq": sql.row_number().over(Window.partitionBy("unit").orderBy("capture", "position")),
        "ms": sql.greatest(ms, sql.lit(0).cast("bigint")),
        **{name: sql.col(name) for name in (*_LINE_COLUMNS, "rejected")},
        "test": sql.coalesce("test", "capture"),
    }
    line = sql.to_json(sql.struct(*(column.alias(name) for name, column in columns.items())))
    return rows.select("unit", line.alias("value"))


def _describe_rejected_captures(spark: SparkSession, lines: str, folders: Mapping[str, str]) -> list[str]:
    """Return a line with the reason for each rejected capture. ``folders``: the folders of captures, by the key in the
    column unit.
    """
    written = spark.read.schema("value string, unit string").text(lines)
    capture, why = (sql.get_json_object("value", f"$.{name}") for name in ("capture", "rejected"))
    rows = written.where(why.isNotNull()).select("unit", capture.alias("capture"), why.alias("why")).collect()
    return sorted(
        f"{one_line(folders[row.unit].removeprefix('file://'))}/{one_line(row.capture)}: {one_line(row.why)}"
        for row in rows
    )


def _assemble_run_folder(files: FileAccess, work_folder: str, unit: CaptureRunFolder) -> RunFolderMadeFromCaptures:
    """Assemble the run folder that is made from the captures of one folder."""
    own = f"{work_folder}/{unit.key}"
    files.write_text(f"{own}/{RUN_FILE}", unit.run_json)
    parts = [each for each in files.entries(f"{work_folder}/lines/unit={unit.key}") if each.name.startswith("part-")]
    if len(parts) > 1:
        raise RollupError(
            f"the lines of {one_line(unit.folder)} are in {len(parts)} files instead of one: remove "
            "the settings of spark.sql.files"
        )
    if not parts or not files.publish(parts[0].uri, f"{own}/{VERDICTS_FILE}"):
        files.write_text(f"{own}/{VERDICTS_FILE}", "")
    uris = {
        RUN_FILE: f"{own}/{RUN_FILE}",
        RULES_FILE: f"{work_folder}/{RULES_FILE}",
        VERDICTS_FILE: f"{own}/{VERDICTS_FILE}",
    }
    status = {name: files.status(uri) for name, uri in uris.items()}
    there = {name: each for name, each in status.items() if each is not None}
    return RunFolderMadeFromCaptures(unit.folder, there, unit.octets, unit.modified)


@contextmanager
def _send_code_to_spark_workers(spark: SparkSession) -> Iterator[str]:
    """Send the code that judges captures to the executors of a cluster, and yield the name of the archive in which the
    executors find the code.
    """
    context = spark.sparkContext
    if str(context.master).startswith("local"):
        yield ""
        return
    with tempfile.TemporaryDirectory(prefix="mqconform-code-") as folder:  # from which executors fetch the code
        archive = Path(folder) / f"{CODE_ARCHIVE_NAME}.zip"
        _pack_code(_find_entry_point("code").load(), archive)
        context.addArchive(f"{archive}#{CODE_ARCHIVE_NAME}")
        yield CODE_ARCHIVE_NAME


def _pack_code(packages: Iterable[Path], archive: Path) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for package in packages:
            for path in sorted(package.rglob("*")):
                if path.is_file() and "__pycache__" not in path.parts:
                    file.write(path, path.relative_to(package.parent))


def _find_entry_point(name: str) -> EntryPoint:
    for entry in entry_points(group=CAPTURE_JUDGE_ENTRY_POINT_GROUP, name=name):
        return entry
    raise RollupError(
        f"no installed package can judge captures (entry point {CAPTURE_JUDGE_ENTRY_POINT_GROUP}, {name}): "
        "install mqconform completely"
    )
