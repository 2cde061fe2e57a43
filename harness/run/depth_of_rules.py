"""Describe how deeply each rule is tested, for rules.json: varied parameters, cells of state tables, explored areas."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from harness.paths import SUITES
from harness.run.checks_of_rules import varied_parameters
from harness.states.table import read_tables

_MODELS = SUITES.parent / "harness" / "model"
_RULE_ID = re.compile(r'"([A-Z]+-[0-9.]+-[A-Z]?[0-9]+)"')


def depth_of_rules() -> dict[str, dict[str, Any]]:
    """Return, by rule id: ``varied``, the parameters that its checks vary; ``cells``, the number of cells of
    states.toml that the rule decides; ``explored``, the areas of `mqconform explore` whose model cites the rule.

    A rule has only the keys that apply to it.
    """
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    depth: dict[str, Mapping[str, Any]] = {
        "varied": varied_parameters(),
        "cells": _count_cells(),
        "explored": list_explored_areas(),
    }
    for key, values in depth.items():
        for rule, value in values.items():
            found[rule][key] = value
    return dict(found)


def _count_cells() -> Counter[str]:
    return Counter(rule for table in read_tables() for cell in table.list_demanded_cells() for rule in cell.all_rules)


def list_explored_areas() -> dict[str, list[str]]:
    """Return the explored areas of each rule, found by the rule ids in the text of the models."""
    found: dict[str, list[str]] = defaultdict(list)
    for folder in sorted(path for path in _MODELS.iterdir() if path.is_dir() and path.name != "__pycache__"):
        text = "".join(file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.py")))
        for rule in dict.fromkeys(_RULE_ID.findall(text)):
            found[rule].append(folder.name)
    return dict(found)
