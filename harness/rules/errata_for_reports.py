"""Provide the errata of the suites for the package ``reports``. That package finds this module through an entry point,
and therefore does not import code of the suites itself.
"""

from __future__ import annotations

from harness.rules.catalogue import load_catalogue
from harness.rules.errata import Erratum


def errata() -> list[Erratum]:
    """Return every erratum, in the order of the file."""
    return list(load_catalogue().errata.values())
