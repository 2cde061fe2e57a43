"""The paths of folders that are distributed with the harness, both in a clone and in an installed wheel."""

from __future__ import annotations

import time
from pathlib import Path

SUITES = Path(__file__).resolve().parents[1] / "suites"
"""The folder of the suites, with the catalogue and the errata. In a clone and in a wheel, this folder is next to
the harness.
"""

SAMPLE_CAPTURES_FOLDER = Path(__file__).resolve().parents[1] / "captures"
"""The folder of the golden captures."""

PACKAGES = tuple(Path(__file__).resolve().parents[1] / name for name in ("harness", "reference_qm", "suites"))
"""The folders of the packages that judge captures. Spark sends these folders to its executors."""

IMPORT_TIME_NS = time.time_ns()
"""The time at which this process began to import the project's files (int ns, UTC). If a file was changed after this
time, the code in memory may be older than the file.
"""
