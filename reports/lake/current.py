"""Computes the current verdict of a rule for a system, for the table ``rule_current`` (docs/reports.md defines it).

For each check, the latest run that decided the check counts. If no run decided the check, the latest run that judged it
counts. The current verdict is the worst verdict among the checks.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql

from reports.lake.facts import RUN_COLUMNS
from reports.lake.order import build_verdict_count_map, get_rank_of_verdict, get_verdict_of_rank, is_verdict_decided
from reports.lake.retirement import COUNTS_COLUMN, find_newest_suites, mark_counting_verdicts
from reports.lake.schemas import COLUMNS_OF_UNDECIDED_VERDICT_AFTER_DECISION, PACKET_COLUMN_TYPES, arrange_table_columns
from reports.vocabulary import VERDICT_NAMES

MAX_SHOWN_UNDECIDED_VERDICTS_AFTER_DECISION = 5
MAX_SHOWN_PACKETS = 8
_VERDICT_RANK_COUNT = len(VERDICT_NAMES)
_POSITION_OF_STANDING_VERDICT = 0
"""The position of the current verdict (the latest decided verdict, if any) in the list of a rule's verdicts. Undecided
verdicts that are later have higher positions.
"""


def derive_rule_current(
    test_runs: DataFrame, runs: DataFrame, catalogue: DataFrame, verdicts: DataFrame, evidence: DataFrame
) -> DataFrame:
    """Return a row for each rule against which a system was judged.

    ``test_runs`` may have the runs of only some systems; ``runs`` are all runs of these systems. Lines and packets are
    looked up only for the returned rows, so the texts of millions of verdicts are never shuffled.
    """
    return build_rule_current_table(select_verdicts_to_show(test_runs, runs, catalogue), verdicts, evidence)


def select_verdicts_to_show(test_runs: DataFrame, runs: DataFrame, catalogue: DataFrame) -> DataFrame:
    """Return a row for each verdict to show. A row contains the run and the seq of the verdict's line. The struct
    ``of`` contains all other columns.

    The arguments are those of `derive_rule_current`.
    """
    return _join_shown_verdicts_with_lines(
        _derive_rules_from_checks(derive_standing_verdicts(test_runs, runs, catalogue)), runs
    )


def derive_standing_verdicts(test_runs: DataFrame, runs: DataFrame, catalogue: DataFrame) -> DataFrame:
    """Return the current verdict of each check about each rule.

    The columns are: sut, rule, test, ingest, seq and rank; undecided_ingest, undecided_seq and undecided_rank, which
    describe the latest undecided verdict and are null unless this verdict is later than the current verdict;
    is_decided; and counts, which is false if the system's newest suites retired the check.
    """
    newest = find_newest_suites(runs)
    marks = runs.join(newest, "sut").select("ingest", sql.col("suites").eqNullSafe(sql.col("newest")).alias("new"))
    judged = test_runs.select(
        "ingest", "sut", "rule", "test", "seq", get_rank_of_verdict(sql.col("verdict")).alias("rank")
    )
    # `order` is greater for a later run and, within a run, for a worse verdict. A number is used instead of a struct,
    # because Spark aggregates numbers in place.
    order = sql.col("ingest") * _VERDICT_RANK_COUNT + (_VERDICT_RANK_COUNT - 1 - sql.col("rank"))
    checks = (
        judged.join(sql.broadcast(marks), "ingest")
        .select(
            *("sut", "rule", "test", "seq", "new"),
            sql.when(is_verdict_decided(sql.col("rank")), order).alias("decided"),
            sql.when(~is_verdict_decided(sql.col("rank")), order).alias("undecided"),
        )
        .groupBy("sut", "rule", "test")
        .agg(
            sql.max("decided").alias("decided"),
            sql.max_by("seq", "decided").alias("decided_seq"),
            sql.max("undecided").alias("undecided"),
            sql.max_by("seq", "undecided").alias("undecided_seq"),
            sql.max("new").alias("new"),
        )
    )
    stands = sql.coalesce("decided", "undecided")
    rows = checks.join(sql.broadcast(newest), "sut").select(
        *("sut", "rule", "test", "newest", "new"),
        _decode_ingest_number(stands).alias("ingest"),
        sql.coalesce("decided_seq", "undecided_seq").alias("seq"),
        _decode_verdict_rank(stands).alias("rank"),
        sql.col("decided").isNotNull().alias("is_decided"),
        *(
            sql.when(sql.col("decided").isNull() | (sql.col("undecided") > sql.col("decided")), column).alias(name)
            for name, column in (
                ("undecided_ingest", _decode_ingest_number(sql.col("undecided"))),
                ("undecided_seq", sql.col("undecided_seq")),
                ("undecided_rank", _decode_verdict_rank(sql.col("undecided"))),
            )
        ),
    )
    return mark_counting_verdicts(rows, "newest", sql.col("new"), catalogue).drop("newest", "new")


def _decode_ingest_number(order: Column) -> Column:
    return sql.floor(order / _VERDICT_RANK_COUNT)


def _decode_verdict_rank(order: Column) -> Column:
    return (_VERDICT_RANK_COUNT - 1 - order % _VERDICT_RANK_COUNT).cast("int")


def _derive_rules_from_checks(checks: DataFrame) -> DataFrame:
    """Return for each rule whether it is retired, the number of checks by rank, and ``verdicts``: the worst
    verdict, then later undecided verdicts.

    Among equally bad checks, the row shows the one that was judged last. If the last run judged several of them, the
    row shows the first of these. A rule without a counting check is retired, and keeps its last verdict.
    """
    retired = ~sql.col(COUNTS_COLUMN)
    worst = sql.struct(
        retired.alias("retired"), "rank", (-sql.col("ingest")).alias("latest"), "seq", sql.col("test").alias("test")
    )
    later = sql.struct(
        (-sql.col("undecided_ingest")).alias("latest"),
        sql.col("undecided_rank").alias("rank"),
        sql.col("undecided_seq").alias("seq"),
        sql.col("test").alias("test"),
        retired.alias("retired"),
        sql.when(sql.col("is_decided"), sql.col("ingest")).alias("after"),
    )
    numbers = [
        sql.count_if((sql.col("rank") == number) & taken).alias(f"{word}{number}")
        for number in range(_VERDICT_RANK_COUNT)
        for word, taken in (("counted", sql.col(COUNTS_COLUMN)), ("all", sql.lit(True)))
    ]
    rules = checks.groupBy("sut", "rule").agg(
        sql.min(worst).alias("worst"),
        sql.collect_list(sql.when(sql.col("undecided_ingest").isNotNull(), later)).alias("later"),
        *numbers,
    )
    worst_of_all = sql.col("worst")

    def is_undecided_after_last_decision(each: Column) -> Column:
        later_than = sql.coalesce(each["after"], -worst_of_all["latest"])
        return (each["retired"] == worst_of_all["retired"]) & (-each["latest"] > later_than)

    def build_order_column(each: Column) -> Column:
        return sql.struct((-each["latest"]).alias("ingest"), each["seq"], each["rank"], each["test"])

    beside = sql.slice(
        sql.array_sort(sql.filter("later", is_undecided_after_last_decision)),
        1,
        MAX_SHOWN_UNDECIDED_VERDICTS_AFTER_DECISION,
    )
    return rules.select(
        *("sut", "rule", sql.col("worst.retired").alias("retired")),
        sql.array(
            *(
                sql.when(sql.col("worst.retired"), sql.col(f"all{number}")).otherwise(sql.col(f"counted{number}"))
                for number in range(_VERDICT_RANK_COUNT)
            )
        ).alias("numbers"),
        sql.concat(sql.array(build_order_column(worst_of_all)), sql.transform(beside, build_order_column)).alias(
            "verdicts"
        ),
    )


def _join_shown_verdicts_with_lines(rules: DataFrame, runs: DataFrame) -> DataFrame:
    """Join the verdicts to show with the lines that contain them. Each line becomes one struct column, so that the
    columns of the current verdict and of the later verdicts are equal.
    """
    each = rules.select("sut", "rule", "retired", "numbers", sql.posexplode("verdicts").alias("position", "verdict"))
    of_run = runs.select(*(name for name in RUN_COLUMNS if name not in ("sut", "suites")))
    rows = each.select("sut", "rule", "retired", "numbers", "position", "verdict.*").join(
        sql.broadcast(of_run), "ingest"
    )
    rows = rows.withColumn("verdict", get_verdict_of_rank(sql.col("rank"))).drop("rank")
    return rows.select("run", "seq", sql.struct(*rows.columns).alias("of"))


def build_rule_current_table(shown: DataFrame, verdicts: DataFrame, evidence: DataFrame) -> DataFrame:
    """Return the table `rule_current` that follows from the result of `select_verdicts_to_show`.

    ``verdicts``, ``evidence``: the rows of the runs that ``shown`` names.
    """
    texts = ("document", "section", "level", "expected", "observed", "reason", "capture", "errata", "notes")
    lines = verdicts.select("run", "seq", sql.struct("rule", "verdict", *texts).alias("line"))
    packets = evidence.select("run", "seq", sql.struct(*PACKET_COLUMN_TYPES).alias("packet"))
    found = (
        lines.join(sql.broadcast(shown), ["run", "seq"])
        .select("of", "line", sql.lit(None).cast(packets.schema["packet"].dataType).alias("packet"))
        .unionByName(
            packets.join(sql.broadcast(shown), ["run", "seq"]).select(
                "of", sql.lit(None).cast(lines.schema["line"].dataType).alias("line"), "packet"
            )
        )
    )
    # The filter is separate from the join condition, so that both look-ups join the same table, which is computed once.
    is_line = (sql.col("line.rule") == sql.col("of.rule")) & (sql.col("line.verdict") == sql.col("of.verdict"))
    is_worst = sql.col("of.position") == _POSITION_OF_STANDING_VERDICT
    beside = sql.struct(
        "of.position",
        *(f"of.{name}" for name in COLUMNS_OF_UNDECIDED_VERDICT_AFTER_DECISION if name != "reason"),
        "line.reason",
    )
    rules = found.groupBy("of.sut", "of.rule").agg(
        sql.min(sql.when(is_worst, sql.col("of"))).alias("of"),
        sql.min(sql.when(is_worst & is_line, sql.col("line"))).alias("line"),
        sql.collect_set(sql.when(is_worst, sql.col("packet"))).alias("packets"),
        sql.collect_set(sql.when(~is_worst & is_line, beside)).alias("beside"),
    )

    def drop_position_column(each: Column) -> Column:
        return sql.struct(*(each[name] for name in COLUMNS_OF_UNDECIDED_VERDICT_AFTER_DECISION))

    rows = rules.select(
        *("of.*", *(f"line.{name}" for name in texts)),
        sql.slice(sql.array_sort("packets"), 1, MAX_SHOWN_PACKETS).alias("evidence"),
        sql.transform(sql.array_sort("beside"), drop_position_column).alias("beside"),
        sql.aggregate("of.numbers", sql.lit(0).cast("bigint"), lambda whole, each: whole + each).alias("tests"),
        build_verdict_count_map(
            {name: sql.col("of.numbers")[number] for number, name in enumerate(VERDICT_NAMES)}
        ).alias("counts"),
    )
    return arrange_table_columns(rows, "rule_current")
