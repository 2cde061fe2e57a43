"""Lets the property tests import the helpers of tests/unit/core."""

import sys
from pathlib import Path

UNIT_CORE = str(Path(__file__).parents[1] / "unit" / "core")
if UNIT_CORE not in sys.path:
    sys.path.append(UNIT_CORE)
