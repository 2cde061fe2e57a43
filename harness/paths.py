"""Paths of the parts that travel with the harness, in a clone and in an installed wheel alike."""

from __future__ import annotations

import time
from pathlib import Path

SUITES = Path(__file__).resolve().parents[1] / "suites"
"""The suites, their catalogue and errata: beside the harness in both."""

CAPTURES = Path(__file__).resolve().parents[1] / "captures"
"""The golden captures."""

PACKAGES = tuple(Path(__file__).resolve().parents[1] / name for name in ("harness", "reference_qm", "suites"))
"""What judges captures, wherever it does so: the packages that are sent to other machines."""

IMPORTED_NS = time.time_ns()
"""When this process began to import what reads these files (int ns, UTC): one that changed later may differ from it."""
