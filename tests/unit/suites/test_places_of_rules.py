"""Row, check and fault of a rule are in the folder of its section, or the section names the folder of the check."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from harness.proof.inventory import take_inventory
from harness.proof.places import FoldersOfRule, find_folders_of_rule
from harness.rules.catalogue import load_catalogue

IN_ONE_FOLDER = 0.765
"""The minimum share of checked rules whose row, check and fault are in one folder."""
NAMED = 0.95
"""The minimum share of checked rules whose check and fault are in the folder of the row, or in a folder that the
section names.
"""


@pytest.fixture(scope="module")
def rules() -> Mapping[str, FoldersOfRule]:
    """Return the places of every checked rule."""
    inventory = take_inventory()
    return {rule: find_folders_of_rule(inventory, rule) for rule in inventory.checked_rules()}


def test_a_section_names_the_folders_that_check_the_rules_it_does_not_check(rules):
    for section, named in load_catalogue().checked_in.items():
        away = {
            rule: places.checks
            for rule, places in rules.items()
            if section == places.folder_of_row not in places.checks
        }
        lacking = {rule: sorted(checks) for rule, checks in away.items() if checks.isdisjoint(named)}
        assert lacking == {}, f"{section}/rules.toml: checked_in needs one of the folders of each"
        idle = [folder for folder in named if not any(folder in checks for checks in away.values())]
        assert idle == [], f"{section}/rules.toml: checked_in names folders that check none of its other rules"


def test_most_rules_have_row_check_and_fault_in_one_folder(rules):
    assert sum(places.are_in_one_folder() for places in rules.values()) >= IN_ONE_FOLDER * len(rules)


def test_check_and_fault_are_in_folder_of_row_or_declared_folder(rules):
    assert sum(places.are_in_listed_folders() for places in rules.values()) >= NAMED * len(rules)
