"""The readings of errata: before which checks each is carried out, and what convicts it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from harness.faults.primitives import skip
from harness.faults.registry import Fault
from harness.judging.verdicts import Verdict
from harness.proof.readings import run_readings
from harness.proof.steps import Steps
from harness.proof.trials import Clean, Found, Line, Trial
from harness.rules.catalogue import load_catalogue
from reference_qm.core.protocol.sending import Sending

ERRATUM = "E41"
OWN = "suites/own.py::test_of_the_entry"
OTHERS = tuple(f"suites/others.py::test_{number}" for number in range(200))


class TrialsOfReadings:
    """Trials in which one check convicts whatever comes before it."""

    checks = (*OTHERS, OWN)

    def __init__(self, convicting: str = "") -> None:
        self.convicting = convicting
        self.tried: dict[str, list[str]] = {}
        self.steps: dict[str, Steps] = {}

    def clean(self, checks: Iterable[str]) -> dict[str, Clean]:
        return {check: Clean([], self.steps.get(check, frozenset()), 0.0) for check in checks}

    def run(self, trials: Iterable[Trial]) -> Iterator[tuple[Trial, Found]]:
        for trial in trials:
            found = Found()
            self.tried[trial.name] = []
            for check in trial.checks:
                if trial.needed(check, found.lines):
                    self.tried[trial.name].append(check)
                    verdict = Verdict.FAIL if check == self.convicting else Verdict.PASS
                    found.lines.append(Line(check, "a rule", verdict, ""))
            yield trial, found


@pytest.fixture(autouse=True)
def variants(monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    names = tuple(name for name, _ in load_catalogue().errata[ERRATUM].to_be_run())
    faults = {name: Fault(name, (), name, lambda faulty: None, reading=name) for name in names}
    monkeypatch.setattr("harness.proof.readings.load_faults", lambda: faults)
    return names


def run(trials: TrialsOfReadings, *, every_check: bool) -> set[str]:
    catalogue = load_catalogue()
    rule = next(name for name, row in catalogue.items() if ERRATUM in row.errata)
    tests = {rule: [OWN]}
    return set(run_readings(trials, catalogue, tests, [ERRATUM], every_check=every_check).convicted)  # type: ignore[arg-type]


def test_a_reading_is_carried_out_before_the_checks_of_its_entry_and_a_share_of_the_others(
    variants: tuple[str, ...],
) -> None:
    trials = TrialsOfReadings()
    assert run(trials, every_check=False) == set()
    assert set(trials.tried) == set(variants)
    for tried in trials.tried.values():
        assert tried[0] == OWN
        assert 0 < len(tried) - 1 < len(OTHERS) // 2


def test_a_reading_is_carried_out_before_every_check_once_when_that_is_asked(variants: tuple[str, ...]) -> None:
    trials = TrialsOfReadings()
    assert run(trials, every_check=True) == set()
    for tried in trials.tried.values():
        assert tried[0] == OWN
        assert sorted(tried) == sorted(trials.checks)


def test_a_reading_is_not_carried_out_before_checks_that_take_none_of_its_steps(
    monkeypatch: pytest.MonkeyPatch, variants: tuple[str, ...]
) -> None:
    install = skip(Sending.assign_identifier)
    faults = {name: Fault(name, (), name, install, reading=name) for name in variants}
    monkeypatch.setattr("harness.proof.readings.load_faults", lambda: faults)
    trials = TrialsOfReadings()
    trials.steps = {OTHERS[3]: frozenset({(Sending, "assign_identifier")})}
    assert run(trials, every_check=True) == set()
    assert trials.tried == {name: [OTHERS[3]] for name in variants}


def test_a_check_of_another_section_convicts_too(variants: tuple[str, ...]) -> None:
    assert run(TrialsOfReadings(convicting=OTHERS[0]), every_check=True)
