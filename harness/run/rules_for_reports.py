"""Provide the rules of the suites to the package reports. This package loads the module through an entry point, so that
it imports no code of the suites.
"""

from __future__ import annotations

from harness.rules.catalogue import load_catalogue
from harness.run.run import rules_json


def rules_of_suites() -> tuple[str, str]:
    """Return the text of rules.json as a run of these suites would write it, and its hash (``suites`` of run.json)."""
    return rules_json(load_catalogue())
