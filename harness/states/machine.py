"""Define the steps with which the tests of a state table bring a system into each state, apply each event, and observe
the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from harness.errors import HarnessError
from harness.rules.places import STATES_FILE
from harness.states.table import StateTable, read_state_table

_MachineStepMethod = Callable[..., Any]
_STEP_MARK = "_steps_of_machine"


def _mark_step(kind: str, *names: str) -> Callable[[_MachineStepMethod], _MachineStepMethod]:
    def mark_method(step: _MachineStepMethod) -> _MachineStepMethod:
        setattr(step, _STEP_MARK, [*getattr(step, _STEP_MARK, []), *((kind, name) for name in names)])
        return step

    return mark_method


def state(*names: str) -> Callable[[_MachineStepMethod], _MachineStepMethod]:
    """Mark the method that brings the system into a state. The method raises ConformanceFailure if the system does
    not reach this state.
    """
    return _mark_step("states", *names)


def event(*names: str) -> Callable[[_MachineStepMethod], _MachineStepMethod]:
    """Mark the method that applies an event. The method returns the outcome of the event in the words of
    harness/states/vocabulary.py.
    """
    return _mark_step("events", *names)


def mark_as_probe(*names: str) -> Callable[[_MachineStepMethod], _MachineStepMethod]:
    """Mark the method that observes one place, such as a queue, and returns the observation. In a state table, such a
    place is called a probe.
    """
    return _mark_step("probes", *names)


class Machine:
    """The base class for the steps with which a state machine is tested. Each subclass belongs to the state table in
    the folder of its module, and has a method for each name in this table.

    ``evidence``: the packets and calls that show the outcome.
    """

    table: ClassVar[StateTable]
    steps: ClassVar[Mapping[tuple[str, str], _MachineStepMethod]]

    def __init_subclass__(cls, path: Path | None = None, **more: Any) -> None:
        """Read the table of a subclass; raise HarnessError if a name has no method, or if a method has no name in
        the table.
        """
        super().__init_subclass__(**more)
        found = {mark: getattr(cls, name) for name in dir(cls) for mark in getattr(getattr(cls, name), _STEP_MARK, ())}
        cls.steps = MappingProxyType(found)
        if path is not None:
            cls.table = read_state_table(path.with_name(STATES_FILE))
            for mistake in _find_missing_steps(cls.table, found):
                raise HarnessError(f"{cls.table.path}: {mistake}")

    def __init__(self) -> None:
        self.evidence: list[Any] = []

    def bring_into_state(self, name: str) -> None:
        """Bring the system into the named state."""
        self.steps["states", name](self)

    def apply_event(self, name: str) -> str:
        """Apply the named event; return its outcome."""
        return str(self.steps["events", name](self))

    def observe_probes(self, *names: str) -> dict[str, Any]:
        """Return what is observed at each named probe (observed place, such as a queue)."""
        return {name: self.steps["probes", name](self) for name in names}


def _find_missing_steps(table: StateTable, steps: Mapping[tuple[str, str], _MachineStepMethod]) -> Iterator[str]:
    used = table.list_demanded_cells()
    wanted = {("states", cell.state) for cell in used} | {("events", cell.event) for cell in used}
    places = [
        *table.beside,
        *(name for one in table.states.values() for name in one.shows),
    ]
    wanted |= {("probes", name) for name in places}
    for kind, name in sorted(wanted - steps.keys()):
        yield f"the machine has no method for {name!r} in [{kind}]"
    for kind, name in sorted(steps.keys() - wanted):
        yield f"no cell uses the method for {name!r} in [{kind}]"
