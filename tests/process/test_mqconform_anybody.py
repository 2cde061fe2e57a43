"""Runs against a system that can neither be reset nor inspected: small versions of the scenarios of ``make bench``."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from mqconform_process import mqconform, run_json, verdicts

from benchmarks.anybody import CLEAN, HURRIED, run_scenario
from benchmarks.systems import Scenario

SELECTION = (
    *("--select", "MQQB-3.1.5.8.8-01", "--select", "MQQB-3.1.5.8.8-06", "--select", "MQQB-3.1.5.8.8-16"),
    *("--select", "MQQB-3.1.5.8.8-25", "--select", "MQQB-3.1.5.8.8-28"),
    *("--select", "MQQB-2.2.5-05", "--select", "MQQB-2.2.5-18", "--select", "MQQB-2.2.5-19"),
    *("--select", "MQQB-2.2.5-22", "--select", "MQQB-2.2.5-D01", "--select", "MQQB-2.2.5.1", "--select", "MQMQ-2.2.7"),
    *("-k", "s3_1_5_08_08_inserting or s2_2_5_final_ack or s2_2_07_queue_format"),
)
"""Sections whose checks create queues, leave acknowledgments in queues, read dead letters, and use the peer's
identifier.
"""
FEW = (
    *("--select", "MQQB-2.2.4", "--select", "MQQB-3.1.5.1.1", "--select", "MQQB-3.1.5.1-03"),
    *("--select", "MQQB-3.1.6.9-01", "-k", "s2_2_4_order_ack or s3_1_5_01_1_packet"),
)
SCENARIOS = {
    Scenario("one-after-the-other", HURRIED, 1): SELECTION,
    Scenario("eight-at-once-twice", HURRIED, 8, runs=2): SELECTION,
    Scenario("without-control", None, 8): FEW,
}
CONTROLLED = [scenario for scenario in SCENARIOS if scenario.facilities]


@dataclass(frozen=True)
class Met:
    """The results of the runs of a scenario: their output and their folder."""

    said: list[str]
    folder: Path


@pytest.fixture(scope="module")
def agent_results(tmp_path_factory: pytest.TempPathFactory) -> dict[Scenario, Met]:
    """Run all scenarios at the same time, because each run spends most of its time waiting."""
    folders = {scenario: tmp_path_factory.mktemp(scenario.name) for scenario in SCENARIOS}

    def meeting(scenario: Scenario) -> Met:
        said = run_scenario(scenario, folders[scenario], SCENARIOS[scenario], mqconform)
        return Met(list(said), folders[scenario])

    with ThreadPoolExecutor(len(SCENARIOS)) as pool:
        return dict(zip(SCENARIOS, pool.map(meeting, SCENARIOS), strict=True))


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_every_run_of_a_scenario_ends_clean(agent_results: dict[Scenario, Met], scenario: Scenario) -> None:
    said = agent_results[scenario].said
    assert len(said) == scenario.runs
    assert all(line.endswith("clean") for line in said), said


@pytest.mark.parametrize("scenario", CONTROLLED, ids=lambda scenario: scenario.name)
def test_checks_leave_no_residue_for_other_checks_or_runs(
    agent_results: dict[Scenario, Met], scenario: Scenario
) -> None:
    for run in (agent_results[scenario].folder / f"run-{number}" for number in range(1, scenario.runs + 1)):
        assert {line["verdict"] for line in verdicts(run)} <= CLEAN
        found = [one["what"] for one in run_json(run)["residue"]]
        assert all(what.startswith("an earlier check or run left") for what in found), found


def test_workers_sharing_a_system_report_the_same_queue_manager(agent_results: dict[Scenario, Met]) -> None:
    scenario = next(each for each in CONTROLLED if each.workers > 1)
    assert len(run_json(agent_results[scenario].folder / "run-1")["queue_managers"]) == 1
