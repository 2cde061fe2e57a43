"""Load the renamed checks. ``suites/<document>/renamed.toml`` contains the old and the new id of each renamed
check. Baselines, run folders and captures of earlier versions name checks by their old ids; every reader of these
files replaces an old id by the new id.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from harness.paths import SUITES
from harness.rules.errata import CatalogueError, read_toml

RENAMED_CHECKS_FILE_NAME = "renamed.toml"
_CHECKS_TABLE_NAME = "checks"


@cache
def load_renamed_checks(suites: Path = SUITES) -> Mapping[str, str]:
    """Return the current id of each renamed check, without parameters, by every earlier id of the check. A check that
    was renamed twice has two entries. Raise CatalogueError for an invalid file, a repeated id or a circular rename.
    """
    steps: dict[str, str] = {}
    for path in sorted(suites.glob(f"*/{RENAMED_CHECKS_FILE_NAME}")):
        for old, new in _read_renamed_file(path).items():
            if old in steps:
                raise CatalogueError(path, old, "the check is renamed twice; keep only the line with the current name")
            steps[old] = new
    return MappingProxyType({old: _follow_renames(steps, old, suites) for old in sorted(steps)})


def get_current_check(check: str) -> str:
    """Return the current id of a check. The parameters of the given id stay unchanged."""
    function, bracket, parameters = check.partition("[")
    return f"{load_renamed_checks().get(function, function)}{bracket}{parameters}"


def _read_renamed_file(path: Path) -> dict[str, str]:
    tree = read_toml(path)
    checks = tree.get(_CHECKS_TABLE_NAME)
    if tree.keys() != {_CHECKS_TABLE_NAME} or not isinstance(checks, dict):
        raise CatalogueError(path, "", f"the file must have one table [{_CHECKS_TABLE_NAME}]")
    for old, new in checks.items():
        for check in (old, new):
            if not isinstance(check, str) or "::" not in check or "[" in check:
                raise CatalogueError(path, old, f"{check!r} must be the id of a check without parameters")
    return checks


def _follow_renames(steps: Mapping[str, str], old: str, suites: Path) -> str:
    """Follow all renames of a check, and return its current id."""
    met, name = [old], steps[old]
    while name in steps:
        if name in met:
            raise CatalogueError(
                suites, old, f"the check is renamed back to itself; correct the files {RENAMED_CHECKS_FILE_NAME}"
            )
        met.append(name)
        name = steps[name]
    return name
