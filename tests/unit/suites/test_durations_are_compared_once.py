"""Only `peer.measure_duration` compares durations, because only this method subtracts stalls
(harness/peer/durations.py).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SUITES = Path(__file__).parents[3] / "suites"
INSTANTS = {"time_ms", "closed_at_ms", "elapsed_ms", "monotonic_ms"}
"""The attributes of packets, connections, the recorder and the environment that are times."""
ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
"""The operators that compare times. The operator ``is`` is not one of them, because ``is None`` compares no times."""


def test_no_check_subtracts_or_compares_times_directly() -> None:
    modules = [path for path in SUITES.rglob("*.py") if not is_of_the_core(path)]
    assert {f"{path.relative_to(SUITES)}:{name}" for path in modules for name in functions(path)} == set()


def is_of_the_core(path: Path) -> bool:
    """Return whether a module is part of a SUT: faults and readings run in the core and use its clock."""
    return "faults" in path.stem


def functions(path: Path) -> Iterator[str]:
    """Yield the names of the functions of a module that subtract or compare times."""
    for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(function, ast.FunctionDef) and any(map(is_measuring, ast.walk(function))):
            yield function.name


def is_measuring(node: ast.AST) -> bool:
    """Return whether a node subtracts or compares a time."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        return names_time(node.left) or names_time(node.right)
    if isinstance(node, ast.Compare) and any(isinstance(operator, ORDER) for operator in node.ops):
        return any(map(names_time, (node.left, *node.comparators)))
    return False


def names_time(expression: ast.AST) -> bool:
    """Return whether an expression contains a time, except in the arguments of `measure_duration`."""
    if isinstance(expression, ast.Attribute) and expression.attr in INSTANTS:
        return True
    if isinstance(expression, ast.Call) and getattr(expression.func, "attr", None) == "measure_duration":
        return False
    return any(map(names_time, ast.iter_child_nodes(expression)))


def test_scan_finds_each_way_to_subtract_or_compare_times(tmp_path: Path) -> None:
    module = tmp_path / "checks.py"
    module.write_text(
        "def subtracts(a, b):\n    return a.time_ms - b\n"
        "def compares(a, b):\n    return a < b.closed_at_ms <= 7\n"
        "def calls(peer, due):\n    return due - peer.recorder.elapsed_ms()\n"
        "def asks(a, peer):\n    return a.closed_at_ms is None or peer.measure_duration(a.time_ms + 1).ms > 2\n",
        encoding="utf-8",
    )
    assert list(functions(module)) == ["subtracts", "compares", "calls"]
