"""An ingest that is killed with -9 while it runs. `make bench` does the same at twenty instants with whole runs."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from patience import Watch, kill

RUN = {
    "schema": 2,
    "run": "one",
    "started": "2026-11-21T10:00:00Z",
    "sut": {"name": "Contoso", "version": "1.0"},
}
RULE = {"document": "MQQB", "section": "2.1.1", "level": "MUST", "checks": []}


def test_files_of_a_killed_ingest_are_not_in_the_lake_and_block_no_later_ingest(tmp_path: Path) -> None:
    run, lake = tmp_path / "run", tmp_path / "lake"
    run.mkdir()
    (run / "run.json").write_text(json.dumps(RUN))
    (run / "rules.json").write_text(json.dumps({"schema": 2, "rules": {"MQQB-2.1.1-01": RULE}}))
    lines = ({"schema": 2, "seq": seq, "ms": seq, "rule": "MQQB-2.1.1-01", "verdict": "pass"} for seq in range(100))
    (run / "verdicts.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    command = [sys.executable, "-m", "mqconform", "lake", "ingest", str(run), "--lake", str(lake)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, start_new_session=True, **pipes) as process:
        watch = Watch(process.pid, lake)
        try:
            while not list(lake.glob("data/*/verdicts")):
                assert process.poll() is None, process.communicate()[0]
                watch.look()
                time.sleep(0.05)
        finally:
            kill(watch.tree())
        process.communicate()
    assert not list(lake.glob("manifests/*.json"))
    assert {path.name for path in lake.iterdir()} <= {"data", "manifests"}
