"""The errata of these suites for reports, which know no document: an entry point, so that they import nothing of it."""

from __future__ import annotations

from harness.rules.catalogue import load_catalogue
from harness.rules.errata import Erratum


def errata() -> list[Erratum]:
    """Return every erratum, in the order of the file."""
    return list(load_catalogue().errata.values())
