"""Computes the verdicts of each check and rule in each run: the tables ``test_runs`` and ``rule_runs``.

Each function takes and returns DataFrames; docs/reports.md describes the tables. The number ``ingest`` identifies a run
in every key, because Spark groups and joins numbers faster than names.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import Window as Over
from pyspark.sql import functions as sql

from reports.lake.order import build_verdict_count_map
from reports.lake.schemas import RULE_COLUMN_TYPES, RUN_COLUMN_TYPES, arrange_table_columns
from reports.vocabulary import VERDICT_NAMES

RUN_COLUMNS = (*RUN_COLUMN_TYPES, "suites", "partial")


def derive_test_runs(verdicts: DataFrame, runs: DataFrame) -> DataFrame:
    """Return a row for each check and rule of a run, with the worst verdict and the first line that has this
    verdict.

    Identical lines count once in ``lines``. A check that judged only the SHOULD of a rule with a MUST (``advice``)
    is dropped if other checks of the run judged the MUST; otherwise it would count as a check that did not exercise
    the rule. If the lines of a file disagree about the section or level of a rule (schema 1 repeats both in each
    line), each value has a row.
    """
    advises = sql.col("advice").isNotNull().alias("advises")
    lines = verdicts.select(
        "ingest", "test", *RULE_COLUMN_TYPES, "seq", "verdict", advises, _hash_verdict_line().alias("line")
    )
    # Few lines have the same check and rule, so the rows are partitioned once by run, before they are grouped.
    lines = lines.repartition("ingest")
    worst = [sql.min(sql.when(sql.col("verdict") == name, sql.col("seq"))).alias(name) for name in VERDICT_NAMES]
    judged = lines.groupBy("ingest", "test", *RULE_COLUMN_TYPES).agg(
        *worst, sql.count_distinct("line").alias("lines"), sql.bool_and("advises").alias("advises")
    )
    of_rule = Over.partitionBy("ingest", "rule")
    counting = judged.withColumn("all_advise", sql.bool_and("advises").over(of_rule)).where("all_advise or not advises")
    named = counting.select(
        *("ingest", "test", *RULE_COLUMN_TYPES, "lines"),
        sql.coalesce(*(sql.when(sql.col(name).isNotNull(), name) for name in VERDICT_NAMES)).alias("verdict"),
        sql.coalesce(*VERDICT_NAMES).alias("seq"),
    )
    return arrange_table_columns(_join_run_columns(named, runs), "test_runs").sortWithinPartitions("sut", "ingest")


def derive_rule_runs(test_runs: DataFrame, runs: DataFrame) -> DataFrame:
    """Return a row for each rule of a run, with the worst verdict of the rule's checks and the number of checks by
    verdict.
    """
    numbers = [sql.count_if(sql.col("verdict") == name).alias(name) for name in VERDICT_NAMES]
    judged = test_runs.groupBy("ingest", *RULE_COLUMN_TYPES).agg(*numbers, sql.count("*").alias("tests"))
    named = judged.select(
        *("ingest", *RULE_COLUMN_TYPES, "tests"),
        sql.coalesce(*(sql.when(sql.col(name) > 0, name) for name in VERDICT_NAMES)).alias("verdict"),
        build_verdict_count_map({name: sql.col(name) for name in VERDICT_NAMES}).alias("counts"),
    )
    return arrange_table_columns(_join_run_columns(named, runs), "rule_runs").sortWithinPartitions("sut", "ingest")


def _hash_verdict_line() -> Column:
    """Return a hash of the check and the rule of a verdict line, so that Spark exchanges 8 octets between its tasks
    instead of long texts.
    """
    # xxhash64 skips nulls: without the flag, a text would hash equally in either column.
    return sql.xxhash64("seq", "verdict", "expected", sql.isnull("expected"), "observed")


def _join_run_columns(rows: DataFrame, runs: DataFrame) -> DataFrame:
    return rows.join(sql.broadcast(runs.select(*RUN_COLUMNS)), "ingest")
