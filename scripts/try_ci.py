"""Carry out the jobs of examples/ci on this machine, step by step: `.venv/bin/python scripts/try_ci.py`.

Each in a new folder with a virtual environment that the job itself fills from the wheel (`make wheel`), against
`mqconform serve` with a fault, in place of a vendor's queue manager. A whole run each: about ten minutes. `--select`
shortens it, `--fault` breaks more than the baseline knows, so that the job is to be red.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import yaml

ROOT = Path(__file__).resolve().parents[1]
KNOWN_FAULT, KNOWN_RULE = "establish-response-timestamp", "MQQB-3.1.5.3.1-10"
LIMIT_S = 3600
SUT = """\
[sut]
name = "contoso-qm"
vendor = "Contoso"
version = "0.1"
[driver]
kind = "process"
tcp_port = 0
ping_port = 0
rpc_port = 0
command = ["mqconform", "serve", "--address", "{{address}}", "--tcp-port", "{{tcp_port}}", \
"--ping-port", "{{ping_port}}", "--rpc-port", "{{rpc_port}}", "--control", "127.0.0.1:{{control_port}}"{faults}]
[control]
kind = "jsonl"
time_scale = 20
[capabilities]
ping = true
qm2qm = true
subqueues = true
several_queues = true
"""
BASELINE = f'schema = 1\n["{KNOWN_RULE}"]\nreason = "kept for old clients"\n'


@dataclass(frozen=True)
class Step:
    """A step of a job: a script for bash, or what cannot be carried out here."""

    script: str = ""
    always: bool = False
    """Whether it is made when one before it failed."""
    not_here: str = ""


def github(tree: Any, variables: dict[str, str]) -> Iterator[Step]:
    """Yield the steps of a workflow's one job; its ``env`` and ``vars`` are in ``variables`` then."""
    (job,) = tree["jobs"].values()
    yield Step(not_here=f"runs-on: {job['runs-on']}: this machine; timeout-minutes, permissions")
    for name, value in job.get("env", {}).items():
        variables[name] = re.sub(r"\$\{\{ vars\.(\w+) \}\}", lambda found: variables[found[1]], value)
    for step in job["steps"]:
        always = step.get("if") == "always()"
        if "run" in step:
            yield Step(step["run"], always)
        else:
            given = ", ".join(f"{key} {value}" for key, value in step.get("with", {}).items())
            yield Step(always=always, not_here=f"uses: {step['uses']}{f' ({given})' if given else ''}")


def gitlab(tree: Any, variables: dict[str, str]) -> Iterator[Step]:
    """Yield the steps of a pipeline's one job: its script is one shell, its after_script another, made in any case."""
    variables["WHEEL"] = variables["MQCONFORM_WHEEL"]
    (job,) = tree.values()
    yield Step(not_here=f"image: {job['image']}: Python of this machine; timeout")
    yield Step("\n".join(job["script"]))
    yield Step("\n".join(job["after_script"]), always=True)
    yield Step(
        always=True, not_here=f"artifacts: {', '.join(job['artifacts']['paths'])}, {job['artifacts']['reports']}"
    )


SERVICES = {"github": github, "gitlab": gitlab}


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def carry_out(service: str, wheel: Path, select: str | None, faults: list[str]) -> int:
    """Carry out the job of a service; return the exit code of its first step that failed."""
    say(f"{service}: examples/ci/{service}.yml")
    with tempfile.TemporaryDirectory(prefix=f"mqconform-{service}-") as name:
        folder = Path(name)
        checkout, environment, summary = folder / "checkout", folder / "venv", folder / "summary.md"
        checkout.mkdir()
        shown = "".join(f', "--fault", "{each}"' for each in (KNOWN_FAULT, *faults))
        (checkout / "sut.toml").write_text(SUT.format(faults=shown), encoding="utf-8")
        (checkout / "baseline.toml").write_text(BASELINE, encoding="utf-8")
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
        variables = {name: os.environ[name] for name in ("HOME", "JAVA_HOME", "LANG") if name in os.environ}
        variables |= {"PATH": f"{environment / 'bin'}:{os.environ['PATH']}", "MQCONFORM_WHEEL": str(wheel)}
        variables["GITHUB_STEP_SUMMARY"] = str(summary)
        tree = yaml.safe_load((ROOT / "examples" / "ci" / f"{service}.yml").read_text(encoding="utf-8"))
        first_bad = 0
        for step in SERVICES[service](tree, variables):
            if step.not_here:
                say(f"  not here: {step.not_here}")
            elif first_bad and not step.always:
                say(f"  left out, as one before it failed: {step.script}")
            else:
                code = run_step(step.script, checkout, variables, select)
                first_bad = first_bad or code
        for line in left_in(checkout / "run", summary):
            say(f"  {line}")
    say(f"{service}: the job is {'red' if first_bad else 'green'}")
    return first_bad


def run_step(script: str, folder: Path, variables: dict[str, str], select: str | None) -> int:
    """Run a script as the services do (bash, that ends at the first failure); show what it prints."""
    if select is not None:
        script = script.replace("mqconform run ", f"mqconform run --select {select} ")
    for line in script.splitlines():
        say(f"  $ {line}")
    began = time.monotonic()
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    done = subprocess.run(
        shell, cwd=folder, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S
    )
    for line in (done.stdout + done.stderr).splitlines():
        say(f"    {line}")
    say(f"  ended with {done.returncode} after {time.monotonic() - began:.0f} s")
    return done.returncode


def left_in(run: Path, summary: Path) -> Iterator[str]:
    """Yield what the job leaves: the artefact, the report, the summary."""
    files = [path for path in run.rglob("*") if path.is_file()]
    yield f"artefact run/: {len(files):,} files, {sum(path.stat().st_size for path in files) / 1e6:.1f} MB"
    report = ElementTree.parse(run / "junit.xml").getroot()
    yield "junit.xml: " + ", ".join(f"{report.get(key)} {key}" for key in ("tests", "failures", "errors", "skipped"))
    page = next(path for path in (summary, run / "summary.md") if path.is_file())
    yield f"summary: {len(page.read_text(encoding='utf-8').splitlines())} lines"


def main() -> int:
    """Carry out the jobs that are asked for; return 1 when one is not of the colour that it has to be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("service", nargs="*", help=" or ".join(SERVICES), default=list(SERVICES))
    parser.add_argument("--wheel", type=Path, help="a wheel, instead of one that is made now")
    parser.add_argument("--select", help="of mqconform run: a part of the checks")
    parser.add_argument("--fault", action="append", default=[], help="one more that serve has: the job has to be red")
    given = parser.parse_args()
    wheel = given.wheel
    if wheel is None:
        subprocess.run(["make", "--silent", "wheel"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        (wheel,) = (ROOT / "dist").glob("*.whl")
    codes = [carry_out(each, wheel.resolve(), given.select, given.fault) for each in given.service]
    return int(any(bool(code) != bool(given.fault) for code in codes))


if __name__ == "__main__":
    sys.exit(main())
