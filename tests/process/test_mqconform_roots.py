"""What all verdicts rest on is missing: no system is convicted, and the root is named once, before all else."""

from __future__ import annotations

import os
from pathlib import Path
from xml.etree import ElementTree

import pytest
from mqconform_process import MQCONFORM, ROOT, command, mqconform, run_json, sut, verdicts

HEAD = "missing before all else: "
FAKED = {"PYTEST_PLUGINS": "missing_root", "PYTHONPATH": os.pathsep.join(map(str, [Path(__file__).parent, ROOT]))}
THREE_CHECKS = "MQQB-2.2.1-03"


@pytest.mark.parametrize("workers", [1, 2])
def test_a_root_that_checks_miss_is_named_once_and_first(tmp_path: Path, workers: int) -> None:
    folder = tmp_path / "run"
    chosen = ("--rule", "MQQB-3.1.5.8.1-01", "--workers", workers)
    done = command(*MQCONFORM, "run", "--sut", sut(tmp_path), "--out", folder, *chosen, cwd=ROOT, **FAKED)
    assert done.returncode == 1, done.stdout + done.stderr
    (root,) = run_json(folder)["roots"]
    assert root["root"] == "RootMissing"
    assert root["said"].startswith("made: the plain queue is missing, number ")
    tests = {line["test"] for line in verdicts(folder) if line["verdict"] == "inconclusive"}
    assert set(root["checks"]) == tests
    assert len(tests) > 2
    assert "fail" not in {line["verdict"] for line in verdicts(folder)}
    head = f"{HEAD}{root['said']} ({len(tests)} checks rest on it)"
    assert head_of(done.stdout) == head
    properties = ElementTree.parse(folder / "junit.xml").findall("testsuite/properties/property[@name='root']")
    assert {each.get("value") for each in properties} == {head}
    assert head in mqconform("summary", folder).stdout.replace("\\", "").splitlines()[2]


def head_of(said: str) -> str:
    """Return the line with which the result begins; nothing is named before the root while a run runs."""
    lines = [line for line in said.splitlines() if line.strip()]
    roots = [number for number, line in enumerate(lines) if line.startswith(HEAD)]
    symptoms = [number for number, line in enumerate(lines) if line.startswith(("inconclusive ", "fail ", "warn "))]
    assert len(roots) == 2, f"once as it is found, once before the result: {said}"
    assert not symptoms or roots[0] < symptoms[0], said
    assert lines[roots[1] + 1].startswith("inconclusive for that: "), said
    return lines[roots[1]]
