"""The proof by check: what counts as killed, what is tried again, and what is reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pytest

from harness.faults.primitives import skip
from harness.faults.registry import Fault, Install
from harness.judging.verdicts import Verdict
from harness.proof.inventory import Inventory
from harness.proof.prove import prove, report, why_unclean
from harness.proof.steps import Step, Steps
from harness.proof.trials import Clean, Found, Line, Trial
from harness.rules.catalogue import load_catalogue
from reference_qm.core.protocol.sending import Sending

RULE, SECOND_RULE = "MQQB-3.1.5.4.1-10", "MQQB-3.1.5.4.1-11"
ONE, TWO = "suites/a.py::test_one[1]", "suites/a.py::test_one[2]"
OTHER = "suites/a.py::test_other"


class ScriptedTrials:
    """Trials whose checks convict as a table says: by fault and check."""

    def __init__(self, convicting: dict[str, set[str]], unclean: dict[str, Verdict] | None = None) -> None:
        self.convicting = convicting
        self.unclean = unclean or {}
        self.steps: dict[str, Steps] = {}
        self.breaks: dict[str, str] = {}
        """Of faults that break another rule than RULE."""
        self.seconds: dict[str, float] = {}
        self.checks = (ONE, TWO, OTHER)
        self.tried: list[tuple[str, str]] = []

    def clean(self, checks: Sequence[str]) -> dict[str, Clean]:
        return {
            check: Clean(
                [Line(check, rule, self.unclean.get(check, Verdict.PASS), "why") for rule in (RULE, SECOND_RULE)],
                self.steps.get(check, frozenset()),
                self.seconds.get(check, 0),
            )
            for check in checks
        }

    def run(self, trials: Iterable[Trial]) -> Iterator[tuple[Trial, Found]]:
        for trial in trials:
            found = Found()
            for check in trial.checks:
                if trial.needed(check, found.lines):
                    self.tried.append((trial.name, check))
                    broken = check in self.convicting[trial.name]
                    verdict = Verdict.FAIL if broken else Verdict.PASS
                    found.lines += [
                        Line(check, rule, verdict, "") for rule in (RULE, self.breaks.get(trial.name, RULE))
                    ]
            yield trial, found


@pytest.fixture
def proved(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    def run(trials: ScriptedTrials, install: Install = lambda faulty: None) -> Any:
        faults = {name: Fault(name, (trials.breaks.get(name, RULE),), name, install) for name in trials.convicting}
        monkeypatch.setattr("harness.proof.prove.load_faults", lambda: faults)
        tests = {RULE: [ONE, TWO, OTHER], SECOND_RULE: [ONE, TWO, OTHER]}
        inventory = Inventory(load_catalogue(), tests, {}, {}, frozenset())
        return prove(trials, inventory, sorted({RULE, *trials.breaks.values()}))  # type: ignore[arg-type]

    return run


def test_a_function_is_shown_to_convict_by_one_of_its_cases_and_not_run_again(proved: Callable[..., Any]) -> None:
    trials = ScriptedTrials({"first": {TWO, OTHER}, "second": {ONE}})
    proof = proved(trials)
    assert proof.complete
    assert trials.tried == [("first", ONE), ("first", TWO), ("first", OTHER), ("second", ONE)]


def test_a_function_that_no_fault_makes_fail_is_idle(proved: Callable[..., Any]) -> None:
    proof = proved(ScriptedTrials({"first": {ONE}}))
    assert not proof.complete
    assert proof.idle == [(OTHER, RULE)]
    assert f"idle: {OTHER} finds no fault of {RULE}, which it covers" in report(proof)


def test_the_cheapest_check_is_tried_first(proved: Callable[..., Any]) -> None:
    trials = ScriptedTrials({"first": {ONE, TWO, OTHER}, "second": {ONE, TWO, OTHER}})
    trials.seconds = {ONE: 3, TWO: 1, OTHER: 2}
    assert proved(trials).complete
    assert trials.tried == [("first", TWO), ("first", OTHER), ("second", TWO)]


def test_a_check_is_not_tried_on_a_fault_of_steps_that_it_does_not_take(proved: Callable[..., Any]) -> None:
    trials = ScriptedTrials({"first": {ONE, TWO, OTHER}})
    trials.steps = {ONE: frozenset({Step(Sending, "may_send")}), TWO: frozenset({Step(Sending, "assign_identifier")})}
    proof = proved(trials, skip(Sending.assign_identifier))
    assert trials.tried == [("first", TWO)]
    assert proof.killed == {RULE: ["first"]}
    assert proof.idle == [(OTHER, RULE)]


def test_a_function_may_be_shown_to_convict_by_a_fault_of_another_rule_that_it_covers(
    proved: Callable[..., Any],
) -> None:
    trials = ScriptedTrials({"first": {ONE}, "second": {ONE, OTHER}})
    trials.breaks = {"second": SECOND_RULE}
    trials.seconds = {ONE: 1, TWO: 2, OTHER: 3}
    assert proved(trials).complete
    assert trials.tried.count(("second", OTHER)) == 1


def test_a_fault_that_nobody_finds_is_alive_and_its_rule_unproven(proved: Callable[..., Any]) -> None:
    proof = proved(ScriptedTrials({"first": set()}))
    assert (proof.alive, proof.unproven, proof.idle) == ({RULE: ["first"]}, [RULE], [])


def test_the_verdicts_that_convict_a_fault_are_kept(proved: Callable[..., Any]) -> None:
    proof = proved(ScriptedTrials({"first": {ONE, OTHER}, "second": set()}))
    assert {line.test for line in proof.convictions["first"]} == {ONE, OTHER}
    assert proof.convictions["second"] == []


def test_a_condition_that_did_not_occur_in_one_check_is_clean_when_it_did_in_another(
    proved: Callable[..., Any],
) -> None:
    assert proved(ScriptedTrials({"first": {ONE, OTHER}}, {TWO: Verdict.NOT_EXERCISED})).complete
    never = dict.fromkeys((ONE, TWO, OTHER), Verdict.NOT_EXERCISED)
    assert RULE in proved(ScriptedTrials({"first": {ONE}}, never)).unclean


def test_a_rule_that_is_not_clean_says_what_its_check_saw() -> None:
    lines = [Line("a", RULE, Verdict.PASS, ""), Line("b", RULE, Verdict.FAIL, "expected 1; observed 2")]
    assert why_unclean(lines) == "fail in b: expected 1; observed 2"
    assert why_unclean([]) == "no verdict"
