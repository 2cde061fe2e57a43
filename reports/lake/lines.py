"""Turns the lines of verdict files into rows.

Each line becomes a row of ``verdicts`` (with its ``evidence``) or of ``rejected``.

The module uses Spark's splittable line reader and one ``from_json`` on the executors. Therefore a file of any size
is read in parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql

from reports.lake.files import escape_path_pattern
from reports.lake.schemas import PACKET_COLUMN_TYPES, SYSTEM_COLUMN_TYPES, arrange_table_columns, build_struct_type
from reports.records import VALID_YEARS
from reports.vocabulary import VERDICT_NAMES

DOCUMENT_PATTERN = "[A-Z][A-Z0-9]{1,15}"
"""The pattern of the name of a document, as a regular expression."""
RULE_ID_PATTERN = rf"^({DOCUMENT_PATTERN})-(.+)-[^-]+$"
"""The pattern of a rule id: document, section, number."""
TEXT_COLUMNS_OF_VERDICT_LINE = dict.fromkeys(
    ("rule", "verdict", "expected", "observed", "reason", "test", "capture", "advice"), "string"
)
LIST_COLUMNS_OF_VERDICT_LINE = dict.fromkeys(("errata", "notes"), "array<string>")
PACKET_COLUMNS_OF_VERDICT_LINE = {
    name: type_ for name, type_ in PACKET_COLUMN_TYPES.items() if name not in ("position", "first", "last")
}
VERDICT_LINE_SCHEMAS = {
    1: {"schema": "int", "seq": "bigint", **TEXT_COLUMNS_OF_VERDICT_LINE, **LIST_COLUMNS_OF_VERDICT_LINE}
    | {"run": "string", "time": "timestamp", "sut": "string", "sut_version": "string", "reach": "string"}
    | {
        "document": "string",
        "section": "string",
        "level": "string",
        "evidence": f"array<{build_struct_type(PACKET_COLUMNS_OF_VERDICT_LINE)}>",
    },
    2: {
        "schema": "int",
        "seq": "bigint",
        "ms": "bigint",
        **TEXT_COLUMNS_OF_VERDICT_LINE,
        **LIST_COLUMNS_OF_VERDICT_LINE,
        "evidence": "array<array<int>>",
    }
    | {"rejected": "string"},
}
"""For each schema version of a run: the fields of a line in the verdict file."""
REQUIRED_COLUMNS_OF_VERDICT_LINE = {
    1: ("run", "seq", "time", "sut", "sut_version", "rule", "document", "section", "level", "verdict"),
    2: ("seq", "ms", "rule", "verdict"),
}
JSON_OPTIONS = {"columnNameOfCorruptRecord": "corrupt", "allowSingleQuotes": "false"}
END_OF_FILE_MARK = "\0end"
REJECTED_TEXT_CHARACTERS = 500
"""The maximum number of characters of a line that the table `rejected` keeps."""
MAX_CAPTURE_NAME_CHARACTERS = 120
MAX_OFFSET_MS = 10**12
"""The largest accepted difference, in ms, between the time of a line and the start of the line's run: thirty years."""


def read_verdict_lines(spark: SparkSession, uris: Sequence[str]) -> DataFrame:
    """Return every line of the files, with the columns path, text, block (the start of a part of the file), and id
    (which increases within the part).
    """
    scan = spark.read.text([escape_path_pattern(uri) for uri in uris], lineSep="\n")
    return scan.select(
        normalize_path(sql.col("_metadata.file_path")).alias("path"),
        sql.col("value").alias("text"),
        sql.col("_metadata.file_block_start").alias("block"),
        sql.monotonically_increasing_id().alias("id"),
    )


def normalize_path(path: Column) -> Column:
    """Return a file URL with a single slash after the scheme and the colon, because Hadoop writes one or more slashes
    there.
    """
    scheme = sql.substring_index(path, ":", 1)
    rest = sql.substr(path, sql.length(scheme) + 2)
    return sql.concat(scheme, sql.lit(":/"), sql.ltrim(rest, sql.lit("/")))


def read_file_contents(lines: DataFrame) -> DataFrame:
    """Return a row for each file, with its path, the number of its lines, and a fingerprint of its content. The
    fingerprint consists of the columns total and mixed, and does not depend on the order of the lines.
    """
    each = sql.xxhash64("text")
    # Two sums of 32 bits: a sum of 64 bits would overflow, and decimals are slow.
    halves = (sql.sum(each.bitwiseAND(0xFFFFFFFF)), sql.sum(sql.shiftrightunsigned(each, 32)))
    return lines.groupBy("path").agg(
        sql.count("*").alias("lines"),
        sql.concat_ws(" ", *halves).alias("total"),
        sql.bit_xor(sql.xxhash64("text", sql.lit(1))).cast("string").alias("mixed"),
    )


def parse_lines(lines: DataFrame, runs: DataFrame, schema: int) -> DataFrame:
    """Parse the lines of runs of one schema into the fields of `VERDICT_LINE_SCHEMAS`. The column ``why`` contains the
    reason why a line is invalid.

    ``runs``: path, folder, run, ingest, system, reach, started and suites of each run of this schema.
    """
    # Each line is wrapped in a list in an object: otherwise the parser would ignore text after the object of the line.
    wrapped = sql.concat(sql.lit('{"v":['), "text", sql.lit(f'],"{_escape_unprintable(END_OF_FILE_MARK)}":1}}'))
    type_ = f"v array<{build_struct_type(VERDICT_LINE_SCHEMAS[schema])}>, `{END_OF_FILE_MARK}` int, corrupt string"
    read_ = lines.join(sql.broadcast(runs), "path").select(
        *(sql.col(f"{name}").alias(f"run_{name}") for name in runs.columns if name != "path"),
        *("path", "text", "block", "id"),
        sql.from_json(wrapped, type_, JSON_OPTIONS).alias("read"),
        _collect_extra_fields(schema).alias("extra"),
    )
    line = sql.get("read.v", sql.lit(0))
    one = sql.col("read.corrupt").isNull() & (sql.col(f"read.`{END_OF_FILE_MARK}`") == 1) & (sql.size("read.v") == 1)
    fields = read_.select("*", (one & line.isNotNull()).alias("one"), line.alias("v")).drop("read")
    return fields.withColumn("why", _find_reason_for_rejection(schema))


def build_verdicts_table(taken: DataFrame, catalogue: DataFrame, schema: int) -> DataFrame:
    """Return the table `verdicts` of valid parsed lines. ``catalogue``: suites, rule, level."""
    v = sql.col("v")
    whole = taken.where("why is null")
    columns = {name: sql.col(f"run_{name}") for name in ("run", "ingest", *SYSTEM_COLUMN_TYPES, "reach", "started")}
    columns |= {name: v[name] for name in ("seq", *TEXT_COLUMNS_OF_VERDICT_LINE)}
    columns |= {name: sql.coalesce(v[name], sql.array().cast("array<string>")) for name in LIST_COLUMNS_OF_VERDICT_LINE}
    columns |= {"extra": sql.col("extra"), "rule_suites": sql.col("run_suites")}
    if schema == 1:
        columns |= {name: v[name] for name in ("time", "document", "section", "level")}
        return arrange_table_columns(
            whole.select(*(column.alias(name) for name, column in columns.items())), "verdicts"
        )
    columns["observed"] = sql.coalesce(v["observed"], v["expected"])
    columns["time"] = sql.timestamp_millis(sql.unix_millis("run_started") + v["ms"])
    columns["document"], columns["section"] = _split_rule_id(v["rule"])
    columns["capture"] = sql.coalesce(
        v["capture"], sql.when(sql.size(v["evidence"]) > 0, get_capture_column(v["test"]))
    )
    rows = whole.select(*(column.alias(name) for name, column in columns.items()))
    known = sql.broadcast(catalogue.select(sql.col("suites").alias("rule_suites"), "rule", "level"))
    return arrange_table_columns(rows.join(known, ["rule_suites", "rule"], "left"), "verdicts")


def build_evidence_table(taken: DataFrame, schema: int) -> DataFrame:
    """Return the table `evidence` of parsed lines."""
    # With posexplode, Spark would infer a filter that parses the JSON two more times.
    each = taken.where("why is null").select(
        sql.col("run_run").alias("run"),
        sql.col("v.seq").alias("seq"),
        sql.posexplode_outer("v.evidence").alias("position", "e"),
    )
    each = each.where("position is not null")
    if schema == 1:
        columns = {name: sql.col(f"e.{name}") for name in PACKET_COLUMNS_OF_VERDICT_LINE}
    else:
        columns = {name: sql.get("e", sql.lit(index)) for index, name in enumerate(("frame", "first", "last"))}
    columns = {name: sql.lit(None) for name in PACKET_COLUMN_TYPES} | columns | {"position": sql.col("position")}
    return arrange_table_columns(
        each.select("run", "seq", *(column.alias(name) for name, column in columns.items())), "evidence"
    )


def build_rejected_table(judged: DataFrame, lines: DataFrame) -> DataFrame:
    """Return the table `rejected` of parsed lines, with line numbers. ``lines``: the argument of `parse_lines`."""
    block = sql.struct("path", "block")
    sizes = lines.groupBy(block.alias("at")).agg(sql.count("*").alias("lines"), sql.min("id").alias("least"))
    blocks = sizes.select(sql.collect_list(sql.struct("at.path", "at.block", "lines", "least")).alias("blocks"))
    # A block is 128 MiB of one file, and only files with rejected lines are read here, so the list is short.
    same = sql.filter("blocks", lambda each: each["path"] == sql.col("path"))

    def add_lines(of: Column, where: Column) -> Column:
        return sql.aggregate(
            sql.filter(of, lambda each: where & (each["block"] < sql.col("block"))),
            sql.lit(0).cast("bigint"),
            lambda total, each: total + each["lines"],
        )

    before = add_lines(same, sql.lit(True))
    first = sql.get(sql.filter(same, lambda each: each["block"] == sql.col("block")), sql.lit(0))["least"]
    whole = sql.aggregate(same, sql.lit(0).cast("bigint"), lambda total, each: total + each["lines"])
    rows = (
        judged.where("why is not null")
        .crossJoin(sql.broadcast(blocks))
        .select(
            sql.col("run_run").alias("run"),
            sql.col("run_folder").alias("folder"),
            (before + sql.col("id") - first + 1).alias("line"),
            "why",
            "text",
            "one",
            whole.alias("last"),
        )
    )
    cut = ~sql.col("one") & (sql.col("line") == sql.col("last")) & (sql.trim("text") != "")
    cut &= ~sql.col("text").endswith("}")
    reason = sql.when(cut, "the line is cut off in the middle").otherwise(sql.col("why"))
    return arrange_table_columns(
        rows.select(
            "run",
            "folder",
            "line",
            reason.alias("reason"),
            sql.substring("text", 1, REJECTED_TEXT_CHARACTERS).alias("text"),
        ),
        "rejected",
    )


def union_data_frames(frames: Sequence[DataFrame]) -> DataFrame:
    """Return the union of the rows of several data frames."""
    return reduce(DataFrame.unionByName, frames)


def get_capture_column(test: Column) -> Column:
    """Return the file name of the capture that the first attempt of a check made. The form of the name is defined in
    docs/run-folder.md.
    """
    words = sql.regexp_replace(sql.lower(test), "[^a-z0-9]+", "-")
    words = sql.btrim(sql.right(words, sql.lit(MAX_CAPTURE_NAME_CHARACTERS)), sql.lit("-"))
    return sql.concat(
        sql.lit("captures/"), words, sql.lit("-"), sql.left(sql.sha2(test, 256), sql.lit(8)), sql.lit(".pcapng")
    )


def _split_rule_id(rule: Column) -> tuple[Column, Column]:
    """Return the document and the section of a rule id (the first two groups of `RULE_ID_PATTERN`). The function takes
    a fifth of the time that a regular expression would take.
    """
    document, number = sql.substring_index(rule, "-", 1), sql.substring_index(rule, "-", -1)
    section = sql.length(rule) - sql.length(document) - sql.length(number) - 2
    return document, sql.substr(rule, sql.length(document) + 2, section)


def _collect_extra_fields(schema: int) -> Column:
    """Return the fields outside `VERDICT_LINE_SCHEMAS` as JSON.

    A cheap search for the names of such fields comes first, and usually finds none. The search may find too many names,
    because it does not parse escaped names to their end. A pattern that parsed them would make Java try alternatives
    recursively, and a long text would crash the process.
    """
    names = (*VERDICT_LINE_SCHEMAS[schema], *(PACKET_COLUMNS_OF_VERDICT_LINE if schema == 1 else ()))
    strange = rf'[{{,]\s*"(?!(?:{"|".join(names)})")[^"\\]*(?:\\|"\s*:)'
    fields = sql.from_json("text", "map<string, variant>", JSON_OPTIONS)
    others = sql.map_filter(fields, lambda name, _: ~name.isin(*VERDICT_LINE_SCHEMAS[schema]))
    # If a key occurs twice within a field of unknown shape, from_json returns no map: then the whole line is kept.
    kept = sql.nullif(sql.coalesce(sql.to_json(others), "text"), sql.lit("{}"))
    return sql.when(sql.col("text").rlike(strange), kept)


def _find_reason_for_rejection(schema: int) -> Column:
    v = sql.col("v")

    def describe_unknown_value(what: str, name: str) -> Column:
        return sql.concat(sql.lit(f"unknown {what} "), sql.substring(v[name], 1, 60))

    checks: list[tuple[Column, Column | str]] = [
        (sql.trim("text") == "", "empty line"),
        (~sql.col("one"), "the line is not a JSON object with the fields of a verdict"),
        *_find_error_in_line(v, schema),
        (v["schema"].isNull() | (v["schema"] != schema), f"schema is not {schema}, the schema of its run.json"),
        *(
            (v[name].isNull() | (v[name].cast("string") == ""), f"{name} is missing")
            for name in REQUIRED_COLUMNS_OF_VERDICT_LINE[schema]
        ),
        (~v["verdict"].isin(*VERDICT_NAMES), describe_unknown_value("verdict", "verdict")),
    ]
    if schema == 1:
        checks += [
            (~v["document"].rlike(rf"\A{DOCUMENT_PATTERN}\z"), describe_unknown_value("document", "document")),
            (~sql.year("v.time").between(*VALID_YEARS), "time is outside the run"),
            (
                v["run"] != sql.col("run_run"),
                sql.concat(sql.lit("belongs to another run: "), sql.substring(v["run"], 1, 60)),
            ),
        ]
    else:
        checks.append((~v["rule"].rlike(RULE_ID_PATTERN), describe_unknown_value("rule", "rule")))
        checks.append((~v["ms"].between(-MAX_OFFSET_MS, MAX_OFFSET_MS), "ms is outside the run"))
    return sql.coalesce(*(sql.when(check, sql.lit(why) if isinstance(why, str) else why) for check, why in checks))


def _find_error_in_line(v: Column, schema: int) -> list[tuple[Column, Column | str]]:
    """Return whether a line contains no verdict but reports a capture that could not be judged, and the reason that the
    line gives.
    """
    if schema == 1:
        return []
    return [(v["rejected"].isNotNull(), sql.concat_ws(": ", v["capture"], v["rejected"]))]


def _escape_unprintable(text: str) -> str:
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)
