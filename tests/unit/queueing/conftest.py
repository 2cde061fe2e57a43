"""Lets the tests of queues import the helpers of tests/unit/core."""

import sys
from pathlib import Path

CORE = str(Path(__file__).parents[1] / "core")
if CORE not in sys.path:
    sys.path.append(CORE)
