"""Finds the runs that changed the verdict of a rule, for the table ``changes``. All versions of a system are compared.

The module compares the standing verdicts after each run with those after the previous run. A standing verdict is the
worst of the latest decided verdicts of the checks that count under the suites of the run. So a partial run does not
change the verdict of rules that it did not judge, and a check that the suites no longer contain does not count.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import Window as Over
from pyspark.sql import functions as sql

from reports.lake.order import RANKS_OF_DECIDING_VERDICTS, get_rank_of_verdict, get_verdict_of_rank, is_verdict_decided
from reports.lake.retirement import COUNTS_COLUMN, mark_counting_verdicts
from reports.lake.schemas import arrange_table_columns

PRODUCT_COLUMNS = ("sut_name", "profile")
"""The columns that are equal for all versions of a system. Runs with equal values in these columns are compared with
each other.
"""
_CHECK_COLUMNS = (*PRODUCT_COLUMNS, "rule", "test")


@dataclass(frozen=True, slots=True)
class EarlierVerdicts:
    """The current verdicts of the rules after an earlier run. ``ingest``: the number of this run in the order of
    ingest.
    """

    check_current: DataFrame
    ingest: int


def derive_changes(events: DataFrame, runs: DataFrame, after: int = 0) -> DataFrame:
    """Return a row for each rule and each run that changed the current verdict of the rule.

    ``runs``: the runs of all versions of the systems. Only runs whose number is above ``after`` have rows.
    """
    # The following steps stay within one rule of one system, so rows move once.
    rows = _collect_verdicts(_compute_check_count_changes(events.repartition(*PRODUCT_COLUMNS, "rule")))
    return arrange_table_columns(_add_kinds_of_change(rows.where(sql.col("ingest") > after), runs), "changes")


def derive_check_current(events: DataFrame) -> DataFrame:
    """Return the latest decided verdict of each check about each rule, over all versions of a system. After the next
    ingest, `list_check_events` continues from these rows.
    """
    is_decided_then = sql.col("rank").isNotNull()
    # Within one run, the judgment of the check sorts last.
    order = sql.col("ingest") * 2 + is_decided_then.cast("int")
    latest = sql.max_by(sql.struct("ingest", "rank", "document", "section"), sql.when(is_decided_then, order))
    rows = events.groupBy(*_CHECK_COLUMNS).agg(
        latest.alias("latest"),
        sql.max_by(COUNTS_COLUMN, order).alias(COUNTS_COLUMN),
        sql.array_distinct(sql.flatten(sql.collect_list("judged_under"))).alias("judged_under"),
    )
    return arrange_table_columns(
        rows.select(*_CHECK_COLUMNS, "latest.*", COUNTS_COLUMN, "judged_under").withColumn(
            "verdict", get_verdict_of_rank(sql.col("rank"))
        ),
        "check_current",
    )


def list_check_events(
    test_runs: DataFrame, runs: DataFrame, catalogue: DataFrame | None, before: EarlierVerdicts | None = None
) -> DataFrame:
    """Return the events of each check. An event is a run that decided the check, or new suites under which the check
    begins or ceases to count.

    ``test_runs`` and ``runs`` contain the runs of all versions of the systems. ``catalogue`` is None if every run
    had the suites of the previous run. With ``before``, ``test_runs`` contains only later runs, and each earlier
    decision is one event of its run, so that the cost does not grow with the earlier runs.
    """
    said = sql.col("verdict")
    decided = (
        test_runs.select(
            *_CHECK_COLUMNS, "ingest", "document", "section", "suites", get_rank_of_verdict(said).alias("rank")
        )
        .where(is_verdict_decided(sql.col("rank")))
        .select("*", sql.lit(True).alias(COUNTS_COLUMN), sql.array(sql.xxhash64("suites")).alias("judged_under"))
        .drop("suites")
    )
    if before is not None:
        decided = decided.unionByName(
            before.check_current.withColumn("rank", get_rank_of_verdict(said)).drop("verdict")
        )
    if catalogue is None:
        return decided
    reviewed = _find_runs_that_retire_verdicts(decided, runs, catalogue, before.ingest if before else 0)
    return decided.unionByName(reviewed, allowMissingColumns=True)


def _find_runs_that_retire_verdicts(decided: DataFrame, runs: DataFrame, catalogue: DataFrame, after: int) -> DataFrame:
    """Return, for each run with new suites, whether the verdicts of each earlier check still count, because the new
    suites contain the check.
    """
    in_order = Over.partitionBy(*PRODUCT_COLUMNS).orderBy("ingest")
    anew = (
        runs.select(*PRODUCT_COLUMNS, "ingest", "suites", sql.lag("suites").over(in_order).alias("previous"))
        .where(sql.col("previous").isNotNull() & ~sql.col("suites").eqNullSafe(sql.col("previous")))
        .where(sql.col("ingest") > after)
        .select(*PRODUCT_COLUMNS, sql.col("ingest").alias("since"), sql.col("suites").alias("now"))
    )
    # One row per check, with its first run under each version of the suites: more rows would be multiplied by the
    # changes of the suites.
    first = (
        decided.select(*_CHECK_COLUMNS, "ingest", sql.explode("judged_under").alias("under"))
        .groupBy(*_CHECK_COLUMNS, "under")
        .agg(sql.min("ingest").alias("ingest"))
        .groupBy(*_CHECK_COLUMNS)
        .agg(sql.min("ingest").alias("first"), sql.collect_list(sql.struct("under", "ingest")).alias("under"))
    )
    now = sql.xxhash64("now")
    checks = (
        first.join(sql.broadcast(anew), list(PRODUCT_COLUMNS))
        .where("first < since")
        .select(
            *(*_CHECK_COLUMNS, "since", "now"),
            sql.exists("under", lambda each: (each["under"] == now) & (each["ingest"] < sql.col("since"))).alias(
                "judged"
            ),
        )
    )
    marked = mark_counting_verdicts(checks, "now", sql.col("judged"), catalogue)
    return marked.select(*_CHECK_COLUMNS, sql.col("since").alias("ingest"), COUNTS_COLUMN)


def _compute_check_count_changes(events: DataFrame) -> DataFrame:
    """Return, for each rule, run and decided verdict, the change in the number of checks with this verdict."""
    once = events.groupBy(*_CHECK_COLUMNS, "ingest", "document", "section").agg(
        sql.min("rank").alias("rank"), sql.max(COUNTS_COLUMN).alias(COUNTS_COLUMN)
    )
    # The number comes first: texts with equal beginnings are slow to sort.
    in_order = Over.partitionBy("check", *_CHECK_COLUMNS).orderBy("ingest", sql.col("rank").isNotNull())
    stands = sql.when(sql.col(COUNTS_COLUMN), sql.last("rank", ignorenulls=True).over(in_order))
    stood = (
        once.withColumn("check", sql.xxhash64("rule", "test"))
        .withColumn("stands", stands)
        .withColumn("stood", sql.lag("stands").over(in_order))
    )
    return stood.groupBy(*PRODUCT_COLUMNS, "rule", "ingest").agg(
        *(_find_kind_of_change(number).alias(f"by{number}") for number in RANKS_OF_DECIDING_VERDICTS),
        sql.count("rank").alias("judged"),
        sql.max("document").alias("document"),
        sql.max("section").alias("section"),
    )


def _find_kind_of_change(number: int) -> Column:
    is_now, was = (
        sql.coalesce((sql.col(name) == number).cast("bigint"), sql.lit(0).cast("bigint"))
        for name in ("stands", "stood")
    )
    return sql.sum(is_now - was)


def _collect_verdicts(steps: DataFrame) -> DataFrame:
    """Return, for each rule, the current verdict after each run that changed it. Only runs that judged the rule, or
    that had new suites, can change it.
    """
    in_order = Over.partitionBy(*PRODUCT_COLUMNS, "rule").orderBy("ingest")
    so_far = in_order.rowsBetween(Over.unboundedPreceding, Over.currentRow)
    earlier = in_order.rowsBetween(Over.unboundedPreceding, -1)
    stands = sql.coalesce(
        *(
            sql.when(sql.sum(f"by{number}").over(so_far) > 0, get_verdict_of_rank(sql.lit(number)))
            for number in RANKS_OF_DECIDING_VERDICTS
        )
    )
    return (
        steps.select(
            *(*PRODUCT_COLUMNS, "rule", "ingest"),
            *(sql.last(name, ignorenulls=True).over(so_far).alias(name) for name in ("document", "section")),
            stands.alias("verdict"),
            sql.max(sql.when(sql.col("judged") > 0, sql.col("ingest"))).over(earlier).alias("ingest_before"),
        )
        .withColumn("verdict_before", sql.lag("verdict").over(in_order))
        .where(~sql.col("verdict").eqNullSafe(sql.col("verdict_before")))
    )


def _add_kinds_of_change(rows: DataFrame, runs: DataFrame) -> DataFrame:
    """Add the names of runs and versions, and the kind of each change. The first run of a system is not a change."""
    numbered = runs.select(
        "ingest",
        "run",
        "sut_version",
        (sql.col("ingest") == sql.min("ingest").over(Over.partitionBy(*PRODUCT_COLUMNS))).alias("is_first"),
    )
    before = runs.select(
        sql.col("ingest").alias("ingest_before"),
        sql.col("run").alias("run_before"),
        sql.col("sut_version").alias("version_before"),
    )
    verdict, was = sql.col("verdict"), sql.col("verdict_before")
    return (
        rows.withColumn("ingest_before", sql.when(was.isNotNull(), sql.col("ingest_before")))
        .join(sql.broadcast(numbered), "ingest")
        .where("not is_first")
        .join(sql.broadcast(before), "ingest_before", "left")
        .withColumn(
            "change",
            sql.when(was.isNull(), "added")
            .when(verdict.isNull(), "removed")
            .when(verdict == "fail", "newly failing")
            .when(verdict == "pass", "newly passing")
            .otherwise("changed"),
        )
    )
