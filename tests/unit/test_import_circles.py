"""Modules and folders have no circular imports; imports for types and within functions count as well
(docs/architecture.md).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("reference_qm", "harness", "suites", "reports", "captures", "benchmarks", "scripts")
WHERE_DOCUMENTS_SHARE = ("suites",)
"""The folder suites: the checks of one document use steps of other documents, so only its modules must be free of
circular imports.
"""

Module = tuple[str, ...]
"""The parts of a module's name, including ``__init__``."""
Arrow = tuple[str, str]

ELEMENTS = "the elements of MS-MQDMPR 3.1.1 refer to each other: adm has them, these name the elements that they hold"
CALLS = "an output names the association and the call that it is about, which have outputs; a handle names its calls"
BY_NATURE: Mapping[Arrow, str] = {
    ("reference_qm.core.part", "reference_qm.core.queue_manager"): "a part's state is its queue manager's",
    ("reference_qm.model.collection", "reference_qm.model.adm"): ELEMENTS,
    ("reference_qm.model.elements", "reference_qm.model.adm"): ELEMENTS,
    ("reference_qm.model.position_list", "reference_qm.model.adm"): ELEMENTS,
    ("reference_qm.model.tables", "reference_qm.model.adm"): ELEMENTS,
    ("reference_qm.model.transactions", "reference_qm.model.adm"): ELEMENTS,
    ("reference_qm.rpc.calls", "reference_qm.rpc.association"): CALLS,
    ("reference_qm.rpc.events", "reference_qm.rpc.association"): CALLS,
    ("reference_qm.rpc.events", "reference_qm.rpc.calls"): CALLS,
    ("reference_qm.rpc.events", "reference_qm.rpc.groups"): CALLS,
    ("reference_qm.rpc.groups", "reference_qm.rpc.association"): CALLS,
    ("reference_qm.rpc.groups", "reference_qm.rpc.calls"): CALLS,
    ("reference_qm.rpc.pending", "reference_qm.rpc.association"): CALLS,
}
"""Imports for types that close a circle, which are permitted because the types of these values refer to each other."""


def modules() -> dict[Module, Path]:
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    return {path.relative_to(ROOT).with_suffix("").parts: path for path in paths}


def imported(code: str, known: Iterable[Module]) -> set[Module]:
    """Return the modules that a module imports, at any depth and for any purpose. The syntax tree is not kept, because
    Python's garbage collection of all trees takes longer than parsing them again.
    """
    tree = ast.parse(code)
    names: set[tuple[str, ...]] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {(*node.module.split("."), alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {tuple(alias.name.split(".")) for alias in node.names}
    tries = ((name, (*name, "__init__"), name[:-1], (*name[:-1], "__init__")) for name in names)
    return {found[0] for each in tries if (found := [one for one in each if one in known])}


@pytest.fixture(scope="module")
def arrows() -> set[tuple[Module, Module]]:
    paths = modules()
    return {
        (one, other)
        for one, path in paths.items()
        for other in imported(path.read_text(encoding="utf-8"), paths)
        if other != one
    }


def without_reason(arrows: set[tuple[Module, Module]]) -> set[tuple[Module, Module]]:
    return {(one, other) for one, other in arrows if (".".join(one), ".".join(other)) not in BY_NATURE}


def circle(arrows: Iterable[tuple[object, object]]) -> list[object]:
    """Return one circle of imports, or an empty list if there is none."""
    graph: dict[object, set[object]] = {}
    for one, other in arrows:
        graph.setdefault(one, set()).add(other)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def rooms_of(arrows: set[tuple[Module, Module]]) -> dict[Module, set[tuple[str, str]]]:
    """Return for each folder the imports between its files and folders."""
    found: dict[Module, set[tuple[str, str]]] = {}
    for one, other in arrows:
        depth = next(at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
        found.setdefault(one[:depth], set()).add((one[depth], other[depth]))
    return found


def test_no_modules_import_each_other_in_a_circle(arrows):
    assert circle((".".join(one), ".".join(other)) for one, other in without_reason(arrows)) == []


def test_files_and_folders_within_a_folder_have_no_import_circle(arrows):
    rooms = rooms_of(without_reason(arrows))
    circles = {"/".join(folder): circle(rooms[folder]) for folder in rooms if folder != WHERE_DOCUMENTS_SHARE}
    assert {folder: found for folder, found in circles.items() if found} == {}


@pytest.mark.parametrize("arrow", BY_NATURE, ids=" -> ".join)
def test_each_excused_import_exists_and_closes_a_circle(arrow, arrows):
    one, other = (tuple(name.split(".")) for name in arrow)
    assert (one, other) in arrows
    assert circle([*without_reason(arrows), (one, other)])


def test_import_scan_finds_a_circle():
    assert circle([("a", "b"), ("b", "c"), ("c", "a")])
    assert not circle([("a", "b"), ("b", "c"), ("a", "c")])
    assert rooms_of({(("p", "x", "a"), ("p", "y")), (("p", "y"), ("p", "x", "b"))}) == {
        ("p",): {("x", "y"), ("y", "x")}
    }


def test_import_scan_includes_type_and_function_level_imports():
    code = "if TYPE_CHECKING:\n    from p.a import A\ndef f():\n    import p.b\n    from p import c\n"
    known = [("p", "a"), ("p", "b"), ("p", "c"), ("p", "d")]
    assert imported(code, known) == {("p", "a"), ("p", "b"), ("p", "c")}
