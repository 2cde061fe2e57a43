"""Conformance tests for Microsoft Message Queuing (MSMQ): the one package that the wheel installs.

The wheel keeps the folders of the repository (``harness``, ``suites``, ...) below ``mqconform/parts``. Only a process
of mqconform searches that folder, so that another project may have packages of the same names.
"""

from __future__ import annotations

import sys
from pathlib import Path

PARTS = Path(__file__).parent / "parts"
"""The folders of the repository in an installed wheel; a clone has them beside this package."""


def search_parts() -> None:
    """Let this process import the parts of an installed wheel, before packages of the same names."""
    if PARTS.is_dir() and str(PARTS) not in sys.path:
        sys.path.insert(0, str(PARTS))
