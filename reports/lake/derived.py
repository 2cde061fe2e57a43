"""Tables that follow from facts and current verdicts: ``flaky``, ``matrix`` and ``pairs`` (docs/reports.md)."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import Window as Over
from pyspark.sql import functions as sql

from reports.lake.order import counts, is_decided, rank, verdict_at
from reports.lake.schemas import SYSTEM, shaped
from reports.vocabulary import DECIDED, SEVERITY


def flaky(test_runs: DataFrame, runs: DataFrame) -> DataFrame:
    """Return the checks that decided one rule differently with the same system and the same suites.

    ``runs``: the runs that decided; ``verdicts``: how many of them said what; ``changes``: how often one said something
    else than the one before; ``last``: what the latest said.
    """
    key = ("sut", "suites", "rule", "test")
    decided = test_runs.select(*key, "ingest", rank(sql.col("verdict")).alias("rank")).where(
        is_decided(sql.col("rank"))
    )
    # Few are: two numbers for each find them, and only their runs are put in order.
    spread = decided.groupBy(*key).agg(sql.min("rank").alias("worst"), sql.max("rank").alias("best"))
    differ = spread.where("worst < best").select(*(sql.col(name).alias(f"_{name}") for name in key))
    same = [sql.col(name).eqNullSafe(sql.col(f"_{name}")) for name in key]
    in_order = Over.partitionBy(*key).orderBy("ingest")
    steps = decided.join(differ, same, "left_semi").withColumn("before", sql.lag("rank").over(in_order))
    numbers = {name: sql.count_if(sql.col("rank") == SEVERITY[name]) for name in DECIDED}
    rows = steps.groupBy(*key).agg(
        sql.count("*").alias("runs"),
        counts(numbers).alias("verdicts"),
        sql.count_if(sql.col("rank") != sql.col("before")).alias("changes"),
        verdict_at(sql.max_by("rank", "ingest")).alias("last"),
    )
    return shaped(rows.join(sql.broadcast(_systems(runs)), "sut"), "flaky")


def matrix(rule_current: DataFrame) -> DataFrame:
    """Return, for each section, system and verdict: rules whose verdict it is, checks (``verdicts``) that say it."""
    each = rule_current.where("not retired").select(
        *("document", "section", *SYSTEM),
        sql.col("verdict").alias("stands"),
        sql.explode("counts").alias("verdict", "checks"),
    )
    rows = each.groupBy("document", "section", *SYSTEM, "verdict").agg(
        sql.count_if(sql.col("verdict") == sql.col("stands")).alias("rules"), sql.sum("checks").alias("verdicts")
    )
    return shaped(rows, "matrix")


def pairs(rule_current: DataFrame, runs: DataFrame, catalogue: DataFrame) -> DataFrame:
    """Return, for each document, system, its counterpart and the role that the rules bind: rules by verdict.

    The counterpart is the reference of the harness that made the run; a rule that the run's catalogue lacks binds
    "any".
    """
    of_run = runs.select("ingest", "suites", sql.concat(sql.lit("reference "), "harness").alias("b"))
    roles = catalogue.select("suites", "rule", "role")
    rows = (
        rule_current.where("not retired")
        .join(sql.broadcast(of_run), "ingest")
        .join(roles, ["suites", "rule"], "left")
        .groupBy(
            "document",
            sql.col("sut").alias("a"),
            sql.coalesce("b", sql.lit("reference")).alias("b"),
            sql.coalesce("role", sql.lit("any")).alias("role"),
            "verdict",
        )
        .agg(sql.count("*").alias("rules"))
    )
    return shaped(rows, "pairs")


def _systems(runs: DataFrame) -> DataFrame:
    return runs.select(*SYSTEM).distinct()
