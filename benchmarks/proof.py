"""Measures the duration of the proof of all checks. Target: under 10 minutes on 2 cores."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator


def measure() -> Iterator[str]:
    """Run ``mqconform prove``."""
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "mqconform", "prove", "--jobs", "2"], check=False, capture_output=True)
    said = done.stdout.decode().strip().splitlines()[-1:]
    yield f"prove: {time.monotonic() - began:.0f} s, {said[0] if said else done.returncode} (target: under 600 s)"
