"""Carries out the jobs of examples/ci on this machine, step by step: `.venv/bin/python scripts/try_ci.py`.

Each job runs in a new folder, with a virtual environment into which it installs the wheel (`make wheel`). The job tests
`mqconform serve` with a fault, as `examples/ci/sut.toml` describes. The first run of a job has no baseline and creates
one; with `--known`, the baseline accepts the fault. A job makes a complete run, which takes about ten minutes;
`--checks` shortens the run. `--fault` adds a fault that the baseline does not accept, so that the job must fail.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import yaml

ROOT = Path(__file__).resolve().parents[1]
CI_EXAMPLES_FOLDER = ROOT / "examples" / "ci"
SERVE_COMMAND_TEXT = '"mqconform", "serve",'
KNOWN_FAULT, KNOWN_RULE = "acceptor-establish-connection-timestamp-one-more", "MQQB-3.1.5.3.1-10"
STEP_TIMEOUT_S = 3600
BASELINE_TEXT = f'schema = 1\n["{KNOWN_RULE}"]\nreason = "kept for old clients"\n'


@dataclass(frozen=True)
class Step:
    """A step of a job: a script for bash, or a step that this machine cannot carry out."""

    script: str = ""
    runs_after_failure: bool = False
    """Whether the step also runs after another step has failed."""
    needed_file: str = ""
    """A file that the step needs. The job skips the step if this file is missing."""
    reason_for_omission: str = ""

    @property
    def title(self) -> str:
        """Return a name for the step: the reason why this machine cannot carry out the step, or else the first line
        of the step's script.
        """
        return self.reason_for_omission or self.script.partition("\n")[0]


def list_github_steps(tree: Any, variables: dict[str, str]) -> Iterator[Step]:
    """Yield the steps of the only job of a GitHub workflow. Add the job's ``env`` to the ``variables``, except
    where a variable already has a value.
    """
    (job,) = tree["jobs"].values()
    yield Step(
        reason_for_omission=f"runs-on: {job['runs-on']}, timeout-minutes, permissions (the steps run on this machine)"
    )
    for name, value in job["env"].items():
        variables.setdefault(name, value)
    for step in job["steps"]:
        runs_after_failure, needed_file = _parse_step_condition(step.get("if", ""))
        given = ", ".join(f"{key} {value}" for key, value in step.get("with", {}).items())
        reason_for_omission = f"uses: {step['uses']}{f' ({given})' if given else ''}" if "uses" in step else ""
        yield Step(step.get("run", ""), runs_after_failure, needed_file, reason_for_omission)


def _parse_step_condition(words: str) -> tuple[bool, str]:
    """Return whether a step runs after a failed step, and the file that the step needs."""
    found = re.fullmatch(r"(always\(\))?(?: && hashFiles\('([^']+)'\) != '')?", words)
    if found is None:
        raise ValueError(f"this script does not understand the condition {words!r} of a step")
    return bool(found[1]), found[2] or ""


def list_gitlab_steps(tree: Any, variables: dict[str, str]) -> Iterator[Step]:
    """Yield the steps of the only job of a GitLab pipeline. The first step is the job's script. The second step is
    its after_script, which always runs.
    """
    (job,) = tree.values()
    for name, value in job["variables"].items():
        variables.setdefault(name, value)
    yield Step(reason_for_omission=f"image: {job['image']} and timeout (the steps use the Python of this machine)")
    yield Step("\n".join(job["script"]))
    yield Step("\n".join(job["after_script"]), runs_after_failure=True)
    kept = f"artifacts: {', '.join(job['artifacts']['paths'])}, {job['artifacts']['reports']}"
    yield Step(runs_after_failure=True, needed_file=job["artifacts"]["paths"][0], reason_for_omission=kept)


STEP_LISTER_BY_SERVICE = {"github": list_github_steps, "gitlab": list_gitlab_steps}


def print_line(line: str) -> None:
    """Print a line, and flush standard output."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def run_ci_job(service: str, given: argparse.Namespace, wheel: Path) -> int:
    """Carry out the job of GitHub or of GitLab, and return the number of failed steps."""
    print_line(f"{service}: examples/ci/{service}.yml")
    with tempfile.TemporaryDirectory(prefix=f"mqconform-{service}-") as name:
        folder = Path(name)
        checkout, summary = folder / "checkout", folder / "summary.md"
        checkout.mkdir()
        if not given.no_sut:
            faults = "".join(f' "--fault", "{each}",' for each in (KNOWN_FAULT, *given.fault))
            text = (CI_EXAMPLES_FOLDER / "sut.toml").read_text(encoding="utf-8")
            (checkout / "sut.toml").write_text(
                text.replace(SERVE_COMMAND_TEXT, f"{SERVE_COMMAND_TEXT}{faults}"), encoding="utf-8"
            )
        if given.known:
            (checkout / "baseline.toml").write_text(BASELINE_TEXT, encoding="utf-8")
        environment = given.installed or _create_environment(folder / "venv")
        kept = ("HOME", "JAVA_HOME", "LANG", *(name for name in os.environ if name.startswith("PIP_")))
        variables = {name: os.environ[name] for name in kept if name in os.environ}
        variables |= {"PATH": f"{environment}:{os.environ['PATH']}", "WHEEL": str(wheel)}
        variables |= {"GITHUB_STEP_SUMMARY": str(summary)} | ({"CHECKS": given.checks} if given.checks else {})
        tree = yaml.safe_load((CI_EXAMPLES_FOLDER / f"{service}.yml").read_text(encoding="utf-8"))
        bad = 0
        for step in STEP_LISTER_BY_SERVICE[service](tree, variables):
            if step.needed_file and not (checkout / step.needed_file).is_file():
                print_line(f"skipped, because {step.needed_file} is missing: {step.title}")
            elif step.reason_for_omission:
                print_line(f"  not carried out here: {step.reason_for_omission}")
            elif bad and not step.runs_after_failure:
                print_line(f"skipped after a failed step: {step.title}")
            else:
                bad += bool(run_ci_step(step.script, checkout, variables))
        for line in list_job_results(checkout, summary):
            print_line(f"  {line}")
    print_line(f"{service}: the job is {f'red; failed steps: {bad}' if bad else 'green'}")
    return bad


def _create_environment(folder: Path) -> Path:
    """Create a virtual environment and install the wheel into it. Return the folder of the environment's programs."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    return folder / "bin"


def run_ci_step(script: str, folder: Path, variables: dict[str, str]) -> int:
    """Run the script of a step as GitHub and GitLab do (with bash, which ends at the first failed command), and show
    its output.
    """
    for line in script.splitlines():
        print_line(f"  $ {line}")
    began = time.monotonic()
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    done = subprocess.run(
        shell,
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=STEP_TIMEOUT_S,
    )
    for line in (done.stdout + done.stderr).splitlines():
        print_line(f"    {line}")
    print_line(f"  ended with exit code {done.returncode} after {time.monotonic() - began:.0f} s")
    return done.returncode


def list_job_results(checkout: Path, summary: Path) -> Iterator[str]:
    """Yield the results of the job: the artefact, the report, the summary, the baseline."""
    run = checkout / "run"
    if (artefact := checkout / "msmq-conformance.tar.gz").is_file():
        with tarfile.open(artefact) as packed:
            files = sum(member.isfile() for member in packed)
        yield f"artefact {artefact.name}: {files:,} files, {artefact.stat().st_size / 1e6:.1f} MB"
    if (path := run / "junit.xml").is_file():
        report = ElementTree.parse(path).getroot()
        counts = (f"{report.get(key)} {key}" for key in ("tests", "failures", "errors", "skipped"))
        yield f"junit.xml: {', '.join(counts)}"
    for page in (summary, run / "summary.md"):
        if page.is_file():
            yield f"summary: {len(page.read_text(encoding='utf-8').splitlines())} lines"
    if (made := run / "baseline.toml").is_file():
        yield f"baseline.toml: {', '.join(tomllib.loads(made.read_text(encoding='utf-8')).keys() - {'schema'})}"


def main() -> int:
    """Carry out the requested jobs. Return 1 if a job has an unexpected result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "service", nargs="*", help=" or ".join(STEP_LISTER_BY_SERVICE), default=list(STEP_LISTER_BY_SERVICE)
    )
    parser.add_argument("--wheel", type=Path, help="install this wheel instead of building a new one")
    parser.add_argument(
        "--installed",
        type=Path,
        help="use the programs in this folder, which belongs to an environment with an installed wheel",
    )
    parser.add_argument(
        "--checks", help="the value of the variable CHECKS in the jobs, which selects a part of the checks"
    )
    parser.add_argument("--known", action="store_true", help="use a baseline that accepts the fault")
    parser.add_argument(
        "--fault", action="append", default=[], help="add this fault to the queue manager; the job must then fail"
    )
    parser.add_argument(
        "--no-sut", action="store_true", help="remove sut.toml; exactly one step of the job must then fail"
    )
    given = parser.parse_args()
    wheel = given.wheel
    if wheel is None:
        subprocess.run(["make", "--silent", "wheel"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        (wheel,) = (ROOT / "dist").glob("*.whl")
    red = [run_ci_job(each, given, wheel.resolve()) for each in given.service]
    wanted = int(given.no_sut or bool(given.known and given.fault))
    return int(any(steps != wanted for steps in red))


if __name__ == "__main__":
    sys.exit(main())
