"""Shows the verdicts of a rule or a system over its runs, for ``mqconform lake history``."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as sql

from reports.lake.difference import TableReader
from reports.rollup_error import RollupError
from reports.roots import format_root_causes, read_root_causes
from reports.text import format_system_label, one_line
from reports.vocabulary import VERDICT_NAMES


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A run in a history. In the history of a rule, the entry contains the verdict of the rule. In the history of a
    system, it contains the number of rules for each verdict.
    """

    ingest: int
    run: str
    started: str
    """The start of the run as an ISO 8601 time in UTC."""
    system: str
    sut: str
    reach: str
    partial: bool
    verdict: str | None
    counts: dict[str, int]
    roots: tuple[str, ...]
    """For each root cause of failures in the run: one line that describes the cause."""
    changes: tuple[str, ...]
    """The changes of verdicts by this run, such as "newly failing MQQB-2.1.2-01 (pass before)"."""


@dataclass(frozen=True, slots=True)
class VerdictHistory:
    """The latest runs, latest first, and the current verdicts. For a rule, the current verdicts are triples (system,
    verdict, run). For a system, they are the number of rules for each verdict.

    ``runs``: the total number of runs.
    """

    about: str
    runs: int
    entries: tuple[HistoryEntry, ...]
    now: tuple[tuple[str, str, str], ...]


_MAX_CHANGES_PER_RUN = 20
"""The maximum number of changes that the history of a system names for each run. The first run with new suites may
have hundreds of changes.
"""


def read_history(table: TableReader, about: str, last: int) -> VerdictHistory:
    """Return the latest runs that judged a rule or tested a system. The system is given by its name or key. Raise
    `RollupError` if the lake contains neither such a rule nor such a system.
    """
    runs = table("runs")
    rules = table("rule_runs")
    of_rule = rules.where(sql.col("rule") == about)
    if not of_rule.isEmpty():
        return _read_history_of_rule(table, about, of_rule, last)
    of_system = runs.where((sql.col("sut") == about) | (sql.col("sut_name") == about))
    if of_system.isEmpty():
        known = [row.sut for row in runs.select("sut").distinct().orderBy("sut").limit(4).collect()]
        raise RollupError(
            f"{one_line(about, 60)!r} is neither a judged rule nor a system of this lake: "
            f"its systems are {', '.join(one_line(name, 80) for name in known)}{', ...' if len(known) > 3 else ''}"
        )
    return _read_history_of_system(table, about, of_system, rules, last)


def _read_history_of_rule(table: TableReader, rule: str, judged: DataFrame, last: int) -> VerdictHistory:
    latest = judged.orderBy(sql.desc("ingest")).limit(last)
    changes = table("changes").where(sql.col("rule") == rule)
    rows = latest.select("*", sql.lit(1).alias("tally"))
    current = (
        table("rule_current")
        .where(sql.col("rule") == rule)
        .select("sut", "sut_name", "sut_version", "profile", "verdict", "run", "retired")
        .orderBy("sut")
        .limit(last)
    )
    now = tuple(
        (_format_system_label(row), f"{row.verdict} (retired)" if row.retired else row.verdict, row.run)
        for row in current.collect()
    )
    rows = rows.join(sql.broadcast(table("runs").select("ingest", "extra")), "ingest")
    return VerdictHistory(rule, judged.count(), _build_entries(rows, changes, with_rule=False), now)


def _read_history_of_system(
    table: TableReader, about: str, runs: DataFrame, rules: DataFrame, last: int
) -> VerdictHistory:
    latest = runs.orderBy(sql.desc("ingest")).limit(last)
    numbers = [sql.count_if(sql.col("verdict") == name).alias(name) for name in VERDICT_NAMES]
    tallies = rules.join(sql.broadcast(latest.select("ingest")), "ingest", "left_semi").groupBy("ingest").agg(*numbers)
    counted = sql.map_filter(
        sql.create_map(*(each for name in VERDICT_NAMES for each in (sql.lit(name), sql.col(name)))),
        lambda _, number: number > 0,
    )
    rows = latest.join(tallies, "ingest", "left").select(
        *latest.columns, sql.lit(None).cast("string").alias("verdict"), counted.alias("counts")
    )
    systems = runs.select("sut").distinct()
    standing = (
        table("rule_current")
        .where("not retired")
        .join(sql.broadcast(systems), "sut", "left_semi")
        .groupBy("sut", "sut_name", "sut_version", "profile", "verdict")
        .agg(sql.count("*").alias("rules"))
    )
    order = sql.array_position(sql.array(*(sql.lit(name) for name in VERDICT_NAMES)), sql.col("verdict"))
    now = tuple(
        (_format_system_label(row), row.verdict, f"{row.rules} rule{'s' if row.rules != 1 else ''}")
        for row in standing.orderBy("sut", order).limit(last * len(VERDICT_NAMES)).collect()
    )
    return VerdictHistory(about, runs.count(), _build_entries(rows, table("changes"), with_rule=True), now)


def _build_entries(rows: DataFrame, changes: DataFrame, *, with_rule: bool) -> tuple[HistoryEntry, ...]:
    was = sql.coalesce("verdict_before", sql.lit("none"))
    words = [
        sql.col("change"),
        sql.when(sql.lit(with_rule), sql.col("rule")),
        sql.concat(sql.lit("("), was, sql.lit(" before)")),
    ]
    named = changes.groupBy("ingest").agg(
        sql.slice(sql.array_sort(sql.collect_list(sql.concat_ws(" ", *words))), 1, _MAX_CHANGES_PER_RUN).alias(
            "changes"
        ),
        sql.count("*").alias("changed"),
    )
    dated = rows.withColumn("started", sql.date_format("started", "yyyy-MM-dd'T'HH:mm:ss'Z'"))
    found = dated.join(named, "ingest", "left").orderBy(sql.desc("ingest"))
    return tuple(_build_entry(row) for row in found.collect())


def _build_entry(row: Row) -> HistoryEntry:
    changes = tuple(row.changes or ())
    more = (row.changed or 0) - len(changes)
    return HistoryEntry(
        ingest=row.ingest,
        run=row.run,
        started=row.started,
        system=_format_system_label(row),
        sut=row.sut,
        reach=row.reach or "",
        partial=bool(row.partial),
        verdict=row.verdict,
        counts=dict(row.counts or {}),
        roots=tuple(format_root_causes(read_root_causes(row.extra))),
        changes=(*changes, f"and {more} more") if more > 0 else changes,
    )


def _format_system_label(row: Row) -> str:
    return format_system_label(row.sut_name, row.sut_version or "", row.profile or "")
