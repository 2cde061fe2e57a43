"""Evaluates attribute filters and sort orders. Spec: MS-MQDMPR 3.1.7.1.20, 3.1.7.1.21."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any, Final
from uuid import UUID

from reference_qm.directory.objects import DirectoryObject, list_directory_attributes


class ComparisonOperator(Enum):
    """The comparison operator of an attribute filter. Spec: MS-MQDMPR 3.1.7.1.20."""

    EQUALS = "EQUALS"
    NOT_EQUALS = "NOT-EQUALS"
    LESS_THAN = "LESS-THAN"
    GREATER_THAN = "GREATER-THAN"
    LESS_THAN_OR_EQUAL = "LESS-THAN-OR-EQUAL"
    GREATER_THAN_OR_EQUAL = "GREATER-THAN-OR-EQUAL"


AttributeValue = UUID | str | bytes | int | Enum | None

_COMPARISON_BY_OPERATOR: Final[dict[ComparisonOperator, Callable[[Any, Any], bool]]] = {
    ComparisonOperator.LESS_THAN: operator.lt,
    ComparisonOperator.GREATER_THAN: operator.gt,
    ComparisonOperator.LESS_THAN_OR_EQUAL: operator.le,
    ComparisonOperator.GREATER_THAN_OR_EQUAL: operator.ge,
}
_ORDERED_VALUE_TYPES: Final = (int, str, bytes, UUID)


class FilterError(Exception):
    """Raised when a filter or a sort order is invalid for a type of object. The message has one line."""


@dataclass(frozen=True, slots=True)
class AttributeFilter:
    """An expression of an attribute filter, such as ``AttributeFilter("ActualCost", ComparisonOperator.LESS_THAN, 5)``.

    Spec: MS-MQDMPR 3.1.7.1.20.
    """

    attribute: str
    operator: ComparisonOperator
    value: AttributeValue

    def matches_element(self, element: DirectoryObject) -> bool:
        """Return whether an element satisfies the filter.

        If the attribute has a list of values, at least one of them must satisfy the filter. The comparison of texts
        ignores case.
        """
        stored = getattr(element, self.attribute)
        values = stored if isinstance(stored, tuple) else (stored,)
        if self.operator in _COMPARISON_BY_OPERATOR:
            return any(self._compare_stored_value(value, _COMPARISON_BY_OPERATOR[self.operator]) for value in values)
        return any(self._compare_stored_value(value, operator.eq) for value in values) is (
            self.operator is ComparisonOperator.EQUALS
        )

    def _compare_stored_value(self, stored: AttributeValue, compare: Callable[[Any, Any], bool]) -> bool:
        return type(stored) is type(self.value) and compare(_fold_case_of_text(stored), _fold_case_of_text(self.value))


def build_equality_filter(attribute: str, value: AttributeValue) -> tuple[AttributeFilter]:
    """Return the iFilter with the single condition ``attribute EQUALS value``."""
    return (AttributeFilter(attribute, ComparisonOperator.EQUALS, value),)


@dataclass(frozen=True, slots=True)
class AttributeSortOrder:
    """The sort order for one attribute.

    Spec: MS-MQDMPR 3.1.7.1.21. SortPriority: the attribute with the highest priority is the primary sort key; an
    attribute with priority 0 is not used for sorting.
    """

    SortPriority: int
    SortAscending: bool = True


def check_filter_expressions(kind: type[DirectoryObject], filters: Iterable[AttributeFilter]) -> None:
    """Raise FilterError if an expression is invalid for a type of object."""
    for one in filters:
        if one.attribute not in list_directory_attributes(kind):
            raise FilterError(f"{one.attribute} is not a directory attribute of {kind.__name__}")
        if one.operator in _COMPARISON_BY_OPERATOR and type(one.value) not in _ORDERED_VALUE_TYPES:
            raise FilterError(f"{one.attribute}: {one.operator.value} cannot compare {one.value!a}")


def select_matching_elements(
    elements: Iterable[DirectoryObject], filters: Sequence[AttributeFilter]
) -> list[DirectoryObject]:
    """Return the elements that satisfy all expressions; the order of the elements stays unchanged."""
    return [element for element in elements if all(one.matches_element(element) for one in filters)]


def sort_elements(
    elements: list[DirectoryObject], names: Sequence[str] | None, orders: Sequence[AttributeSortOrder] | None
) -> list[DirectoryObject]:
    """Sort elements of one type by attributes. Each attribute has at most one sort order.

    If two attributes have the same priority, the attribute that is named first has precedence. An unset value sorts
    as the smallest value. Names that are not attributes are ignored. Spec: MS-MQDMPR 3.1.7.1.21, MS-MQDSSM
    3.1.6.4.1.2.
    """
    if orders is None:
        return elements
    if names is None or len(names) != len(orders):
        raise FilterError("iAttributeSortOrder needs one value for each name of iAttributeList")
    known = list_directory_attributes(type(elements[0])) if elements else ()
    keys = [(order, name) for name, order in zip(names, orders, strict=True) if order.SortPriority and name in known]
    keys.reverse()
    keys.sort(key=lambda key: key[0].SortPriority)
    for order, name in keys:
        elements = sorted(elements, key=partial(_build_sort_key, name), reverse=not order.SortAscending)
    return elements


def _fold_case_of_text(value: AttributeValue) -> AttributeValue:
    return value.casefold() if isinstance(value, str) else value


def _build_sort_key(name: str, element: DirectoryObject) -> tuple[bool, Any]:
    value = getattr(element, name)
    if value is None:
        return (False, 0)
    return (True, value.value if isinstance(value, Enum) else _fold_case_of_text(value))
