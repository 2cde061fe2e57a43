"""The core is sans-IO: whatever its inputs, it opens no file, reads no clock and draws no random number (no_io)."""

import os
import sys
from pathlib import Path

from patience import run_watched

HERE = Path(__file__).parent
MANY = 10_000
"""The minimum number of watched calls of the cores."""


def test_core_does_no_io_reads_no_clock_and_draws_no_random_number():
    command = [sys.executable, "-W", "error", str(HERE / "no_io.py")]
    ran = run_watched(command, cwd=HERE.parents[1], env=os.environ | {"PYTHONPATH": str(HERE.parent)})
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) > MANY
