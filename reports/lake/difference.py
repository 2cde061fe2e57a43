"""Compares two runs, two versions or two days, for ``mqconform lake diff``.

The verdicts of each side are the current verdicts (docs/reports.md) that follow from its own runs. Rules are matched by
their id.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql

from reports.lake.current import derive_rule_current
from reports.lake.renamed_checks import rename_checks
from reports.lake.schemas import SYSTEM_COLUMN_TYPES
from reports.rollup_error import RollupError
from reports.roots import format_root_causes, read_root_causes
from reports.text import get_natural_sort_key, one_line

TableReader = Callable[[str], DataFrame]
"""A function that returns the table of a lake with the given name (`reports.lake.store.Lake.table`)."""
NEWLY_FAILING_KIND, NEWLY_PASSING_KIND, CHANGED_VERDICT_KIND = "newly failing", "newly passing", "changed"
ADDED_RULE_KIND, REMOVED_RULE_KIND, UNCHANGED_VERDICT_KIND = "added", "removed", "unchanged"
KINDS_OF_CHANGE = (
    NEWLY_FAILING_KIND,
    NEWLY_PASSING_KIND,
    CHANGED_VERDICT_KIND,
    ADDED_RULE_KIND,
    REMOVED_RULE_KIND,
    UNCHANGED_VERDICT_KIND,
)
_VERDICT_COLUMNS_OF_COMPARED_SIDE = ("verdict", "run", "test", "expected", "observed", "reason")


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """One side of a comparison: the name by which the user asked for it, the system, the number of runs, and whether
    all of these runs are partial.

    ``roots``: a line for each root cause of the latest run.
    """

    asked: str
    sut_name: str
    sut_version: str
    profile: str
    runs: int
    partial: bool
    roots: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleVerdictOfSide:
    """The current verdict of a rule on one side of a comparison, with the run and the check from which the verdict
    comes.
    """

    verdict: str
    run: str
    test: str | None
    expected: str | None
    observed: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class RuleComparison:
    """A rule with its verdicts on both compared sides. The verdict of a side is None if no run of this side judged the
    rule, or if the rule is retired on this side.
    """

    kind: str
    rule: str
    before: RuleVerdictOfSide | None
    after: RuleVerdictOfSide | None


@dataclass(frozen=True, slots=True)
class ComparisonOfSides:
    """The comparison of two sides: all rules that at least one side has judged, in the order of their ids."""

    first_side: ComparedSide
    second_side: ComparedSide
    rule_comparisons: tuple[RuleComparison, ...]

    def of(self, kind: str) -> list[RuleComparison]:
        """Return the rules with the given kind of change."""
        return [step for step in self.rule_comparisons if step.kind == kind]


def compare_sides(table: TableReader, a: str, b: str, sut: str | None) -> ComparisonOfSides:
    """Compare two sides. A side is a run, a version or key of a system, or a date or time in UTC. A date or time
    selects all runs that had started by then.

    ``sut``: the name or key of the system. Raise `RollupError` for an unknown side, or a side that matches several
    systems.
    """
    side_a, before = _read_compared_side(table, a, sut)
    side_b, after = _read_compared_side(table, b, sut)
    both = before.withColumnRenamed("stands", "before").join(
        after.withColumnRenamed("stands", "after"), "rule", "full_outer"
    )
    steps = []
    for row in both.collect():  # one row per rule, independent of the number of runs
        was, now = (None if each is None else RuleVerdictOfSide(**each.asDict()) for each in (row.before, row.after))
        steps.append(RuleComparison(_find_kind_of_change(was, now), row.rule, was, now))
    return ComparisonOfSides(side_a, side_b, tuple(sorted(steps, key=lambda step: get_natural_sort_key(step.rule))))


def _find_kind_of_change(before: RuleVerdictOfSide | None, after: RuleVerdictOfSide | None) -> str:
    if before is None or after is None:
        return ADDED_RULE_KIND if before is None else REMOVED_RULE_KIND
    if before.verdict == after.verdict:
        return UNCHANGED_VERDICT_KIND
    return {"fail": NEWLY_FAILING_KIND, "pass": NEWLY_PASSING_KIND}.get(after.verdict, CHANGED_VERDICT_KIND)


def _read_compared_side(table: TableReader, asked: str, sut: str | None) -> tuple[ComparedSide, DataFrame]:
    """Read one side of the comparison. Return the side, and the rules with their current verdicts in the columns
    ``rule`` and ``stands``.
    """
    runs = _select_runs_of_compared_side(table("runs"), asked, sut)
    systems = runs.groupBy(*SYSTEM_COLUMN_TYPES).agg(
        sql.count("*").alias("runs"),
        sql.bool_and("partial").alias("partial"),
        sql.max_by("extra", "ingest").alias("extra"),
    )
    found = systems.orderBy("sut").limit(4).collect()
    if len(found) > 1:
        names = ", ".join(one_line(row.sut, 80) for row in found)
        raise RollupError(f"{one_line(asked, 60)!r} matches several systems: give the key of one system ({names})")
    (row,) = found
    roots = tuple(format_root_causes(read_root_causes(row.extra)))
    side = ComparedSide(asked, row.sut_name, row.sut_version, row.profile, row.runs, row.partial, roots)
    mine = sql.broadcast(runs.select("ingest"))
    standing = derive_rule_current(
        rename_checks(table("test_runs").join(mine, "ingest", "left_semi"), runs, table("suites")),
        runs,
        table("catalogue"),
        table("verdicts").join(mine, "ingest", "left_semi"),
        table("evidence").where(sql.lit(False)),
    )
    return side, standing.where("not retired").select(
        "rule", sql.struct(*_VERDICT_COLUMNS_OF_COMPARED_SIDE).alias("stands")
    )


def _select_runs_of_compared_side(runs: DataFrame, asked: str, sut: str | None) -> DataFrame:
    """Return the runs that belong to one side of the comparison. Raise `RollupError` if there are no such runs."""
    if sut is not None:
        runs = runs.where((sql.col("sut") == sut) | (sql.col("sut_name") == sut))
    for where in (sql.col("run") == asked, (sql.col("sut_version") == asked) | (sql.col("sut") == asked)):
        if not (found := runs.where(where)).isEmpty():
            return found
    until = _parse_until(asked)
    if until is not None and not (found := runs.where(_build_started_condition(until))).isEmpty():
        # Several versions of a system may have started by then: the version of the latest run is selected.
        latest = found.groupBy("sut_name", "profile").agg(sql.max_by("sut", "ingest").alias("sut"))
        return found.join(latest.select("sut"), "sut", "left_semi")
    of = f" of {one_line(sut, 60)!r}" if sut is not None else ""
    raise RollupError(
        f"{one_line(asked, 60)!r} is not a run, version or day{of} in this lake: `mqconform lake export runs` "
        "lists the runs"
    )


def _build_started_condition(until: datetime) -> Column:
    return sql.col("started") <= sql.lit(until)


def _parse_until(asked: str) -> datetime | None:
    """Parse a text that contains a time in UTC or a day, and return the time or the end of the day. Return None for any
    other text.
    """
    try:
        day = date.fromisoformat(asked)
    except ValueError:
        try:
            moment = datetime.fromisoformat(asked)
        except ValueError:
            return None
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    return datetime.combine(day, time.max, UTC)
