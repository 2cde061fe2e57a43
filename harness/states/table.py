"""Read ``states.toml``. For each state and event of a machine, this file contains the permitted outcomes, the next
state for each outcome, and the rules that demand these outcomes.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness.paths import SUITES
from harness.rules.places import STATES_FILE
from harness.states.vocabulary import MEANING_BY_WORD, find_unknown_outcome_words

OUTCOME_KEY = "outcome"
SECTION_PATTERN = re.compile(r"MS-[A-Z]+ \d+(\.\d+)+|erratum E\d+")
"""A pattern for the section or erratum that permits any outcome in a cell."""


@dataclass(frozen=True, slots=True)
class StateTableState:
    """A state. ``shows``: what is observed in this state at each probe (observed place, such as a queue). ``final``:
    whether the machine ends in this state.
    """

    says: str
    shows: Mapping[str, Any] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    final: bool = False


@dataclass(frozen=True, slots=True)
class StateTableEvent:
    """An event. ``malforms``: the rules that the event breaks on purpose."""

    says: str
    needs: tuple[str, ...] = ()
    malforms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StateTableCell:
    """The permitted outcomes of an event in a state, each with the next state, and the rules that demand these
    outcomes.

    ``rules``: the key ``OUTCOME_KEY`` contains the rules about the outcome and about probes without a separate key; the
    name of a probe contains the rules about the observation of this probe. A cell without outcomes has a reason:
    ``open`` names the section that permits any outcome, or ``never`` states why the event cannot occur in the
    state.
    """

    state: str
    event: str
    outcomes: Mapping[str, str] = field(default_factory=dict)
    rules: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    open: str = ""
    never: str = ""
    errata: str | None = None

    @property
    def all_rules(self) -> tuple[str, ...]:
        """All rules that the cell names: the rules about its outcome, and the rules about what is observed at each
        probe (observed place).
        """
        return tuple(dict.fromkeys(rule for rules in self.rules.values() for rule in rules))

    @property
    def name(self) -> str:
        """The name of the cell, which is part of the id of its check."""
        return f"{self.state}, {self.event}"


@dataclass(frozen=True, slots=True)
class StateTable:
    """A state table, which contains the states, the events and the cells of a machine. ``beside``: for each probe
    (observed place) that no event may change, what is observed there in every state.
    """

    path: Path
    machine: str
    initial: str
    states: Mapping[str, StateTableState]
    events: Mapping[str, StateTableEvent]
    cells: Mapping[tuple[str, str], StateTableCell]
    beside: Mapping[str, Any] = field(default_factory=dict)

    def list_demanded_cells(self) -> list[StateTableCell]:
        """Return the cells that demand an outcome, in the order of the table."""
        return [cell for cell in self.cells.values() if cell.outcomes]

    def list_needs(self, cell: StateTableCell) -> tuple[str, ...]:
        """Return the capabilities and facilities that the check of a cell needs."""
        following = [need for state in cell.outcomes.values() for need in self.states[state].needs]
        return tuple(dict.fromkeys([*self.states[cell.state].needs, *self.events[cell.event].needs, *following]))

    def locate_cell(self, cell: StateTableCell) -> str:
        """Return the file and the line of a cell, as ``path:line``."""
        header, key = f"[cells.{_quote_toml_key(cell.state)}]", f"{_quote_toml_key(cell.event)} ="
        inside = False
        for number, line in enumerate(self.path.read_text(encoding="utf-8").splitlines(), 1):
            if line.startswith("["):
                inside = line == header
            elif inside and line.startswith(key):
                return f"{self._relative_path()}:{number}"
        return self._relative_path()

    def _relative_path(self) -> str:
        return self.path.relative_to(SUITES.parent).as_posix()


def _quote_toml_key(name: str) -> str:
    """Return a name in the form of a TOML key."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else f'"{name}"'


@cache
def read_state_table(path: Path) -> StateTable:
    """Read a state table; raise HarnessError, with one line about the first error, if the table is invalid."""
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
        states = {name: StateTableState(**_convert_lists_to_tuples(one)) for name, one in tree.pop("states").items()}
        events = {name: StateTableEvent(**_convert_lists_to_tuples(one)) for name, one in tree.pop("events").items()}
        cells = {
            (state, event): StateTableCell(
                state, event, **one | {"rules": _read_rules_by_subject(one.get("rules", []))}
            )
            for state, row in tree.pop("cells").items()
            for event, one in row.items()
        }
        table = StateTable(path, states=states, events=events, cells=cells, **tree)
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise HarnessError(f"{path} is not a table of states: {error}") from error
    for mistake in find_table_mistakes(table):
        raise HarnessError(f"{path}: {mistake}")
    return table


def read_state_tables(rule: str = "") -> list[StateTable]:
    """Read the state tables of all sections. If a rule is given, read only the tables that cite the rule."""
    paths = sorted(SUITES.glob(f"*/*/{STATES_FILE}"))
    return [read_state_table(path) for path in paths if rule in path.read_text(encoding="utf-8")]


def find_table_mistakes(table: StateTable) -> Iterator[str]:
    """Yield one line for each error in a state table."""
    if table.initial not in table.states:
        yield f"the initial state {table.initial!r} is not a state"
    for state, one in table.states.items():
        for event in [] if one.final else table.events:
            if (state, event) not in table.cells:
                yield (
                    f"the cell of state {state!r} and event {event!r} is missing; give its outcomes and rules, `open` "
                    "with the section that leaves it open, or `never` with the reason why the event cannot occur"
                )
    for cell in table.cells.values():
        where = f"the cell of state {cell.state!r} and event {cell.event!r}"
        yield from (f"{where} {mistake}" for mistake in _find_mistakes_in_cell(cell, table))


def _find_mistakes_in_cell(cell: StateTableCell, table: StateTable) -> Iterator[str]:
    if cell.state not in table.states or cell.event not in table.events:
        yield "names an unknown state or event"
    if sum(map(bool, (cell.outcomes, cell.open, cell.never))) != 1:
        yield "needs one of `outcomes`, `open` and `never`"
    if cell.outcomes and not cell.rules.get(OUTCOME_KEY):
        yield "has outcomes without rules; name the rules, or leave it `open`"
    if cell.open and not SECTION_PATTERN.search(cell.open):
        yield "is open without a section or an erratum, such as MS-MQQB 3.1.5.5"
    for outcome, following in cell.outcomes.items():
        if unknown := find_unknown_outcome_words(outcome):
            yield f"has the unknown outcome {unknown[0]!r}; known: {', '.join(MEANING_BY_WORD)}"
        if following not in table.states:
            yield f"leads to the unknown state {following!r}"
            continue
        shown = {OUTCOME_KEY, *table.states[following].shows, *table.beside}
        yield from (
            f"has rules about the probe {place!r}, but the state {following!r} has no value for this probe"
            for place in cell.rules.keys() - shown
        )


def _read_rules_by_subject(rules: Any) -> dict[str, tuple[str, ...]]:
    """Return the rules of a cell by their subject, which is either the outcome or a probe (an observed place). The
    subject of the rules in a plain list is the outcome.
    """
    by_place = rules if isinstance(rules, dict) else {OUTCOME_KEY: rules}
    return {place: tuple(each) for place, each in by_place.items()}


def _convert_lists_to_tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    names = ("needs", "malforms")
    return {name: tuple(value) if name in names else value for name, value in values.items()}
