"""Describe for rules.json how deeply each rule is tested: the varied parameters, the cells of state tables, and the
explored areas.
"""

from __future__ import annotations

import tomllib
from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import chain
from typing import Any

from harness.paths import SUITES
from harness.rules.explored_areas import list_explored_areas
from harness.rules.places import STATES_FILE
from harness.run.checks_of_rules import map_varied_parameters


def depth_of_rules() -> dict[str, dict[str, Any]]:
    """Return, by rule id, how deeply the rule is tested. ``varied`` contains the parameters that the checks of the
    rule vary, ``cells`` the number of cells of states.toml that the rule decides, and ``explored`` the areas of
    `mqconform explore` whose model cites the rule.

    A key whose value would be empty is omitted.
    """
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    depth: dict[str, Mapping[str, Any]] = {
        "varied": map_varied_parameters(),
        "cells": _count_cells(),
        "explored": list_explored_areas(),
    }
    for key, values in depth.items():
        for rule, value in values.items():
            found[rule][key] = value
    return dict(found)


def _count_cells() -> Counter[str]:
    """Return, for each rule, the number of cells in states.toml whose outcomes the rule decides. ``harness.states``
    reads the same tables, but cannot be used here because it imports this package.
    """
    found: Counter[str] = Counter()
    for file in sorted(SUITES.glob(f"*/*/{STATES_FILE}")):
        for row in tomllib.loads(file.read_text(encoding="utf-8"))["cells"].values():
            for cell in row.values():
                if "outcomes" in cell:
                    rules = cell["rules"]  # a list, or a list for each observation
                    found.update(set(rules if isinstance(rules, list) else chain.from_iterable(rules.values())))
    return found
