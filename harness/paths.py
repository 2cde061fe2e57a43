"""Paths of the parts that travel with the harness, in a clone and in an installed wheel alike."""

from __future__ import annotations

import time
from pathlib import Path

SUITES = Path(__file__).resolve().parents[1] / "suites"
"""The suites, their catalogue and errata: beside the harness in both."""

CAPTURES = Path(__file__).resolve().parents[1] / "captures"
"""The golden captures."""

PACKAGES = tuple(Path(__file__).resolve().parents[1] / name for name in ("harness", "reference_qm", "suites"))
"""The packages that judge captures; they are sent to other machines."""

IMPORTED_NS = time.time_ns()
"""The start of this process, when it began to import these files (int ns, UTC): a file that changed later may differ
from the import.
"""
