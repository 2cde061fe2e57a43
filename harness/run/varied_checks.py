"""Run a varied check: once with default values, then with each row of its covering array (harness/varying).

With each row, the check has a new peer, new queues and a new judge, so the verdicts of each row have their own
evidence. If a rule is broken with a row, the check runs again with parts of this row, in order to find the smallest
combination of values that breaks the rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from harness.errors import ConformanceFailure, HarnessError, SutLost, SutUnavailable
from harness.judging.judge import MAX_EVIDENCE_PACKETS, Judge
from harness.judging.verdicts import VERDICTS_OF_BROKEN_RULES, Verdict, VerdictEntry, get_worst_verdict
from harness.run.checks import find_varied_parameters, get_check_id
from harness.run.rows import FixturesOfCurrentRow
from harness.run.stash import CURRENT_ROW_KEY, JUDGE_KEY, RUN_KEY
from harness.sut.releases import LackedByRelease
from harness.sut.shown import NotShown
from harness.varying.arrays import CoveringArrayRow, build_covering_array
from harness.varying.parameters import EXCLUDED_COMBINATIONS, find_parameter_value
from harness.varying.shrinking import find_smallest_failing_values_of_row
from harness.varying.variant import RowVariant

if TYPE_CHECKING:
    from harness.sut.sut import Sut

MAX_RUNS_TO_SHRINK = 12
"""The maximum number of runs in the search for the smallest combination of values that breaks a rule."""
MAX_ORDERS_OF_ROWS_TRIED = 8
"""The number of parameter orders that are tried in order to find a short covering array. The array should be short
because each row requires a run of the check.
"""
_VERDICTS_THAT_END_VARYING = (Verdict.FAIL, Verdict.HARNESS_ERROR, Verdict.INCONCLUSIVE, Verdict.WARN)
"""If the run with default values gives one of these verdicts, the check is not run with rows, because rows could not
change the verdict.
"""
_UNDECIDED_VERDICTS = (Verdict.HARNESS_ERROR, Verdict.INCONCLUSIVE)


@dataclass(frozen=True, slots=True)
class VariedValues:
    """The values with which a check is repeated on a system. ``reason_by_omitted_value`` contains the omitted values,
    which need a capability that the system lacks, each with the reason.
    """

    values: Mapping[str, Sequence[str]]
    reason_by_omitted_value: Mapping[str, str]

    @classmethod
    def draw_values(cls, wanted: Mapping[str, Sequence[str]], sut: Sut) -> VariedValues:
        """Return the values to use. Values that need a capability which the system lacks are omitted."""
        values: dict[str, list[str]] = {}
        left_out: dict[str, str] = {}
        for parameter, names in wanted.items():
            lacking = {
                name: [need for need in find_parameter_value(parameter, name).needs if not sut.has(need)]
                for name in names
            }
            values[parameter] = [name for name in names if not lacking[name]]
            for name, needs in lacking.items():
                if needs:
                    left_out[f"{parameter} = {name}"] = f"the SUT has no {', '.join(needs)}"
        return cls({parameter: names for parameter, names in values.items() if len(names) > 1}, left_out)

    def __str__(self) -> str:
        return "".join(f"; not varied: {value} ({why})" for value, why in self.reason_by_omitted_value.items())


@dataclass(slots=True)
class VariedCheckTrial:
    """One run of a check with one row (set of parameter values), and the verdicts of this run."""

    row: CoveringArrayRow
    entries: list[VerdictEntry] = field(default_factory=list)
    effective_parameters: set[str] = field(default_factory=set)
    """The parameters that had an effect on the check."""

    @property
    def is_without_failure(self) -> bool:
        """Return whether the run broke no rule and left no rule undecided."""
        return all(entry.verdict not in _VERDICTS_THAT_END_VARYING for entry in self.entries)

    def get_worst_verdict(self, rule: str) -> Verdict | None:
        """Return the worst verdict on a rule, or None if the rule has no verdict."""
        found = [entry.verdict for entry in self.entries if entry.rule == rule and entry.advice is None]
        return get_worst_verdict(found) if found else None

    def get_worst_entry(self, rule: str) -> VerdictEntry:
        """Return the entry with the worst verdict of a rule."""
        verdict = self.get_worst_verdict(rule)
        return next(entry for entry in self.entries if entry.rule == rule and entry.verdict is verdict)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Any:
    """Run the check with default values. If no rule was broken, also run it with each row (set of parameter values)."""
    wanted = find_varied_parameters(pyfuncitem)
    if not wanted or get_check_id(pyfuncitem) is None or CURRENT_ROW_KEY not in pyfuncitem.stash:
        return (yield)
    done = yield
    judge = pyfuncitem.stash[JUDGE_KEY]
    if judge.first_malformed_packet_error is None and not any(
        verdict in _VERDICTS_THAT_END_VARYING for verdict in judge.judged.values()
    ):
        VariedCheck(pyfuncitem, wanted).run()
    return done


class VariedCheck:
    """The runs of one varied check, one for each row (set of parameter values)."""

    def __init__(self, item: pytest.Function, wanted: Mapping[str, Sequence[str]]) -> None:
        self.item = item
        self.conformance_run = item.config.stash[RUN_KEY]
        self.rows: FixturesOfCurrentRow = item.stash[CURRENT_ROW_KEY]
        self.judge: Judge = item.stash[JUDGE_KEY]
        self.sut: Sut = self.rows.peer.sut
        self.varied_values = VariedValues.draw_values(wanted, self.sut)
        # If rows shared a peer, the history, sequences and messages of earlier rows would affect later rows.
        varies = (
            self.varied_values.values and self.conformance_run.variation_strength > 1 and self.sut.is_reset_between_rows
        )
        self.plan = (
            build_covering_array(
                self.varied_values.values,
                EXCLUDED_COMBINATIONS,
                self.conformance_run.variation_strength,
                orders=MAX_ORDERS_OF_ROWS_TRIED,
            )
            if varies
            else ()
        )
        self.plain: CoveringArrayRow = self.plan[0] if self.plan else {}
        self.tried: dict[frozenset[tuple[str, str]], VariedCheckTrial] = {}
        """The rows (sets of parameter values) with which the check has run."""

    def run(self) -> None:
        """Run the check with each row (set of parameter values). Judge every rule of the check by the results with all
        rows.
        """
        trials = [self.run_check_with_row(row) for row in self.plan[1:]]
        for rule in self.judge.covers:
            judged = [trial for trial in trials if trial.get_worst_verdict(rule) is not None]
            if judged:
                self.judge.end_varied_rows(self.conclude(rule, judged))
        if self.conformance_run.is_part_of_proof and trials and all(trial.is_without_failure for trial in trials):
            self._require_effect_of_each_parameter(trials)

    def _require_effect_of_each_parameter(self, trials: Sequence[VariedCheckTrial]) -> None:
        """Raise an error if ``@varied`` names a parameter that the check always sets itself, because other values of
        this parameter would then have no effect.

        The cases of a parametrized pytest function give different values, so a single case need not vary all
        parameters that the function names.
        """
        applied = set[str]().union(*(trial.effective_parameters for trial in trials))
        idle = self.varied_values.values.keys() - applied
        if idle and not (applied and hasattr(self.item, "callspec")):
            raise HarnessError(
                f"@varied names {', '.join(sorted(idle))}, but this check always sets these parameters itself"
            )

    def run_check_with_row(self, row: CoveringArrayRow) -> VariedCheckTrial:
        """Return the verdicts of the check with a row (set of parameter values). If the check has already run with this
        row, return the verdicts of that run.
        """
        key = frozenset(row.items())
        if key not in self.tried:
            self.tried[key] = self._run_check(row)
        return self.tried[key]

    def _run_check(self, row: CoveringArrayRow) -> VariedCheckTrial:
        """Run the check with one row (set of parameter values)."""
        item, sut = self.item, self.sut
        variant = RowVariant(row, sut.facilities, peer=self.rows.peer.address, sut=sut.address)
        trial = VariedCheckTrial(row, effective_parameters=variant.applied)
        judge = self.rows.judge = self.judge.begin_row(trial.entries)
        self.rows.peer = self.rows.peer.create_successor(variant, f"{judge.test} {describe_row(row)}")
        sut.begin_row(variant)
        arguments = {
            name: self._build_fixture_for_row(name, value)
            for name, value in item.funcargs.items()
            if name in item._fixtureinfo.argnames
        }
        try:
            item.obj(**arguments)
        except LackedByRelease as error:
            judge.end_unsupported_check(str(error))
        except NotShown as error:
            judge.end_unobservable(str(error))
        except SutLost:
            raise
        except (ConformanceFailure, SutUnavailable) as error:
            judge.abort_check(str(error))
        judge.end()
        self.judge.packets.add(judge.packets)
        return trial

    def _build_fixture_for_row(self, name: str, value: Any) -> Any:
        """Return the value of a fixture for the current row (set of parameter values) of a varied check."""
        if name == "peer":
            return self.rows.peer
        if name == "judge":
            return self.rows.judge
        if name == "variant":
            return self.rows.peer.variant
        if name == "remote":
            return type(value)(self.rows.peer, self.sut)
        if name == "second_host":
            return self.rows.peer.create_second_host(value.address)
        return value

    def conclude(self, rule: str, trials: Sequence[VariedCheckTrial]) -> VerdictEntry:
        """Return the final verdict on a rule from the runs with all rows (sets of parameter values). If the rule is
        broken or undecided, the verdict names the smallest combination of values that has this result.
        """
        missed = next((trial for trial in trials if trial.get_worst_verdict(rule) in VERDICTS_OF_BROKEN_RULES), None)
        if missed is None:
            missed = next((trial for trial in trials if trial.get_worst_verdict(rule) in _UNDECIDED_VERDICTS), None)
        if missed is None:
            return self._conclude_unbroken_rule(rule, trials)
        wanted = missed.get_worst_verdict(rule)
        passing = [self.plain, *(trial.row for trial in trials if trial.get_worst_verdict(rule) is Verdict.PASS)]
        again: list[VariedCheckTrial] = []

        def fails_again(row: CoveringArrayRow) -> bool:
            if len(again) >= MAX_RUNS_TO_SHRINK:
                return False
            again.append(self.run_check_with_row(row))
            return again[-1].get_worst_verdict(rule) is wanted

        if not self.conformance_run.is_part_of_proof:
            part = find_smallest_failing_values_of_row(missed.row, self.plain, passing, fails_again)
            missed = next((one for one in again if one.row == {**self.plain, **part}), missed)
        else:
            part = select_changed_values(missed.row, self.plain)
        entry, case = missed.get_worst_entry(rule), format_row_values(part)
        return replace(
            entry,
            expected=f"with {case}: {entry.expected}" if entry.expected else "",
            observed=f"with {case}: {entry.observed}" if entry.observed else "",
            reason=f"with {case}: {entry.reason}" if entry.reason else f"only with {case}{self.varied_values}",
        )

    def _conclude_unbroken_rule(self, rule: str, trials: Sequence[VariedCheckTrial]) -> VerdictEntry:
        """Return a single pass for a rule that no run of a varied check broke. The evidence of the pass is one packet
        from each run.
        """
        kept = [trial for trial in trials if trial.get_worst_verdict(rule) is Verdict.PASS] or trials
        entry = kept[0].get_worst_entry(rule)
        if entry.verdict is not Verdict.PASS:
            return entry
        evidence = [one for trial in kept for one in trial.get_worst_entry(rule).evidence[-1:]]
        applied = set[str]().union(*(trial.effective_parameters for trial in kept))
        how = describe_combinations(len(kept), [name for name in self.varied_values.values if name in applied])
        return replace(
            entry,
            expected=f"{entry.expected} ({how})",
            observed=f"{entry.observed} ({how})",
            evidence=tuple(evidence[:MAX_EVIDENCE_PACKETS]),
            reason=str(self.varied_values).removeprefix("; ") or None,
        )


def select_changed_values(row: CoveringArrayRow, plain: CoveringArrayRow) -> CoveringArrayRow:
    """Return the values of a row that differ from the default values."""
    return {name: value for name, value in row.items() if plain[name] != value}


def describe_combinations(count: int, names: Sequence[str]) -> str:
    """Return the part of a verdict's text that states with how many rows (sets of parameter values) the check passed,
    and which parameters had an effect.
    """
    if not names:
        return f"the same in each of {count} runs"
    *first, last = names
    of = f"{', '.join(first)} and {last}" if first else last
    if count == 1:
        return f"the same with other values of the parameters {of}" if first else f"the same with another value of {of}"
    what = "combinations of the parameters" if first else "values of the parameter"
    return f"the same with each of {count} {what} {of}"


def format_row_values(row: CoveringArrayRow) -> str:
    """Return the values of a row as text for a verdict."""
    return ", ".join(f"{name} = {value}" for name, value in row.items())


def describe_row(row: CoveringArrayRow) -> str:
    """Return a text that describes a row (set of parameter values). The identifier of the peer for this row is derived
    from the text, so a change of the text would change the identifiers in recorded runs.
    """
    return ", ".join(f"{name} {value}" for name, value in row.items())
