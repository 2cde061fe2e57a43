"""The base class of expectations: a value that compares an observation, explains a difference, and prints as text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

HEX_FROM = 10
"""The lowest single integer that is printed in hexadecimal digits: most single integers are flags, handles and
statuses.
"""


@dataclass(frozen=True, slots=True)
class Difference:
    """An observation that differs from the expectation. ``says``: the observation, and how it differs."""

    says: str

    def __str__(self) -> str:
        return self.says


_WORDS = {None: "no value", True: "yes", False: "no"}
"""The words that a verdict prints for values without a number or text."""


class Expectation(ABC):
    """The expectation of a check. Its ``str`` is the ``expected`` of a verdict."""

    @abstractmethod
    def __str__(self) -> str: ...

    @abstractmethod
    def compare(self, observed: Any) -> Difference | None:
        """Return how an observation differs from the expectation; None if it is as expected."""

    def show(self, observed: Any) -> str:
        """Return an observation as text for the ``observed`` of a verdict."""
        return show_value(observed)


@dataclass(frozen=True, slots=True, eq=False)
class Value(Expectation):
    """The expectation of exactly one value, such as a status, an address or a number."""

    value: Any

    def __str__(self) -> str:
        return show_value(self.value)

    def compare(self, observed: Any) -> Difference | None:
        return None if observed == self.value else Difference(self.show(observed))


@singledispatch
def expectation(expected: Any) -> Expectation:
    """Return the expectation for a value that a check passes; other modules register lists, sets and mappings."""
    return expected if isinstance(expected, Expectation) else Value(expected)


def show_value(value: Any) -> str:
    """Return a value as text for a verdict."""
    if isinstance(value, str):
        return value or "''"
    if value is None or isinstance(value, bool):
        return _WORDS[value]
    if isinstance(value, bytes | bytearray):
        return value.hex(" ") or "no bytes"
    if isinstance(value, Mapping):
        return show_named({key: show_nested(one) for key, one in value.items()}) or "none"
    if is_several(value):
        return ", ".join(map(show_nested, value)) or "none"
    return f"0x{value:X}" if isinstance(value, int) and value >= HEX_FROM else str(value)


def show_named(texts: Mapping[str, str]) -> str:
    """Return named texts as one text for a verdict: ``left: a, b; by second handle: none``."""
    return "; ".join(f"{_show_name(str(name))}: {text}" for name, text in texts.items())


def _show_name(name: str) -> str:
    """Return a name as text: the name of a fact with spaces, the name of a field (``m_qft``) unchanged."""
    return name if name.startswith("m_") or name.isupper() else name.replace("_", " ")


def show_nested(value: Any) -> str:
    """Return the text of a value inside a list or mapping: a list in brackets, an integer in decimal digits."""
    if isinstance(value, Mapping) or is_several(value):
        return f"[{show_value(value)}]" if value else "none"
    if isinstance(value, str):
        return repr(value) if ", " in value or not value else value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else show_value(value)


def is_several(value: Any) -> bool:
    """Return whether a value is a sequence or set of values, and not text or bytes."""
    return isinstance(value, Sequence | Set) and not isinstance(value, str | bytes | bytearray)
