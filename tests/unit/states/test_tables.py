"""Tables of states and events: mistakes in a table, the places of states, and the checks of the cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.errors import HarnessError
from harness.proof.inventory import take_inventory
from harness.rules.catalogue import load_catalogue
from harness.states.cells import PermittedOutcome, describe_cell
from harness.states.machine import Machine, event, mark_as_probe, state
from harness.states.table import StateTable, read_state_table, read_state_tables

WHOLE = """
machine = "a door"
initial = "open"
[states.open]
says = "It is open."
shows = { light = "on" }
[states.closed]
says = "It is closed."
final = true
[events.close]
says = "Somebody closes it."
[events.knock]
says = "Somebody knocks."
[cells.open]
close = { outcomes = { done = "closed" }, rules = ["MQQB-3.1.5.8-01"] }
knock = { open = "MS-MQQB 3.1.5.8 says nothing of doors" }
"""


def read(folder: Path, text: str) -> StateTable:
    path = folder / "states.toml"
    path.write_text(text, encoding="utf-8")
    return read_state_table(path)


def test_state_table_demands_the_cells_with_outcomes(tmp_path):
    table = read(tmp_path, WHOLE)
    assert [cell.name for cell in table.list_demanded_cells()] == ["open, close"]


def test_verdict_on_a_cell_shows_its_sentences(tmp_path):
    table = read(tmp_path, WHOLE)
    (cell,) = table.list_demanded_cells()
    assert describe_cell(cell, table) == "State before: It is open. Event: Somebody closes it. Afterwards"
    outcome = PermittedOutcome(cell)
    assert (str(outcome), outcome.compare("done")) == ("the system carries out the request", None)
    assert str(outcome.compare("EstablishConnection with CS + closed")) == (
        "the system sends an EstablishConnection packet with CS, then the system closes the connection"
    )
    assert str(outcome.compare("MQ_ERROR")) == "MQ_ERROR"


@pytest.mark.parametrize(
    ("line", "instead", "mistake"),
    [
        ('knock = { open = "MS-MQQB 3.1.5.8 says nothing of doors" }', "", "event 'knock' is missing"),
        ("MS-MQQB 3.1.5.8 says nothing of doors", "nobody knows", "open without a section"),
        ('{ done = "closed" }, rules = ["MQQB-3.1.5.8-01"]', '{ done = "closed" }', "has outcomes without rules"),
        ('done = "closed"', 'slams = "closed"', "unknown outcome 'slams'"),
        ('done = "closed"', 'done = "ajar"', "unknown state 'ajar'"),
        (
            '["MQQB-3.1.5.8-01"]',
            '{ outcome = ["MQQB-3.1.5.8-01"], bell = ["MQQB-3.1.5.8-01"] }',
            "rules about the probe 'bell'",
        ),
        ('initial = "open"', 'initial = "ajar"', "initial state 'ajar'"),
        ("knock = {", 'knock = { never = "it is deaf", ', "needs one of"),
        ("final = true", "finale = true", "is not a table of states"),
    ],
)
def test_mistake_in_a_state_table_gives_one_line_error(tmp_path, line, instead, mistake):
    assert line in WHOLE
    with pytest.raises(HarnessError, match=mistake) as raised:
        read(tmp_path, WHOLE.replace(line, instead))
    assert "\n" not in str(raised.value)


def test_state_machine_needs_a_step_for_each_state_event_and_probe(tmp_path):
    path = tmp_path / "door.py"
    read(tmp_path, WHOLE)
    steps: dict[str, Any] = {
        "leave": state("open")(lambda self: None),
        "close": event("close")(lambda self: "done"),
        "light": mark_as_probe("light")(lambda self: "on"),
    }
    type("Door", (Machine,), dict(steps), path=path)
    with pytest.raises(HarnessError, match=r"no method for 'close' in \[events\]"):
        type("Stuck", (Machine,), {name: step for name, step in steps.items() if name != "close"}, path=path)
    with pytest.raises(HarnessError, match=r"no cell uses the method for 'ring' in \[events\]"):
        type("Loud", (Machine,), steps | {"ring": event("ring")(lambda self: "done")}, path=path)


@pytest.fixture(scope="module")
def tables() -> list[StateTable]:
    return read_state_tables()


def test_rules_cited_by_state_table_cells_are_in_the_catalogue(tables):
    catalogue = load_catalogue()
    rules = {rule for table in tables for cell in table.list_demanded_cells() for rule in cell.all_rules}
    assert rules - set(catalogue) == set()


def test_every_state_table_cell_has_a_check(tables):
    names = {check for checks in take_inventory().checks_by_rule.values() for check in checks}
    for table in tables:
        folder = f"suites/{'/'.join(table.path.parts[-3:-1])}/"
        cells = [f"[{cell.name}]" for cell in table.list_demanded_cells()]
        assert cells
        here = [name for name in names if name.startswith(folder)]
        assert [cell for cell in cells if not any(name.endswith(cell) for name in here)] == [], table.path


def test_place_of_a_state_table_cell_is_its_line(tables):
    for table in tables:
        lines = table.path.read_text(encoding="utf-8").splitlines()
        for cell in table.cells.values():
            line = lines[int(table.locate_cell(cell).rpartition(":")[2]) - 1]
            assert line.removeprefix('"').startswith(cell.event), cell
