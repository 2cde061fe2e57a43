"""Finds run folders through Hadoop, and reads run.json and rules.json in them.

Both files are small. The driver reads and checks every run.json, one after the other. The executors read one rules.json
for each version of the suites.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql

from reports.lake import pairs, rows
from reports.lake.files import SMALL_FILE_OCTETS, FileAccess, FileStatus, escape_path_pattern, get_full_name
from reports.lake.lines import DOCUMENT_PATTERN, JSON_OPTIONS, normalize_path
from reports.lake.local import get_local_path, is_url
from reports.lake.pairs import PairSource
from reports.lake.schemas import COLUMN_TYPES_BY_FACT_TABLE, arrange_table_columns
from reports.records import SCHEMA_VERSIONS, Record
from reports.rollup_error import RollupError
from reports.runs import resolve_file_inside_folder
from reports.text import build_system_key, one_line

RUN_FILE, RULES_FILE, VERDICTS_FILE = RUN_FOLDER_FILES = ("run.json", "rules.json", "verdicts.jsonl")
SELECTION_VALUES_OF_RUNS_OF_ALL_CHECKS = ("", "all")
"""The values of ``selection`` in run.json for a run of all checks."""
RUN_JSON_FIELDS = (
    "schema",
    "run",
    "started",
    "finished",
    "suites",
    "sut",
    "reach",
    "harness",
    "selection",
    "aborted",
    "exit",
)
RUN_JSON_SUT_FIELDS = ("name", "vendor", "version", "profile")
_RULE_COLUMNS = ", ".join(
    f"{name}: {type_}"
    for name, type_ in COLUMN_TYPES_BY_FACT_TABLE["catalogue"].items()
    if name not in ("suites", "rule")
)
RULES_JSON_SCHEMA = f"schema int, rules map<string, struct<{_RULE_COLUMNS}>>, corrupt string, " + ", ".join(
    f"{name} {type_}" for name, type_ in COLUMN_TYPES_BY_FACT_TABLE["suites"].items() if name != "suites"
)


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A run folder, with the status of each of its files."""

    uri: str
    files: dict[str, FileStatus]

    @property
    def size(self) -> int:
        """Return the total size of the files in this folder, in octets."""
        return sum(each.size for each in self.files.values())

    @property
    def modified(self) -> int:
        """Return the time of the latest change to a file in this folder, in ms since 1970."""
        return max(each.modified for each in self.files.values())

    def path(self, name: str) -> str:
        """Return the path of a file in this folder, spelled as Spark's readers spell it
        (`reports.lake.lines.normalize_path`).
        """
        scheme, _, rest = self.files[name].encoded.partition(":")
        return f"{scheme}:/{rest.lstrip('/')}"


@dataclass(frozen=True, slots=True)
class RunSource:
    """A run to ingest: the folder of the run, and the row of the run in the table `runs`, which is made from
    run.json.
    """

    folder: RunFolder
    row: dict[str, Any]
    content: str
    """The fingerprint of run.json and rules.json."""
    digest: str = ""
    """The fingerprint of run.json, rules.json and verdicts.jsonl, or an empty text until the lines have been read.
    """
    lines: int = 0
    ingest: int = 0
    names_suites: bool = False
    """Whether run.json contains the hash of the suites. If it does not, the content of rules.json identifies the
    suites.
    """

    @property
    def run(self) -> str:
        """The run's name."""
        return str(self.row["run"])

    @property
    def schema(self) -> int:
        """The schema version of the run's verdict file."""
        return int(self.row["schema"])

    @property
    def started(self) -> datetime:
        """The start of the run in UTC."""
        started: datetime = self.row["started"]
        return started


@dataclass(slots=True)
class FoundRunAndPairFolders:
    """The folders that arguments name, each folder once: ``runs``, and the results of ``pairs``. ``refused``: a
    line for each argument that names no such folder.
    """

    runs: list[RunFolder] = field(default_factory=list)
    pairs: list[PairSource] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


def find_sources(files: FileAccess, arguments: Iterable[str]) -> FoundRunAndPairFolders:
    """Find the run folders and the folders of pairs that the arguments name."""
    runs: dict[str, RunFolder] = {}
    of_pairs: dict[str, PairSource] = {}
    refused: list[str] = []
    for argument in arguments:
        try:
            for uri in _expand_pattern(files, argument):
                if pairs.is_pair_folder(files, uri):
                    pair = pairs.read_pair(files, uri)
                    of_pairs.setdefault(pair.digest, pair)
                else:
                    folder = _read_run_folder(files, uri)
                    runs[folder.uri] = folder
        except RollupError as error:
            refused.append(str(error))
    return FoundRunAndPairFolders(list(runs.values()), list(of_pairs.values()), refused)


def list_folders_at_uris(files: FileAccess, uris: Iterable[str]) -> tuple[list[RunFolder], list[str]]:
    """Return the run folders with the given full names, and a line for each name without a run folder. Do not
    expand patterns.
    """
    found, refused = [], []
    for uri in uris:
        try:
            found.append(_read_run_folder(files, uri))
        except RollupError as error:
            refused.append(str(error))
    return found, refused


def read_runs(
    spark: SparkSession, files: FileAccess, folders: Sequence[RunFolder]
) -> tuple[list[RunSource], list[str]]:
    """Read run.json of each folder. Return the valid runs, and a line with the reason for each refused folder."""
    sources: list[RunSource] = []
    refused: list[str] = []
    for folder in folders:
        try:
            sources.append(_parse_source(folder, files.read_text(folder.files[RUN_FILE].uri)))
        except RollupError as error:
            refused.append(str(error))
    unnamed = [source for source in sources if not source.row["suites"]]
    hashes = _hash_rules_files(spark, [source.folder for source in unnamed])
    return [_add_suites_hash(source, hashes) for source in sources], refused


def read_rules_files(spark: SparkSession, sources: Sequence[RunSource]) -> DataFrame:
    """Return a row for each source with the columns suites and ``r``; ``r`` contains the parsed rules.json
    (`RULES_JSON_SCHEMA`). Each version of the suites has one row.
    """
    known = [{"path": source.folder.path(RULES_FILE), "suites": source.row["suites"]} for source in sources]
    names = rows.make_table(spark, known, {"path": "string", "suites": "string"})
    texts = _read_small_files(spark, [source.folder for source in sources], RULES_FILE)
    return texts.join(sql.broadcast(names), "path").select(
        "suites", sql.from_json("text", RULES_JSON_SCHEMA, JSON_OPTIONS).alias("r")
    )


def find_refused_rules_files(rules: DataFrame) -> dict[str, str]:
    """Find each rules.json that must be refused, and return the reason, by the hash of the suites."""
    r = sql.col("r")
    no_name = sql.map_filter(
        r["rules"], lambda _, rule: ~sql.coalesce(rule["document"].rlike(rf"\A{DOCUMENT_PATTERN}\z"), sql.lit(False))
    )
    checks: list[tuple[Column, Column]] = [
        (
            r["schema"].isNotNull() & ~r["schema"].isin(*SCHEMA_VERSIONS),
            sql.lit("its schema is unknown: a newer mqconform wrote it; use that version"),
        ),
        (
            r.isNull() | r["corrupt"].isNotNull() | r["rules"].isNull(),
            sql.lit("it cannot be read as JSON with a table `rules`"),
        ),
        (
            sql.size(no_name) > 0,
            sql.concat(
                sql.substring(sql.map_keys(no_name)[0], 1, 60), sql.lit(": document must be a short name such as MQQB")
            ),
        ),
    ]
    why = sql.coalesce(*(sql.when(check, reason) for check, reason in checks))
    return {row.suites: row.why for row in rules.select("suites", why.alias("why")).where("why is not null").collect()}


def describe_foreign_rules(files: FileAccess, source: RunSource) -> str | None:
    """Return the reason why rules.json is not the file whose hash run.json contains as ``suites``, or None if
    rules.json is this file.

    run.json may contain no hash, the SHA-256 of the file as canonical JSON, or the SHA-256 of the file's octets.
    The caller has already read the file as JSON.
    """
    if not source.names_suites:
        return None
    text = files.read_text(source.folder.files[RULES_FILE].uri)
    canonical = json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    found = [hashlib.sha256(each.encode("utf-8", "surrogatepass")).hexdigest() for each in (canonical, text)]
    if (named := source.row["suites"]) in found:
        return None
    return (
        f"its SHA-256 is {found[0][:8]}..., but {RUN_FILE} names the suites {named[:8]}...: it belongs to another run"
    )


def build_catalogue_table(rules: DataFrame) -> DataFrame:
    """Return the table `catalogue`, which is built from the result of `read_rules_files`."""
    each = rules.select("suites", sql.explode("r.rules").alias("rule", "row")).select("suites", "rule", "row.*")
    kind = sql.coalesce("kind", sql.lit("demand"))
    return arrange_table_columns(each.withColumn("kind", kind), "catalogue")


def build_suites_table(rules: DataFrame) -> DataFrame:
    """Return the table `suites`, which is built from the result of `read_rules_files`."""
    return arrange_table_columns(rules.select("suites", "r.*"), "suites")


def _expand_pattern(files: FileAccess, argument: str) -> list[str]:
    uri = get_full_name(argument)
    if not (is_url(argument) and any(letter in uri for letter in "*?[{")) or files.status(uri) is not None:
        return [uri]
    if not (found := files.glob(uri)):
        raise RollupError(f"no folder matches {one_line(argument)}")
    return found


def _read_run_folder(files: FileAccess, uri: str) -> RunFolder:
    shown = one_line(uri.removeprefix("file://"))
    status = files.status(uri)
    if status is None or not status.is_folder:
        raise RollupError(f"there is no run folder at {shown}")
    uri = get_full_name(status.uri)  # in the spelling of the file system; two spellings would be read twice
    local = get_local_path(uri)
    found: dict[str, FileStatus] = {}
    there = {each.name: each for each in files.entries(uri)}
    for name in RUN_FOLDER_FILES:
        each = there.get(name)
        if (
            each is None
            or each.is_folder
            or (local is not None and resolve_file_inside_folder(local.resolve(), name) is None)
        ):
            raise RollupError(f"{shown} is not a run folder: it contains no file {name}")
        if name != VERDICTS_FILE and not each.size:
            raise RollupError(f"{shown}/{name} is empty")  # Spark's readers skip such a file
        if name != VERDICTS_FILE and each.size > SMALL_FILE_OCTETS:
            raise RollupError(f"{shown}/{name} has {each.size} octets, more than the maximum of {SMALL_FILE_OCTETS}")
        found[name] = each
    return RunFolder(uri, found)


def _read_small_files(spark: SparkSession, folders: Sequence[RunFolder], name: str) -> DataFrame:
    """Return the path and the text of each small file."""
    names = [escape_path_pattern(folder.files[name].uri) for folder in folders]
    scan = spark.read.text(names, wholetext=True)
    return scan.select(normalize_path(sql.col("_metadata.file_path")).alias("path"), sql.col("value").alias("text"))


def _hash_rules_files(spark: SparkSession, folders: Sequence[RunFolder]) -> dict[str, str]:
    if not folders:
        return {}
    found = _read_small_files(spark, folders, RULES_FILE).select("path", sql.sha2("text", 256).alias("hash"))
    return {row.path: row.hash for row in found.collect()}


def _add_suites_hash(source: RunSource, hashes: dict[str, str]) -> RunSource:
    name = source.row["suites"] or hashes[source.folder.path(RULES_FILE)]
    content = hashlib.sha256(f"{source.content} {name}".encode()).hexdigest()
    return replace(source, row=source.row | {"suites": name}, content=content, names_suites=bool(source.row["suites"]))


def _parse_source(folder: RunFolder, text: str) -> RunSource:
    where = one_line(f"{folder.uri.removeprefix('file://')}/{RUN_FILE}")
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RollupError(f"{where} cannot be read as JSON: {one_line(str(error))}") from error
    record = Record(values, where)
    sut = record.get_record("sut")
    name, version, profile = sut.get_text("name"), sut.get_text("version"), sut.get_text("profile", "")
    selection, aborted = record.get_text("selection", ""), record.get_text("aborted", "") or None
    finished = record.get_time("finished") if record.has_value("finished") else None
    row = {
        "run": _require_text(record, "run"),
        "folder": folder.uri,
        "schema": record.get_integer("schema") or 1,
        "sut": build_system_key(name, version, profile),
        "sut_name": name,
        "sut_version": version,
        "profile": profile,
        "vendor": sut.get_text("vendor", ""),
        "reach": record.get_text("reach", ""),
        "harness": record.get_text("harness", ""),
        "suites": suites_ if re.fullmatch("[0-9a-f]{64}", suites_ := record.get_text("suites", "")) else "",
        "selection": selection,
        "started": record.get_time("started"),
        "finished": finished,
        "exit": record.get_integer("exit"),
        "aborted": aborted,
        "partial": selection not in SELECTION_VALUES_OF_RUNS_OF_ALL_CHECKS or aborted is not None or finished is None,
        "size": folder.size,
        "modified": datetime.fromtimestamp(folder.modified / 1000, record.get_time("started").tzinfo),
        "extra": _collect_extra_fields(record.values, sut.values),
    }
    return RunSource(folder, row, hashlib.sha256(text.encode("utf-8", "replace")).hexdigest())


def _require_text(record: Record, key: str) -> str:
    if not (text := record.get_text(key)):
        raise RollupError(f"{record.where}: {key} is empty")
    return text


def _collect_extra_fields(values: dict[str, object], sut: dict[str, object]) -> str | None:
    extra = {name: value for name, value in values.items() if name not in RUN_JSON_FIELDS}
    if more := {name: value for name, value in sut.items() if name not in RUN_JSON_SUT_FIELDS}:
        extra["sut"] = more
    return json.dumps(extra, ensure_ascii=True) if extra else None
