"""Runs against a system that can neither be reset nor inspected: small forms of what ``make bench`` measures."""

from __future__ import annotations

from pathlib import Path

import pytest
from mqconform_process import run_json, verdicts

from benchmarks.anybody import HURRIED, meet
from benchmarks.systems import Scenario

CLEAN = {"pass", "not_observable", "not_applicable", "not_exercised"}
SELECTION = "s3_1_5_08_08_inserting or s2_2_5_final_ack or s2_2_07_queue_format"
"""Sections whose checks make queues, leave acknowledgments behind, look into dead letters and know their peer."""


@pytest.mark.parametrize(("workers", "runs"), [(1, 1), (8, 2)])
def test_checks_leave_nothing_behind_for_each_other_or_for_the_next_run(
    tmp_path: Path, workers: int, runs: int
) -> None:
    said = list(meet(Scenario("limited", HURRIED, workers, runs), tmp_path, ["-k", SELECTION]))
    assert all(line.endswith("clean") for line in said), said
    for run in (f"run-{number}" for number in range(1, runs + 1)):
        assert {line["verdict"] for line in verdicts(tmp_path / run)} <= CLEAN
        met = [one["what"] for one in run_json(tmp_path / run)["residue"]]
        assert all(what.startswith("found before it") for what in met), met


def test_without_control_nothing_is_left_either(tmp_path: Path) -> None:
    said = list(meet(Scenario("alone", None, 8), tmp_path, ["-k", "s2_2_4_order_ack or s3_1_5_01_1_packet"]))
    assert all(line.endswith("clean") for line in said), said
