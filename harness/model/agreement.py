"""Compare expected and observed values. A value that the model leaves open agrees with every observed value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ExpectedRefusal:
    """An expected refusal. ``statuses``: the statuses that the documents name, empty if they name none.
    ``excluded_statuses``: the statuses that the refusal must not have.
    """

    statuses: tuple[str, ...] = ()
    excluded_statuses: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"refused ({' or '.join(self.statuses)})" if self.statuses else "refused"


@dataclass(frozen=True, slots=True)
class ExpectedOrderedGroups:
    """A list of groups of values. The order of the groups is fixed; within a group, any order is permitted."""

    groups: tuple[tuple[Mapping[str, Any], ...], ...]

    def __str__(self) -> str:
        return describe_value([one for group in self.groups for one in group])


class ExpectedValueThatSystemCannotShow:
    """An expected value that the system has no means to show. It agrees with every observed value."""


@dataclass(frozen=True, slots=True)
class ExpectedNumberBetweenBounds:
    """An expected number of which only two bounds (inclusive) are known."""

    lower_bound: int
    upper_bound: int

    def __str__(self) -> str:
        return f"{self.lower_bound} to {self.upper_bound}"


def describe_difference(expected: Any, observed: Any, where: str = "") -> str | None:
    """Return one line that describes where an observed value differs from the expected value, or None if both
    agree.
    """
    if isinstance(observed, ExpectedValueThatSystemCannotShow):
        return None
    if isinstance(expected, Mapping):
        return _compare_mappings(expected, observed, where)
    if isinstance(expected, ExpectedOrderedGroups):
        return _compare_groups(expected, observed, where)
    if isinstance(expected, list):
        return _compare_lists(expected, observed, where)
    if isinstance(expected, ExpectedNumberBetweenBounds):
        inside = isinstance(observed, int) and expected.lower_bound <= observed <= expected.upper_bound
        return None if inside else _describe_difference(where, expected, observed)
    if isinstance(expected, ExpectedRefusal):
        return None if _is_refusal(expected, observed) else _describe_difference(where, expected, observed)
    return None if expected == observed else _describe_difference(where, expected, observed)


def describe_value(value: Any) -> str:
    """Return a description of a value for readers."""
    if isinstance(value, Mapping):
        if "message" in value and "class" in value:
            return f"{value['message']}" if value["class"] == "NORMAL" else f"{value['class']} of {value['message']}"
        return "{" + ", ".join(f"{name}: {describe_value(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(describe_value, value)) + "]"
    return "nothing" if value is None else str(value)


def _is_refusal(expected: ExpectedRefusal, observed: Any) -> bool:
    if not isinstance(observed, ExpectedRefusal) or {*expected.excluded_statuses} & {*observed.statuses}:
        return False
    return not (expected.statuses and observed.statuses) or bool({*expected.statuses} & {*observed.statuses})


def _compare_mappings(expected: Mapping[str, Any], observed: Any, where: str) -> str | None:
    if not isinstance(observed, Mapping):
        return _describe_difference(where, expected, observed)
    for name, value in expected.items():
        place = f"{where}.{name}" if where else str(name)
        if name not in observed:
            return _describe_difference(place, value, "not there")
        found = describe_difference(value, observed[name], place)
        if found is not None:
            return found
    return None


def _compare_lists(expected: list[Any], observed: Any, where: str) -> str | None:
    if not isinstance(observed, list) or len(observed) != len(expected):
        return _describe_difference(where, expected, observed)
    names = [_get_message_and_class(one) for one in expected]
    if names != [_get_message_and_class(one) for one in observed]:
        return _describe_difference(where, expected, observed)
    pairs = zip(expected, observed, strict=True)
    return next((found for one, other in pairs if (found := describe_difference(one, other, where)) is not None), None)


def _compare_groups(expected: ExpectedOrderedGroups, observed: Any, where: str) -> str | None:
    rest = list(observed)
    for group in expected.groups:
        there, rest = rest[: len(group)], rest[len(group) :]
        for one in group:
            found = next((other for other in there if describe_difference(one, other) is None), None)
            if found is None:
                return _describe_difference(where, expected, observed)
            there.remove(found)
    return _describe_difference(where, expected, observed) if rest else None


def _get_message_and_class(value: Any) -> Any:
    return (value.get("message"), value.get("class")) if isinstance(value, Mapping) else value


def _describe_difference(where: str, expected: Any, observed: Any) -> str:
    return f"{where}: expected {describe_value(expected)}; observed {describe_value(observed)}"
