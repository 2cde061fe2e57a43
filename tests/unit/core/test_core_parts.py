"""The parts of the queue manager: each part is one class in its own module, and has no state of its own."""

from pathlib import Path

import pytest
from core_network import Network

from reference_qm.core import queue_manager
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.parts import QueueManagerParts


@pytest.fixture
def core():
    return Network().host(1).core


def test_every_core_part_is_a_class_in_its_own_module(core):
    made = vars(QueueManagerParts(core))
    assert len(made) > 50
    assert all(type(part).__bases__ == (QueueManagerPart,) for part in made.values())
    assert len({type(part).__module__ for part in made.values()}) == len(made)
    assert made.keys() == {name for name, value in vars(core).items() if isinstance(value, QueueManagerPart)}


def test_core_has_no_table_of_procedures(core):
    assert not hasattr(core, "procedures")
    assert list(Path(queue_manager.__file__).parent.rglob("*procedures*")) == []


def test_core_part_has_no_state_of_its_own(core):
    parts = {name: value for name, value in vars(core).items() if isinstance(value, QueueManagerPart)}
    assert [name for name, part in parts.items() if hasattr(part, "__dict__")] == []


def test_the_readme_lists_every_part_with_its_class_and_module(core):
    folder = Path(queue_manager.__file__).parent
    rows = [line for line in (folder / "README.md").read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    listed = [tuple(cell.strip(" `") for cell in row.split("|")[1:4]) for row in rows]
    assert listed == [
        (name, type(part).__name__, type(part).__module__.removeprefix("reference_qm.core.").replace(".", "/") + ".py")
        for name, part in vars(QueueManagerParts(core)).items()
    ]
