"""The release of Windows that a SUT file names decides what a miss of a rule is: from the file to the line."""

from __future__ import annotations

from pathlib import Path

import pytest
from mqconform_process import mqconform, sut, verdicts

RULE = "MQQB-3.1.6.4-06"
MISCOUNTS = """
[sut]
name = "Contoso"
profile = "{profile}"
[driver]
kind = "virtual"
[reference]
faults = ["session-ack-sent-count-one-more"]
"""


@pytest.mark.parametrize(
    ("profile", "code", "verdict", "reason"),
    [("none", 1, "fail", ""), ("windows-server-2022", 0, "warn", "MS-MQMQ <14> allows it to windows-server-2022: ")],
)
def test_what_a_note_allows_a_release_does_not_fail_it(
    tmp_path: Path, profile: str, code: int, verdict: str, reason: str
) -> None:
    file = sut(tmp_path, MISCOUNTS.format(profile=profile))
    done = mqconform("run", "--sut", file, "--out", "run", "--rule", RULE, cwd=tmp_path)
    assert done.returncode == code, done.stdout + done.stderr
    found = [line for line in verdicts(tmp_path / "run") if line["rule"] == RULE]
    assert {line["verdict"] for line in found} == {verdict}  # of the check, and of what every packet shows
    assert all(line["notes"] == ["MS-MQMQ <14>"] for line in found)
    assert all((line["reason"] or "").startswith(reason) for line in found)
    assert profile != "none" or not any(line["reason"] for line in found)
