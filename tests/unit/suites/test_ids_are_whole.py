"""`git grep ID` finds the row, the check and the fault of every checked rule."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from harness.faults.registry import load_faults
from harness.paths import SUITES
from harness.proof.inventory import take_inventory
from harness.rules.catalogue import RULES_FILE, TITLE_KEY
from harness.rules.places import list_tables_in_folder

ID = re.compile(r"(MQ[A-Z]+|REGRESSIONS)-\d+(\.\d+)*-D?\d+")
SECTION = re.compile(r"(MQ[A-Z]+|REGRESSIONS)-\d+(\.\d+)*")
PIECE = re.compile(r"(MQ(MQ|QB|QP|DMPR|SO)|REGRESSIONS)-")
ROOT = SUITES.parent


@pytest.fixture(scope="module")
def rules() -> dict[str, dict[str, Any]]:
    """Return every checked rule with the fields that ``mqconform rules --format json`` prints."""
    inventory = take_inventory()
    return {rule: inventory.describe_rule_as_json(rule) for rule in inventory.checked_rules()}


@cache
def heads() -> dict[Path, dict[str, Any]]:
    """Return the content of each section's rules.toml, by folder."""
    return {file.parent: tomllib.loads(file.read_text(encoding="utf-8")) for file in SUITES.glob(f"*/*/{RULES_FILE}")}


@cache
def folders() -> dict[str, Path]:
    """Return the folder of each rule, which is the folder of its row."""
    return {rule: folder for folder, head in heads().items() for rule in head if ID.fullmatch(rule)}


@cache
def text_of(path: Path) -> str:
    """Return the text of a module, and of the tables in its folder from which the module makes checks."""
    return path.read_text(encoding="utf-8") + list_tables_in_folder(path.parent).decode()


def test_each_rule_id_of_a_check_is_literal_in_its_source(rules):
    checks = {(check.partition("::")[0], rule) for rule, row in rules.items() for check in row["tests"]}
    assert [each for each in sorted(checks) if f'"{each[1]}"' not in text_of(ROOT / each[0])] == []


def test_each_rule_id_of_a_fault_is_literal_in_its_source():
    faults = load_faults().values()
    pieces = [
        (one.name, rule) for one in faults for rule in one.breaks if f'"{rule}"' not in text_of(ROOT / str(one.file))
    ]
    assert pieces == []


def test_frozen_number_of_checks_equals_their_actual_number(rules):
    """The number in frozen.toml equals the number of checks. A run with fewer checks ends with exit code 5, so the
    number must be raised for each new check.
    """
    checks = {check for row in rules.values() for check in row["tests"] if "/test_" in check}
    assert tomllib.loads((SUITES / "frozen.toml").read_text(encoding="utf-8")) == {"tests": len(checks)}


def test_every_section_of_the_suites_has_a_heading():
    for folder, head in heads().items():
        section = re.match(r"(?:MS-)?([A-Z]+) (\d+(?:\.\d+)*) ", head[TITLE_KEY])
        assert section is not None, f"{folder}: {head[TITLE_KEY]} names no section"
        numbers = re.match(r"s((?:\d+_)+)", folder.name)
        assert numbers is not None, folder
        named = [int(number) for number in numbers[1].strip("_").split("_")]
        assert (folder.parent.name, named) == (section[1].lower(), [int(one) for one in section[2].split(".")])


def test_every_checked_rule_has_a_fault(rules):
    assert [rule for rule, row in rules.items() if not row["faults"]] == []


def test_fault_is_in_folder_of_a_section_whose_rule_it_breaks():
    for fault in load_faults().values():
        if not fault.breaks:
            assert fault.reading or fault.says.startswith("Tolerated: "), fault.name
        else:
            assert (ROOT / str(fault.file)).parent in {folders()[rule] for rule in fault.breaks}, fault.name


def test_no_rule_id_is_concatenated():
    pieces = []
    for path in sorted(SUITES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr) and PIECE.search(ast.unparse(node)):
                pieces.append(f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}")
            elif (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and PIECE.match(node.value)
                and not (ID.match(node.value) or SECTION.fullmatch(node.value))
                and " " not in node.value
            ):
                pieces.append(f"{path.relative_to(ROOT)}:{node.lineno}: {node.value}")
    assert pieces == []
