"""Reads the root causes of a run's verdicts from the run's run.json, whose fields are untyped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import islice
from types import MappingProxyType
from typing import Any

from reports.model import RootCause
from reports.text import MAX_SHOWN_CHARACTERS, one_line

MAX_SHOWN_ROOT_CAUSES = 20
MAX_CHECKS_PER_ROOT_CAUSE = 5_000
EMPTY_MAP_OF_RENAMED_CHECKS: Mapping[str, str] = MappingProxyType({})
_MAX_ROOT_CAUSE_CHARACTERS = 800


def format_root_causes(roots: Iterable[RootCause]) -> list[str]:
    """Return one line for each root cause, with the description from the harness, for the terminal."""
    return [
        f"fix this first: {one_line(root.said, _MAX_ROOT_CAUSE_CHARACTERS)}{_describe_dependent_checks(root)}"
        for root in roots
    ]


def _describe_dependent_checks(root: RootCause) -> str:
    number = len(root.checks)
    return f" ({number} check{'s depend' if number != 1 else ' depends'} on it)" if number else ""


def read_root_causes(
    extra: str | None, new_names: Mapping[str, str] = EMPTY_MAP_OF_RENAMED_CHECKS
) -> tuple[RootCause, ...]:
    """Return the root causes of a run. Malformed values are dropped.

    ``new_names``: the new name of each renamed check by the old name of the check, both without parameters.
    """
    try:
        tree = json.loads(extra) if extra else {}
    except ValueError:
        return ()
    found = tree.get("roots") if isinstance(tree, dict) else None
    if not isinstance(found, list):
        return ()
    return tuple(
        _parse_root_cause(one, new_names)
        for one in islice(filter(_is_missing_root_cause, found), MAX_SHOWN_ROOT_CAUSES)
    )


def _is_missing_root_cause(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("said"), str) and isinstance(value.get("checks"), list)


def _parse_root_cause(root: dict[str, Any], new_names: Mapping[str, str]) -> RootCause:
    checks = (
        _rename_check(check, new_names)
        for check in root["checks"][:MAX_CHECKS_PER_ROOT_CAUSE]
        if isinstance(check, str)
    )
    return RootCause(root["said"][: MAX_SHOWN_CHARACTERS + 1], frozenset(checks))


def _rename_check(check: str, new_names: Mapping[str, str]) -> str:
    function, bracket, parameters = check.partition("[")
    return f"{new_names.get(function, function)}{bracket}{parameters}"
