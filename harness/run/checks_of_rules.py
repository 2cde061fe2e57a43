"""Find the checks of each rule in all suites, independent of the selection of a run, and the parameters that these
checks vary. The results are written to the column ``checks`` of rules.json.
"""

from __future__ import annotations

import importlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

from harness.compiled.kept import load_cached_records
from harness.judging.passive import load_predicates
from harness.paths import SUITES


@cache
def checks_of_rules() -> dict[str, list[str]]:
    """Return, by rule id, the sorted ids of the checks that name the rule. The ids have no parameters, and have the
    same form as in verdicts.

    A rule with a predicate has no checks in the result, because every check may decide such a rule. Modules of
    checks that have changed since their last import are imported again.
    """
    return {rule: sorted(checks) for rule, checks in map_driving_checks().items() if rule not in load_predicates()}


@cache
def map_driving_checks() -> dict[str, set[str]]:
    """Return, by rule id, the checks that name the rule. In contrast to `checks_of_rules`, this function also includes
    passive rules.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for check, rules, _ in _list_checks():
        for rule in rules:
            found[rule].add(check)
    return dict(found)


@cache
def map_varied_parameters() -> dict[str, list[str]]:
    """Map each rule id to the sorted parameters that the checks of that rule vary."""
    found: dict[str, set[str]] = defaultdict(set)
    for _, rules, parameters in _list_checks():
        for rule in rules if parameters else ():
            found[rule].update(parameters)
    return {rule: sorted(parameters) for rule, parameters in found.items()}


def _list_checks() -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield the id of each check, with the rules that the check names and the parameters that it varies."""
    paths = [file.relative_to(SUITES.parent).as_posix() for file in sorted(SUITES.glob("*/*/test_*.py"))]
    for rows in load_cached_records().get_records_of_files("driving checks", paths, _import_checks):
        yield from rows


def _import_checks(paths: list[str]) -> dict[str, list[tuple[str, list[str], list[str]]]]:
    """Return, for each file of checks, its functions with the rules and the varied parameters in their marks."""
    return {
        path: [
            (f"{path}::{name}", list(dict.fromkeys(_list_rules_of_marks(marks))), _list_parameters_of_marks(marks))
            for name, function in vars(importlib.import_module(_get_module_name(Path(path)))).items()
            if name.startswith("test_") and isinstance(function, FunctionType)
            for marks in (getattr(function, "pytestmark", ()),)
        ]
        for path in paths
    }


def _get_module_name(path: Path) -> str:
    return ".".join(path.with_suffix("").parts)


def _list_parameters_of_marks(marks: Iterable[Any]) -> list[str]:
    """Return the parameters that the mark ``varied`` of a function names."""
    return [name for mark in marks if mark.name == "varied" for name in mark.args[0]]


def _list_rules_of_marks(marks: Iterable[Any]) -> Iterator[str]:
    """Yield the rules that the marks of a function and of its parameters name."""
    for mark in marks:
        if mark.name == "covers":
            yield from mark.args
        elif mark.name == "parametrize":
            for value in mark.args[1]:
                yield from _list_rules_of_marks(getattr(value, "marks", ()))
