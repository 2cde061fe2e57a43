"""A check treats a failed step as an outcome of the system only if the control channel itself did not fail."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from harness.paths import SUITES

WIDE = {"ConformanceFailure", "MqconformError", "Exception"}


def caught(handler: ast.ExceptHandler) -> set[str]:
    return {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)} if handler.type else WIDE


def misjudged(path: Path) -> Iterator[int]:
    """Yield the lines in which a check catches all failures, including those of the control channel."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Try):
            passed = False
            for handler in node.handlers:
                passed = passed or "UNUSABLE_CHANNEL_ERRORS" in caught(handler)
                if caught(handler) & WIDE and not passed:
                    yield handler.lineno
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress"):
            yield from [node.lineno] if WIDE & set(map(ast.unparse, node.args)) else []


def test_checks_distinguish_channel_failure_from_refusal() -> None:
    found = {str(path.relative_to(SUITES)): list(misjudged(path)) for path in SUITES.rglob("*.py")}
    assert {name: lines for name, lines in found.items() if lines} == {}
