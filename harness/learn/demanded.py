"""Find the transitions of a learned machine that the state table of an acceptor does not permit."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from harness.learn.machine import StateMachine
from harness.paths import SUITES
from harness.rules.places import STATES_FILE
from harness.states.table import StateTable, read_state_table

STATE_TABLE_FILE = SUITES / "mqqb" / "s3_1_1_3_1_session_state" / STATES_FILE
"""The file of the state table with the required transitions. Checks of `mqconform run` also judge these transitions."""


@dataclass(frozen=True, slots=True)
class TransitionBreakingStateTable:
    """A transition of a learned machine that is not permitted, with a shortest input sequence (word) that leads to
    it.
    """

    rules: tuple[str, ...]
    state: str
    input_sequence: tuple[str, ...]
    expected: tuple[str, ...]
    observed: str


def read_demanded_state_table() -> StateTable:
    """Return the state table of an acceptor of sessions. Cells without outcomes are not compared."""
    return read_state_table(STATE_TABLE_FILE)


def find_broken_demands(machine: StateMachine, demands: StateTable) -> Iterator[TransitionBreakingStateTable]:
    """Yield the transitions that break a demand. Transitions with the shortest input sequences come first; each pair of
    a learned state and a state of the table is visited only once.
    """
    begun = (machine.initial_state, demands.initial)
    waiting: deque[tuple[str, str, tuple[str, ...]]] = deque([(*begun, ())])
    known = {begun}
    while waiting:
        state, demanded, word = waiting.popleft()
        for cell in demands.list_demanded_cells():
            if cell.state != demanded or cell.event not in machine.states[state]:
                continue
            output, following = machine.states[state][cell.event]
            longer = (*word, cell.event)
            if output not in cell.outcomes:
                yield TransitionBreakingStateTable(cell.all_rules, demanded, longer, tuple(cell.outcomes), output)
                continue
            pair = (following, cell.outcomes[output])
            if pair not in known:
                known.add(pair)
                waiting.append((*pair, longer))
