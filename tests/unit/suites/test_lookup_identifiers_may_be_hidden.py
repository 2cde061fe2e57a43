"""A control channel need not return the LookupIdentifier of a message, so checks read it only through a function that
permits its absence.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from harness.paths import SUITES


def reads(path: Path) -> Iterator[int]:
    """Yield the lines in which a check reads ``lookup_id`` of a message as if it were always present."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        subscript = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
        if subscript and node.slice.value == "lookup_id":
            yield node.lineno


def test_checks_accept_missing_lookup_identifiers() -> None:
    found = {str(path.relative_to(SUITES)): list(reads(path)) for path in SUITES.rglob("*.py")}
    assert {name: lines for name, lines in found.items() if lines} == {}
