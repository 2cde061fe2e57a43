"""Parametrize a check with the cells of a state table, and judge each cell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.expectations import Expectation, ExpectationDifference, fields
from harness.judging.judge import Judge
from harness.run.marks import covers, malforms, needs
from harness.states.machine import Machine
from harness.states.table import OUTCOME_KEY, StateTable, StateTableCell
from harness.states.vocabulary import describe_outcome


class PermittedOutcome(Expectation):
    """The expectation that an observed outcome is one of the permitted outcomes of a cell. The observed value is the
    name of the outcome.
    """

    def __init__(self, cell: StateTableCell) -> None:
        self.cell = cell

    def __str__(self) -> str:
        return " or ".join(map(describe_outcome, self.cell.outcomes))

    def show(self, observed: str) -> str:
        return describe_outcome(observed)

    def compare(self, observed: str) -> ExpectationDifference | None:
        return None if observed in self.cell.outcomes else ExpectationDifference(self.show(observed))


def for_each_cell(machine: type[Machine]) -> Callable[[Any], Any]:
    """Return a decorator that parametrizes a check with the cells of a machine's table. The check receives each
    cell as its argument ``cell``.
    """
    table = machine.table
    return pytest.mark.parametrize(
        "cell",
        [
            pytest.param(cell, marks=_build_pytest_marks(cell, table), id=cell.name)
            for cell in table.list_demanded_cells()
        ],
    )


def _build_pytest_marks(cell: StateTableCell, table: StateTable) -> list[pytest.MarkDecorator]:
    marks = [covers(*cell.all_rules)]
    if wanted := table.list_needs(cell):
        marks.append(needs(*wanted))
    if broken := table.events[cell.event].malforms:
        marks.append(malforms(*broken))
    return marks


def judge_cell(judge: Judge, cell: StateTableCell, machine: Machine) -> None:
    """Bring the system into the state of a cell, and apply the event of the cell. Judge the outcome, and what is
    observed at all probes (observed places, such as queues).
    """
    table = machine.table
    machine.bring_into_state(cell.state)
    outcome = machine.apply_event(cell.event)
    following = cell.outcomes.get(outcome)
    shown = {} if following is None else {**table.states[following].shows, **table.beside}
    seen = machine.observe_probes(*shown)
    shown[OUTCOME_KEY] = PermittedOutcome(cell)
    seen[OUTCOME_KEY] = outcome
    places_of_rules: dict[str, list[str]] = {}
    for place in shown:
        places_of_rules.setdefault(place if place in cell.rules else OUTCOME_KEY, []).append(place)
    for name, places in places_of_rules.items():
        in_order = sorted(places, key=lambda place: place != OUTCOME_KEY)  # the outcome, then the probes in their order
        expected, observed = ({place: values[place] for place in in_order} for values in (shown, seen))
        judge(
            *cell.rules[name],
            expected=fields(expected),
            observed=observed,
            evidence=machine.evidence,
            case=describe_cell(cell, table),
            errata=cell.errata,
        )


def describe_cell(cell: StateTableCell, table: StateTable) -> str:
    """Return the text that describes the state and the event of a cell. It precedes the observation in a verdict."""
    return f"State before: {table.states[cell.state].says} Event: {table.events[cell.event].says} Afterwards"
