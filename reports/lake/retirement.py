"""Determines which checks count for a rule: the checks that the given suites contain and assign to the rule."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql

COUNTS_COLUMN = "counts"


def find_newest_suites(runs: DataFrame) -> DataFrame:
    """Return the columns ``sut`` and ``newest``: the key of each system, and the suites of its latest run."""
    return runs.groupBy("sut").agg(sql.max_by("suites", "ingest").alias("newest"))


def mark_counting_verdicts(rows: DataFrame, suites: str, judged: Column, catalogue: DataFrame) -> DataFrame:
    """Add the column ``counts``: whether the suites in the column ``suites`` contain the check ``test`` and assign it
    to ``rule``.

    A check counts when a run judged the check under these suites (``judged``), or when the suites contain the rule and
    - assign the check to the rule, or
    - contain the check, and assign no check to the rule (a passive rule), or
    - do not list the checks of rules (run folders of schema 1), or
    - the verdict belongs to the whole run.
    Under suites without a catalogue in the lake, every check counts.
    """
    knows_rule = catalogue.select(
        sql.col("suites").alias(suites), "rule", "checks", sql.lit(True).alias("rule_is_known")
    )
    known_checks = catalogue.select(
        sql.col("suites").alias(suites), sql.explode("checks").alias("function"), sql.lit(True).alias("check_is_known")
    ).distinct()
    known_suites = catalogue.select(sql.col("suites").alias(suites), sql.lit(True).alias("suites_are_known")).distinct()
    covers = (
        sql.col("checks").isNull()
        | sql.col("test").isNull()
        | sql.array_contains("checks", sql.col("function"))
        | ((sql.size("checks") == 0) & sql.col("check_is_known"))
    )
    return (
        rows.withColumn("function", sql.substring_index("test", "[", 1))
        .join(sql.broadcast(known_suites), suites, "left")
        .join(knows_rule, [suites, "rule"], "left")
        .join(known_checks, [suites, "function"], "left")
        .withColumn(
            COUNTS_COLUMN,
            judged
            | sql.col("suites_are_known").isNull()
            | sql.coalesce(sql.col("rule_is_known") & covers, sql.lit(False)),
        )
        .drop("function", "checks", "rule_is_known", "check_is_known", "suites_are_known")
    )
