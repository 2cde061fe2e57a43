"""Runs with an agent that breaks the contract of the control protocol, or supports only a part of it: no rule fails
because of the agent.

MQ_CONTROLS=all runs the whole suites; otherwise only the checks with most requests run, in a fifth of the time.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from mqconform_process import MQCONFORM, command, sut, verdicts

WHOLE = os.environ.get("MQ_CONTROLS") == "all"
ASKING = () if WHOLE else ("-k", "s3_1_7_1_ or s3_1_5_08")
"""Selects checks of application commands, and checks whose packets have effects that only an agent shows."""
BROKEN_AT_LEAST = 1_000 if WHOLE else 250
WITHOUT_VERBS = ("--select", "MQDMPR-3.1.7.1", "--select", "MQSO-5") if WHOLE else ("--select", "MQDMPR-3.1.7.1.1")


def test_agent_answers_that_violate_the_contract_give_no_fail_verdict(tmp_path: Path) -> None:
    arguments = ("run", "--sut", sut(tmp_path).name, "--out", "run", "--workers", "2", *ASKING)
    plugin = {"PYTEST_PLUGINS": "mangled_answers", "PYTHONPATH": str(Path(__file__).parent)}
    done = command(*MQCONFORM, *arguments, cwd=tmp_path, **plugin)
    lines = verdicts(tmp_path / "run")
    found = Counter(line["verdict"] for line in lines)
    assert found["fail"] == found["harness_error"] == 0, [
        (line["rule"], line["observed"], line["reason"])
        for line in lines
        if line["verdict"] in ("fail", "harness_error")
    ]
    assert done.returncode == 1
    assert "Traceback" not in done.stdout + done.stderr
    broken = [line["reason"] for line in lines if line["verdict"] == "inconclusive"]
    assert len(broken) > BROKEN_AT_LEAST
    assert all("control: `" in reason and reason.endswith("(docs/control-protocol.md)") for reason in broken)


def test_missing_verb_or_argument_of_agent_gives_no_inconclusive_verdict(tmp_path: Path) -> None:
    arguments = ("run", "--sut", sut(tmp_path).name, "--out", "run", *WITHOUT_VERBS)
    plugin = {"PYTEST_PLUGINS": "unsupported_verbs", "PYTHONPATH": str(Path(__file__).parent)}
    done = command(*MQCONFORM, *arguments, cwd=tmp_path, **plugin)
    found = Counter(line["verdict"] for line in verdicts(tmp_path / "run"))
    assert done.returncode == 0, done.stdout
    assert found["not_observable"] > 5
    assert set(found) <= {"pass", "not_exercised", "not_observable", "not_applicable"}


def test_agent_with_only_required_fields_gives_no_inconclusive_verdict(tmp_path: Path) -> None:
    selected = ("--select", "MQDMPR-3.1.7.1.9", "--select", "MQDMPR-3.1.7.1.16")
    arguments = ("run", "--sut", sut(tmp_path).name, "--out", "run", *selected)
    plugin = {"PYTEST_PLUGINS": "frugal_answers", "PYTHONPATH": str(Path(__file__).parent)}
    done = command(*MQCONFORM, *arguments, cwd=tmp_path, **plugin)
    lines = verdicts(tmp_path / "run")
    assert done.returncode == 0, done.stdout
    assert {line["verdict"] for line in lines} <= {"pass", "not_exercised", "not_observable", "not_applicable"}
    unseen = {line["rule"]: line["reason"] for line in lines if line["verdict"] == "not_observable"}
    assert "does not show the LookupIdentifier of {" in unseen["MQDMPR-3.1.7.1.9-12"]
