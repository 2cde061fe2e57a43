"""The name of a function consists of a verb and a noun; a participle alone is the name of a value
(style.md, Naming).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FINISHED = (
    "reference_qm",
    "reports",
    "benchmarks",
    "scripts",
    "examples",
    "harness/attach",
    "harness/capture",
    "harness/cli",
    "harness/compiled",
    "harness/environment",
    "harness/expectations",
    "harness/faults",
    "harness/judging",
    "harness/mutation",
    "harness/preflight",
    "harness/proof",
    "harness/results",
    "harness/prerequisites",
    "harness/rules",
    "harness/run",
    "harness/sut",
    "harness/topology",
    "harness/wire",
)
"""The folders and files whose functions have such names. Add new folders to this list, and remove none."""
REGULAR = re.compile(r"[a-z]{2,}ed")
IRREGULAR = re.compile(
    r"begun|borne|bought|bound|broken|brought|built|caught|chosen|dealt|done|drawn|driven|fed|felt|given|gone|"
    r"got|held|hidden|kept|known|laid|led|lost|made|meant|met|paid|said|seen|sent|shown|sold|spent|spoken|"
    r"stolen|sworn|taken|taught|thought|thrown|told|torn|understood|woken|won|worn|written"
)
NO_PARTICIPLES = frozenset({"embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed"})
PROPERTIES = frozenset({"property", "cached_property", "setter"})
EXCEPTIONS: Mapping[str, str] = {
    "harness/expectations/protocol.py:acknowledged": "reads as a value: judge(expected=acknowledged(message), ...)",
    "harness/run/marks.py:varied": "reads as a mark of a check: @varied(...)",
}
"""Functions (``file.py:name``) that have a participle as their name, each with the reason."""


def is_bare_participle(name: str) -> bool:
    word = name.strip("_")
    return word not in NO_PARTICIPLES and any(one.fullmatch(word) for one in (REGULAR, IRREGULAR))


def functions(tree: ast.AST) -> Iterator[str]:
    """Yield the names of functions and methods, except properties, which are values."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            decorators = {ast.unparse(one).rpartition(".")[2] for one in node.decorator_list}
            if not decorators & PROPERTIES:
                yield node.name


def participles(place: str) -> set[str]:
    path = ROOT / place
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return {
        f"{file.relative_to(ROOT)}:{name}"
        for file in files
        for name in functions(ast.parse(file.read_text(encoding="utf-8")))
        if is_bare_participle(name)
    }


@pytest.mark.parametrize("place", FINISHED)
def test_no_function_is_named_by_a_bare_participle(place):
    assert (ROOT / place).exists()
    assert participles(place) - EXCEPTIONS.keys() == set()


def test_every_excepted_function_name_still_exists():
    assert EXCEPTIONS.keys() <= set().union(*(participles(place) for place in FINISHED))


@pytest.mark.parametrize("name", ["opened", "_shown", "told", "kept", "sent", "read_", "feed", "open_session", "_red"])
def test_name_scan_recognizes_participles(name):
    assert is_bare_participle(name) == (name in ("opened", "_shown", "told", "kept", "sent"))


def test_name_scan_includes_nested_functions_and_excludes_properties():
    nested = "def opened():\n    def told(): ..."
    methods = "class A:\n    @property\n    def kept(self): ...\n    async def sent(self): ..."
    assert [*functions(ast.parse(nested)), *functions(ast.parse(methods))] == ["opened", "told", "sent"]
