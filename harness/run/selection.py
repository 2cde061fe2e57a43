"""Select the checks of a run according to its options."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

import pytest

from harness.paths import SUITES
from harness.run.checks import find_covered_rules

_MAX_RULES_OF_FULLY_LISTED_SELECTION = 50


def describe_selection(config: pytest.Config) -> str:
    """Return a short text that names the selected part of the suites, or ``all`` for all suites."""
    parts = [f"{option} {word}" for option in ("--rule", "--select") for word in config.getoption(option)]
    if config.getoption("keyword"):
        parts.append(f"-k {config.getoption('keyword')}")
    if config.getoption("--topology"):
        parts.append("--topology")
    if config.getoption("markexpr"):
        parts.append(f"-m {config.getoption('markexpr')}")
    parts += [argument for argument in config.args if Path(argument).name != "suites"]
    return " ".join(parts) or "all"


def find_wanted_rules(config: pytest.Config) -> frozenset[str]:
    """Return the selected rules. Raise UsageError for an unknown rule or an unknown criterion."""
    from harness.rules.catalogue import load_catalogue
    from harness.rules.naming import find_rule_id, select_rules

    catalogue = load_catalogue()
    choose_checks = select_rules(catalogue, config.getoption("--select"))
    named = frozenset(find_rule_id(catalogue, rule) for rule in config.getoption("--rule"))
    return choose_checks & named if named else choose_checks


def list_files_to_collect(wanted: Collection[str]) -> frozenset[Path] | None:
    """Return the files that may contain checks of the given rules, and the folders that contain these files. A
    passive rule selects all checks of its section.

    None stands for all files. The function returns None for many rules, because reading all files would take longer
    than collecting them.
    """
    from harness.rules.catalogue import load_catalogue
    from harness.rules.places import list_suite_files_containing

    if len(wanted) > _MAX_RULES_OF_FULLY_LISTED_SELECTION:
        return None
    catalogue = load_catalogue()
    folders = {SUITES.parent / catalogue[rule].folder for rule in wanted if catalogue[rule].observe == "passive"}
    of_sections = [path for folder in folders for path in folder.glob("test_*.py")]
    files = [*list_suite_files_containing(["*/*/test_*.py"], wanted), *of_sections]
    return frozenset(each for path in files for each in (path, *path.parents))


def choose_checks(wanted: Collection[str], checks: Iterable[tuple[pytest.Item, str]]) -> list[pytest.Item]:
    """Return those of the given checks that cover at least one of the given rules. ``checks`` contains each check with
    its id. No check covers a passive rule, so if all given rules are passive, return the checks of their sections.
    """
    from harness.rules.catalogue import load_catalogue

    checks, catalogue, wanted = list(checks), load_catalogue(), frozenset(wanted)
    of_rules = [item for item, _ in checks if not wanted.isdisjoint(find_covered_rules(item))]
    folders = {catalogue[rule].folder for rule in wanted if catalogue[rule].observe == "passive"}
    return of_rules or [item for item, path in checks if path.partition("::")[0].rpartition("/")[0] in folders]
