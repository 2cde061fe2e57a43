"""Provide the errata of the suites to reports. Reports load this module through an entry point, so that they import no
code of the suites.
"""

from __future__ import annotations

from harness.rules.catalogue import load_catalogue
from harness.rules.errata import Erratum


def errata() -> list[Erratum]:
    """Return every erratum, in the order of the file."""
    return list(load_catalogue().errata.values())
