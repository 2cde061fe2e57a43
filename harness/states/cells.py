"""Checks of every cell of a table: one parameter of a check for each cell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.expectations import fields, one_of
from harness.judging.judge import Judge
from harness.run.marks import covers, malforms, needs
from harness.states.machine import Machine
from harness.states.table import Cell, Table


def for_each_cell(machine: type[Machine]) -> Callable[[Any], Any]:
    """Parametrize a check with the cells of a machine's table: argument ``cell``."""
    table = machine.table
    return pytest.mark.parametrize(
        "cell", [pytest.param(cell, marks=_marks_of(cell, table), id=cell.name) for cell in table.demanded()]
    )


def _marks_of(cell: Cell, table: Table) -> list[pytest.MarkDecorator]:
    marks = [covers(*cell.rules)]
    if wanted := table.needs_of(cell):
        marks.append(needs(*wanted))
    if broken := table.events[cell.event].malforms:
        marks.append(malforms(*broken))
    return marks


def judge_cell(judge: Judge, cell: Cell, machine: Machine) -> None:
    """Bring the system into the state of a cell, apply its event, and compare the outcome and everything visible."""
    table = machine.table
    machine.bring_into(cell.state)
    outcome = machine.apply(cell.event)
    if outcome not in cell.outcomes:
        expected, observed = fields(outcome=one_of(*cell.outcomes)), {"outcome": outcome}
    else:
        shown = {**table.states[cell.outcomes[outcome]].shows, **table.beside}
        expected, observed = fields({"outcome": outcome, **shown}), {"outcome": outcome, **machine.look(*shown)}
    judge.all(expected=expected, observed=observed, evidence=machine.evidence, errata=cell.errata)
