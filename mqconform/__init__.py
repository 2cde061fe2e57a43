"""Conformance tests for Microsoft Message Queuing (MSMQ). This is the only package that the wheel installs. The wheel
contains the folders of the repository (``harness``, ``suites``, ...) in ``mqconform/parts``. Only processes of
mqconform import packages from that folder. So other projects can have packages with the same names.
"""

from __future__ import annotations

import os.path  # not pathlib, because slow imports must wait until Ctrl-C is handled (mqconform/command.py)
import sys

BUNDLED_PACKAGES_PATH = os.path.join(os.path.dirname(__file__), "parts")  # noqa: PTH118, PTH120
"""The folder of an installed wheel that contains the folders of the repository. In a clone of the repository, these
folders are next to this package.
"""


def prefer_bundled_packages() -> None:
    """Make this process import the packages of an installed wheel, with precedence over other packages with the same
    names.
    """
    if os.path.isdir(BUNDLED_PACKAGES_PATH) and BUNDLED_PACKAGES_PATH not in sys.path:  # noqa: PTH112
        sys.path.insert(0, BUNDLED_PACKAGES_PATH)
