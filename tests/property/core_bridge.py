"""Puts the helpers of tests/unit (core, queueing, remote, security) on the import path of the property tests."""

import sys
from pathlib import Path

for part in ("core", "queueing", "remote", "security"):
    folder = str(Path(__file__).parents[1] / "unit" / part)
    if folder not in sys.path:
        sys.path.append(folder)
