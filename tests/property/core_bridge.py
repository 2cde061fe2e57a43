"""The path by which the property tests import the helpers of tests/unit: core, queueing, remote, security."""

import sys
from pathlib import Path

for part in ("core", "queueing", "remote", "security"):
    folder = str(Path(__file__).parents[1] / "unit" / part)
    if folder not in sys.path:
        sys.path.append(folder)
