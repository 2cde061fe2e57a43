"""Judged rules a second: the suites against the reference in virtual time, one core.

Wanted: at least 100 a second.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from harness.prove import VIRTUAL_SUT


def measure() -> Iterator[str]:
    """Run all suites once in a process of their own, set-up included."""
    with tempfile.TemporaryDirectory() as folder:
        sut = Path(folder) / "sut.toml"
        sut.write_text(VIRTUAL_SUT, encoding="utf-8")
        out = Path(folder) / "run"
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "harness", "run", "--sut", str(sut), "--out", str(out)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        took = time.perf_counter() - began
        lines = [json.loads(line) for line in (out / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()]
        rules = len({line["rule"] for line in lines})
        yield (
            f"{len(lines)} verdicts on {rules} rules in {took:.1f} s: {len(lines) / took:.0f} verdicts/s, "
            f"{rules / took:.0f} different rules/s (wanted: 100 judged rules a second)"
        )
