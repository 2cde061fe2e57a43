"""The lake: 10,000,000 verdicts of 650 runs taken, one more added, and an ingest that is killed.

Wanted: within 4 GiB, in linear time; one more run in under 30 seconds; a killed one leaves the lake as before or after.
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
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

RUNS = int(os.environ.get("MQ_LAKE_RUNS", "650"))
KILLS = int(os.environ.get("MQ_LAKE_KILLS", "20"))
RULES, CHECKS, VERDICTS = 2_800, 1_380, 15_400
VERSIONS = 200
KINDS = 8
"""Verdict files that differ; each run has a link to one of them."""
MEMORY_WANTED = 4 << 30
SECONDS_WANTED = 30.0
LINEAR = 1.15
"""Seconds a run of all the runs against those of a tenth of them."""
SUITES = "5" * 64


@dataclass(frozen=True, slots=True)
class Ingested:
    """What a command said and took: seconds, octets of memory at most, exit code."""

    seconds: float
    memory: int
    code: int
    said: str


class Runs:
    """Run folders of schema 2, made cheaply: all of a kind share their verdict file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.made = 0
        shared = folder / "shared"
        shared.mkdir(parents=True)
        self.rules = shared / "rules.json"
        self.rules.write_text(json.dumps(_rules()), encoding="ascii")
        self.verdicts = [shared / f"verdicts-{kind}.jsonl" for kind in range(KINDS)]
        for kind, path in enumerate(self.verdicts):
            _write_verdicts(path, kind)

    def more(self, count: int) -> list[str]:
        """Make run folders and return their paths."""
        return [str(self._one()) for _ in range(count)]

    def _one(self) -> Path:
        number, self.made = self.made, self.made + 1
        started = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=number)
        folder = self.folder / f"run-{number}"
        folder.mkdir()
        os.link(self.rules, folder / "rules.json")
        os.link(self.verdicts[number % KINDS], folder / "verdicts.jsonl")
        version = number % VERSIONS
        sut = {"name": f"Product {version % 10}", "vendor": "", "version": f"1.{version // 10}", "profile": "none"}
        (folder / "run.json").write_text(
            json.dumps(
                {"schema": 2, "run": f"run-{number}", "started": f"{started:%Y-%m-%dT%H:%M:%SZ}"}
                | {"finished": f"{started + timedelta(minutes=9):%Y-%m-%dT%H:%M:%SZ}", "suites": SUITES, "sut": sut}
                | {"reach": "process", "harness": "0.1.0", "selection": "all", "aborted": None, "exit": 1}
            ),
            encoding="ascii",
        )
        return folder


def measure() -> Iterator[str]:
    """Ingest a tenth of the runs, all of them, and one more; kill ingests of another."""
    folder = Path(tempfile.mkdtemp(prefix="mqconform-lake-"))
    try:
        runs = Runs(folder / "runs")
        paths = runs.more(RUNS)
        tenth = ingest(paths[: max(1, RUNS // 10)], folder / "tenth")
        shutil.rmtree(folder / "tenth")
        whole = ingest(paths, folder / "lake")
        each, each_of_tenth = whole.seconds / len(paths), tenth.seconds / max(1, RUNS // 10)
        yield (
            f"{len(paths)} runs, {len(paths) * VERDICTS:,} verdicts: {whole.seconds:.0f} s, {each:.2f} s a run against "
            f"{each_of_tenth:.2f} s of a tenth of them: {each / each_of_tenth:.2f} times (wanted: at most {LINEAR}); "
            f"{whole.memory / 2**30:.2f} GiB (wanted: at most 4)"
        )
        assert whole.memory <= MEMORY_WANTED
        assert each <= LINEAR * each_of_tenth
        one = ingest(runs.more(1), folder / "lake")
        yield f"one more: {one.seconds:.0f} s with the start of Java (wanted: under {SECONDS_WANTED:.0f})"
        assert one.seconds < SECONDS_WANTED
        outcome = kills(runs, folder / "killed", KILLS)
        yield f"{KILLS} ingests killed at random: as before {outcome[0]} times, as after {outcome[1]} times"
        assert sum(outcome) == KILLS
    finally:
        shutil.rmtree(folder)


def ingest(runs: list[str], lake: Path) -> Ingested:
    """Run the command, with default settings."""
    began = time.monotonic()
    process = _start(runs, lake)
    memory = 0
    while process.poll() is None:
        memory = max(memory, _memory(process.pid))
        time.sleep(0.2)
    said = process.communicate()[0].decode()
    assert process.returncode == 0, said
    return Ingested(time.monotonic() - began, memory, process.returncode, said)


def kills(runs: Runs, lake: Path, count: int) -> tuple[int, int]:
    """Kill ingests of one run each at random instants; how often the lake was as before, and as after.

    Raises AssertionError when it reads as anything else.
    """
    chance = random.Random(13)
    took = ingest(runs.more(1), lake).seconds
    before = 1
    outcome = [0, 0]
    for _ in range(count):
        process = _start(runs.more(1), lake)
        time.sleep(chance.uniform(0, took))
        killed = [process.pid, *_children(process.pid)]
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        process.communicate()
        found = _read(lake)
        assert found in (before, before + 1), f"{found} runs, there were {before}"
        outcome[found - before] += 1
        before = found
    return outcome[0], outcome[1]


def _read(lake: Path) -> int:
    """Read every table whole, without Spark; the runs of each fact must be those of the manifest."""
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
    command = [sys.executable, "-m", "harness", "lake", "ingest", *runs, "--lake", str(lake)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def _children(pid: int) -> list[int]:
    try:
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [each for child in map(int, found) for each in (child, *_children(child))]


def _memory(pid: int) -> int:
    """Return the resident octets of a process and of those that it started."""
    whole = 0
    for each in (pid, *_children(pid)):
        try:
            whole += int(Path(f"/proc/{each}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError):  # it has just ended
            continue
    return whole


def _rules() -> dict[str, object]:
    rows = {}
    for number in range(RULES):
        section = f"3.1.{number // 100}.{number // 10 % 10}"
        rows[_rule(number)] = {
            "document": "MQQB",
            "section": section,
            "title": f"Section {section}",
            "level": "SHOULD" if number % 9 == 0 else "MUST",
            "form": "rule",
            "kind": "demand",
            "observe": "wire",
            "observed": "in an exchange of packets",
            "role": "acceptor",
            "says": f"Part {number} is as the sender counted.",
            "why": None,
            "link": "https://learn.microsoft.com/openspecs/windows_protocols/ms-mqqb",
            "checks": sorted({_check(step) for step in range(number, VERDICTS, RULES)}),
        }
    return {"schema": 2, "documents": {"MQQB": "Binary Protocol"}, "rules": rows, "coverage": [], "members": []}


def _rule(number: int) -> str:
    return f"MQQB-3.1.{number // 100}.{number // 10 % 10}-{number % 10:02d}"


def _check(step: int) -> str:
    check = step % CHECKS
    return (
        f"suites/mqqb/s3_1_{check // 60:02d}_some_section/test_some_section.py::test_what_check_{check}_is_about_holds"
    )


def _write_verdicts(path: Path, kind: int) -> None:
    chance = random.Random(kind)
    with path.open("w", encoding="ascii") as file:
        for seq in range(1, VERDICTS + 1):
            step = seq - 1
            verdict = chance.choices(("pass", "fail", "inconclusive", "not_observable"), (95, 2, 1, 2))[0]
            line: dict[str, object] = {"schema": 2, "seq": seq, "ms": seq * 31, "rule": _rule(step % RULES)}
            line |= {"verdict": verdict, "expected": f"{{'messages': {step % 7}, 'closed': False}}"}
            if verdict == "fail":
                line |= {"observed": "closed", "reason": "the counts differ by one"}
            line["test"] = f"{_check(step)}[{step % 3}]"
            line["evidence"] = [[step % 40 + 1, 4, 7], [step % 40 + 2]]
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
