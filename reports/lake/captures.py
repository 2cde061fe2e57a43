"""Finds folders of captures, the system and the run of each folder, and the check that made each capture."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as sql

from reports.lake.files import FileAccess, FileStatus, escape_path_pattern, get_full_name
from reports.lake.lines import get_capture_column, normalize_path
from reports.lake.local import is_url
from reports.lake.sources import RUN_FILE, VERDICTS_FILE, RunFolder
from reports.records import Record
from reports.rollup_error import RollupError
from reports.text import make_slug, one_line

CAPTURE_SUFFIXES = (".pcapng", ".pcap", ".cap", ".pcapng.gz", ".pcap.gz", ".cap.gz")
"""The suffixes of capture files. The suffix does not determine the format of a file; its content does."""
CAPTURES_FOLDER = "captures"
"""The name of the folder in a run folder that contains the captures."""
MAX_CAPTURE_FOLDERS = 10_000
"""The maximum number of folders of captures per command. For each folder, the driver stores a few hundred octets, and
no packets.
"""
REACH_VALUE_OF_CAPTURE_RUNS = "capture"
"""The value of the column ``reach`` for a system whose traffic was captured, and which the harness did not test itself.
"""


@dataclass(frozen=True, slots=True)
class CapturedSystem:
    """The captured system as given on the command line. It is used for captures in folders without a run.json."""

    name: str | None = None
    version: str | None = None
    profile: str = ""
    sut: str = ""
    """The address of the system under test. It is needed for captures that do not mark the packets of the system."""


@dataclass(frozen=True, slots=True)
class CaptureJudge:
    """Describes the program that judges captures: the hash of its suites, its version, and the profiles of Windows that
    it knows.
    """

    suites: str
    harness: str
    profiles: tuple[str, ...]

    def check(self, where: str, profile: str) -> None:
        """Raise `RollupError` for an unknown profile. An empty profile is accepted and means no Windows release."""
        if profile and profile not in self.profiles:
            known = ", ".join(self.profiles)
            raise RollupError(f"{where} {one_line(profile)}; known: {known}")


@dataclass(frozen=True, slots=True)
class CaptureRunFolder:
    """A folder of captures, which becomes a run.

    ``octets``: the total size of the captures. ``modified``: the time of their last change, in ms since 1970.
    ``verdicts``: the verdict file of the run that made the captures; this file names the check of each capture.
    """

    folder: str
    key: str
    run: str
    run_json: str
    profile: str
    started_ms: int
    captures: int
    octets: int
    modified: int
    verdicts: FileStatus | None

    @property
    def verdicts_path(self) -> str:
        """Return the path of the run's verdict file in the spelling that Spark uses when it reads files."""
        return RunFolder(self.folder, {VERDICTS_FILE: self.verdicts}).path(VERDICTS_FILE) if self.verdicts else ""


def expand_capture_names(files: FileAccess, arguments: Iterable[str]) -> list[str]:
    """Return the full names of the given paths, URLs and patterns of URLs. Raise `RollupError` if a path does not
    exist.
    """
    names: list[str] = []
    for argument in arguments:
        uri = get_full_name(argument)
        matches = files.glob(uri) if is_url(argument) else [uri]
        if not matches or (not is_url(argument) and files.status(uri) is None):
            raise RollupError(f"there are no captures at {one_line(argument)}: the path does not exist")
        names += matches
    return names


def read_captures(spark: SparkSession, names: Sequence[str]) -> DataFrame:
    """Return a row for every capture with the columns folder, capture (its name in the folder), length,
    modificationTime and content.
    """
    scan = (
        spark.read.format("binaryFile")
        .option("recursiveFileLookup", "true")
        .option("pathGlobFilter", f"*{{{','.join(CAPTURE_SUFFIXES)}}}")
    )
    path = sql.regexp_replace("path", "^file:/+", "file:///")
    parent, name = (sql.regexp_extract(path, r"(?s)^(.*)/([^/]+)$", group) for group in (1, 2))
    inside = parent.endswith(f"/{CAPTURES_FOLDER}")
    folder = sql.when(inside, sql.regexp_replace(parent, f"/{CAPTURES_FOLDER}$", "")).otherwise(parent)
    capture = sql.when(inside, sql.concat(sql.lit(f"{CAPTURES_FOLDER}/"), name)).otherwise(name)
    return scan.load([escape_path_pattern(name) for name in names]).select(
        folder.alias("folder"), capture.alias("capture"), "length", "modificationTime", "content"
    )


def list_capture_folders(
    spark: SparkSession, files: FileAccess, names: Sequence[str], given: CapturedSystem, by: CaptureJudge
) -> tuple[list[CaptureRunFolder], list[str]]:
    """Return the folders of captures, and an error line for each folder whose system or profile is unknown."""
    by.check("--profile: unknown", given.profile)
    when = sql.unix_millis("modificationTime")
    folders = (
        read_captures(spark, names)
        .groupBy("folder")
        .agg(
            sql.count("*").alias("captures"),
            sql.sum("length").alias("octets"),
            sql.min(when).alias("oldest"),
            sql.max(when).alias("modified"),
        )
    )
    units, refused = [], []
    rows = folders.limit(MAX_CAPTURE_FOLDERS + 1).collect()
    if len(rows) > MAX_CAPTURE_FOLDERS:
        where = one_line(", ".join(names))
        raise RollupError(
            f"{where}: more than {MAX_CAPTURE_FOLDERS} folders of captures; judge them in several commands"
        )
    for row in sorted(rows):
        try:
            units.append(_build_capture_folder(files, row, given, by))
        except RollupError as error:
            refused.append(str(error))
    if not units and not refused:
        raise RollupError(
            f"there are no captures at {one_line(', '.join(names))}: no file there ends in "
            f"{', '.join(CAPTURE_SUFFIXES)}"
        )
    return units, refused


def read_tests_of_captures(spark: SparkSession, units: Sequence[CaptureRunFolder]) -> DataFrame:
    """Return the columns unit, capture and test. ``test`` is the check that made the capture, if the verdicts of
    the run name this check.
    """
    runs = [unit for unit in units if unit.verdicts]
    if not runs:
        return spark.range(0).select(*(sql.lit("").alias(name) for name in ("unit", "capture", "test")))
    of = spark.createDataFrame([(unit.verdicts_path, unit.key) for unit in runs], "path string, unit string")
    scan = spark.read.text([escape_path_pattern(unit.verdicts.uri) for unit in runs if unit.verdicts], lineSep="\n")
    said: list[Column] = [sql.get_json_object("value", f"$.{name}").alias(name) for name in ("test", "capture")]
    rows = scan.select(normalize_path(sql.col("_metadata.file_path")).alias("path"), *said).where("test is not null")
    capture = sql.coalesce("capture", get_capture_column(sql.col("test"))).alias("capture")
    tests = rows.join(sql.broadcast(of), "path").select("unit", capture, "test")
    return tests.groupBy("unit", "capture").agg(sql.min("test").alias("test"))


def _build_capture_folder(files: FileAccess, row: Row, given: CapturedSystem, by: CaptureJudge) -> CaptureRunFolder:
    uri: str = row.folder
    status = files.status(f"{uri}/{RUN_FILE}")
    run, sut, started, finished = make_slug(uri), None, _format_iso(row.oldest), _format_iso(row.modified)
    if status is not None:
        where = one_line(f"{uri}/{RUN_FILE}".removeprefix("file://"))
        record = Record(_read_json_object(files, status.uri, where), where)
        run, of = record.get_text("run"), record.get_record("sut")
        sut = {name: of.get_text(name, "") for name in ("name", "vendor", "version", "profile")}
        by.check(f"{where}: unknown profile", sut["profile"])
        started = record.get_time("started").isoformat()
        finished = record.get_time("finished").isoformat() if record.has_value("finished") else started
    elif given.name and given.version:
        sut = {"name": given.name, "vendor": "", "version": given.version, "profile": given.profile}
    if sut is None:
        raise RollupError(
            f"{one_line(uri.removeprefix('file://'))}: no {RUN_FILE} names the captured system: "
            "give --name and --version"
        )
    name = f"{run} judged {by.suites[:8]}"
    values = {"schema": 2, "run": name, "started": started, "finished": finished, "suites": by.suites, "sut": sut}
    values |= {
        "reach": REACH_VALUE_OF_CAPTURE_RUNS,
        "harness": by.harness,
        "selection": "captures",
        "aborted": None,
        "exit": None,
    }
    values |= {"captures": row.captures, "captured": run}
    began = int(datetime.fromisoformat(started).timestamp() * 1000)
    verdicts = files.status(f"{uri}/{VERDICTS_FILE}") if status is not None else None
    text = json.dumps(values, ensure_ascii=False)
    return CaptureRunFolder(
        uri, make_slug(uri), name, text, sut["profile"], began, row.captures, row.octets, row.modified, verdicts
    )


def _read_json_object(files: FileAccess, uri: str, where: str) -> object:
    try:
        return json.loads(files.read_text(uri))
    except (ValueError, RecursionError) as error:
        raise RollupError(f"{where} cannot be read as JSON: {one_line(str(error))}") from error


def _format_iso(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat()
