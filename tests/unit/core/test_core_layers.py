"""The layers of the core: a folder imports and calls only its own layer and lower layers, and parts do not call each
other in circles.

Every mention of ``qm.<part>`` counts as a call: in steps, in their continuations, and in tables of methods.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from core_network import Network

from reference_qm.core import queue_manager
from reference_qm.core.dispatch import HANDLERS_BY_EVENT_TYPE
from reference_qm.core.parts import QueueManagerParts

CORE = Path(queue_manager.__file__).parent
LAYERS = ("store", "names", "queueing", "sessions", "transfer", "enterprise", "remote", "commands")
BELOW = ("arguments", "errors", "events", "part")
ABOVE = ("dispatch", "installation", "parts", "queue_manager", "replacing")
RANK = {name: rank for rank, names in enumerate((BELOW, *((one,) for one in LAYERS), ABOVE)) for name in names}
MODULES = sorted(path for path in CORE.rglob("*.py") if path.name != "__init__.py")


@pytest.fixture(scope="module")
def core():
    return Network().host(1).core


@pytest.fixture(scope="module")
def layer_of(core) -> dict[str, str]:
    """Return the layer of each part, and of each other attribute of the queue manager whose class is defined in a
    layer.
    """
    modules = {name: type(value).__module__.split(".") for name, value in vars(core).items()}
    return {
        name: parts[2] for name, parts in modules.items() if parts[:2] == ["reference_qm", "core"] and len(parts) > 3
    }


@pytest.fixture(scope="module")
def calls(layer_of) -> dict[Path, set[str]]:
    return {path: called(ast.parse(path.read_text(encoding="utf-8")), layer_of) for path in MODULES}


def place(path: Path) -> str:
    return path.relative_to(CORE).parts[0].removesuffix(".py")


def imported(path: Path) -> Iterator[str]:
    """Yield the folders and modules of the core that a module imports, except imports for types alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = {
        one
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for one in ast.walk(node)
    }
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module and node not in for_types:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for parts in (name.split(".") for name in names):
            if parts[:2] == ["reference_qm", "core"]:
                yield parts[2]


def called(tree: ast.AST, known: dict[str, str]) -> set[str]:
    """Return the attributes of a queue manager that a piece of code mentions."""
    named = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in known]
    return {node.attr for node in named if ast.unparse(node.value).rpartition(".")[2] == "qm"}


def test_every_folder_and_module_of_the_core_belongs_to_a_layer():
    assert {place(path) for path in MODULES} == set(RANK)


def test_core_layer_imports_only_itself_and_lower_layers():
    wrong = {
        str(path.relative_to(CORE)): sorted(upward)
        for path in MODULES
        if (upward := {one for one in imported(path) if RANK[one] > RANK[place(path)]})
    }
    assert wrong == {}


def test_core_layer_calls_only_itself_and_lower_layers(calls, layer_of):
    wrong = {
        str(path.relative_to(CORE)): sorted(upward)
        for path, names in calls.items()
        if place(path) in LAYERS and (upward := {one for one in names if RANK[layer_of[one]] > RANK[place(path)]})
    }
    assert wrong == {}


def test_core_parts_call_each_other_without_circles(calls, layer_of, core):
    parts = vars(QueueManagerParts(core))
    below = {name: calls[CORE / layer_of[name] / f"{name}.py"] & parts.keys() - {name} for name in parts}
    while lowest := [name for name, others in below.items() if not others & below.keys()]:
        for name in lowest:
            del below[name]
    assert below == {}, "these cannot be put in an order"


def test_attribute_class_and_file_of_a_part_have_one_name(core):
    for name, part in vars(QueueManagerParts(core)).items():
        assert type(part).__name__ == "".join(word.capitalize() for word in name.split("_"))
        assert type(part).__module__.rpartition(".")[2] == name


def test_layer_check_finds_calls_within_nested_functions_and_tables():
    code = (
        "def step(self):\n def done():\n  self.qm.sending.send()\n self.qm.disk.commit(done, lambda: it.qm.ping.ask())"
    )
    table = "TABLE = {1: lambda qm: qm.closing.close}\nother.quotas.check_room_for_message()"
    known = dict.fromkeys(("sending", "disk", "ping", "closing", "quotas"), "")
    assert called(ast.parse(code), known) == {"sending", "disk", "ping"}
    assert called(ast.parse(table), known) == {"closing"}


def test_every_core_event_is_posted_by_a_part_and_handled():
    posted = {
        node.func.id
        for path in MODULES
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] in ("post_event", "_post")
        for node in call.args
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    heard = {kind.__name__ for kind in HANDLERS_BY_EVENT_TYPE if kind.__module__ == "reference_qm.core.events"}
    assert posted == heard


def test_core_readme_lists_every_event():
    rows = (
        (CORE / "README.md").read_text(encoding="utf-8").partition("| Event |")[2].partition("\n\n")[0].splitlines()[2:]
    )
    kinds = [kind.__name__ for kind in HANDLERS_BY_EVENT_TYPE if kind.__module__ == "reference_qm.core.events"]
    assert sorted(row.split("|")[1].strip() for row in rows) == sorted(kinds)
