"""Runs ``mqconform`` and ``pytest suites`` as processes, and reads the run folders that they write."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from harness.capture import Direction, streams
from harness.judging.verdicts import PASSES_SHOWN
from harness.proof.trials import VIRTUAL_SUT

ROOT = Path(__file__).parents[2]
MQCONFORM = [sys.executable, "-m", "harness"]
PYTEST = [sys.executable, "-m", "pytest"]
RESPONSE_TIMEOUT_S = 400


def sut(folder: Path, text: str = VIRTUAL_SUT, name: str = "sut.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def command(*arguments: object, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a process to its end; of this one's environment it has PATH and HOME."""
    return subprocess.run(
        [str(argument) for argument in arguments],
        cwd=cwd,
        env={name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ} | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=RESPONSE_TIMEOUT_S,
        check=False,
    )


def mqconform(*arguments: object, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return command(*MQCONFORM, *arguments, cwd=cwd)


def verdicts(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()]


def run_json(folder: Path) -> dict[str, Any]:
    tree: dict[str, Any] = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    return tree


def judged(folder: Path) -> Counter[tuple[str, str, str]]:
    """Return the verdicts of a run, without when and how often each was written."""
    return Counter((line["test"], line["rule"], line["verdict"]) for line in verdicts(folder))


def unfounded(folder: Path) -> list[str]:
    """Return the verdicts whose evidence is not in the frame of the capture that they name.

    Each quotes its bytes, but for a pass after some of the same rule.
    """
    found: dict[str, tuple[list[Direction], dict[int, bytes]]] = {}
    wrong = []
    passes: Counter[str] = Counter()
    for line in verdicts(folder):
        passes[line["rule"]] += line["verdict"] == "pass"
        may_name_alone = line["verdict"] == "pass" and passes[line["rule"]] > PASSES_SHOWN
        for each in line["evidence"]:
            name = line["capture"]
            if name not in found:
                capture = streams(folder / name)
                ways = [way for stream in capture.tcp for way in (stream.from_client, stream.from_server)]
                found[name] = ways, {datagram.frame: datagram.data for datagram in capture.udp}
            ways, datagrams = found[name]
            data = bytes.fromhex(each["hex"])
            if each["transport"] == "udp":
                held = each["frame"] in datagrams and data in (b"", datagrams[each["frame"]])
            else:
                held = any(_begins_in(way, each["frame"], data) for way in ways)
            if not (held and (data or may_name_alone)):
                wrong.append(f"{line['seq']}: {name} frame {each['frame']}: {each['hex'][:40]}")
    return wrong


def _begins_in(way: Direction, frame: int, data: bytes) -> bool:
    for each in way.ranges:
        if each.frame == frame:
            position = way.data.find(data, each.start)
            return each.start <= position < each.end
    return False
