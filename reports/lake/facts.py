"""What each run said of each check and of each rule: the tables ``test_runs`` and ``rule_runs``.

Functions from DataFrame to DataFrame; docs/reports.md has the tables. ``ingest`` numbers the runs, so it stands for the
run in every key: a number is grouped and joined faster than a name.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import Window as Over
from pyspark.sql import functions as sql

from reports.lake.order import counts
from reports.lake.schemas import RULE, RUN, shape_rows
from reports.vocabulary import VERDICTS

RUN_COLUMNS = (*RUN, "suites", "partial")


def test_runs(verdicts: DataFrame, runs: DataFrame) -> DataFrame:
    """Return a row for each check of a run and each rule that it judged: the worst verdict, where it stands first.

    Identical lines count once in ``lines``. A check that only looked at the SHOULD beside a MUST (``advice``) is left
    out where others of the run say something of the MUST: else it would count as one that did not exercise it. A file
    whose lines disagree about the section or level of a rule (schema 1 repeats them in each line) has a row for each.
    """
    advises = sql.col("advice").isNotNull().alias("advises")
    lines = verdicts.select("ingest", "test", *RULE, "seq", "verdict", advises, _line_hash().alias("line"))
    # Hardly two lines are of one check and rule: rows move once, and runs that lie together are found together.
    lines = lines.repartition("ingest")
    worst = [sql.min(sql.when(sql.col("verdict") == name, sql.col("seq"))).alias(name) for name in VERDICTS]
    judged = lines.groupBy("ingest", "test", *RULE).agg(
        *worst, sql.count_distinct("line").alias("lines"), sql.bool_and("advises").alias("advises")
    )
    of_rule = Over.partitionBy("ingest", "rule")
    counting = judged.withColumn("all_advise", sql.bool_and("advises").over(of_rule)).where("all_advise or not advises")
    named = counting.select(
        *("ingest", "test", *RULE, "lines"),
        sql.coalesce(*(sql.when(sql.col(name).isNotNull(), name) for name in VERDICTS)).alias("verdict"),
        sql.coalesce(*VERDICTS).alias("seq"),
    )
    return shape_rows(_join_runs(named, runs), "test_runs").sortWithinPartitions("sut", "ingest")


def rule_runs(test_runs: DataFrame, runs: DataFrame) -> DataFrame:
    """Return a row for each rule that a run judged: the worst verdict of its checks, and checks by their verdict."""
    numbers = [sql.count_if(sql.col("verdict") == name).alias(name) for name in VERDICTS]
    judged = test_runs.groupBy("ingest", *RULE).agg(*numbers, sql.count("*").alias("tests"))
    named = judged.select(
        *("ingest", *RULE, "tests"),
        sql.coalesce(*(sql.when(sql.col(name) > 0, name) for name in VERDICTS)).alias("verdict"),
        counts({name: sql.col(name) for name in VERDICTS}).alias("counts"),
    )
    return shape_rows(_join_runs(named, runs), "rule_runs").sortWithinPartitions("sut", "ingest")


def _line_hash() -> Column:
    """Tell lines of one check and rule apart: 8 octets instead of the texts, of which 10 million would be shuffled."""
    # xxhash64 skips nulls: without the flag, a text in the one column would be the same as in the other.
    return sql.xxhash64("seq", "verdict", "expected", sql.isnull("expected"), "observed")


def _join_runs(rows: DataFrame, runs: DataFrame) -> DataFrame:
    return rows.join(sql.broadcast(runs.select(*RUN_COLUMNS)), "ingest")
