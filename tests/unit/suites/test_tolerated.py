"""What the documents leave to a system is not held against it: no check of these rules may miss anything."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from harness.paths import SUITES
from harness.proof.trials import VIRTUAL_SUT

SOUND = {"pass", "not_exercised", "not_observable"}


def judged(folder: Path, *rules: str, variant: str = "", profile: str = "none") -> dict[str, set[str]]:
    """Judge rules on a variant of the reference; return the verdicts by rule."""
    described = VIRTUAL_SUT.replace("[driver]", f'profile = "{profile}"\n[driver]')
    sut = folder / "sut.toml"
    sut.write_text(described + (f'[reference]\nfaults = ["{variant}"]\n' if variant else ""), encoding="utf-8")
    wanted = [word for rule in rules for word in ("--rule", rule)]
    command = [sys.executable, "-m", "harness", "run", "--sut", str(sut), "--out", str(folder / "out"), *wanted]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=SUITES.parent)
    found: dict[str, set[str]] = {rule: set() for rule in rules}
    recorded = folder / "out" / "verdicts.jsonl"
    assert recorded.exists(), done.stdout + done.stderr
    for line in recorded.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if entry["rule"] in found:
            found[entry["rule"]].add(entry["verdict"])
    return found


@pytest.mark.parametrize(
    ("variant", "rules"),
    [
        (
            "rpc-interfaces-apart",
            [
                "MQQP-2.1-01",
                "MQQP-2.1-02",
                "MQQP-2.2-01",
                "MQQP-3.1.3-01",
                "MQQP-3.1.4.1-05",
                "MQQP-3.1.4.8-D02",
                "MQQP-3.1.6.1-01",
            ],
        ),
        ("remote-port-of-spx-told", ["MQQP-3.1.4.8-03", "MQQP-3.1.4.8-D03", "MQQP-3.1.4.8-D04"]),
        (
            "send-to-unknown-public-refused",
            [
                "MQQB-3.1.5.2.1-08",
                "MQQB-3.1.5.2.1-10",
                "MQQB-3.1.5.2.1-11",
                "MQQB-3.1.7.4-07",
                "MQQB-3.1.7.4-08",
                "MQQB-3.1.7.4-11",
            ],
        ),
        ("send-to-unknown-public-refused", ["MQMQ-2.1.3-01"]),
        ("properties-method-missing", [f"MQMQ-2.2.12-{number:02}" for number in range(1, 19)]),
        ("remote-lookup-unknown-action", ["MQQP-3.1.4.11-07", "MQQP-3.1.4.11-21", "MQQP-3.1.4.11-24"]),
        ("remote-unknown-action-peeks", ["MQQP-3.1.4.1-08", "MQQP-3.1.4.10-07", "MQQP-3.1.4.10-17"]),
    ],
)
def test_a_variant_that_the_text_allows_is_not_convicted(tmp_path, variant, rules):
    found = judged(tmp_path, *rules, variant=variant)
    assert all(verdicts and verdicts <= SOUND for verdicts in found.values()), found


def test_a_release_without_spx_tells_no_port_for_it(tmp_path):
    found = judged(tmp_path, "MQQP-3.1.4.8-03", variant="remote-port-of-spx-told", profile="windows-7")
    assert found == {"MQQP-3.1.4.8-03": {"fail"}}
