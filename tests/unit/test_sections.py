"""Every section of events and packets that the reference implements is covered by a check, or by a test that names the
section.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.paths import SUITES
from harness.rules.catalogue import load_index

TESTS = Path(__file__).parents[1]
WANTED = {
    "MQQB": re.compile(r"3\.1\.[567]\."),
    "MQDMPR": re.compile(r"3\.1\.[467]\.|3\.2\.7\."),
    "MQQP": re.compile(r"3\.1\.(3|4|6)(\.|$)"),
}
AT_LEAST = {"MQQB": 50, "MQDMPR": 50, "MQQP": 15}
"""The minimum number of sections of each document, so that a wrong pattern which finds no section makes the
test fail.
"""
_RULE = re.compile(r"\b(MQQB|MQDMPR|MQQP)-(\d+(?:\.\d+)+)-D?\d")
_NAMED = re.compile(r"MS-(MQQB|MQDMPR|MQQP) ((?:\d+(?:\.\d+)+|, | and | to )+)")


def docstrings() -> Iterator[str]:
    """Yield the docstrings of the test modules and of their tests and classes."""
    for path in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and (text := ast.get_docstring(node)):
                yield " ".join(text.split())


def expanded(first: str, last: str) -> list[str]:
    """Return the sections of a range such as ``3.1.7.6 to 3.1.7.9``."""
    parent, _, begin = first.rpartition(".")
    assert parent == last.rpartition(".")[0], f"{first} to {last} are not of one section"
    return [f"{parent}.{number}" for number in range(int(begin), int(last.rpartition(".")[2]) + 1)]


def named(text: str) -> set[tuple[str, str]]:
    """Return the sections that a docstring names: after ``MS-MQQB`` numbers with commas, ``and`` and ``to``."""
    found = set()
    for document, numbers in _NAMED.findall(text):
        words = re.findall(r"\d+(?:\.\d+)+|to", numbers)
        for place, word in enumerate(words):
            if word != "to":
                found.add((document, word))
            elif 0 < place < len(words) - 1:
                found |= {(document, one) for one in expanded(words[place - 1], words[place + 1])}
    return found


def checked() -> set[tuple[str, str]]:
    """Return the sections of all rules that checks of the suites name."""
    files = [path.read_text(encoding="utf-8") for path in SUITES.rglob("test_*.py")]
    return {(document, section) for text in files for document, section in _RULE.findall(text)}


@pytest.fixture(scope="module")
def list_named_sections() -> set[tuple[str, str]]:
    """Return the sections that a docstring of a test or a check names."""
    return checked() | {one for text in docstrings() for one in named(text)}


def sections(document: str) -> list[str]:
    """Return the sections of a document that have rules or steps and that must be covered."""
    found = {name.split("-")[1] for name, row in load_index().items() if name.startswith(f"{document}-")}
    return sorted(section for section in found if WANTED[document].match(section))


def test_section_scan_understands_lists_and_ranges():
    text = "MS-MQQB 3.1.5.1, 3.1.7.6 to 3.1.7.8 and 3.1.7.10: both; MS-MQDMPR 3.1.7.1.9."
    found = {("MQQB", one) for one in ("3.1.5.1", "3.1.7.6", "3.1.7.7", "3.1.7.8", "3.1.7.10")}
    assert named(text) == found | {("MQDMPR", "3.1.7.1.9")}


@pytest.mark.parametrize("document", WANTED)
def test_every_section_is_named_by_a_check_or_a_test(document, list_named_sections):
    wanted = sections(document)
    assert len(wanted) >= AT_LEAST[document]
    missing = [section for section in wanted if (document, section) not in list_named_sections]
    assert not missing, f"no check and no test names MS-{document} {', '.join(missing)}"
