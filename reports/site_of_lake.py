"""Reads the content of the pages from a lake: small tables as collections, large tables as streams in page order.

Data whose amount grows with the number of runs, or with the number of systems times the number of rules, are never held
in memory as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from pathlib import Path

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import Window as Over
from pyspark.sql import functions as sql

from reports.lake.derived import parse_topology_systems
from reports.lake.exchanges import find_current_exchanges
from reports.lake.local import get_local_path
from reports.lake.order import get_rank_of_verdict
from reports.lake.renamed_checks import find_new_names_by_system
from reports.lake.schemas import RULE_COLUMN_TYPES, SYSTEM_COLUMN_TYPES
from reports.lake.store import Lake
from reports.model import (
    EXAMPLES_PER_PAGE,
    OBSERVATION_PANELS_PER_PAGE,
    RULE_KIND_OF_DEMAND,
    RUNS_PER_SYSTEM_SHOWN,
    Change,
    CitedErratum,
    CoverageOfSection,
    Exchange,
    Frame,
    Pair,
    ProtocolWithoutRules,
    RejectedVerdictLine,
    Rule,
    Run,
    SiteContents,
    StandingVerdict,
    System,
    UndecidedVerdictAfterDecision,
    get_rule_sort_key,
    make_unlisted_rule,
)
from reports.roots import read_root_causes
from reports.text import MAX_DISSECTION_CHARACTERS, MAX_SHOWN_CHARACTERS, MAX_SHOWN_OCTETS
from reports.verdict_table import VerdictTable
from reports.vocabulary import FINDING_VERDICTS

MAX_SHOWN_CHANGES = 10
"""The maximum number of latest changes on the page of a rule."""
MAX_SHOWN_REJECTED_LINES = 100
MAX_SHOWN_LIST_ENTRIES = 20
_TEXT_COLUMNS = ("expected", "observed", "reason", "test")
_RULE_TEXT_COLUMNS = (
    *("rule", "document", "section", "title", "level", "form", "observe", "role", "says", "why", "link", "observed"),
)
_CHECKING_DEPTH_COLUMNS = ("varied", "cells", "explored")
"""The columns that show how thoroughly a rule is tested."""


def load_contents(lake: Lake) -> SiteContents:
    """Return the contents of the site for the given state of the lake."""
    runs = lake.table("runs").persist()
    try:
        systems = _read_systems(runs)
        shown_runs = _read_runs(lake, runs)
        totals = runs.agg(sql.count("*").alias("runs"), sql.sum("kept"), sql.sum("rejected")).collect()[0]
        stands = _read_standing_verdicts(lake)
        rules, newest = _read_rules(lake, runs, {rule for *_, some in stands for rule in some})
    finally:
        runs.unpersist()
    table = VerdictTable.create_empty(
        [rule.rule for rule in sorted(rules.values(), key=get_rule_sort_key)], [each.key for each in systems]
    )
    for system, verdict, retired, some in stands:
        if not retired:
            table.record_verdict(system, verdict, some)
    suites = lake.table("suites").where(sql.col("suites") == newest).limit(1).collect()
    of_suites = suites[0] if suites else Row(documents=None, coverage=None, members=None)
    return SiteContents(
        systems=systems,
        runs=shown_runs,
        rules=rules,
        standing_verdicts=table,
        read_shown_verdicts=lambda: map(_build_standing_verdict, _choose_verdicts(lake).toLocalIterator()),
        read_findings=lambda: map(_build_standing_verdict, _read_findings(lake).toLocalIterator()),
        changes=lambda: map(_build_change, _read_changes(lake).toLocalIterator()),
        cited_errata=tuple(
            CitedErratum(row.erratum, row.rule, row.systems) for row in _list_cited_errata(lake).toLocalIterator()
        ),
        pairs=_read_pairs(lake, runs),
        exchanges=tuple(map(_build_exchange, find_current_exchanges(lake).toLocalIterator())),
        coverage=tuple(
            CoverageOfSection(**(row.asDict() | {"kind": row.kind or RULE_KIND_OF_DEMAND}))
            for row in of_suites.coverage or ()
        ),
        members=tuple(ProtocolWithoutRules(**row.asDict()) for row in of_suites.members or ()),
        titles={name: title or "" for name, title in (of_suites.documents or {}).items()},
        rejected=tuple(
            RejectedVerdictLine(row.folder, row.line, row.reason)
            for row in lake.table("rejected").orderBy("folder", "line").limit(MAX_SHOWN_REJECTED_LINES).collect()
        ),
        rejected_count=totals[2] or 0,
        run_count=totals.runs,
        kept=totals[1] or 0,
    )


def get_run_folder(lake: Lake, run: str) -> Path | None:
    """Return the local folder of a run, or of the results of a pair."""
    known = lake.manifest.runs.get(run) or lake.manifest.pairs.get(run)
    return get_local_path(known.folder) if known else None


def _read_systems(runs: DataFrame) -> tuple[System, ...]:
    rows = runs.groupBy(*SYSTEM_COLUMN_TYPES).agg(sql.max("ingest").alias("latest")).collect()
    systems = (System(row.sut_name, row.sut_version, row.profile or "", row.latest) for row in rows)
    return tuple(sorted(systems, key=lambda system: (system.name, system.profile, system.order)))


def _read_runs(lake: Lake, runs: DataFrame) -> tuple[Run, ...]:
    newest_first = Over.partitionBy("sut").orderBy(sql.desc("ingest"))
    latest = runs.withColumn("place", sql.row_number().over(newest_first)).where(
        sql.col("place") <= RUNS_PER_SYSTEM_SHOWN
    )
    wanted = sql.broadcast(latest.select("ingest"))
    counted = lake.table("rule_runs").join(wanted, "ingest", "left_semi").groupBy("ingest", "verdict").count()
    counts: dict[int, dict[str, int]] = {}
    for row in counted.toLocalIterator():
        counts.setdefault(row.ingest, {})[row.verdict] = row["count"]
    missed = lake.table("verdicts").where("advice = 'missed'").join(wanted, "ingest", "left_semi")
    unfollowed: dict[int, list[str]] = {}
    for row in missed.select("ingest", "rule").distinct().orderBy("rule").toLocalIterator():
        unfollowed.setdefault(row.ingest, []).append(row.rule)
    new_names = find_new_names_by_system(runs, lake.table("suites"))
    return tuple(
        _build_run(row, counts.get(row.ingest, {}), unfollowed.get(row.ingest, []), new_names[row.sut])
        for row in latest.orderBy("ingest").collect()
    )


def _build_run(row: Row, counts: dict[str, int], unfollowed: list[str], new_names: Mapping[str, str]) -> Run:
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
        unfollowed=tuple(unfollowed),
        roots=read_root_causes(row.extra, new_names),
        **texts,
    )


def _read_standing_verdicts(lake: Lake) -> list[tuple[str, str, bool, list[str]]]:
    """Return the current verdicts as tuples: a system, a verdict, the rules for which the system has this verdict, and
    whether these rules are retired.
    """
    table = lake.table("rule_current").groupBy("sut", "verdict", "retired").agg(sql.collect_list("rule").alias("rules"))
    return [(row.sut, row.verdict, bool(row.retired), row.rules) for row in table.toLocalIterator()]


def _read_rules(lake: Lake, runs: DataFrame, judged: set[str]) -> tuple[dict[str, Rule], str]:
    """Return each rule that is known or was judged, with its texts in the newest suites, and these suites.

    A rule that only older suites contain counts as not checked.
    """
    suites = runs.groupBy("suites").agg(sql.max("ingest").alias("ingest"))
    of_systems = runs.groupBy("sut").agg(sql.max_by("suites", "ingest").alias("suites")).select("suites").distinct()
    in_use = [row.suites for row in of_systems.collect()]
    newest = runs.agg(sql.max_by("suites", "ingest")).collect()[0][0]
    words = lake.table("catalogue").join(sql.broadcast(suites), "suites")
    newest_first = Over.partitionBy("rule").orderBy(sql.desc("ingest"))
    rows = (
        words.withColumn("known", sql.max(sql.col("suites").isin(in_use)).over(Over.partitionBy("rule")))
        .withColumn("place", sql.row_number().over(newest_first))
        .where("place = 1")
        .select(*_RULE_TEXT_COLUMNS, "checked", "proven", "kind", "known", *_CHECKING_DEPTH_COLUMNS)
    )
    rules = {row.rule: _build_rule(row) for row in rows.toLocalIterator() if row.known or row.rule in judged}
    if unknown := judged - rules.keys():
        of_unknown = lake.table("rule_current").where(sql.col("rule").isin(sorted(unknown)))
        for row in of_unknown.select(*RULE_COLUMN_TYPES).dropDuplicates(["rule"]).toLocalIterator():
            rules[row.rule] = make_unlisted_rule(row.rule, row.document, row.section, row.level or "")
    return rules, newest


def _build_rule(row: Row) -> Rule:
    words = {name: row[name] or "" for name in _RULE_TEXT_COLUMNS}
    return Rule(
        **words,
        checked=row.checked if row.known else False,
        proven=row.proven,
        kind=row.kind or RULE_KIND_OF_DEMAND,
        varied=tuple(row.varied or ()),
        cells=row.cells or 0,
        explored=tuple(row.explored or ()),
    )


def _read_shown_verdicts(lake: Lake) -> DataFrame:
    """Return the rows of ``rule_current``, without the columns and texts that pages omit. Otherwise huge packets would
    fill the memory.
    """
    table = lake.table("rule_current")
    # A function with two parameters would get the index of the element as the second one, here the limit.
    lists = {
        name: sql.transform(sql.slice(name, 1, MAX_SHOWN_LIST_ENTRIES), lambda one: _cut_long_text(one))
        for name in ("errata", "notes")
    }
    texts = {name: _cut_long_text(sql.col(name)) for name in _TEXT_COLUMNS}
    return table.withColumns(texts | lists | {"evidence": sql.transform("evidence", _cut_frame)})


def _cut_long_text(column: Column, limit: int = MAX_SHOWN_CHARACTERS) -> Column:
    return sql.substring(column, 1, limit + 1)


def _cut_frame(row: Column) -> Column:
    return (
        row.withField("octets", sql.floor(sql.length(row["hex"]) / 2))
        .withField("hex", sql.substring(row["hex"], 1, 2 * MAX_SHOWN_OCTETS))
        .withField("dissection", _cut_long_text(row["dissection"], MAX_DISSECTION_CHARACTERS))
    )


def _choose_verdicts(lake: Lake) -> DataFrame:
    """Choose the verdicts to show from the small columns of the table. Then read the texts and packets, but only those
    of the chosen verdicts.
    """
    bad = get_rank_of_verdict(sql.col("verdict"))
    of_rule = Over.partitionBy("rule", "good").orderBy("retired", bad, sql.desc("ingest"), "sut")
    chosen = (
        lake.table("rule_current")
        .select("sut", "rule", "verdict", "retired", "ingest")
        .withColumn("good", ~sql.col("verdict").isin(*FINDING_VERDICTS))
        .withColumn("place", sql.row_number().over(of_rule))
        .where(sql.col("place") <= sql.when(sql.col("good"), EXAMPLES_PER_PAGE).otherwise(OBSERVATION_PANELS_PER_PAGE))
        .select("sut", "rule", "place")
    )
    return (
        _read_shown_verdicts(lake).join(sql.broadcast(chosen), ["sut", "rule"]).orderBy("rule", "retired", bad, "place")
    )


def _list_cited_errata(lake: Lake) -> DataFrame:
    table = lake.table("rule_current").where("not retired and size(errata) > 0")
    each = table.select("sut", "rule", sql.explode(sql.slice("errata", 1, MAX_SHOWN_LIST_ENTRIES)).alias("erratum"))
    cut = each.withColumn("erratum", _cut_long_text(sql.col("erratum")))
    return cut.groupBy("erratum", "rule").agg(sql.count_distinct("sut").alias("systems")).orderBy("erratum", "rule")


def _read_pairs(lake: Lake, runs: DataFrame) -> tuple[Pair, ...]:
    is_reference = (sql.col("b") == "reference") | sql.col("b").startswith("reference ")
    rows = lake.table("pairs").where(~is_reference).groupBy("a", "b", "role", "verdict").agg(sql.sum("rules"))
    counts: dict[tuple[str, str, str], dict[str, int]] = {}
    for a, b, role, verdict, number in rows.toLocalIterator():
        counts.setdefault((a, b, role), {})[verdict] = number
    if not counts:
        return ()
    named = runs.select(sql.explode(parse_topology_systems(sql.col("extra"))).alias("system")).select("system.*")
    names = {row.key: row.name for row in named.select("key", "name").distinct().toLocalIterator()}
    return tuple(Pair(a, names.get(a, a), b, names.get(b, b), role, some) for (a, b, role), some in counts.items())


def _build_exchange(row: Row) -> Exchange:
    names = ("origin", "origin_name", "target", "target_name", "scenario", "letter", "result", "why", "pair", "capture")
    texts = {name: row[name] or "" for name in names}
    return Exchange(**texts, position=row.position or 0, started=row.started, broken=row.broken or {})


def _read_findings(lake: Lake) -> DataFrame:
    looked_at: Iterable[Column] = (
        sql.col("verdict").isin(*FINDING_VERDICTS),
        sql.col("retired"),
        sql.size("beside") > 0,
    )
    found = _read_shown_verdicts(lake).where(reduce(Column.__or__, looked_at)).drop("evidence", "capture", "notes")
    return found.orderBy("sut", get_rank_of_verdict(sql.col("verdict")), "rule")


def _read_changes(lake: Lake) -> DataFrame:
    newest_first = Over.partitionBy("rule").orderBy(sql.desc("ingest"), "sut_name", "profile")
    latest = lake.table("changes").withColumn("place", sql.row_number().over(newest_first))
    started = lake.table("runs").select("ingest", "started")
    return (
        latest.where(sql.col("place") <= MAX_SHOWN_CHANGES)
        .join(sql.broadcast(started), "ingest", "left")
        .orderBy("rule", "place")
    )


def _build_change(row: Row) -> Change:
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


def _build_standing_verdict(row: Row) -> StandingVerdict:
    texts = {name: row[name] or "" for name in (*_TEXT_COLUMNS, "reach", "level")}
    with_packets = "evidence" in row
    return StandingVerdict(
        system=row.sut,
        rule=row.rule,
        document=row.document,
        section=row.section,
        verdict=row.verdict,
        run=row.run,
        started=row.started,
        seq=row.seq,
        partial=bool(row.partial),
        errata=tuple(_drop_empty_texts(row.errata)),
        notes=tuple(_drop_empty_texts(row.notes)) if with_packets else (),
        evidence=tuple(_build_frame(each) for each in row.evidence or () if each) if with_packets else (),
        capture=row.capture or "" if with_packets else "",
        counts=row.counts or {},
        retired=bool(row.retired),
        later_undecided_verdicts=tuple(
            UndecidedVerdictAfterDecision(each.verdict, each.run, each.started, each.test or "", each.reason or "")
            for each in row.beside or ()
        ),
        **texts,
    )


def _drop_empty_texts(values: Iterable[str | None] | None) -> Iterator[str]:
    return (each for each in values or () if each)


def _build_frame(row: Row) -> Frame:
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
