"""Runs all checks on the reference in set-ups that resemble real systems: the reference is started by another
program, does not offer reset and inspect, or is slow.

Target: only the verdicts pass, not_observable, not_applicable and not_exercised. With the limited control channel
and the specification's timers, a run judges 85 percent of the MUST demands in under 30 minutes. Without a control
channel, a run judges 55 percent. With a system for each worker over loopback, a run takes under 4 minutes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.systems import LIMITED, Scenario, StartedScenario, serve_scenario
from harness.judging.verdicts import read_verdicts
from harness.rules.catalogue import ROW_CLASSES_OF_DEMANDS, load_catalogue
from harness.run_folder import VERDICTS_FILE
from reference_qm.control import VERBS_BY_FACILITY

CLEAN = frozenset({"pass", "not_observable", "not_applicable", "not_exercised"})
JUDGED = frozenset({"pass", "fail", "warn"})
HURRIED = f"{LIMITED},set_timers"
ALL = ",".join(sorted(VERBS_BY_FACILITY))

SCENARIOS = (
    StartedScenario("loopback-4", 4),
    StartedScenario("directory-4", 4, directory=True),
    Scenario("limited-8", LIMITED, 8),
    Scenario("limited-1", LIMITED, 1),
    Scenario("hurried-8", HURRIED, 8, runs=2),
    Scenario("hurried-1", HURRIED, 1),
    Scenario("without-control-24", None, 24, runs=2),
    Scenario("ssh-example-8", ALL, 8, agent="example"),
    Scenario("ssh-windows-24", ALL, 24, agent="windows"),
    StartedScenario("stuttering-16", 16, stutters=True),
)
LONG = ("limited-1",)
"""The scenarios that ``measure`` omits, because one worker with the specification's timers takes hours."""


def measure() -> Iterator[str]:
    """Run the scenarios one by one."""
    for scenario in SCENARIOS:
        if scenario.name not in LONG:
            with tempfile.TemporaryDirectory() as folder:
                yield from run_scenario(scenario, Path(folder))


Command = Callable[..., subprocess.CompletedProcess[str]]
"""The type of functions that run a command of mqconform to its end. The argument is the words of the command."""


def start(*words: object) -> subprocess.CompletedProcess[str]:
    """Start a command of mqconform in a new process."""
    command = [sys.executable, "-m", "mqconform", *map(str, words)]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def run_scenario(
    scenario: Scenario | StartedScenario, folder: Path, options: Sequence[str] = (), mqconform: Command = start
) -> Iterator[str]:
    """Start the system, run the checks as often as the scenario requires, and yield a line for each run."""
    with serve_scenario(scenario, folder) as sut:
        for number in range(1, scenario.runs + 1):
            out = folder / f"run-{number}"
            began = time.monotonic()
            done = mqconform("run", "--sut", sut, "--out", out, "--workers", scenario.workers, *options)
            said = done.stdout + done.stderr
            (folder / f"run-{number}.said").write_text(said)
            ended = f", exit {done.returncode}: {said.strip().splitlines()[-1]}" if done.returncode else ""
            yield f"{scenario.name}, run {number}: {time.monotonic() - began:.0f} s, {describe_run(out)}{ended}"


def describe_run(run: Path) -> str:
    """Return the number of MUST demands that a run judged, and the undesired verdicts by kind."""
    found: dict[str, set[str]] = defaultdict(set)
    for line in read_verdicts(run / VERDICTS_FILE):
        found[line["rule"]].add(line["verdict"])
    demands = [
        row.id
        for row in load_catalogue().values()
        if row.level.startswith("MUST") and row.kind in ROW_CLASSES_OF_DEMANDS
    ]
    judged = sum(bool(found[rule] & JUDGED) for rule in demands)
    unclean = Counter(verdict for verdicts in found.values() for verdict in verdicts - CLEAN)
    said = ", ".join(f"{count} rules {verdict}" for verdict, count in unclean.most_common())
    said = said or ("clean" if any(found.values()) else "no verdicts")
    return f"{judged} of {len(demands)} MUST demands judged ({judged / len(demands):.0%}), {said}"


def main() -> None:
    """Run the named scenarios in folders that the benchmark does not delete. Pass the words after ``--`` to
    ``mqconform run``.
    """
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("scenario", nargs="+", choices=[each.name for each in SCENARIOS])
    parser.add_argument("--out", type=Path, required=True)
    asked, options = parser.parse_known_args()
    for scenario in SCENARIOS:
        if scenario.name in asked.scenario:
            for line in run_scenario(scenario, asked.out / scenario.name, [each for each in options if each != "--"]):
                print(line, flush=True)


if __name__ == "__main__":
    main()
