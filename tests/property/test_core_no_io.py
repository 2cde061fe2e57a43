"""The core is sans-IO: it opens nothing, reads no clock, draws no random number, whatever it is given (no_io)."""

import os
import sys
from pathlib import Path

from patience import run_watched

HERE = Path(__file__).parent
MANY = 10_000
"""Calls of the cores that are watched, at least."""


def test_core_does_no_io_reads_no_clock_and_draws_no_random_number():
    command = [sys.executable, "-W", "error", str(HERE / "no_io.py")]
    ran = run_watched(command, cwd=HERE.parents[1], env=os.environ | {"PYTHONPATH": str(HERE.parent)})
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) > MANY
