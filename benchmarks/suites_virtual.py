"""Measures a run of all suites on the reference in virtual time, first with one worker and then with two workers.

Target: at least 100 judged rules a second; MS-MQQB and MS-MQMQ under 15 s on 2 cores; 16,000 verdicts in under 6
MB.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from harness.judging.verdicts import read_verdicts
from harness.proof.trials import VIRTUAL_SUT_FILE_TEXT
from harness.run_folder import VERDICTS_FILE

DOCUMENTS = "mqqb or mqmq"


def measure() -> Iterator[str]:
    """Run the suites in separate processes, including their set-up."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sut = folder / "sut.toml"
        sut.write_text(VIRTUAL_SUT_FILE_TEXT, encoding="utf-8")
        took = _run(sut, folder / "all")
        path = folder / "all" / VERDICTS_FILE
        lines = list(read_verdicts(path))
        rules = len({line["rule"] for line in lines})
        yield (
            f"{len(lines)} verdicts on {rules} rules in {took:.1f} s: {len(lines) / took:.0f} verdicts/s, "
            f"{rules / took:.0f} different rules/s (target: 100 judged rules a second)"
        )
        each = path.stat().st_size / len(lines)
        yield f"verdicts.jsonl: {each:.0f} bytes a verdict, 16,000 in {16_000 * each / 1e6:.1f} MB (target: under 6 MB)"
        took = _run(sut, folder / "two", "--workers", "2", "-k", DOCUMENTS)
        yield f"MS-MQQB and MS-MQMQ, 2 workers: {took:.1f} s, {count_verdicts(folder / 'two')} (target: under 15 s)"


def count_verdicts(run: Path) -> str:
    """Return the number of verdicts of each kind in a run, as text."""
    counts = Counter(line["verdict"] for line in read_verdicts(run / VERDICTS_FILE))
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())


def _run(sut: Path, out: Path, *options: str) -> float:
    began = time.perf_counter()
    command = [sys.executable, "-m", "mqconform", "run", "--sut", str(sut), "--out", str(out), *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began
