"""The jobs of examples/ci, carried out step by step: they are green when one value is changed as the page says."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import yaml
from mqconform_process import FEW, ROOT, command

from harness.sut.sut_file import load_sut_file

SERVICES = ("github", "gitlab")
JOBS = ROOT / "examples/ci"
KNOWN = "MQQB-3.1.5.3.1-10"


def carried_out(wheel: Path, bin_folder: Path, *words: str) -> list[str]:
    """Carry out CI jobs in an environment with the wheel, where pip cannot download anything; return the output."""
    pip = {"PIP_PYTHON": str(bin_folder / "python"), "PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1"}
    path = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    given = ("--wheel", wheel, "--installed", bin_folder, "--checks", f"--rule {FEW}", *words)
    done = command(sys.executable, ROOT / "scripts/try_ci.py", *given, **pip, **path)
    assert done.returncode == 0, done.stdout + done.stderr
    return [line.strip() for line in done.stdout.splitlines()]


def job(name: str) -> dict:
    return yaml.safe_load((JOBS / f"{name}.yml").read_text(encoding="utf-8"))


def test_first_ci_run_passes_and_writes_baseline_for_second_run(wheel: Path, bin_folder: Path) -> None:
    first = carried_out(wheel, bin_folder, "github")
    assert "github: the job is green" in first
    assert f"baseline.toml: {KNOWN}" in first
    second = carried_out(wheel, bin_folder, "gitlab", "--known")
    assert "gitlab: the job is green" in second
    assert "baseline: 1 expected deviations, 0 new, 0 stale" in second
    for said in (first, second):
        assert sum(line.startswith("artefact msmq-conformance.tar.gz: ") for line in said) == 1
        assert any(line.startswith("summary: ") for line in said)


def test_ci_run_that_cannot_start_fails_one_step(wheel: Path, bin_folder: Path) -> None:
    said = carried_out(wheel, bin_folder, "--no-sut")
    for service in SERVICES:
        assert f"{service}: the job is red; failed steps: 1" in said
    assert [line for line in said if line.startswith(("artefact ", "summary: ", "baseline.toml"))] == []


def test_both_ci_jobs_run_the_same_command_and_have_time_to_report() -> None:
    github, gitlab = job("github")["jobs"]["conformance"], job("gitlab")["msmq-conformance"]
    (script,) = (step["run"] for step in github["steps"] if step.get("name") == "Run the checks")
    assert script == gitlab["script"][1]
    assert script.count("--deadline 3000 ") == script.count("mqconform run ") == 2
    assert github["timeout-minutes"] * 60 == 3600
    assert gitlab["timeout"] == "1 hour"
    assert github["env"] == gitlab["variables"]
    reporters = [step["with"]["report_paths"] for step in github["steps"] if "junit" in step.get("uses", "")]
    assert reporters == [gitlab["artifacts"]["reports"]["junit"]]


def test_sut_file_of_ci_jobs_starts_a_system_per_worker() -> None:
    words = " ".join(load_sut_file(JOBS / "sut.toml").driver.command)
    assert all(f"{{{name}}}" in words for name in ("address", "tcp_port", "ping_port", "rpc_port", "control_port"))
