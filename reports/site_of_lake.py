"""What the pages show of a lake: small tables as collections, large ones as streams in the order of the pages.

Nothing is collected that grows with the runs, nor with systems times rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from pathlib import Path

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import Window as Over
from pyspark.sql import functions as sql

from reports.lake.files import local_path
from reports.lake.order import rank
from reports.lake.schemas import SYSTEM
from reports.lake.store import Lake
from reports.model import (
    DEMAND,
    Beside,
    Change,
    Contents,
    Coverage,
    Frame,
    Member,
    Rejected,
    Rule,
    Run,
    Standing,
    System,
    Tally,
    bare_rule,
)
from reports.text import DISSECTION_SHOWN, OCTETS_SHOWN, TEXT_SHOWN
from reports.vocabulary import FINDINGS

RUNS_SHOWN = 30
"""Runs of a system on its page, the latest."""
CHANGES_SHOWN = 10
"""Changes of a rule on its page, the latest."""
REJECTED_SHOWN = 100
LIST_SHOWN = 20
_TEXTS = ("expected", "observed", "reason", "test")
_RULE_WORDS = (
    *("rule", "document", "section", "title", "level", "form", "observe", "role", "says", "why", "link", "observed"),
)


def contents_of(lake: Lake) -> Contents:
    """Return what is shown of this state of the lake."""
    runs = lake.table("runs").persist()
    try:
        systems = _systems(runs)
        shown_runs = _runs(lake, runs)
        totals = runs.agg(sql.count("*").alias("runs"), sql.sum("kept"), sql.sum("rejected")).collect()[0]
        rules, newest = _rules(lake, runs)
    finally:
        runs.unpersist()
    suites = lake.table("suites").where(sql.col("suites") == newest).limit(1).collect()
    of_suites = suites[0] if suites else Row(documents=None, coverage=None, members=None)
    return Contents(
        systems=systems,
        runs=shown_runs,
        rules=rules,
        tallies=tuple(
            Tally(row.document, row.section, row.sut, row.verdict, row.rules)
            for row in lake.table("matrix").where("rules > 0").toLocalIterator()
        ),
        by_rule=lambda: map(_standing, _current(lake).orderBy("rule", "sut").toLocalIterator()),
        found=lambda: map(_standing, _found(lake).toLocalIterator()),
        changes=lambda: map(_change, _changes(lake).toLocalIterator()),
        coverage=tuple(Coverage(**(row.asDict() | {"kind": row.kind or DEMAND})) for row in of_suites.coverage or ()),
        members=tuple(Member(**row.asDict()) for row in of_suites.members or ()),
        titles={name: title or "" for name, title in (of_suites.documents or {}).items()},
        rejected=tuple(
            Rejected(row.folder, row.line, row.reason)
            for row in lake.table("rejected").orderBy("folder", "line").limit(REJECTED_SHOWN).collect()
        ),
        rejected_count=totals[2] or 0,
        run_count=totals.runs,
        kept=totals[1] or 0,
    )


def folder_of(lake: Lake, run: str) -> Path | None:
    """Return the local folder of a run."""
    known = lake.manifest.runs.get(run)
    return local_path(known.folder) if known else None


def _systems(runs: DataFrame) -> tuple[System, ...]:
    rows = runs.groupBy(*SYSTEM).agg(sql.max("ingest").alias("latest")).collect()
    systems = (System(row.sut_name, row.sut_version, row.profile or "", row.latest) for row in rows)
    return tuple(sorted(systems, key=lambda system: (system.name, system.profile, system.order)))


def _runs(lake: Lake, runs: DataFrame) -> tuple[Run, ...]:
    newest_first = Over.partitionBy("sut").orderBy(sql.desc("ingest"))
    latest = runs.withColumn("place", sql.row_number().over(newest_first)).where(sql.col("place") <= RUNS_SHOWN)
    wanted = sql.broadcast(latest.select("ingest"))
    counted = lake.table("rule_runs").join(wanted, "ingest", "left_semi").groupBy("ingest", "verdict").count()
    counts: dict[int, dict[str, int]] = {}
    for row in counted.toLocalIterator():
        counts.setdefault(row.ingest, {})[row.verdict] = row["count"]
    return tuple(_run(row, counts.get(row.ingest, {})) for row in latest.orderBy("ingest").collect())


def _run(row: Row, counts: dict[str, int]) -> Run:
    texts = {name: row[name] or "" for name in ("vendor", "reach", "harness", "selection", "aborted", "folder")}
    return Run(
        run=row.run,
        ingest=row.ingest,
        started=row.started,
        finished=row.finished,
        system=row.sut,
        exit=row.exit,
        partial=bool(row.partial),
        counts=counts,
        kept=row.kept or 0,
        rejected=row.rejected or 0,
        **texts,
    )


def _rules(lake: Lake, runs: DataFrame) -> tuple[dict[str, Rule], str]:
    """Return the newest words of each rule that the newest suites of a system know, or that is judged; and the newest
    suites of all. What only older suites know counts as not checked.
    """
    suites = runs.groupBy("suites").agg(sql.max("ingest").alias("ingest"))
    of_systems = runs.groupBy("sut").agg(sql.max_by("suites", "ingest").alias("suites")).select("suites").distinct()
    in_use = [row.suites for row in of_systems.collect()]
    newest = runs.agg(sql.max_by("suites", "ingest")).collect()[0][0]
    words = lake.table("catalogue").join(sql.broadcast(suites), "suites")
    newest_first = Over.partitionBy("rule").orderBy(sql.desc("ingest"))
    judged = lake.table("rule_current").select("rule").distinct().withColumn("judged", sql.lit(True))
    rows = (
        words.withColumn("known", sql.max(sql.col("suites").isin(in_use)).over(Over.partitionBy("rule")))
        .withColumn("place", sql.row_number().over(newest_first))
        .where("place = 1")
        .join(judged, "rule", "left")
        .where("known or judged")
        .select(*_RULE_WORDS, "checked", "proven", "kind", "known")
    )
    rules = {row.rule: _rule(row) for row in rows.toLocalIterator()}
    unknown = _current(lake).join(words.select("rule").distinct(), "rule", "left_anti").dropDuplicates(["rule"])
    rules |= {row.rule: bare_rule(_standing(row)) for row in unknown.toLocalIterator()}
    return rules, newest


def _rule(row: Row) -> Rule:
    words = {name: row[name] or "" for name in _RULE_WORDS}
    return Rule(**words, checked=row.checked if row.known else False, proven=row.proven, kind=row.kind or DEMAND)


def _current(lake: Lake) -> DataFrame:
    """Return ``rule_current`` without what pages will not show, so that one huge packet cannot fill the driver."""
    table = lake.table("rule_current")
    lists = {name: sql.transform(sql.slice(name, 1, LIST_SHOWN), _cut) for name in ("errata", "notes")}
    texts = {name: _cut(sql.col(name)) for name in _TEXTS}
    return table.withColumns(texts | lists | {"evidence": sql.transform("evidence", _frame_cut)})


def _cut(column: Column, limit: int = TEXT_SHOWN) -> Column:
    return sql.substring(column, 1, limit + 1)


def _frame_cut(row: Column) -> Column:
    return (
        row.withField("octets", sql.floor(sql.length(row["hex"]) / 2))
        .withField("hex", sql.substring(row["hex"], 1, 2 * OCTETS_SHOWN))
        .withField("dissection", _cut(row["dissection"], DISSECTION_SHOWN))
    )


def _found(lake: Lake) -> DataFrame:
    looked_at: Iterable[Column] = (
        sql.col("verdict").isin(*FINDINGS),
        sql.col("retired"),
        sql.size("beside") > 0,
    )
    found = _current(lake).where(reduce(Column.__or__, looked_at))
    return found.withColumn("evidence", sql.slice("evidence", 1, 0)).orderBy("sut", rank(sql.col("verdict")), "rule")


def _changes(lake: Lake) -> DataFrame:
    newest_first = Over.partitionBy("rule").orderBy(sql.desc("ingest"), "sut_name", "profile")
    latest = lake.table("changes").withColumn("place", sql.row_number().over(newest_first))
    started = lake.table("runs").select("ingest", "started")
    return (
        latest.where(sql.col("place") <= CHANGES_SHOWN)
        .join(sql.broadcast(started), "ingest", "left")
        .orderBy("rule", "place")
    )


def _change(row: Row) -> Change:
    return Change(
        name=row.sut_name,
        profile=row.profile or "",
        rule=row.rule,
        run=row.run,
        started=row.started,
        version=row.sut_version,
        verdict=row.verdict or "",
        version_before=row.version_before or "",
        verdict_before=row.verdict_before or "",
        change=row.change,
    )


def _standing(row: Row) -> Standing:
    texts = {name: row[name] or "" for name in (*_TEXTS, "reach", "capture", "level")}
    return Standing(
        system=row.sut,
        rule=row.rule,
        document=row.document,
        section=row.section,
        verdict=row.verdict,
        run=row.run,
        started=row.started,
        seq=row.seq,
        partial=bool(row.partial),
        errata=tuple(_filled(row.errata)),
        notes=tuple(_filled(row.notes)),
        evidence=tuple(_frame(each) for each in row.evidence or () if each),
        counts=row.counts or {},
        retired=bool(row.retired),
        beside=tuple(
            Beside(each.verdict, each.run, each.started, each.test or "", each.reason or "")
            for each in row.beside or ()
        ),
        **texts,
    )


def _filled(values: Iterable[str | None] | None) -> Iterator[str]:
    return (each for each in values or () if each)


def _frame(row: Row) -> Frame:
    return Frame(
        frame=row.frame,
        time_ms=row.time_ms,
        direction=row.direction or "",
        transport=row.transport or "",
        hex=row.hex or "",
        octets=row.octets or 0,
        dissection=row.dissection or "",
        first=row["first"],
        last=row["last"],
    )
