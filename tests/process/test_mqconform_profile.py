"""The Windows release that a SUT file names decides whether a violation is a failure or a warning, up to the line of
verdicts.jsonl.
"""

from __future__ import annotations

from pathlib import Path

from mqconform_process import mqconform, sut, verdicts

from harness.proof.trials import VIRTUAL_SUT_FILE_TEXT

RULE = "MQQB-3.1.6.4-06"
MISCOUNTS = """
[sut]
name = "Contoso"
profile = "{profile}"
[driver]
kind = "virtual"
[reference]
faults = ["receiver-session-ack-has-sent-count-too-high"]
"""


WITHOUT_SPX, SPX_RULE = "windows-7", "MQQP-3.1.4.8-03"
TELLS_SPX = VIRTUAL_SUT_FILE_TEXT.replace("[driver]", f'profile = "{WITHOUT_SPX}"\n[driver]')
TELLS_SPX += '[reference]\nfaults = ["server-get-server-port-for-spx-returns-port-tolerated"]\n'
"""A SUT file of a release without SPX, with a fault: the system returns a port of SPX, as Windows 2000 does."""


def test_deviation_fails_only_for_releases_without_product_note(tmp_path: Path) -> None:
    profiles = ("none", "windows-server-2022")
    files = [sut(tmp_path, MISCOUNTS.format(profile=profile), f"{profile}.toml") for profile in profiles]
    runs = [("run", "--sut", file, "--out", file.stem, "--rule", RULE) for file in files]
    runs.append(("run", "--sut", sut(tmp_path, TELLS_SPX, "spx.toml"), "--out", "spx", "--rule", SPX_RULE))
    fails, warns, _ = (mqconform(*run, cwd=tmp_path) for run in runs)
    assert (fails.returncode, warns.returncode) == (1, 0), fails.stdout + warns.stdout
    as_none, as_release = ([one for one in verdicts(tmp_path / name) if one["rule"] == RULE] for name in profiles)
    for found, verdict in ((as_none, "fail"), (as_release, "warn")):
        assert {line["verdict"] for line in found} == {verdict}  # of the check, and of what every packet shows
        assert all(line["notes"] == ["MS-MQMQ <14>"] for line in found)
    assert not any(line["reason"] for line in as_none)
    assert all(line["reason"].startswith(f"MS-MQMQ <14> allows this for {profiles[1]}: ") for line in as_release)
    # Other checks of the rule ask for ports that the system does return, and pass.
    assert "fail" in {one["verdict"] for one in verdicts(tmp_path / "spx") if one["rule"] == SPX_RULE}
