"""The base of expectations: a value that compares, explains a difference, and prints as a sentence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

HEX_FROM = 10
"""An integer that stands alone is printed in hexadecimal digits from here on: most are flags, handles and statuses."""


@dataclass(frozen=True, slots=True)
class Difference:
    """An observation that is not the expected one. ``says``: the observation, and how it differs."""

    says: str

    def __str__(self) -> str:
        return self.says


class Expectation(ABC):
    """The expectation of a check. Its ``str`` is the ``expected`` of a verdict."""

    @abstractmethod
    def __str__(self) -> str: ...

    @abstractmethod
    def compare(self, observed: Any) -> Difference | None:
        """Return how an observation differs; None when it is as expected."""

    def show(self, observed: Any) -> str:
        """Return an observation as text for the ``observed`` of a verdict."""
        return show_value(observed)


@dataclass(frozen=True, slots=True, eq=False)
class Value(Expectation):
    """Exactly one value: a status, an address, a number."""

    value: Any

    def __str__(self) -> str:
        return show_value(self.value)

    def compare(self, observed: Any) -> Difference | None:
        return None if observed == self.value else Difference(self.show(observed))


@singledispatch
def expectation(expected: Any) -> Expectation:
    """Convert a value of a check to an expectation; modules register the conversions of lists, sets and mappings."""
    return expected if isinstance(expected, Expectation) else Value(expected)


def show_value(value: Any) -> str:
    """Return a value as people read it."""
    if isinstance(value, str):
        return value or "''"
    if isinstance(value, bytes | bytearray):
        return value.hex(" ") or "no bytes"
    if isinstance(value, Mapping):
        return show_named({key: within(one) for key, one in value.items()}) or "none"
    if is_several(value):
        return ", ".join(map(within, value)) or "none"
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return f"0x{value:X}" if is_number and value >= HEX_FROM else str(value)


def show_named(texts: Mapping[str, str]) -> str:
    """Return texts by name as people read them: ``left: a, b; by another handle: none``."""
    return "; ".join(f"{str(name).replace('_', ' ')}: {text}" for name, text in texts.items())


def within(value: Any) -> str:
    """Return a value as people read it within another: a list in brackets, a number in decimal digits."""
    if isinstance(value, Mapping) or is_several(value):
        return f"[{show_value(value)}]" if value else "none"
    if isinstance(value, str):
        return repr(value) if ", " in value or not value else value
    return str(value) if isinstance(value, int) else show_value(value)


def is_several(value: Any) -> bool:
    """Return whether a value is a list of others."""
    return isinstance(value, Sequence | Set) and not isinstance(value, str | bytes | bytearray)
