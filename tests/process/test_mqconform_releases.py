"""The reference configured as a Windows release: the profile decides whether a deviation that product notes permit is a
failure.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.releases import run_as_release
from harness.judging.captured import judge_capture
from harness.judging.verdicts import Verdict
from harness.rules.catalogue import load_catalogue
from reference_qm.releases.names import NO_RELEASE

RELEASE = "windows-2000"
NAMED = {
    "MQDMPR-3.1.1.12-47": "MS-MQDMPR <12>",
    "MQQP-3.1.4.3-15": "MS-MQQP <14>",
    "MQQP-3.1.4.9-D03": "MS-MQQP <21>",
}
"""Rules that this release violates, each with the product note that permits the violation."""
PASSIVE = "MQQB-3.1.6.4-06"


def test_deviation_of_release_warns_with_its_profile_and_fails_without(tmp_path: Path) -> None:
    run = run_as_release(RELEASE, RELEASE, NAMED, tmp_path / "run")
    found = {one.rule: one.says for one in run.rules.values() if one.verdict in (Verdict.FAIL, Verdict.HARNESS_ERROR)}
    assert found == {}
    for rule, note in NAMED.items():
        assert run.rules[rule].verdict is Verdict.WARN
        assert run.rules[rule].line["reason"].startswith(f"{note} allows this for {RELEASE}: ")
    catalogue = load_catalogue()
    line = next(one.line for one in run.rules.values() if one.rule == PASSIVE)
    capture = tmp_path / "run" / line["capture"]
    for profile, verdict in ((RELEASE, Verdict.WARN), (NO_RELEASE, Verdict.FAIL)):
        judged = judge_capture(capture, capture.name, catalogue, profile).entries
        assert {entry.verdict for entry in judged if entry.rule == PASSIVE} == {verdict}
