"""When the verdict of a rule changed, from run to run of one system and its versions: the table ``changes``.

Each run is compared with the one before, by the verdict that stood after each: the worst of the decided verdicts of the
checks that count under the suites of that run, of each the latest. So a partial run makes nothing pass that it did not
judge, and a check that the suites dropped takes its verdict with it.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import Window as Over
from pyspark.sql import functions as sql

from reports.lake.order import DECIDED_RANKS, is_decided, rank, verdict_at
from reports.lake.retirement import COUNTS, mark_what_counts
from reports.lake.schemas import shaped

LINE = ("sut_name", "profile")
"""What the versions of a system share: their runs are compared with each other."""
_CHECK = (*LINE, "rule", "test")


def changes(test_runs: DataFrame, runs: DataFrame, catalogue: DataFrame) -> DataFrame:
    """Return a row for each rule and run after which another verdict stood than before.

    ``test_runs`` and ``runs`` are those of all versions of the systems concerned.
    """
    decided = (
        test_runs.select(*(*_CHECK, "ingest", "suites", "document", "section"), rank(sql.col("verdict")).alias("rank"))
        .where(is_decided(sql.col("rank")))
        .withColumn(COUNTS, sql.lit(True))
    )
    reviewed = _reviewed(decided, runs, catalogue)
    events = decided.drop("suites").unionByName(reviewed, allowMissingColumns=True)
    # All that follows is within one rule of one system: rows move once.
    events = events.repartition(*LINE, "rule")
    return shaped(_named(_verdicts(_steps(events)), runs), "changes")


def _reviewed(decided: DataFrame, runs: DataFrame, catalogue: DataFrame) -> DataFrame:
    """Return, for each run that came with other suites than the one before, whether each check so far counts then."""
    in_order = Over.partitionBy(*LINE).orderBy("ingest")
    anew = (
        runs.select(*LINE, "ingest", "suites", sql.lag("suites").over(in_order).alias("before"))
        .where(sql.col("before").isNotNull() & ~sql.col("suites").eqNullSafe(sql.col("before")))
        .select(*LINE, sql.col("ingest").alias("since"), sql.col("suites").alias("now"))
    )
    # Of each check and suites, the first run: a row for each run would be multiplied by the changes of the suites.
    first = decided.groupBy(*_CHECK, "suites").agg(sql.min("ingest").alias("ingest"))
    checks = (
        first.join(sql.broadcast(anew), list(LINE))
        .where("ingest < since")
        .groupBy(*_CHECK, "since", "now")
        .agg(sql.max(sql.col("suites").eqNullSafe(sql.col("now"))).alias("judged"))
    )
    marked = mark_what_counts(checks, "now", sql.col("judged"), catalogue)
    return marked.select(*_CHECK, sql.col("since").alias("ingest"), COUNTS)


def _steps(events: DataFrame) -> DataFrame:
    """Return for each rule and run by how much the checks of each decided verdict became more or fewer."""
    once = events.groupBy(*_CHECK, "ingest", "document", "section").agg(
        sql.min("rank").alias("rank"), sql.max(COUNTS).alias(COUNTS)
    )
    # A number first: what is sorted by texts of which the first are all the same is compared to the end.
    in_order = Over.partitionBy("check", *_CHECK).orderBy("ingest", sql.col("rank").isNotNull())
    stands = sql.when(sql.col(COUNTS), sql.last("rank", ignorenulls=True).over(in_order))
    stood = (
        once.withColumn("check", sql.xxhash64("rule", "test"))
        .withColumn("stands", stands)
        .withColumn("stood", sql.lag("stands").over(in_order))
    )
    return stood.groupBy(*LINE, "rule", "ingest").agg(
        *(_difference(number).alias(f"by{number}") for number in DECIDED_RANKS),
        sql.count("rank").alias("judged"),
        sql.max("document").alias("document"),
        sql.max("section").alias("section"),
    )


def _difference(number: int) -> Column:
    is_now, was = (
        sql.coalesce((sql.col(name) == number).cast("bigint"), sql.lit(0).cast("bigint"))
        for name in ("stands", "stood")
    )
    return sql.sum(is_now - was)


def _verdicts(steps: DataFrame) -> DataFrame:
    """Return what stood after each run that judged the rule or changed the suites, where it was something else."""
    in_order = Over.partitionBy(*LINE, "rule").orderBy("ingest")
    so_far = in_order.rowsBetween(Over.unboundedPreceding, Over.currentRow)
    earlier = in_order.rowsBetween(Over.unboundedPreceding, -1)
    stands = sql.coalesce(
        *(sql.when(sql.sum(f"by{number}").over(so_far) > 0, verdict_at(sql.lit(number))) for number in DECIDED_RANKS)
    )
    return (
        steps.select(
            *(*LINE, "rule", "ingest"),
            *(sql.last(name, ignorenulls=True).over(so_far).alias(name) for name in ("document", "section")),
            stands.alias("verdict"),
            sql.max(sql.when(sql.col("judged") > 0, sql.col("ingest"))).over(earlier).alias("ingest_before"),
        )
        .withColumn("verdict_before", sql.lag("verdict").over(in_order))
        .where(~sql.col("verdict").eqNullSafe(sql.col("verdict_before")))
    )


def _named(rows: DataFrame, runs: DataFrame) -> DataFrame:
    """Name runs, versions and the kind of each change; the first run of a system changes nothing."""
    numbered = runs.select(
        "ingest",
        "run",
        "sut_version",
        (sql.col("ingest") == sql.min("ingest").over(Over.partitionBy(*LINE))).alias("is_first"),
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
