"""Judges 1,000 copies of real captures on executors, and in one process.

The benchmark then judges some of the captures on a standalone cluster whose Python has the libraries of this
project, but not the project itself.

Target: the same verdicts; at most a minute of processor time for 1,000 captures, including the start of Java.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.footprint import Footprint, measure_footprint
from benchmarks.lake_cluster import Cluster

CAPTURES = int(os.environ.get("MQ_LAKE_CAPTURES", "1000"))
CLUSTER_CAPTURES = 20
CHECKS = "s3_1_5_01 or s2_2_3"
"""The checks whose captures the benchmark judges."""
SECONDS_WANTED = 60.0
JAVA_S = 30.0
"""The processor time that Java needs to start and to warm up. It does not depend on the number of captures."""
SUT = """
[sut]
name = "reference"
[driver]
kind = "virtual"
[capabilities]
ping = true
qm2qm = true
"""


def measure() -> Iterator[str]:
    """Judge the same captures on executors and in one process."""
    with tempfile.TemporaryDirectory(prefix="mqconform-judging-") as scratch:
        folder = Path(scratch)
        captures = _captures(folder)
        took = _judge(captures, folder / "judged")
        alone = _run("-c", SINGLE_PROCESS_PROGRAM, str(captures), str(folder / "alone.jsonl"))
        verdicts = _verdicts(folder / "judged")
        assert verdicts == _count_lines([folder / "alone.jsonl"])
        rules = {json.loads(line)["rule"] for line in verdicts}
        wanted = JAVA_S + (SECONDS_WANTED - JAVA_S) * CAPTURES / 1000
        yield (
            f"{CAPTURES:,} captures, {verdicts.total():,} verdicts by {len(rules)} rules, the same as of one process: "
            f"{took.seconds:.0f} s, {took.processor_s:.0f} s of processors (target: at most {wanted:.0f}), "
            f"{took.memory / 2**30:.2f} GiB; one process took {alone.processor_s:.0f} s of a processor"
        )
        assert took.processor_s <= wanted
        yield _judge_on_cluster(folder, captures)


def _judge_on_cluster(folder: Path, captures: Path) -> str:
    """Judge some of the captures on a cluster that can judge them only with the sent code."""
    for capture in sorted(captures.iterdir())[CLUSTER_CAPTURES:]:
        capture.unlink()
    python = _make_python_without_project(folder / "python")
    assert subprocess.run(
        [python, "-c", "import harness"], stderr=subprocess.DEVNULL, cwd=folder, check=False
    ).returncode
    _judge(captures, folder / "here")
    cluster = Cluster(folder / "cluster")
    try:
        how = ["--master", cluster.url, "--conf", f"spark.pyspark.python={python}"]
        took = _judge(captures, folder / "there", *how)
    finally:
        cluster.end()
    verdicts = _verdicts(folder / "there")
    assert verdicts == _verdicts(folder / "here")
    return (
        f"{CLUSTER_CAPTURES} captures on two Workers whose Python lacks this project: the same {verdicts.total():,} "
        f"verdicts, {took.seconds:.0f} s"
    )


SINGLE_PROCESS_PROGRAM = """
import json, sys
from pathlib import Path
from harness.judging.captured import lines_of_capture
with open(sys.argv[2], "w", encoding="utf-8") as out:
    for path in sorted(Path(sys.argv[1]).iterdir()):
        for line in lines_of_capture(path, path.name)[1]:
            out.write(json.dumps(line) + "\\n")
"""


def _judge(captures: Path, out: Path, *how: str) -> Footprint:
    system = ("--name", "reference", "--version", "1")
    return _run("-m", "mqconform", "lake", "judge", "--captures", str(captures), "--out", str(out), *system, *how)


def _run(*arguments: str) -> Footprint:
    """Run Python until it exits. Raise AssertionError with Python's output if the exit code is not 0."""
    took = measure_footprint([sys.executable, *arguments])
    assert took.code == 0, took.said
    return took


def _captures(folder: Path) -> Path:
    """Run some checks in virtual time, and copy their captures until the wanted number is reached."""
    (folder / "sut.toml").write_text(SUT, encoding="ascii")
    command = [sys.executable, "-m", "mqconform", "run", "--sut", "sut.toml", "--out", "run", "-k", CHECKS]
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=False)  # the run reports that it is partial
    recorded = sorted((folder / "run" / "captures").iterdir())
    copies = folder / "copies"
    copies.mkdir()
    for number in range(CAPTURES):
        shutil.copy(recorded[number % len(recorded)], copies / f"{number:05d}.pcapng")
    return copies


def _make_python_without_project(folder: Path) -> Path:
    """Make a Python environment that has the libraries of the present environment, but not this project."""
    venv.create(folder)
    libraries = folder / Path(sysconfig.get_path("purelib")).relative_to(sys.prefix)
    for each in Path(sysconfig.get_path("purelib")).iterdir():
        if "mqconform" not in each.name and not (libraries / each.name).exists():
            (libraries / each.name).symlink_to(each)
    return folder / "bin" / "python"


def _verdicts(out: Path) -> Counter[str]:
    return _count_lines([each / "verdicts.jsonl" for each in out.iterdir()])


def _count_lines(paths: Sequence[Path]) -> Counter[str]:
    own = ("seq", "ms", "test")
    counted: Counter[str] = Counter()
    for path in paths:
        with path.open(encoding="utf-8") as file:
            for line in map(json.loads, file):
                counted[json.dumps({key: line[key] for key in line if key not in own}, sort_keys=True)] += 1
    return counted
