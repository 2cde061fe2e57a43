"""Expectations of named values, such as fields of a packet, elements of the abstract data model, or facts of a
check.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from harness.capture.recorder import Frame, HeaderMissingInPacket
from harness.expectations.base import (
    SEPARATOR_IN_NAMED_TEXT,
    Expectation,
    ExpectationDifference,
    expectation,
    is_collection,
    join_named_texts,
    show_named_value,
    show_value,
)
from harness.expectations.values import OneOf

MISSING = "missing"
EMPTY_MAPPING_TEXT = "none"
"""The text for a mapping without entries."""


@runtime_checkable
class PacketWithReadableFields(Protocol):
    """A packet whose fields are read without the codec, for example with the tables of a document."""

    def of(self, *names: str) -> Mapping[str, Any]:
        """Return the values of the named fields, by name."""


class NamedValues(Expectation):
    """The expectation of named values. Each named value is expected to equal a value or to meet an expectation.

    The observation is a mapping with the same names, or a packet or header with these fields. A difference names
    only the fields that differ.
    """

    def __init__(self, expected: Mapping[str, Any], sign: str = ": ") -> None:
        self.expected = {name: expectation(value).with_name(name) for name, value in expected.items()}
        self._given = expected
        self._separator = sign
        self._names_shown_unchanged = {name for name, value in expected.items() if _is_shown_unchanged(value)}
        texts = {name: self._show_expected(name, value) for name, value in expected.items()}
        self._text = self._show_observed_values(texts) or EMPTY_MAPPING_TEXT

    def __str__(self) -> str:
        return self._text

    def with_name(self, name: str) -> NamedValues:
        del name
        return NamedValues(self._given, SEPARATOR_IN_NAMED_TEXT)

    def show(self, observed: Any) -> str:
        found = self._read_values(observed)
        if found is None:
            return show_value(observed)
        return (
            self._show_observed_values({name: self._show_field(name, one) for name, one in found.items()})
            or EMPTY_MAPPING_TEXT
        )

    def compare(self, observed: Any) -> ExpectationDifference | None:
        found = self._read_values(observed)
        if found is None:
            return ExpectationDifference(self.show(observed))
        wrong = {
            name: self._describe_expected(name, found)
            for name in [*self.expected, *(one for one in found if one not in self.expected)]
            if name not in found or name not in self.expected or self.expected[name].compare(found[name]) is not None
        }
        return ExpectationDifference(self._show_observed_values(wrong)) if wrong else None

    def _show_observed_values(self, texts: Mapping[str, str]) -> str:
        return join_named_texts(texts, self._separator)

    def _describe_expected(self, name: str, found: Mapping[str, Any]) -> str:
        if name not in found:
            return MISSING
        if name not in self.expected:
            return f"{show_named_value(found[name], name)}, which is not expected"
        is_text = name not in self._names_shown_unchanged or is_collection(found[name])
        return (
            self._show_enclosed_value(name, str(self.expected[name].compare(found[name])))
            if is_text
            else show_named_value(found[name], name)
        )

    def _show_expected(self, name: str, value: Any) -> str:
        return (
            self._show_enclosed_value(name, str(self.expected[name]))
            if isinstance(value, Expectation)
            else show_named_value(value, name)
        )

    def _show_field(self, name: str, value: Any) -> str:
        is_plain = name in self._names_shown_unchanged or name not in self.expected
        return (
            show_named_value(value, name)
            if is_plain
            else self._show_enclosed_value(name, self.expected[name].show(value))
        )

    def _show_enclosed_value(self, name: str, text: str) -> str:
        """Return the text of a named value. If the value itself consists of named values, the text is enclosed in
        brackets.
        """
        is_nested = (
            isinstance(self.expected[name], NamedValues) and SEPARATOR_IN_NAMED_TEXT in text and len(self._given) > 1
        )
        return f"[{text}]" if is_nested else text

    def _read_values(self, observed: Any) -> Mapping[str, Any] | None:
        """Return the values of the observation by name, or None if the observation is of a type without named
        values.
        """
        if isinstance(observed, Mapping):
            return observed
        if isinstance(observed, PacketWithReadableFields):
            return observed.of(*self.expected)
        if observed is None or isinstance(observed, str | int) or is_collection(observed):
            return None
        found: dict[str, Any] = {}
        for name in self.expected:
            with contextlib.suppress(HeaderMissingInPacket):  # a packet of a different kind does not have the field
                found[name] = _read_field(observed, name)
        return found


@expectation.register
def _(expected: Mapping) -> NamedValues:  # type: ignore[type-arg]  # singledispatch takes no parameters
    return NamedValues(expected)


def fields(expected: Mapping[str, Any] | None = None, /, **more: Any) -> NamedValues:
    """Return the expectation of fields in a packet or of elements in a mapping. Fields are given by their printed
    names (``SessionHeader.WindowSize``).
    """
    return NamedValues({**(expected or {}), **more})


def facts(**expected: Any) -> NamedValues:
    """Return the expectation of several named facts: ``facts(deleted=DONE, left=[])``.

    Use this expectation for a rule that demands all of these facts. Judge facts of different rules separately.
    """
    return NamedValues(expected)


def _read_field(observed: Any, name: str) -> Any:
    """Return a field of a packet or of a header. In the path of a field in a packet, the first name is the header."""
    first, *rest = name.split(".")
    value = observed[first] if isinstance(observed, Frame) else getattr(observed, first)
    for step in rest:
        value = getattr(value, step)
    return value


def _is_shown_unchanged(value: Any) -> bool:
    """Return whether a verdict shows an observed value as it is, and not in the form of the expectation. This applies
    if the expectation is a plain value, or one of several values.
    """
    return not isinstance(value, Expectation) or isinstance(value, OneOf)
