"""The Spark job: verdict files in, Parquet tables and the records for the pages out.

Every line of every file ends in one of the tables ``verdicts`` and ``rejected``, never both (docs/reports.md).
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as sql

from reports.model import Cell, Frame, Judgement, Rejected, Rollup, Run, RunTotals, Sut
from reports.rollup_error import RollupError
from reports.runs import DOCUMENT, count_lines
from reports.text import DISSECTION_SHOWN, OCTETS_SHOWN, SLUG_WORDS, TEXT_SHOWN
from reports.vocabulary import VERDICTS

VERDICT_LINE = """
    schema int, run string, seq bigint, time timestamp, sut string, sut_version string, reach string, rule string,
    document string, section string, level string, verdict string, expected string, observed string, reason string,
    test string, capture string,
    evidence array<struct<
        frame: int, time_ms: bigint, direction: string, transport: string, hex: string, dissection: string>>,
    errata array<string>, notes array<string>
"""
"""The explicit schema of one line of verdicts.jsonl."""
RUN_ROW = """
    file string, folder string, run string, started timestamp, finished timestamp, sut string, sut_version string,
    vendor string, profile string, reach string, harness string, selection string, exit int, lines bigint
"""
SCHEMA = 1
REQUIRED = ("run", "seq", "time", "sut", "sut_version", "rule", "document", "section", "level", "verdict")
JUDGEMENTS_SHOWN = 5
FRAMES_SHOWN = 8
REJECTED_SHOWN = 100
REJECTED_TEXT = 500


def roll_up(spark: SparkSession, runs: Sequence[Run], lake: Path) -> Rollup:
    """Write the lake's tables and return what the pages show. Raises `RollupError` when a line is unaccounted for."""
    shutil.rmtree(lake, ignore_errors=True)
    lines = {run.run: count_lines(run.verdicts) for run in runs}
    run_rows = _run_rows(spark, runs, lines)
    judged = _judged_lines(_lines(spark, runs), run_rows).persist(StorageLevel.MEMORY_AND_DISK)
    kept = _kept(judged)
    _write(kept.repartition("document", "sut"), lake / "verdicts", partition_by=("document", "sut"))
    _write(_rejected(judged), lake / "rejected")
    judged.unpersist()

    verdicts = spark.read.schema(kept.schema).parquet(_uri(lake / "verdicts", glob=True))
    rejected = spark.read.parquet(_uri(lake / "rejected", glob=True))
    totals = _totals(verdicts, rejected, runs)
    account(lines, totals)
    _write(_runs_table(run_rows, verdicts, rejected), lake / "runs")

    latest = _latest(verdicts, run_rows).persist(StorageLevel.MEMORY_AND_DISK)
    _write(_rule_matrix(latest), lake / "rule_matrix")
    _write(_matrix(latest), lake / "matrix")
    cells = tuple(_cell(row) for row in latest.withColumn("shown", _bounded(sql.col("shown"))).toLocalIterator())
    latest.unpersist()
    return Rollup(
        runs=tuple(runs),
        totals=totals,
        cells=cells,
        rejected=tuple(
            Rejected(row.folder, row.line, row.reason)
            for row in rejected.orderBy("folder", "line").limit(REJECTED_SHOWN).collect()
        ),
        rejected_count=sum(total.rejected for total in totals.values()),
    )


def slug_column(text: Column) -> Column:
    """Compute `reports.text.slug` in Spark."""
    words = sql.substring(sql.regexp_replace(text, "[^A-Za-z0-9]+", "-"), 1, SLUG_WORDS)
    words = sql.lower(sql.regexp_replace(words, "^-|-$", ""))
    return sql.concat_ws("-", sql.when(words == "", "x").otherwise(words), sql.substring(sql.sha2(text, 256), 1, 8))


def _run_rows(spark: SparkSession, runs: Iterable[Run], lines: dict[str, int]) -> DataFrame:
    rows = [
        (
            *(str(run.verdicts), str(run.folder), run.run, run.started, run.finished),
            *(run.sut.name, run.sut.version, run.vendor, run.profile, run.reach, run.harness, run.selection, run.exit),
            lines[run.run],
        )
        for run in runs
    ]
    return spark.createDataFrame(rows, RUN_ROW)


def _lines(spark: SparkSession, runs: Iterable[Run]) -> DataFrame:
    """Return every line of the verdict files: file, line (from 1), text, is_last.

    Whole files are read, because Spark's line reader does not number lines.
    """
    names = [_uri(run.verdicts, glob=True) for run in runs]
    # The column says file:///a%20b, the driver knows /a b. url_decode would read a plus sign as a space.
    decoded = sql.url_decode(sql.replace(sql.col("_metadata.file_path"), sql.lit("+"), sql.lit("%2B")))
    files = spark.read.text(names, wholetext=True).select(
        sql.regexp_replace(decoded, "^file:/+", "/").alias("file"), sql.split("value", "\n").alias("texts")
    )
    return (
        files.select("file", sql.size("texts").alias("parts"), sql.posexplode("texts").alias("index", "text"))
        .select(
            "file",
            (sql.col("index") + 1).alias("line"),
            "text",
            (sql.col("index") + 1 == sql.col("parts")).alias("is_last"),
        )
        .where(~(sql.col("is_last") & (sql.col("text") == "")))  # what follows the last line end is no line
    )


def _judged_lines(lines: DataFrame, run_rows: DataFrame) -> DataFrame:
    """Parse each line and say why it cannot be taken (``why``: null for a good one)."""
    options = {"columnNameOfCorruptRecord": "corrupt", "allowSingleQuotes": "false"}
    # from_json stops at the end of the first object; as an array, two glued objects are an error.
    alone = sql.from_json(sql.concat(sql.lit("["), "text", sql.lit("]")), "array<struct<schema: int>>", options)
    parsed = lines.join(
        sql.broadcast(run_rows.select("file", "folder", sql.col("run").alias("run_id"))), "file"
    ).select(
        "folder",
        "run_id",
        "line",
        "text",
        "is_last",
        sql.from_json("text", f"{VERDICT_LINE}, corrupt string", options).alias("v"),
        sql.coalesce(sql.size(alone), sql.lit(0)).alias("objects"),
    )
    return parsed.withColumn("why", _why())


def _why() -> Column:
    v = sql.col("v")
    broken = v.isNull() | v["corrupt"].isNotNull() | (sql.col("objects") != 1)
    checks: list[tuple[Column, Column | str]] = [
        (sql.trim("text") == "", "empty line"),
        (broken & sql.col("is_last") & ~sql.col("text").endswith("}"), "cut off in the middle of the line"),
        (broken, "not one JSON object with the fields of a verdict"),
        (v["schema"].isNull() | (v["schema"] != SCHEMA), f"schema is not {SCHEMA}"),
        *((v[name].isNull() | (v[name].cast("string") == ""), f"{name} is missing") for name in REQUIRED),
        (~v["verdict"].isin(*VERDICTS), sql.concat(sql.lit("unknown verdict "), sql.substring(v["verdict"], 1, 60))),
        (
            ~v["document"].rlike(rf"\A{DOCUMENT}\z"),
            sql.concat(sql.lit("unknown document "), sql.substring(v["document"], 1, 60)),
        ),
        (
            v["run"] != sql.col("run_id"),
            sql.concat(sql.lit("belongs to another run: "), sql.substring(v["run"], 1, 60)),
        ),
    ]
    return sql.coalesce(*(sql.when(check, sql.lit(why) if isinstance(why, str) else why) for check, why in checks))


def _kept(judged: DataFrame) -> DataFrame:
    return (
        judged.where("why is null")
        .select("v.*")
        .drop("corrupt", "schema")
        .withColumnRenamed("sut", "sut_name")
        .withColumn("sut", slug_column(sql.col("sut_name")))
    )


def _rejected(judged: DataFrame) -> DataFrame:
    return judged.where("why is not null").select(
        sql.col("run_id").alias("run"),
        "folder",
        "line",
        sql.col("why").alias("reason"),
        sql.substring("text", 1, REJECTED_TEXT).alias("text"),
    )


def _totals(verdicts: DataFrame, rejected: DataFrame, runs: Iterable[Run]) -> dict[str, RunTotals]:
    bad = {row.run: row["count"] for row in rejected.groupBy("run").count().collect()}
    good: dict[str, dict[str, int]] = {run.run: {} for run in runs}
    for row in verdicts.groupBy("run", "verdict").count().collect():
        good[row.run][row.verdict] = row["count"]
    return {run: RunTotals(counts, bad.get(run, 0)) for run, counts in good.items()}


def account(lines: dict[str, int], totals: dict[str, RunTotals]) -> None:
    """Hold what is in the lake against the files: input = kept + rejected."""
    for run, count in lines.items():
        total = totals[run]
        if count != total.kept + total.rejected:
            raise RollupError(
                f"run {run!r}: {count} lines in the file, but {total.kept} kept and {total.rejected} rejected: "
                "was it written to meanwhile? Roll up again when the run has ended"
            )


def _runs_table(run_rows: DataFrame, verdicts: DataFrame, rejected: DataFrame) -> DataFrame:
    kept = verdicts.groupBy("run").agg(sql.count("*").alias("kept"))
    bad = rejected.groupBy("run").agg(sql.count("*").alias("rejected"))
    joined = run_rows.drop("file").join(kept, "run", "left").join(bad, "run", "left").fillna(0, ["kept", "rejected"])
    return joined.withColumnRenamed("sut", "sut_name").withColumn("sut", slug_column(sql.col("sut_name")))


def _latest(verdicts: DataFrame, run_rows: DataFrame) -> DataFrame:
    """Return, per SUT version and rule, the latest run's verdict counts and its worst verdicts (``shown``)."""
    severity = sql.array_position(sql.array(*(sql.lit(name) for name in VERDICTS)), sql.col("verdict"))
    fields = [name for name in verdicts.columns if name not in ("rule", "sut", "sut_name", "sut_version", "run")]
    judgement = sql.struct(severity.alias("severity"), "seq", *(name for name in fields if name != "seq"))
    counted = (sql.create_map(sql.lit(name), sql.count_if(sql.col("verdict") == name)) for name in VERDICTS)
    key = ("rule", "sut", "sut_name", "sut_version")
    by_run = verdicts.groupBy(*key, "run").agg(
        sql.slice(sql.sort_array(sql.collect_list(judgement)), 1, JUDGEMENTS_SHOWN).alias("shown"),
        sql.map_filter(sql.map_concat(*counted), lambda _, count: count > 0).alias("counts"),
    )
    dated = by_run.join(sql.broadcast(run_rows.select("run", "started")), "run")
    row = sql.struct("run", "started", "shown", "counts")
    return dated.groupBy(*key).agg(sql.max_by(row, sql.struct("started", "run")).alias("row")).select(*key, "row.*")


def _rule_matrix(latest: DataFrame) -> DataFrame:
    worst = sql.col("shown")[0]
    return latest.select("*", worst.alias("worst")).select(
        "worst.document",
        "worst.section",
        *("rule", "worst.level", "sut", "sut_name", "sut_version", "run", "started", "worst.verdict", "worst.seq"),
        *(f"worst.{name}" for name in ("time", "reach", "expected", "observed", "reason", "test", "capture")),
        *("worst.errata", "worst.notes", "worst.evidence", "counts"),
    )


def _matrix(latest: DataFrame) -> DataFrame:
    """Return, per section, SUT version and verdict: rules whose verdict it is, verdict lines that say so."""
    worst = sql.col("shown")[0]
    each = latest.select(
        worst["document"].alias("document"),
        worst["section"].alias("section"),
        *("sut", "sut_name", "sut_version"),
        worst["verdict"].alias("worst"),
        sql.explode("counts").alias("verdict", "lines"),
    )
    return each.groupBy("document", "section", "sut", "sut_name", "sut_version", "verdict").agg(
        sql.count_if(sql.col("verdict") == sql.col("worst")).alias("rules"), sql.sum("lines").alias("verdicts")
    )


def _bounded(shown: Column) -> Column:
    """Cut what the pages will not show, so that one huge packet cannot fill the driver."""

    def text(column: Column, limit: int = TEXT_SHOWN) -> Column:
        return sql.substring(column, 1, limit + 1)

    def frame(row: Column) -> Column:
        cut = sql.substring(row["hex"], 1, 2 * OCTETS_SHOWN)
        octets = sql.floor(sql.length(row["hex"]) / 2)
        return (
            row.withField("octets", octets)
            .withField("hex", cut)
            .withField("dissection", text(row["dissection"], DISSECTION_SHOWN))
        )

    def judgement(row: Column) -> Column:
        for name in ("expected", "observed", "reason", "test"):
            row = row.withField(name, text(row[name]))
        for name in ("errata", "notes"):
            row = row.withField(name, sql.transform(sql.slice(row[name], 1, 20), lambda each: text(each)))
        return row.withField("evidence", sql.transform(sql.slice(row["evidence"], 1, FRAMES_SHOWN), frame))

    return sql.transform(shown, judgement)


def _cell(row: Row) -> Cell:
    return Cell(
        rule=row.rule,
        document=row.shown[0].document,
        section=row.shown[0].section,
        sut=Sut(row.sut_name, row.sut_version),
        run=row.run,
        counts=dict(row.counts),
        shown=tuple(_judgement(each) for each in row.shown),
    )


def _judgement(row: Row) -> Judgement:
    texts = {name: row[name] or "" for name in ("expected", "observed", "reason", "test", "capture", "level", "reach")}
    return Judgement(
        seq=row.seq,
        verdict=row.verdict,
        errata=tuple(each for each in row.errata or () if each),
        notes=tuple(each for each in row.notes or () if each),
        evidence=tuple(_frame(each) for each in row.evidence or () if each),
        **texts,
    )


def _frame(row: Row) -> Frame:
    texts = {name: row[name] or "" for name in ("direction", "transport", "hex", "dissection")}
    return Frame(frame=row.frame, time_ms=row.time_ms, octets=row.octets or 0, **texts)


def _write(table: DataFrame, path: Path, partition_by: Sequence[str] = ()) -> None:
    writer = table.write.mode("overwrite")
    (writer.partitionBy(*partition_by) if partition_by else writer).parquet(_uri(path))


def _uri(path: Path, *, glob: bool = False) -> str:
    """Name a local file for Spark, whatever its default file system; as a ``glob``, its special letters are escaped."""
    absolute = str(path.resolve())
    return "file://" + (re.sub(r"([][{}*?\\])", r"\\\1", absolute) if glob else absolute)
