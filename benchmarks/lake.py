"""Measures the lake: the benchmark ingests 10,000,000 verdicts of 650 runs, adds one run, and kills ingests.

Target: at most 4 GiB, linear time, and under 30 seconds for one more run; after a killed ingest, the lake is in the
state before or after the ingest.

python -m benchmarks lake (MQ_LAKE_RUNS=650 MQ_LAKE_KILLS=20)

Run folders and lakes need 5 GB below TMPDIR.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.footprint import list_descendants
from benchmarks.lake_runs import VERDICTS, Runs

RUNS = int(os.environ.get("MQ_LAKE_RUNS", "650"))
KILLS = int(os.environ.get("MQ_LAKE_KILLS", "20"))
BUNDLED_PACKAGES_PATH = (0.1, 0.3, 1.0)
"""The sizes of the lake at which the benchmark measures, as fractions of `RUNS`."""
MEMORY_WANTED = 4 << 30
SECONDS_WANTED = 30.0
LARGEST_GROWTH = 1.15
"""The maximum processor time of a later run, as a multiple of the processor time of an earlier run."""
LEAST_RUNS_JUDGED = 50
"""The minimum number of runs for which the benchmark judges linearity. With fewer runs, the costs of Java's
compilers dominate; an ingest below `reports.lake.command.LARGE_INGEST_OCTETS` uses only one of the two compilers.
"""
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class IngestCost:
    """The cost of an ingest: elapsed and processor seconds, and the largest memory of all its processes in octets."""

    seconds: float
    processor: float
    memory: int


def measure() -> Iterator[str]:
    """Ingest parts of the runs, then all runs, then one more run. Then kill ingests of another run.

    At the end, raise an AssertionError that names the missed targets.
    """
    folder = Path(tempfile.mkdtemp(prefix="mqconform-lake-"))
    missed: list[str] = []

    def judge_line(line: str, is_kept: bool) -> str:
        missed.extend([] if is_kept else [line])
        return line if is_kept else f"MISSED: {line}"

    try:
        runs = Runs(folder / "runs")
        paths = runs.more(RUNS)
        sizes = [max(number, round(RUNS * part)) for number, part in enumerate(BUNDLED_PACKAGES_PATH, start=1)]
        took = []
        for size in sizes:
            shutil.rmtree(folder / "lake", ignore_errors=True)
            took.append(ingest(paths[:size], folder / "lake"))
            yield f"{size} runs, {size * VERDICTS:,} verdicts: {_describe_cost(took[-1])}"
        memory = max(each.memory for each in took)
        lake = sum(file.stat().st_size for file in (folder / "lake").rglob("*.parquet"))
        yield judge_line(
            f"the lake: {lake / 2**20:.0f} MiB; memory at most {memory / 2**30:.2f} GiB (target: at most 4)",
            memory <= MEMORY_WANTED,
        )
        slopes = [
            (took[n + 1].processor - took[n].processor) / (sizes[n + 1] - sizes[n]) for n in range(len(sizes) - 1)
        ]
        can_tell = sizes[0] >= LEAST_RUNS_JUDGED
        yield judge_line(
            f"one of the later runs takes {slopes[-1]:.2f} s of the processor, one of the first {slopes[0]:.2f} s: "
            f"{slopes[-1] / slopes[0]:.2f} times "
            + (
                f"(target: at most {LARGEST_GROWTH})"
                if can_tell
                else f"(not judged with fewer than {LEAST_RUNS_JUDGED} runs at first)"
            ),
            slopes[-1] <= LARGEST_GROWTH * slopes[0] or not can_tell,
        )
        one = ingest(runs.more(1), folder / "lake")
        yield judge_line(
            f"one more run: {_describe_cost(one)}, with the start of Java (target: under {SECONDS_WANTED:.0f} s)",
            one.seconds < SECONDS_WANTED,
        )
        before, after = kill_ingests(runs, folder / "killed", KILLS)
        yield f"{KILLS} ingests killed at random: as before {before} times, as after {after} times"
        assert not missed, "; ".join(missed)
    finally:
        shutil.rmtree(folder)


def _describe_cost(took: IngestCost) -> str:
    return f"{took.seconds:.0f} s ({took.processor:.0f} s of the processors, {took.memory / 2**30:.2f} GiB)"


def ingest(runs: list[str], lake: Path) -> IngestCost:
    """Run `lake ingest` with default settings."""
    began = time.monotonic()
    process = _start(runs, lake)
    memory, ticks = 0, 0
    while process.poll() is None:
        now = measure_process(process.pid)
        memory = max(memory, sum(octets for octets, _ in now))
        ticks = max(ticks, sum(each for _, each in now))
        time.sleep(0.5)
    said = process.communicate()[0].decode()
    assert process.returncode == 0, said
    return IngestCost(time.monotonic() - began, ticks / TICKS, memory)


def kill_ingests(runs: Runs, lake: Path, count: int) -> tuple[int, int]:
    """Kill ingests of one run each at random instants, and return two numbers.

    The first number counts the kills after which the lake was in the state before the ingest, and the second number
    counts the kills after which it was in the state after the ingest. Raise AssertionError for any other state.
    """
    chance = random.Random(13)
    took = ingest(runs.more(1), lake).seconds
    before = 1
    outcome = [0, 0]
    for _ in range(count):
        process = _start(runs.more(1), lake)
        time.sleep(chance.uniform(0, took))
        killed = [process.pid, *list_descendants(process.pid)]
        for pid in killed:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.communicate()
        found = _read(lake)
        assert found in (before, before + 1), f"{found} runs instead of {before}"
        outcome[found - before] += 1
        before = found
    return outcome[0], outcome[1]


def _read(lake: Path) -> int:
    """Read every table completely, without Spark, and check that the runs in each table of facts are the runs of the
    manifest.
    """
    import pyarrow.parquet as parquet

    newest = max((lake / "manifests").glob("*.json"))
    manifest = json.loads(newest.read_text())
    for table in ("runs", "verdicts", "evidence", "test_runs", "rule_runs"):
        rows = [
            parquet.read_table(lake / "data" / commit["commit"] / table, columns=["run"])
            for commit in manifest["commits"]
        ]
        found = {run for part in rows for run in part.column("run").unique().to_pylist()}
        assert found == set(manifest["runs"]), f"{table}: {len(found)} runs, the manifest has {len(manifest['runs'])}"
        if table == "verdicts":
            assert sum(part.num_rows for part in rows) == VERDICTS * len(manifest["runs"])
    for table, units in manifest["derived"].items():
        for unit, commit in units.items():
            assert parquet.read_table(lake / "data" / commit / table / f"unit={unit}").num_rows
    return len(manifest["runs"])


def _start(runs: list[str], lake: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "mqconform", "lake", "ingest", *runs, "--lake", str(lake)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def measure_process(pid: int) -> list[tuple[int, int]]:
    """Return the resident octets and the clock ticks of a process and its child processes, including child
    processes that have ended.
    """
    found = {}
    for each in (pid, *list_descendants(pid)):
        with suppress(OSError, IndexError):  # the process has just ended
            size, resident = Path(f"/proc/{each}/statm").read_text().split()[:2]
            ticks = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()[11:15]
            # A process that Java has forked still shares the memory of its parent until it runs its own program.
            same = size, Path(f"/proc/{each}/cmdline").read_bytes()
            found[same] = int(resident) * os.sysconf("SC_PAGE_SIZE"), sum(map(int, ticks))
    return list(found.values())
