"""Parametrize a check with the cells of a table, and judge a cell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.expectations import fields, one_of
from harness.judging.judge import Judge
from harness.run.marks import covers, malforms, needs
from harness.states.machine import Machine
from harness.states.table import OUTCOME, Cell, Table


def for_each_cell(machine: type[Machine]) -> Callable[[Any], Any]:
    """Parametrize a check with the cells of a machine's table: argument ``cell``."""
    table = machine.table
    return pytest.mark.parametrize(
        "cell",
        [pytest.param(cell, marks=_build_marks(cell, table), id=cell.name) for cell in table.list_demanded_cells()],
    )


def _build_marks(cell: Cell, table: Table) -> list[pytest.MarkDecorator]:
    marks = [covers(*cell.all_rules)]
    if wanted := table.list_needs(cell):
        marks.append(needs(*wanted))
    if broken := table.events[cell.event].malforms:
        marks.append(malforms(*broken))
    return marks


def judge_cell(judge: Judge, cell: Cell, machine: Machine) -> None:
    """Bring the system into the state of a cell, apply the event of the cell, and compare the outcome and everything
    visible.
    """
    table = machine.table
    machine.bring_into(cell.state)
    outcome = machine.apply(cell.event)
    following = cell.outcomes.get(outcome)
    shown = {} if following is None else {**table.states[following].shows, **table.beside}
    seen = machine.look(*shown)
    shown[OUTCOME] = one_of(*cell.outcomes)
    seen[OUTCOME] = outcome
    places_of_rules: dict[str, list[str]] = {}
    for place in shown:
        places_of_rules.setdefault(place if place in cell.rules else OUTCOME, []).append(place)
    for name, places in places_of_rules.items():
        expected, observed = ({place: values[place] for place in reversed(places)} for values in (shown, seen))
        judge(
            *cell.rules[name],
            expected=fields(expected),
            observed=observed,
            evidence=machine.evidence,
            case=f'"{cell.event}" in state "{cell.state}"',
            errata=cell.errata,
        )
