"""Record the steps of the reference that the system under test takes in a check.

Time is virtual and randomness is seeded. So a check has the same verdicts as on the clean reference if it executes none
of the steps that a fault changes. Such a check does not run on that fault. The same is true if a fault changes a step
only under a condition (``harness.faults.parts.faulty_only_if``), and no call in the check meets the condition.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from inspect import getattr_static
from types import FunctionType
from typing import Any, NamedTuple

from harness.faults.parts import PartMethod, PartReplacement, get_step_condition
from harness.faults.primitives import CombinedInstallers
from harness.faults.registry import FaultyCore, Install
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.replacing import find_replaced_part, replace_part_by_subclass


class ReferenceStep(NamedTuple):
    """A step of the reference: one method of a class of its core. ``condition_method``: the method whose condition
    selects the calls that a fault changes, or None if the fault changes all calls.
    """

    part: type[QueueManagerPart]
    name: str
    condition_method: PartMethod | None = None


ReferenceSteps = frozenset[ReferenceStep]
_ATTRIBUTES_OF_EVERY_CLASS = {"__module__", "__doc__", "__annotations__", "__dict__", "__weakref__", "__slots__"}


def find_changed_steps(install: Install) -> ReferenceSteps | None:
    """Return the steps that a fault changes, or None if the fault may also change other behavior."""
    match install:
        case PartReplacement(cls):
            return _list_overridden_methods(cls)
        case CombinedInstallers(installs):
            found = [find_changed_steps(one) for one in installs]
            return frozenset().union(*(one or () for one in found)) if None not in found else None
    return None


def can_check_notice_variant(taken: ReferenceSteps, changed: ReferenceSteps | None) -> bool:
    """Return whether the verdicts of a check may differ on a variant, given the steps of the check and the steps that
    the variant changes.
    """
    return changed is None or not changed.isdisjoint(taken)


def _list_overridden_methods(cls: type[QueueManagerPart]) -> ReferenceSteps | None:
    """Return the methods of a part that a subclass overrides, or None if the subclass overrides anything except
    plain methods.
    """
    part = find_replaced_part(cls)
    classes = [one for one in cls.__mro__ if one not in part.__mro__]
    changed = [
        (name, value) for one in classes for name, value in vars(one).items() if name not in _ATTRIBUTES_OF_EVERY_CLASS
    ]
    if any(name.startswith("__") for name, _ in changed):
        return None
    known = [(name, value) for name, value in changed if hasattr(part, name)]
    plain = all(isinstance(each, FunctionType) for name, value in known for each in (value, getattr_static(part, name)))
    return (
        frozenset(ReferenceStep(part, name, value if get_step_condition(value) else None) for name, value in known)
        if plain
        else None
    )


class StepRecorder:
    """A recorder of the steps that a core executes. Like a fault, it replaces the parts of the core with
    subclasses.
    """

    def __init__(self, steps: Iterable[ReferenceStep]) -> None:
        self._taken: set[ReferenceStep] = set()
        of_method: dict[type[QueueManagerPart], dict[str, list[ReferenceStep]]] = defaultdict(lambda: defaultdict(list))
        for step in steps:
            of_method[step.part][step.name].append(step)
        self._parts = [
            type(part.__name__, (part,), {name: self._note_calls(part, name, found) for name, found in methods.items()})
            for part, methods in of_method.items()
        ]

    def install(self, faulty: FaultyCore) -> None:
        """Record the steps that this core executes from now on."""
        for cls in self._parts:
            replace_part_by_subclass(faulty.core, cls)

    def take(self) -> ReferenceSteps:
        """Return the steps that were recorded since the previous call."""
        taken = frozenset(self._taken)
        self._taken.clear()
        return taken

    def _note_calls(
        self, part: type[QueueManagerPart], name: str, steps: Sequence[ReferenceStep]
    ) -> Callable[..., Any]:
        method, taken = getattr(part, name), self._taken
        conditions = [(step, step.condition_method and get_step_condition(step.condition_method)) for step in steps]

        def note_and_call(self: QueueManagerPart, *arguments: Any, **named: Any) -> Any:
            for step, condition in conditions:
                if step not in taken and (condition is None or condition(self, *arguments, **named)):
                    taken.add(step)
            return method(self, *arguments, **named)

        return note_and_call
