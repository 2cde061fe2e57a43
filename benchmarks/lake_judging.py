"""Captures judged on executors: 1,000 copies of real ones, beside one process that judges the same.

Wanted: the same verdicts; at most a minute of processor time with the start of Java, no more than thrice that of one
process.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CAPTURES = int(os.environ.get("MQ_LAKE_CAPTURES", "1000"))
CHECKS = "s3_1_5_01 or s2_2_3"
"""Of which checks the captures are."""
SECONDS_WANTED = 60.0
RATIO_WANTED = 3.0
SUT = """
[sut]
name = "reference"
[driver]
kind = "virtual"
[capabilities]
ping = true
qm2qm = true
"""


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds on the clock, and of processors, by a process and all that it started."""

    wall: float
    processor: float


def measure() -> Iterator[str]:
    """Judge the same captures on executors and in one process."""
    with tempfile.TemporaryDirectory(prefix="mqconform-judging-") as scratch:
        folder = Path(scratch)
        captures = _captures(folder)
        out = folder / "judged"
        system = ["--name", "reference", "--version", "1"]
        took = run(["-m", "harness", "lake", "judge", "--captures", str(captures), "--out", str(out), *system])
        alone = run(["-c", ALONE, str(captures), str(folder / "alone.jsonl")])
        (judged,) = out.iterdir()
        verdicts, expected = _verdicts(judged / "verdicts.jsonl"), _verdicts(folder / "alone.jsonl")
        assert verdicts == expected
        rules = {json.loads(line)["rule"] for line in verdicts}
        ratio = took.processor / alone.processor
        yield (
            f"{CAPTURES:,} captures, {verdicts.total():,} verdicts by {len(rules)} rules, the same as of one process: "
            f"{took.wall:.0f} s, {took.processor:.0f} s of processors (wanted: at most {SECONDS_WANTED:.0f}), "
            f"{ratio:.1f} times those of one process (wanted: at most {RATIO_WANTED:.0f}); that took {alone.wall:.0f} s"
        )
        assert took.processor <= SECONDS_WANTED * CAPTURES / 1000
        assert ratio <= RATIO_WANTED


ALONE = """
import json, sys
from pathlib import Path
from harness.judging.captured import lines_of_capture
with open(sys.argv[2], "w", encoding="utf-8") as out:
    for path in sorted(Path(sys.argv[1]).iterdir()):
        for line in lines_of_capture(path, path.name)[1]:
            out.write(json.dumps(line) + "\\n")
"""


def run(arguments: list[str]) -> Took:
    """Run Python to its end; AssertionError with what it said when that is not 0."""
    began = time.monotonic()
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    seconds: dict[int, float] = {}
    while process.poll() is None:
        for pid in _with_children(process.pid):
            seconds[pid] = max(seconds.get(pid, 0.0), _processor(pid))
        time.sleep(0.1)
    assert process.returncode == 0, process.communicate()[0].decode()
    return Took(time.monotonic() - began, sum(seconds.values()))


def _captures(folder: Path) -> Path:
    """Record some checks in virtual time, and copy their captures until there are enough."""
    (folder / "sut.toml").write_text(SUT, encoding="ascii")
    command = [sys.executable, "-m", "harness", "run", "--sut", "sut.toml", "--out", "run", "-k", CHECKS]
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=False)  # it says that this is no whole run
    recorded = sorted((folder / "run" / "captures").iterdir())
    copies = folder / "copies"
    copies.mkdir()
    for number in range(CAPTURES):
        shutil.copy(recorded[number % len(recorded)], copies / f"{number:05d}.pcapng")
    return copies


def _verdicts(path: Path) -> Counter[str]:
    with path.open(encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    own = ("seq", "ms", "test")
    return Counter(json.dumps({key: each[key] for key in each if key not in own}, sort_keys=True) for each in lines)


def _with_children(pid: int) -> Iterator[int]:
    yield pid
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        for task in tasks:
            for child in map(int, (task / "children").read_text().split()):
                yield from _with_children(child)
    except OSError:  # it has just ended
        return


def _processor(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
