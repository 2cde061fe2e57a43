"""Runs against slow systems, which must not fail, and dead systems, which must: systems that stop repeatedly, answer
late, or hang.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mqconform_process import mqconform, run_json, started_program, verdicts

HERE = Path(__file__).parent
BAD = ("fail", "warn", "harness_error", "inconclusive")
SELECTION = ("--select", "MQQB-2.2.2", "--select", "MQQB-3.1.6.4", "-k", "not follows_its_states")
"""Selects checks of packets, of sessions in both directions, and of a timer."""
FATAL = ("--rule", "MQQB-2.2.1-03", "-k", "test_unknown_packet_type_closes_session and 15")


def program(folder: Path, *before: str, timeouts: str = "", **changes: Any) -> Path:
    tables = f"[timeouts]\n{timeouts}\n"
    return started_program(folder, *before, addresses=("127.0.46.1", "127.0.46.2"), tables=tables, **changes)


def test_mostly_stalled_system_breaks_no_rule(tmp_path: Path):
    stutter = ("{python}", str(HERE / "stutter.py"), "1.8", "2")
    done = mqconform("run", "--sut", program(tmp_path, *stutter), "--out", tmp_path / "run", *SELECTION, "--workers", 6)
    assert done.returncode == 0, done.stdout
    assert not [line for line in verdicts(tmp_path / "run") if line["verdict"] in BAD]
    timeouts = run_json(tmp_path / "run")["timeouts"]
    assert timeouts["measured"]["worst_ms"] > 1_000
    assert "answers in " in done.stdout


@pytest.mark.parametrize(
    ("script", "finding", "says"),
    [
        ("crashing_queue_manager.py", "ROBUSTNESS-1-CRASH", "the process of the system ended with exit status 3"),
        ("hanging_queue_manager.py", "ROBUSTNESS-1-HANG", "accepts connections, but does not answer"),
    ],
)
def test_system_that_dies_during_a_check_fails_it(tmp_path: Path, script: str, finding: str, says: str):
    file = program(tmp_path, script=script, timeouts="stall_ms = 10_000")
    done = mqconform("run", "--sut", file, "--out", tmp_path / "run", *FATAL)
    assert done.returncode in (1, 2), done.stdout
    told = {line["rule"]: line["observed"] for line in verdicts(tmp_path / "run") if line["verdict"] == "fail"}
    assert set(told) == {finding, "MQQB-2.2.1-03"}
    assert all(says in observed for observed in told.values())
