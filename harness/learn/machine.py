"""Represent a Mealy machine. A Mealy machine has states, each with an output and a next state for each input."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import UsageError

CLOSED_OUTPUT = "closed"
SCHEMA_VERSION = 1

TransitionByInput = Mapping[str, tuple[str, str]]
"""The type of a state's transitions: the output and the next state, by input."""


@dataclass(frozen=True, slots=True)
class StateMachine:
    """A deterministic state machine. ``states``: the transitions of each state, by the name of the state."""

    initial_state: str
    states: Mapping[str, TransitionByInput]

    def run(self, word: tuple[str, ...]) -> list[str]:
        """Return the outputs of the machine for an input sequence (word) that begins in the initial state."""
        state, outputs = self.initial_state, []
        for letter in word:
            output, state = self.states[state][letter]
            outputs.append(output)
        return outputs

    def to_json(self) -> dict[str, Any]:
        """Return the machine as JSON, in the form that ``read_machine`` reads."""
        states = {
            name: {letter: {"output": output, "next": following} for letter, (output, following) in row.items()}
            for name, row in self.states.items()
        }
        return {"schema": SCHEMA_VERSION, "initial": self.initial_state, "states": states}

    def to_dot(self) -> str:
        """Return the machine as a Graphviz diagram, with one arrow for all inputs that have the same output and next
        state.
        """
        lines = ["digraph session {", "  rankdir=LR;", f"  start [shape=point]; start -> {self.initial_state};"]
        for name, row in self.states.items():
            grouped: dict[tuple[str, str], list[str]] = {}
            for letter, effect in row.items():
                grouped.setdefault(effect, []).append(letter)
            for (output, following), letters in grouped.items():
                label = "\\n".join([*letters, f"/ {output}"])
                lines.append(f'  {name} -> {following} [label="{label}"];')
        return "\n".join([*lines, "}", ""])


@dataclass(frozen=True, slots=True)
class MachineDifference:
    """A difference between two machines. It consists of a shortest input sequence (word) that shows the difference,
    and of the last output of each machine.
    """

    input_sequence: tuple[str, ...]
    output_of_first_machine: str
    output_of_second_machine: str
    states: tuple[str, str]


def read_machine(path: Path) -> StateMachine:
    """Read a machine that ``learn --out`` wrote; raise UsageError for any other file."""
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
        states = {
            name: {letter: (one["output"], one["next"]) for letter, one in row.items()}
            for name, row in tree["states"].items()
        }
        machine = StateMachine(tree["initial"], states)
        complete = tree["schema"] == SCHEMA_VERSION and machine.initial_state in states
        complete = complete and all(following in states for row in states.values() for _, following in row.values())
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(
            f"{path} is not a state machine that `mqconform learn` wrote: {type(error).__name__}"
        ) from error
    if not complete:
        raise UsageError(f"{path} is not a state machine that this version of `mqconform learn` wrote")
    return machine


def find_differences(first: StateMachine, second: StateMachine) -> list[MachineDifference]:
    """Return the transitions whose outputs differ, each with a shortest input sequence. Both machines are traversed
    in parallel.
    """
    return list(_find_differences(first, second, lambda one, other: one == other))


def _find_differences(
    first: StateMachine, second: StateMachine, agree: Callable[[str, str], bool]
) -> Iterator[MachineDifference]:
    begun = (first.initial_state, second.initial_state)
    waiting: deque[tuple[tuple[str, str], tuple[str, ...]]] = deque([(begun, ())])
    known = {begun}
    while waiting:
        (one, other), word = waiting.popleft()
        for letter in first.states[one]:
            if letter not in second.states[other]:
                continue
            output, following = first.states[one][letter]
            second_output, second_following = second.states[other][letter]
            longer = (*word, letter)
            if not agree(output, second_output):
                yield MachineDifference(longer, output, second_output, (one, other))
                continue
            pair = (following, second_following)
            if pair not in known:
                known.add(pair)
                waiting.append((pair, longer))
