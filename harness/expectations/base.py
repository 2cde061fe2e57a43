"""Define the base class of expectations. An expectation is compared with an observation, explains the difference,
and is printed as text.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

from harness.expectations.numbers import show_integer


@dataclass(frozen=True, slots=True)
class ExpectationDifference:
    """The difference between an observation and the expectation. ``says`` contains the observation and describes
    how it differs.
    """

    says: str

    def __str__(self) -> str:
        return self.says


SEPARATOR_IN_NAMED_TEXT = " = "
"""The separator between a name and its value inside a text that already has a name. It is not a colon, so that a named
text contains only the colon after its own name.
"""
_TEXT_BY_UNIT_SUFFIX = {"kb": "in KB", "ms": "in ms", "s": "in seconds", "base64": "in base64"}
"""The words that a verdict prints for the unit at the end of a name, by unit."""
_WORD_BOUNDARY_PATTERN = re.compile(r"(?<![A-Z])_|_(?![A-Z])")
"""Matches the underscore between two words of a name, but not the underscore in a constant (``RR_NACK``)."""
NAME_OF_NESTED_VALUE = "item"
"""The name for a value inside a list, if the list has no name."""
_TEXT_BY_SINGLETON_VALUE = {None: "no value", True: "yes", False: "no"}
"""The words that a verdict prints for None, True and False."""


class Expectation(ABC):
    """The expectation of a check. ``str`` of an expectation is the text ``expected`` in a verdict."""

    @abstractmethod
    def __str__(self) -> str: ...

    @abstractmethod
    def compare(self, observed: Any) -> ExpectationDifference | None:
        """Return how an observation differs from the expectation, or None if the observation is as expected."""

    def show(self, observed: Any) -> str:
        """Return the text that a verdict shows as ``observed`` for an observation."""
        return show_value(observed)

    def with_name(self, name: str) -> Expectation:
        """Return this expectation with a name for its value. The name determines how integers are printed."""
        del name
        return self


@dataclass(frozen=True, slots=True, eq=False)
class ExactValue(Expectation):
    """The expectation of exactly one value, such as a status, an address or a number."""

    value: Any
    name: str = ""

    def __str__(self) -> str:
        return show_value(self.value, self.name)

    def show(self, observed: Any) -> str:
        return show_value(observed, self.name)

    def with_name(self, name: str) -> ExactValue:
        return replace(self, name=name)

    def compare(self, observed: Any) -> ExpectationDifference | None:
        return None if observed == self.value else ExpectationDifference(self.show(observed))


@singledispatch
def expectation(expected: Any) -> Expectation:
    """Convert a value that a check passes as ``expected`` to an expectation. A value that is already an expectation is
    returned unchanged. Other modules register functions for lists, sets and mappings.
    """
    return expected if isinstance(expected, Expectation) else ExactValue(expected)


def show_value(value: Any, name: str = "") -> str:
    """Return the text that a verdict prints for a value. ``name`` is the name of the value; the name determines how
    integers are printed.
    """
    if isinstance(value, str):
        text = str(getattr(value, "shown", value))
        return text if text.isprintable() and text else repr(text)
    if value is None or isinstance(value, bool):
        return _TEXT_BY_SINGLETON_VALUE[value]
    if isinstance(value, bytes | bytearray):
        return value.hex(" ") or "no bytes"
    if isinstance(value, Mapping):
        texts = {key: show_named_value(one, f"{name} {key}") for key, one in value.items()}
        return join_named_texts(texts, SEPARATOR_IN_NAMED_TEXT if name else ": ") or "none"
    if is_collection(value):
        return ", ".join(show_nested_value(one, name) for one in value) or "none"
    return show_integer(value, name) if isinstance(value, int) else str(value)


def join_named_texts(texts: Mapping[str, str], sign: str = ": ") -> str:
    """Join texts, each with its name, to one text for a verdict, such as ``left: a, b; by second handle: none``.
    ``sign`` is the separator between a name and its value: `SEPARATOR_IN_NAMED_TEXT` if the joined text itself has
    a name.
    """
    return "; ".join(f"{_format_value_name(str(name))}{sign}{text}" for name, text in texts.items())


def _format_value_name(name: str) -> str:
    """Return the text of a name. The name of a fact is printed with spaces and with its unit; the name of a field
    (``m_qft``) is printed unchanged.
    """
    if name.startswith("m_") or name.isupper():
        return name
    *words, last = _WORD_BOUNDARY_PATTERN.split(name)
    return " ".join([*words, _TEXT_BY_UNIT_SUFFIX.get(last, last)] if words else [last])


def show_named_value(value: Any, name: str = "") -> str:
    """Return the text of a value that has a name. A mapping is enclosed in brackets; a string that looks like a
    list is enclosed in quotation marks.
    """
    is_clear = is_collection(value) or (isinstance(value, str) and ", " not in value)
    return show_value(value, name) if is_clear else show_nested_value(value, name)


def show_nested_value(value: Any, name: str = "") -> str:
    """Return the text of a value that is an item of a list. If the value is a list or mapping, its text is enclosed
    in brackets.
    """
    if isinstance(value, Expectation):
        return bracket_list_item(str(value.with_name(name or NAME_OF_NESTED_VALUE)))
    if isinstance(value, Mapping) or is_collection(value):
        return f"[{show_value(value, name or NAME_OF_NESTED_VALUE)}]" if value else "none"
    if isinstance(value, str):
        if type(value) is not str or " " not in value or not value.isprintable():
            return show_value(value)
        return repr(value) if '"' in value else f'"{value}"'
    return show_value(value, name)


def bracket_list_item(text: str) -> str:
    """Return a text for use as an item of a list. A text that contains several named values is enclosed in
    brackets.
    """
    return f"[{text}]" if "; " in text else text


def is_collection(value: Any) -> bool:
    """Return whether a value is a sequence or set, but not a string or bytes."""
    return isinstance(value, Sequence | Set) and not isinstance(value, str | bytes | bytearray)
