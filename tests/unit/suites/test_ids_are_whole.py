"""`git grep ID` shows row, check and fault of every checked rule, in the folder of its section."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from harness.faults.registry import load_faults
from harness.paths import SUITES
from harness.proof.inventory import take_inventory

ID = re.compile(r"(MQ[A-Z]+|REGRESSIONS)-\d+(\.\d+)*-D?\d+")
SECTION = re.compile(r"(MQ[A-Z]+|REGRESSIONS)-\d+(\.\d+)*")
PIECE = re.compile(r"(MQ(MQ|QB|QP|DMPR|SO)|REGRESSIONS)-")
ROOT = SUITES.parent
TABLES = ("CHECKED_ELSEWHERE", "BROKEN_ELSEWHERE")


@pytest.fixture(scope="module")
def rules() -> dict[str, dict[str, Any]]:
    """Return every rule that some check judges, as ``mqconform rules --format json`` gives it."""
    inventory = take_inventory()
    return {rule: inventory.row(rule) for rule in inventory.checked()}


@cache
def folders() -> dict[str, Path]:
    """Return the folder of each rule: that of its row."""
    return {
        rule: file.parent
        for file in SUITES.glob("*/*/rules.toml")
        for rule in tomllib.loads(file.read_text(encoding="utf-8"))
    }


def modules(folder: Path, *, of_faults: bool) -> Iterator[ast.Module]:
    for path in sorted(folder.glob("*.py")):
        if path.name.startswith("faults") == of_faults:
            yield ast.parse(path.read_text(encoding="utf-8"))


def tables(module: ast.Module) -> Iterator[ast.Assign]:
    for node in module.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in TABLES:
            yield node


@cache
def written(folder: Path, *, of_faults: bool) -> frozenset[str]:
    """Return the ids that stand whole in the strings of a folder's checks and predicates, or of its faults."""
    found: set[str] = set()
    for module in modules(folder, of_faults=of_faults):
        listed = {id(node) for table in tables(module) for node in ast.walk(table)}
        found |= {
            node.value
            for node in ast.walk(module)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in listed
        }
    return frozenset(one for one in found if ID.fullmatch(one))


@cache
def second_faults(document: Path) -> frozenset[str]:
    """Return the strings of the second faults of a document, which lie together: their author knew no sections."""
    modules = (ast.parse(path.read_text(encoding="utf-8")) for path in document.glob("second_faults*.py"))
    nodes = (node for module in modules for node in ast.walk(module) if isinstance(node, ast.Constant))
    return frozenset(node.value for node in nodes if isinstance(node.value, str))


def elsewhere(folder: Path, *, of_faults: bool) -> dict[str, tuple[str, ...]]:
    """Return the notes of a folder on checks or faults of other sections, by rule."""
    found: dict[str, tuple[str, ...]] = {}
    for module in modules(folder, of_faults=of_faults):
        for table in tables(module):
            found |= ast.literal_eval(table.value)
    return found


def expected(rules: dict[str, dict[str, Any]], folder: Path, *, of_faults: bool) -> dict[str, tuple[str, ...]]:
    """Return the table that a folder needs: its rules that its own modules do not name."""
    return {
        rule: tuple(sorted(_names(row, of_faults=of_faults)))
        for rule, row in rules.items()
        if folders()[rule] == folder and rule not in written(folder, of_faults=of_faults)
    }


def _names(row: dict[str, Any], *, of_faults: bool) -> set[str]:
    if of_faults:
        return set(row["faults"])
    return {check.partition("::")[2].partition("[")[0] for check in row["tests"]}


@pytest.mark.parametrize("of_faults", [False, True], ids=["checks", "faults"])
def test_every_checked_rule_is_named_in_the_folder_of_its_section(rules, of_faults):
    wrong = {}
    for folder in sorted(set(folders().values())):
        listed, needed = elsewhere(folder, of_faults=of_faults), expected(rules, folder, of_faults=of_faults)
        if listed != needed:
            file = folder.relative_to(ROOT) / ("faults.py" if of_faults else "elsewhere.py")
            wrong[f"{file}: {TABLES[of_faults]}"] = needed
    assert wrong == {}, "these tables must read so"


def test_as_many_checks_are_frozen_as_there_are(rules):
    """A run with fewer ends with exit code 5; nobody forgets to raise the number."""
    checks = {check for row in rules.values() for check in row["tests"] if "/test_" in check}
    assert tomllib.loads((SUITES / "frozen.toml").read_text(encoding="utf-8")) == {"tests": len(checks)}


def test_every_section_is_a_package_with_its_heading():
    for folder in set(folders().values()):
        heading = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
        section = re.match(r"(?:MS-)?([A-Z]+) (\d+(?:\.\d+)*) ", heading)
        assert section is not None, f"{folder}/__init__.py names no section"
        numbers = re.match(r"s((?:\d+_)+)", folder.name)
        assert numbers is not None, folder
        named = [int(number) for number in numbers[1].strip("_").split("_")]
        assert (folder.parent.name, named) == (section[1].lower(), [int(one) for one in section[2].split(".")])


def test_every_checked_rule_has_a_fault(rules):
    assert [rule for rule, row in rules.items() if not row["faults"]] == []


def test_faults_lie_with_a_section_whose_rule_they_break():
    for fault in load_faults().values():
        if not fault.breaks:
            assert fault.reading or fault.says.startswith("Tolerated: "), fault.name
            continue
        in_its_section = any(rule in written(folders()[rule], of_faults=True) for rule in fault.breaks)
        of_its_document = any(fault.name in second_faults(folders()[rule].parent) for rule in fault.breaks)
        assert in_its_section or of_its_document, fault.name


def test_no_id_is_made_of_pieces():
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
