"""Measures the time of the whole demo after the set-up. Target: under 90 seconds on 2 cores."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path


def measure() -> Iterator[str]:
    """Run ``mqconform demo``."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        command = [sys.executable, "-m", "mqconform", "demo", "--out", str(Path(folder) / "demo")]
        code = subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode
        yield f"mqconform demo: {time.perf_counter() - began:.0f} s, exit {code} (target: under 90 s, exit 0)"
