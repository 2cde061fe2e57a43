"""Varied checks: a verdict names the smallest combination that fails, and values that need a missing capability are not
used.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mqconform_process import mqconform, run_json, sut
from mqconform_process import verdicts as verdicts_of

from harness.proof.trials import VIRTUAL_SUT_FILE_TEXT

COUNTED = "MQQB-3.1.5.8.2-02"
"""A rule with a varied check."""
CHECK = "test_session_ack_comes_half_the_timeout_after_the_first_message"
"""The varied check of the rule."""
ONLY_CHECK = ("--rule", COUNTED, "-k", CHECK)
PAIR = "negative journaling = yes, destination = private"


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run of a system that breaks the rule only for one combination of two values."""
    folder = tmp_path_factory.mktemp("varied")
    text = VIRTUAL_SUT_FILE_TEXT + '[reference]\nfaults = ["receiver-message-with-jn-to-private-name-not-counted"]\n'
    done = mqconform("run", "--sut", sut(folder, text), "--out", folder / "run", *ONLY_CHECK)
    assert done.returncode == 1, done.stdout
    return folder / "run"


def lines_of(run: Path, rule: str = COUNTED) -> list[dict[str, object]]:
    return [line for line in verdicts_of(run) if line["rule"] == rule]


def test_failure_names_the_smallest_combination(broken: Path) -> None:
    plain, varied = lines_of(broken)
    assert (plain["verdict"], varied["verdict"]) == ("pass", "fail")
    assert str(varied["observed"]).startswith(f"with {PAIR}: ")
    assert varied["reason"] == f"only with {PAIR}"
    assert varied["evidence"]


def test_varied_run_is_replayed(broken: Path) -> None:
    done = mqconform("replay", broken, "--rule", COUNTED)
    assert (done.returncode, "1 of 1 checks reproduced the verdicts" in done.stdout) == (0, True), done.stdout


def test_strength_3_takes_more_rows_and_is_replayed(tmp_path: Path) -> None:
    rows = {}
    for strength in (2, 3):
        run = tmp_path / f"run{strength}"
        options = (*ONLY_CHECK, "--strength", strength)
        assert mqconform("run", "--sut", sut(tmp_path), "--out", run, *options).returncode == 0
        (rows[strength],) = re.findall(r"with each of (\d+) combinations", str(lines_of(run)[-1]["expected"]))
    rows = {strength: int(number) for strength, number in rows.items()}
    assert rows[2] < rows[3]
    assert (run_json(tmp_path / "run2").get("strength"), run_json(tmp_path / "run3")["strength"]) == (None, 3)
    assert mqconform("replay", tmp_path / "run3", "--rule", COUNTED).returncode == 0


def test_explanation_of_a_rule_names_its_varied_parameters() -> None:
    done = mqconform("explain", COUNTED)
    assert "    varies priority (3, 0, 7); negative journaling (no, yes); destination (direct, private)" in done.stdout
