"""Define the base class of every model. A model has transitions, each with the rules that determine its outcome, and
choices for cases that the documents leave open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar


class ImpossibleStep(Exception):
    """Raised if a model cannot take a step now, because the step names a missing object or because the outcome of the
    step is uncertain.
    """


class InterpretationNotChosenYet(Exception):
    """Raised if a model reaches a case that the documents leave open, and has not chosen an interpretation of this case
    yet.
    """

    def __init__(self, choice: str, readings: int) -> None:
        super().__init__(choice)
        self.choice = choice
        self.readings = readings


@dataclass(frozen=True, slots=True)
class Step:
    """One action, which consists of the name of a transition and the arguments of the transition as JSON values."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{self.name}({shown})"


@dataclass(frozen=True, slots=True)
class Transition:
    """A transition of a model.

    ``rules``: the rules that always determine its outcome. ``needs``: the facilities and capabilities that the system
    must have. ``weight``: how often the transition is drawn; 0 means never. ``simplest_arguments``: the simplest values
    of those arguments that can be simplified.
    """

    name: str
    rules: tuple[str, ...]
    needs: frozenset[str]
    weight: int
    simplest_arguments: Mapping[str, Any]


TransitionMethod = TypeVar("TransitionMethod", bound=Callable[..., None])
_TRANSITION_MARK = "__transition__"


def transition(
    *rules: str, needs: tuple[str, ...], weight: int = 2, **simple: Any
) -> Callable[[TransitionMethod], TransitionMethod]:
    """Mark a method of a model as a transition. The method ``draw_NAME`` returns arguments for the transition NAME."""

    def mark_transition(method: TransitionMethod) -> TransitionMethod:
        values = MappingProxyType(simple)
        setattr(method, _TRANSITION_MARK, Transition(method.__name__, rules, frozenset(needs), weight, values))
        return method

    return mark_transition


class Model:
    """A model of the required behavior. Where the documents are ambiguous, each model follows one choice of
    interpretations (readings).

    A transition first checks whether it can be taken, and raises ImpossibleStep before it changes anything. The answers
    of a transition are stored in ``answers``.
    """

    transitions: ClassVar[Mapping[str, Transition]] = {}
    omitted_inherited_transitions: ClassVar[frozenset[str]] = frozenset()
    """The inherited transitions that this model omits."""
    weights_of_inherited_transitions: ClassVar[Mapping[str, int]] = MappingProxyType({})
    """The weights of inherited transitions, where they differ from the weights in the base class."""

    def __init_subclass__(cls) -> None:
        found = {
            name: getattr(getattr(cls, name, None), _TRANSITION_MARK, None)
            for name in dir(cls)
            if name not in cls.omitted_inherited_transitions
        }
        cls.transitions = MappingProxyType({name: one for name, one in found.items() if one is not None})

    def __init__(self, decisions: Mapping[str, int] | None = None) -> None:
        self.decisions = dict(decisions or {})
        self.answers: dict[str, Any] = {}
        """The answers of the last step. The name ``answer`` stands for the answer to the step itself; all other
        names are names of waiting reads.
        """
        self.cited_rules: dict[str, None] = {}
        """The rules that determined the outcome of the last step, in the order of their use."""
        self.steps = 0
        self.now_ms = 0
        """int ms: the time since the start."""

    def take(self, step: Step) -> None:
        """Take a step: apply the transition that the step names to this model."""
        self.answers = {}
        self.cited_rules = dict.fromkeys(self.transitions[step.name].rules)
        getattr(self, step.name)(**step.arguments)
        self.steps += 1

    def cite_rules(self, *rules: str) -> None:
        """Record rules that determine the outcome of this step, in addition to the rules of its transition."""
        self.cited_rules.update(dict.fromkeys(rules))

    def choose_reading(self, choice: str, readings: int = 2) -> int:
        """Return the number, counted from 0, of the interpretation (reading) that this model follows for the given
        choice; raise InterpretationNotChosenYet if the model does not follow any of them yet.
        """
        if choice not in self.decisions:
            raise InterpretationNotChosenYet(choice, readings)
        return self.decisions[choice]

    def describe_visible_state(self) -> dict[str, Any]:
        """Return the state of this model that is visible from outside the system."""
        raise NotImplementedError

    def draw_step(self, chance: Random, names: list[str], weights: Sequence[float]) -> Step:
        """Choose, at random, one of the given transitions that is possible now; return it as a step with random
        arguments.
        """
        while True:
            (name,) = chance.choices(names, weights)
            try:
                return Step(name, getattr(self, f"draw_{name}")(chance))
            except ImpossibleStep:
                continue


def draw_one_value_or_refuse_step(chance: Random, values: Any) -> Any:
    """Choose one of the given values at random; raise ImpossibleStep if no value is given."""
    found = list(values)
    if not found:
        raise ImpossibleStep
    return chance.choice(found)
