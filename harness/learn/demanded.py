"""Read the machine that the documents demand of an acceptor, and find the transitions of a learned machine that break
it.
"""

from __future__ import annotations

import tomllib
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.learn.machine import Machine

TABLE = Path(__file__).with_name("demanded.toml")


@dataclass(frozen=True, slots=True)
class Cell:
    """The permitted outputs for an input in a state, each with the next state, and the rules that demand them."""

    outputs: Mapping[str, str]
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Demands:
    """The machine that the documents demand. For a state and an input without a cell, the documents demand nothing."""

    initial: str
    states: Mapping[str, Mapping[str, Cell]]


@dataclass(frozen=True, slots=True)
class Broken:
    """A forbidden transition of a learned machine, with a shortest word that leads to it."""

    rules: tuple[str, ...]
    state: str
    word: tuple[str, ...]
    expected: tuple[str, ...]
    observed: str


def read_demands() -> Demands:
    """Return the machine that the documents demand."""
    tree = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    initial = tree.pop("initial")
    states = {
        state: {letter: Cell(one["outputs"], tuple(one["rules"])) for letter, one in row.items()}
        for state, row in tree.items()
    }
    return Demands(initial, states)


def find_broken(machine: Machine, demands: Demands) -> Iterator[Broken]:
    """Yield the transitions that break a demand, the shortest words first; each pair of a learned and a demanded state
    is visited once.
    """
    begun = (machine.initial, demands.initial)
    waiting: deque[tuple[str, str, tuple[str, ...]]] = deque([(*begun, ())])
    known = {begun}
    while waiting:
        state, demanded, word = waiting.popleft()
        for letter, cell in demands.states.get(demanded, {}).items():
            if letter not in machine.states[state]:
                continue
            output, following = machine.states[state][letter]
            longer = (*word, letter)
            if output not in cell.outputs:
                yield Broken(cell.rules, demanded, longer, tuple(cell.outputs), output)
                continue
            pair = (following, cell.outputs[output])
            if pair not in known:
                known.add(pair)
                waiting.append((*pair, longer))
