"""Provide the rules of the suites to the package ``reports``. That package finds this module through an entry point,
and therefore does not import code of the suites itself.
"""

from __future__ import annotations

from harness.rules.catalogue import load_catalogue
from harness.run.run import build_rules_json


def rules_of_suites() -> tuple[str, str]:
    """Return the text of rules.json as a run of these suites would write it, and the hash of this text (``suites``
    in run.json).
    """
    return build_rules_json(load_catalogue())
