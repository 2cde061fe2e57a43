"""The proof by check: what counts as killed, what is tried again, and what is reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pytest

from harness.faults.registry import Fault
from harness.judging.verdicts import Verdict
from harness.proof.inventory import Inventory
from harness.proof.prove import prove, report, why_unclean
from harness.proof.steps import Steps
from harness.proof.trials import Clean, Found, Line, Trial
from harness.rules.catalogue import load_catalogue, load_index

RULE = "MQQB-3.1.5.4.1-10"
ONE, TWO = "suites/a.py::test_one[1]", "suites/a.py::test_one[2]"
OTHER = "suites/a.py::test_other"


class ScriptedTrials:
    """Trials whose checks convict as a table says: by fault and check."""

    def __init__(self, convicting: dict[str, set[str]], unclean: dict[str, Verdict] | None = None) -> None:
        self.convicting = convicting
        self.unclean = unclean or {}
        self.steps: dict[str, Steps] = {}
        self.checks = (ONE, TWO, OTHER)
        self.tried: list[tuple[str, str]] = []

    def clean(self, checks: Sequence[str]) -> dict[str, Clean]:
        return {
            check: Clean(
                [Line(check, RULE, self.unclean.get(check, Verdict.PASS), "why")],
                self.steps.get(check, frozenset()),
                self.checks.index(check),
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
                    found.lines.append(Line(check, RULE, Verdict.FAIL if broken else Verdict.PASS, ""))
            yield trial, found


@pytest.fixture
def proved(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    def run(trials: ScriptedTrials) -> Any:
        faults = {name: Fault(name, (RULE,), name, lambda faulty: None) for name in trials.convicting}
        monkeypatch.setattr("harness.proof.prove.load_faults", lambda: faults)
        inventory = Inventory(
            load_catalogue(), {RULE: [ONE, TWO, OTHER]}, {RULE: list(faults)}, frozenset(), frozenset(), load_index()
        )
        return prove(trials, inventory, [RULE])  # type: ignore[arg-type]

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


def test_a_fault_that_nobody_finds_is_alive_and_its_rule_unproven(proved: Callable[..., Any]) -> None:
    proof = proved(ScriptedTrials({"first": set()}))
    assert (proof.alive, proof.unproven, proof.idle) == ({RULE: ["first"]}, [RULE], [])


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
