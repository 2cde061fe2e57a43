"""The readings of errata: the checks that run on each reading, the checks that fail on it, and the faults that it
explains.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from harness.faults.primitives import omit_step
from harness.faults.registry import Fault, Install
from harness.judging.verdicts import Verdict
from harness.proof.readings import (
    VariantRunResults,
    find_faults_with_verdicts_of_allowed_reading,
    list_wrong_reading_verdicts,
    run_readings,
    summarize_readings,
)
from harness.proof.steps import ReferenceStep, ReferenceSteps
from harness.proof.trials import ResultOnCleanReference, Trial, TrialResult, TrialVerdict
from harness.rules.catalogue import load_catalogue
from reference_qm.core.names.message_numbering import MessageNumbering

ERRATUM, ALLOWED = "E41", "E41.2"
FAILING, FAILING_READING = "E17", "E17.2"
CHECKS = tuple(f"suites/some.py::test_{number}" for number in range(10))
RULE, SECOND_RULE = "MQQB-3.1.5.4.1-10", "MQQB-3.1.5.4.1-11"
ASSIGN = frozenset({ReferenceStep(MessageNumbering, "assign_message_ordinal")})


class TrialsOfReadings:
    """Trials in which the given checks fail on every variant."""

    checks = CHECKS

    def __init__(self, *convicting: str) -> None:
        self.convicting = convicting
        self.trials: list[tuple[str, list[str]]] = []
        self.steps: dict[str, ReferenceSteps] = {}
        self.process_end: str | None = None

    def tried(self, reading: str) -> list[list[str]]:
        """Return the checks of each trial of a reading."""
        return [checks for name, checks in self.trials if reading in name.split()]

    def run_checks_on_clean_reference(self, checks: Iterable[str]) -> dict[str, ResultOnCleanReference]:
        return {
            check: ResultOnCleanReference(
                [TrialVerdict(check, RULE, Verdict.PASS, "")], self.steps.get(check, frozenset()), 1.0
            )
            for check in checks
        }

    def run(self, trials: Iterable[Trial], *, together: int = 1) -> Iterator[tuple[Trial, TrialResult]]:
        for trial in trials:
            found = TrialResult(process_end=self.process_end)
            tried: list[str] = []
            self.trials.append((trial.name, tried))
            for check in trial.checks if self.process_end is None else ():
                if trial.is_check_needed(check, found.lines):
                    tried.append(check)
                    verdict = Verdict.FAIL if check in self.convicting else Verdict.PASS
                    found.lines.append(TrialVerdict(check, RULE, verdict, "why"))
            yield trial, found


@pytest.fixture(autouse=True)
def faults(monkeypatch: pytest.MonkeyPatch) -> dict[str, Fault]:
    def reading(name: str, install: Install = lambda faulty: None) -> Fault:
        return Fault(f"reading-{name}", (), name, install, reading=name)

    readings = [
        name for entry in (ERRATUM, FAILING) for name, _ in load_catalogue().errata[entry].list_readings_to_run()
    ]
    found = {f"reading-{name}": reading(name) for name in readings}
    found["a-fault"] = Fault("a-fault", (RULE, SECOND_RULE), "a fault", lambda faulty: None)
    monkeypatch.setattr("harness.proof.readings.load_faults", lambda: found)
    return found


def run(trials: TrialsOfReadings, errata: list[str], **how: Any) -> VariantRunResults:
    return run_readings(trials, load_catalogue(), errata=errata, **how)  # type: ignore[arg-type]


def test_erratum_reading_is_run_with_every_check() -> None:
    trials = TrialsOfReadings()
    assert run(trials, [ERRATUM]).complete
    assert trials.tried(ALLOWED) == [list(CHECKS)]
    assert not trials.tried(FAILING_READING)


def test_erratum_reading_is_run_alone_with_checks_whose_verdicts_changed() -> None:
    trials = TrialsOfReadings(CHECKS[3])
    found = run(trials, [ERRATUM])
    assert trials.tried(ALLOWED) == [list(CHECKS), [CHECKS[3]]]
    assert [line.test for line in found.failing_verdicts_by_allowed_reading[ALLOWED]] == [CHECKS[3]]


def test_separately_run_erratum_reading_has_one_trial() -> None:
    trials = TrialsOfReadings()
    run(trials, [ERRATUM], apart=True)
    assert trials.tried(ALLOWED) == [list(CHECKS)]


def test_erratum_reading_whose_process_died_is_named() -> None:
    trials = TrialsOfReadings()
    trials.process_end = "SIGXCPU"
    found = run(trials, [ERRATUM])
    assert not found.complete
    assert f"died: {ALLOWED} ({ALLOWED}): the process of its trial ended with SIGXCPU" in list_wrong_reading_verdicts(
        found, {}
    )
    assert summarize_readings(found).startswith("0 of ")


def test_erratum_reading_is_not_run_with_checks_that_execute_none_of_its_steps(faults: dict[str, Fault]) -> None:
    for name in [name for name in faults if name.startswith("reading-")]:
        faults[name] = Fault(
            name, (), name, omit_step(MessageNumbering.assign_message_ordinal), reading=faults[name].reading
        )
    trials = TrialsOfReadings()
    trials.steps = {CHECKS[3]: ASSIGN}
    assert run(trials, [ERRATUM]).complete
    assert trials.tried(ALLOWED) == [[CHECKS[3]]]


def test_allowed_readings_of_other_errata_are_run_with_the_selected_checks() -> None:
    trials = TrialsOfReadings()
    run(trials, [], checks=CHECKS[:2])
    assert trials.tried(ALLOWED) == [list(CHECKS[:2])]
    assert not trials.tried(FAILING_READING)


def test_every_verdict_that_fails_an_allowed_reading_is_recorded() -> None:
    found = run(TrialsOfReadings(CHECKS[0], CHECKS[4]), [ERRATUM])
    assert not found.complete
    assert [line.test for line in found.failing_verdicts_by_allowed_reading[ALLOWED]] == [CHECKS[0], CHECKS[4]]


def test_forbidden_erratum_reading_is_detected_once_or_reported_as_undetected() -> None:
    trials = TrialsOfReadings(CHECKS[4])
    assert run(trials, [FAILING]).complete
    assert trials.tried(FAILING_READING) == [list(CHECKS[:5])]
    assert run(TrialsOfReadings(), [FAILING]).forbidden_readings_without_failure == [FAILING_READING]


def lines(why: str, *rules: str) -> list[TrialVerdict]:
    return [TrialVerdict(CHECKS[0], rule, Verdict.FAIL, why) for rule in rules]


@pytest.mark.parametrize(
    ("of_fault", "of_reading", "same"),
    [
        (lines("why", RULE, SECOND_RULE), lines("why", RULE, SECOND_RULE), True),
        (lines("why", RULE, SECOND_RULE), lines("why", RULE), False),
        (lines("why", RULE, SECOND_RULE), lines("another", RULE, SECOND_RULE), False),
    ],
    ids=["all of its rules", "one of its rules", "its rules in another way"],
)
def test_fault_with_verdicts_of_allowed_reading_is_explained(
    of_fault: list[TrialVerdict], of_reading: list[TrialVerdict], *, same: bool
) -> None:
    found = VariantRunResults(run_readings=[ALLOWED], failing_verdicts_by_allowed_reading={ALLOWED: of_reading})
    assert (
        list(find_faults_with_verdicts_of_allowed_reading({"a-fault": of_fault}, found))
        == [("a-fault", ALLOWED)] * same
    )
    why = "causes the same verdicts, so either the fault or the reading is wrong"
    said = f"explained: a-fault: the allowed reading {ALLOWED} {why}"
    assert (said in list_wrong_reading_verdicts(found, {"a-fault": of_fault})) is same


def test_reading_with_unexpected_verdict_is_named_with_its_rule() -> None:
    found = run(TrialsOfReadings(CHECKS[0], CHECKS[4]), [ERRATUM])
    assert f"convicted: {ALLOWED} ({ALLOWED}): {RULE} in {CHECKS[0]}: why" in list_wrong_reading_verdicts(found, {})
    assert summarize_readings(found).startswith("0 of ")
