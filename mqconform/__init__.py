"""Conformance tests for Microsoft Message Queuing (MSMQ): the one package that the wheel installs.

The wheel keeps the folders of the repository (``harness``, ``suites``, ...) below ``mqconform/parts``. Only a process
of mqconform searches that folder, so that another project may have packages of the same names.
"""

from __future__ import annotations

import os.path  # not pathlib: nothing slow is imported before Ctrl-C is handled (mqconform/command.py)
import sys

PARTS = os.path.join(os.path.dirname(__file__), "parts")  # noqa: PTH118, PTH120
"""The folders of the repository in an installed wheel; a clone has them beside this package."""


def search_parts() -> None:
    """Let this process import the parts of an installed wheel, before packages of the same names."""
    if os.path.isdir(PARTS) and PARTS not in sys.path:  # noqa: PTH112
        sys.path.insert(0, PARTS)
