"""Compares two lakes: a cluster of two Workers, one of which is killed, writes the first lake, and one process
writes the second lake.

Target: the same rows in every table.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar

import pyarrow.parquet as parquet
import pyspark

from benchmarks.lake_runs import Runs

Found = TypeVar("Found")
RUNS = 4
TIMEOUT_S = 600.0
TIME_COLUMNS = ("ingested",)
"""The columns that contain times of the ingest."""


class Cluster:
    """A master and two Workers with default settings on this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.started: list[subprocess.Popen[bytes]] = []
        self._java("master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        self.url = self._describe_cost(0, r"Starting Spark master at (spark://\S+)")
        for number in (1, 2):
            self._java("worker.Worker", "--host", "127.0.0.1", "--webui-port", "0", self.url)
            self._describe_cost(number, "(Successfully registered)")

    def kill_a_worker(self) -> None:
        """Kill the last Worker and its executors."""
        os.killpg(self.started[-1].pid, signal.SIGKILL)

    def end(self) -> None:
        """End all processes that the cluster started."""
        for process in reversed(self.started):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _java(self, name: str, *arguments: str) -> None:
        home = Path(pyspark.__file__).parent
        environment = os.environ | {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
        with self._log(len(self.started)).open("wb") as log:
            self.started.append(
                subprocess.Popen(
                    [home / "bin" / "spark-class", f"org.apache.spark.deploy.{name}", *arguments],
                    cwd=self.folder,
                    env=environment | {"SPARK_WORKER_DIR": str(self.folder / "work")},
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            )

    def _log(self, number: int) -> Path:
        return self.folder / f"{number}.log"

    def _describe_cost(self, number: int, pattern: str) -> str:
        return str(_wait_until(lambda: re.search(pattern, self._log(number).read_text(errors="replace")))[1])


def measure() -> Iterator[str]:
    """Ingest the same runs three times, and compare the resulting tables."""
    folder = Path(tempfile.mkdtemp(prefix="mqconform-cluster-"))
    with ExitStack() as undo:
        undo.callback(shutil.rmtree, folder)
        runs = Runs(folder / "runs").more(RUNS)
        _finish(_ingest(runs, folder / "one", "local[*]"))
        expected = read_rows(folder / "one")
        cluster = Cluster(folder / "cluster")
        undo.callback(cluster.end)
        _finish(_ingest(runs, folder / "two", cluster.url))
        assert read_rows(folder / "two") == expected
        yield f"two Workers: the same {sum(map(len, expected.values())):,} rows in {len(expected)} tables"
        process = _ingest(runs, folder / "three", cluster.url)
        _wait_until(lambda: process.poll() is not None or list((folder / "three").glob("data/*/verdicts")))
        cluster.kill_a_worker()
        _finish(process)
        assert read_rows(folder / "three") == expected
        yield "one Worker killed while verdicts were written: the same rows"


def read_rows(lake: Path) -> dict[str, list[str]]:
    """Return the rows of every table of the newest state as sorted JSON."""
    manifest = json.loads(max((lake / "manifests").glob("*.json")).read_text())
    folders: dict[str, list[str]] = {}
    for commit in manifest["commits"]:
        for table in commit["tables"]:
            folders.setdefault(table, []).append(f"{commit['commit']}/{table}")
    for table, units in manifest["derived"].items():
        folders[table] = [f"{commit}/{table}/unit={unit}" for unit, commit in units.items()]
    return {table: sorted(row for each in of for row in _rows(lake / "data" / each)) for table, of in folders.items()}


def _rows(folder: Path) -> Iterator[str]:
    for row in parquet.read_table(folder, partitioning=None).to_pylist():
        yield json.dumps({key: value for key, value in row.items() if key not in TIME_COLUMNS}, default=str)


def _ingest(runs: list[str], lake: Path, master: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "mqconform", "lake", "ingest", *runs, "--lake", str(lake), "--master", master]
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def _finish(process: subprocess.Popen[bytes]) -> None:
    said = process.communicate(timeout=TIMEOUT_S)[0].decode()
    assert process.returncode == 0, said


def _wait_until(look: Callable[[], Found | None]) -> Found:
    began = time.monotonic()
    while not (found := look()):
        assert time.monotonic() - began < TIMEOUT_S, "the process did not become ready"
        time.sleep(0.1)
    return found
