"""Expectations of single values: one of several allowed values, an integer in a range, a true fact, or the named
outcome of a request.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.expectations.base import Expectation, ExpectationDifference, bracket_list_item, expectation
from harness.expectations.numbers import show_integer


class OneOf(Expectation):
    """The expectation of a value that meets at least one of several expectations."""

    def __init__(self, *allowed: Any) -> None:
        if not allowed:
            raise ValueError("one_of() has no values: name the allowed values")
        self.allowed = [expectation(one) for one in allowed]

    def __str__(self) -> str:
        return " or ".join(bracket_list_item(str(one)) for one in self.allowed)

    def show(self, observed: Any) -> str:
        kept = next((one for one in self.allowed if one.compare(observed) is None), self.allowed[0])
        return kept.show(observed)

    def with_name(self, name: str) -> OneOf:
        return OneOf(*(one.with_name(name) for one in self.allowed))

    def compare(self, observed: Any) -> ExpectationDifference | None:
        differences = [one.compare(observed) for one in self.allowed]
        return None if None in differences else ExpectationDifference(self.show(observed))


@dataclass(frozen=True, slots=True, eq=False)
class NumberBetween(Expectation):
    """The expectation of an integer from ``low`` to ``high``, inclusive."""

    low: int
    high: int

    def __str__(self) -> str:
        low, high = show_integer(self.low), show_integer(self.high)
        return low if low == high else f"{low} to {high}"

    def compare(self, observed: Any) -> ExpectationDifference | None:
        if isinstance(observed, int) and self.low <= observed <= self.high:
            return None
        return ExpectationDifference(self.show(observed))


@dataclass(frozen=True, slots=True, eq=False)
class TrueFact(Expectation):
    """The expectation that a fact is true. The observation is True or False; instead of False, it may be a text
    that explains why the fact is false.
    """

    sentence: str
    text_if_false: str | None

    def __str__(self) -> str:
        return self.sentence

    def show(self, observed: Any) -> str:
        if not isinstance(observed, bool):
            return str(observed)
        return self.sentence if observed else self.text_if_false or f"not true: {self.sentence}"

    def compare(self, observed: Any) -> ExpectationDifference | None:
        return None if observed is True else ExpectationDifference(self.show(observed))


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedStatus(Expectation):
    """The expectation that a request or call has the outcome with a given name.

    The observation is the name of the outcome, or an object with this name in its attribute ``outcome``.
    """

    name: str

    def __str__(self) -> str:
        return self.name

    def show(self, observed: Any) -> str:
        return str(getattr(observed, "outcome", observed))

    def compare(self, observed: Any) -> ExpectationDifference | None:
        return (
            None if getattr(observed, "outcome", observed) == self.name else ExpectationDifference(self.show(observed))
        )


def one_of(*allowed: Any) -> OneOf:
    """Return the expectation of a value that equals one of several values, or meets one of several expectations."""
    return OneOf(*allowed)


def between(low: int, high: int) -> NumberBetween:
    """Return the expectation of an integer from ``low`` to ``high``, inclusive."""
    return NumberBetween(low, high)


def holds(sentence: str, otherwise: str | None = None) -> TrueFact:
    """Return the expectation that a fact is true. ``otherwise`` is the text that a verdict shows for False. The
    observation may be a text instead of False.
    """
    return TrueFact(sentence, otherwise)


def status(name: str) -> ExpectedStatus:
    """Return the expectation that a request or call ends with the given outcome, such as ``MQ_OK`` or ``refused``."""
    return ExpectedStatus(name)
