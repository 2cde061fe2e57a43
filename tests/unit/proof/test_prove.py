"""The proof of each check: which faults count as killed, which checks run again, and the reported defects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pytest

from harness.faults.primitives import omit_step
from harness.faults.registry import Fault, Install
from harness.judging.verdicts import Verdict
from harness.proof.inventory import RuleInventory
from harness.proof.prove import describe_unclean_result, prove, report_proof
from harness.proof.steps import ReferenceStep, ReferenceSteps
from harness.proof.trials import ResultOnCleanReference, Trial, TrialResult, TrialVerdict
from harness.rules.catalogue import load_catalogue
from reference_qm.core.names.message_numbering import MessageNumbering
from reference_qm.core.transfer.message_sending import MessageSending

RULE, SECOND_RULE = "MQQB-3.1.5.4.1-10", "MQQB-3.1.5.4.1-11"
SHOULD = "MQQB-3.1.6.2-02"
RULES = (RULE, SECOND_RULE, SHOULD)
ONE, TWO = "suites/a.py::test_one[1]", "suites/a.py::test_one[2]"
OTHER = "suites/a.py::test_other"


class ScriptedTrials:
    """Trials in which a table, by fault, determines the checks that fail."""

    def __init__(self, convicting: dict[str, set[str]], unclean: dict[str, Verdict] | None = None) -> None:
        self.convicting = convicting
        self.unclean = unclean or {}
        self.steps: dict[str, ReferenceSteps] = {}
        self.breaks: dict[str, str] = {}
        """The broken rule of each fault that breaks a rule other than `RULE`."""
        self.seconds: dict[str, float] = {}
        self.broken: dict[str, dict[str, str]] = {}
        """The rules that packets of the peer break, by check."""
        self.malforms: dict[str, frozenset[str]] = {}
        self.beside: str | None = None
        """A further rule that fails in every check that fails."""
        self.checks = (ONE, TWO, OTHER)
        self.tried: list[tuple[str, str]] = []

    def run_checks_on_clean_reference(self, checks: Sequence[str]) -> dict[str, ResultOnCleanReference]:
        return {
            check: ResultOnCleanReference(
                [TrialVerdict(check, rule, self.unclean.get(check, Verdict.PASS), "why") for rule in RULES],
                self.steps.get(check, frozenset()),
                self.seconds.get(check, 0),
                self.broken.get(check, {}),
                self.malforms.get(check, frozenset()),
            )
            for check in checks
        }

    def run(self, trials: Iterable[Trial], *, together: int = 1) -> Iterator[tuple[Trial, TrialResult]]:
        for trial in trials:
            found = TrialResult()
            for check in trial.checks:
                if trial.is_check_needed(check, found.lines):
                    self.tried.append((trial.name, check))
                    broken = check in self.convicting[trial.name]
                    verdict = Verdict.FAIL if broken else Verdict.PASS
                    rules = {RULE, self.breaks.get(trial.name, RULE)} if self.beside is None else {self.beside}
                    found.lines += [TrialVerdict(check, rule, verdict, "") for rule in rules]
                    if self.beside is not None and broken:
                        found.lines.append(TrialVerdict(check, self.breaks[trial.name], Verdict.WARN, ""))
            yield trial, found


@pytest.fixture
def proved(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    def run(trials: ScriptedTrials, install: Install = lambda faulty: None) -> Any:
        faults = {name: Fault(name, (trials.breaks.get(name, RULE),), name, install) for name in trials.convicting}
        monkeypatch.setattr("harness.proof.prove.load_faults", lambda: faults)
        tests = {rule: [ONE, TWO, OTHER] for rule in RULES}
        inventory = RuleInventory(load_catalogue(), tests, {}, {}, frozenset())
        return prove(trials, inventory, sorted({RULE, *trials.breaks.values()}))  # type: ignore[arg-type]

    return run


def test_check_function_that_detected_a_fault_with_one_case_is_not_run_again(proved: Callable[..., Any]) -> None:
    trials = ScriptedTrials({"first": {TWO, OTHER}, "second": {ONE}})
    proof = proved(trials)
    assert proof.complete
    assert trials.tried == [("first", ONE), ("first", TWO), ("first", OTHER), ("second", ONE)]


def test_check_function_that_fails_on_no_fault_is_reported_as_idle(proved: Callable[..., Any]) -> None:
    proof = proved(ScriptedTrials({"first": {ONE}}))
    assert not proof.complete
    assert proof.checks_that_never_fail_rule == [(OTHER, RULE)]
    assert f"idle: {OTHER} covers {RULE}, but finds no fault that breaks this rule" in report_proof(proof)


def test_cheapest_check_is_tried_first_on_a_fault(proved: Callable[..., Any]) -> None:
    trials = ScriptedTrials({"first": {ONE, TWO, OTHER}, "second": {ONE, TWO, OTHER}})
    trials.seconds = {ONE: 3, TWO: 1, OTHER: 2}
    assert proved(trials).complete
    assert trials.tried == [("first", TWO), ("first", OTHER), ("second", TWO)]


def test_a_check_is_not_tried_on_a_fault_of_steps_that_it_does_not_take(proved: Callable[..., Any]) -> None:
    trials = ScriptedTrials({"first": {ONE, TWO, OTHER}})
    trials.steps = {
        ONE: frozenset({ReferenceStep(MessageSending, "may_send")}),
        TWO: frozenset({ReferenceStep(MessageNumbering, "assign_message_ordinal")}),
    }
    proof = proved(trials, omit_step(MessageNumbering.assign_message_ordinal))
    assert trials.tried == [("first", TWO)]
    assert proof.killed_faults_by_rule == {RULE: ["first"]}
    assert proof.checks_that_never_fail_rule == [(OTHER, RULE)]


def test_check_function_may_detect_a_fault_of_any_rule_that_it_covers(
    proved: Callable[..., Any],
) -> None:
    trials = ScriptedTrials({"first": {ONE}, "second": {ONE, OTHER}})
    trials.breaks = {"second": SECOND_RULE}
    trials.seconds = {ONE: 1, TWO: 2, OTHER: 3}
    assert proved(trials).complete
    assert trials.tried.count(("second", OTHER)) == 1


@pytest.mark.parametrize(("breaks", "overreached"), [(SHOULD, {("first", RULE)}), (SECOND_RULE, set())])
def test_a_fault_of_a_should_that_fails_a_must_is_a_finding(
    proved: Callable[..., Any], breaks: str, overreached: set[tuple[str, str]]
) -> None:
    trials = ScriptedTrials({"first": {ONE, TWO, OTHER}})
    trials.breaks = {"first": breaks}
    trials.beside = RULE
    proof = proved(trials)
    assert proof.must_failures_of_advice_faults.keys() == overreached
    said = f"overreached: first breaks only SHOULD rules, but {RULE} fails"
    told = [line for line in report_proof(proof) if line.startswith(said)]
    assert len(told) == len(overreached)


def test_packet_of_the_peer_that_breaks_a_rule_is_a_finding_unless_the_check_declares_it(
    proved: Callable[..., Any],
) -> None:
    trials = ScriptedTrials({"first": {ONE, OTHER}})
    trials.broken = {ONE: {SECOND_RULE: "PR is 4"}, OTHER: {SECOND_RULE: "PR is 4"}}
    trials.malforms = {OTHER: frozenset({SECOND_RULE})}
    proof = proved(trials)
    assert proof.unmarked_violations_by_peer == {(ONE, SECOND_RULE): "PR is 4"}
    assert not proof.complete
    assert any(
        line.startswith(f"malformed: {ONE}: the peer breaks {SECOND_RULE}: PR is 4") for line in report_proof(proof)
    )


def test_unneeded_malforms_mark_is_a_finding(proved: Callable[..., Any]) -> None:
    trials = ScriptedTrials({"first": {ONE, OTHER}})
    trials.malforms = {ONE: frozenset({RULE}), TWO: frozenset({RULE}), OTHER: frozenset({RULE})}
    trials.broken = {TWO: {RULE: "of one case"}}
    proof = proved(trials)
    assert (proof.unmarked_violations_by_peer, proof.marked_violations_never_sent) == ({}, [(OTHER, RULE)])
    assert f"unbroken: {OTHER}: no packet of the peer breaks {RULE}; remove the rule from malforms" in report_proof(
        proof
    )


def test_undetected_fault_is_alive_and_its_rule_unproven(proved: Callable[..., Any]) -> None:
    proof = proved(ScriptedTrials({"first": set()}))
    assert (proof.unnoticed_faults_by_rule, proof.unproven_rules, proof.checks_that_never_fail_rule) == (
        {RULE: ["first"]},
        [RULE],
        [],
    )


def test_verdicts_that_detect_a_fault_are_recorded(proved: Callable[..., Any]) -> None:
    proof = proved(ScriptedTrials({"first": {ONE, OTHER}, "second": set()}))
    assert {line.test for line in proof.failing_verdicts_by_fault["first"]} == {ONE, OTHER}
    assert proof.failing_verdicts_by_fault["second"] == []


def test_rule_exercised_by_at_least_one_check_counts_as_clean(
    proved: Callable[..., Any],
) -> None:
    assert proved(ScriptedTrials({"first": {ONE, OTHER}}, {TWO: Verdict.NOT_EXERCISED})).complete
    never = dict.fromkeys((ONE, TWO, OTHER), Verdict.NOT_EXERCISED)
    assert RULE in proved(ScriptedTrials({"first": {ONE}}, never)).reason_by_rule_failing_without_fault


def test_unclean_rule_is_reported_with_observation() -> None:
    lines = [TrialVerdict("a", RULE, Verdict.PASS, ""), TrialVerdict("b", RULE, Verdict.FAIL, "expected 1; observed 2")]
    assert describe_unclean_result(lines) == "fail in b: expected 1; observed 2"
    assert describe_unclean_result([]) == "no verdict"
