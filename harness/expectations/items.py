"""Expectations of several items that have an identity. For example, messages are identified by label, calls by
outcome, and queues by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from harness.expectations.base import (
    NAME_OF_NESTED_VALUE,
    Expectation,
    ExpectationDifference,
    bracket_list_item,
    expectation,
    is_collection,
    show_nested_value,
    show_value,
)

NO_ITEMS_TEXT = "none"


class ListedItems(Expectation):
    """The expectation of exactly the listed items, each as often as it is listed. ``ordered`` states whether the
    order matters.

    A difference names missing, repeated and unexpected items, or reports a wrong order. ``where`` is the container
    of the items; it is empty if the verdict already names the container. ``name`` is the function that names an
    observed item.
    """

    def __init__(
        self,
        items: Iterable[Any],
        *,
        ordered: bool,
        where: str | None = None,
        name: Callable[[Any], str] | None = None,
    ) -> None:
        self.items = list(items)
        self.ordered = ordered
        self.where = where
        self.name = name or show_nested_value
        self._show_expected = partial(show_nested_value, name="")

    def __str__(self) -> str:
        return self._format_items(self.items, self._show_expected)

    def with_name(self, name: str) -> ListedItems:
        named = ListedItems(self.items, ordered=self.ordered, where=self.where and "", name=self.name)
        named._show_expected = partial(show_nested_value, name=name)
        if self.name is show_nested_value:
            named.name = named._show_expected
        return named

    def show(self, observed: Any) -> str:
        if not is_collection(observed):
            return show_value(observed)
        if self.ordered and self.where is None and len(observed) == len(self.items):
            return ", ".join(map(self._show_item_beside_expected, self.items, observed)) or NO_ITEMS_TEXT
        return self._format_items(observed, self.name)

    def _show_item_beside_expected(self, expected: Any, observed: Any) -> str:
        """Return the text of an observed item. If the expected item at the same position is itself an expectation,
        it determines the form of this text.
        """
        if isinstance(expected, Expectation):
            return bracket_list_item(expected.with_name(NAME_OF_NESTED_VALUE).show(observed))
        return self.name(observed)

    def compare(self, observed: Any) -> ExpectationDifference | None:
        if not is_collection(observed):
            return ExpectationDifference(self.show(observed))
        found = list(observed)
        if self.ordered and len(found) == len(self.items) and all(map(_meets_expectation, self.items, found)):
            return None
        missing, extra = _match_items_to_expectations(self.items, found)
        if not self.ordered and not missing and not extra:
            return None
        again = [one for one in extra if any(_meets_expectation(expected, one) for expected in self.items)]
        other = [one for one in extra if one not in again]
        wrong = [
            *(f"{self._show_expected(one)} is missing" for one in missing),
            *(f"{self.name(one)} is repeated" for one in again),
            *(f"{self.name(one)} is not expected" for one in other),
        ]
        return ExpectationDifference(f"{self.show(found)} ({', '.join(wrong) or 'in the wrong order'})")

    def _format_items(self, items: Iterable[Any], name: Callable[[Any], str]) -> str:
        if self.where is None:
            return ", ".join(map(name, items)) or NO_ITEMS_TEXT
        text = ", ".join(f'"{one}"' if isinstance(one, str) else name(one) for one in items)
        if not self.where:
            return text or "empty"
        return f"{self.where} contains {text}" if text else f"{self.where} is empty"


class NoItems(Expectation):
    """The expectation that no item of the given kind is observed. If items are observed, the described difference lists
    them.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __str__(self) -> str:
        return f"no {self.kind}"

    def show(self, observed: Any) -> str:
        return f"{self.kind}: {show_value(observed)}" if observed else str(self)

    def compare(self, observed: Any) -> ExpectationDifference | None:
        return None if is_collection(observed) and not observed else ExpectationDifference(self.show(observed))


class EachItem(Expectation):
    """The expectation of a list with at least one item. Each item must meet ``expected``. A difference names the
    items that do not meet it. ``is_named`` states whether the verdict prints a name before the expectation.
    """

    def __init__(self, expected: Any, of: str | None = None, *, is_named: bool = False) -> None:
        self.expected = expectation(expected).with_name(of or "")
        self.of = of
        self.is_named = is_named

    def __str__(self) -> str:
        return self._add_subject()

    def with_name(self, name: str) -> EachItem:
        return EachItem(self.expected.with_name(name), self.of, is_named=True)

    def compare(self, observed: Any) -> ExpectationDifference | None:
        if not is_collection(observed) and not isinstance(observed, Mapping):
            return ExpectationDifference(self.show(observed))
        named = observed.items() if isinstance(observed, Mapping) else enumerate(observed, 1)
        differences = {name: self.expected.compare(one) for name, one in named}
        wrong = [f"{name}: {difference}" for name, difference in differences.items() if difference is not None]
        if wrong:
            return ExpectationDifference(
                f"{', '.join(wrong)} ({len(wrong)} of {len(differences)} {'differs' if len(wrong) == 1 else 'differ'})"
            )
        return None if differences else ExpectationDifference(f"no {self.of or 'item'} was observed")

    def show(self, observed: Any) -> str:
        kept = bool(observed) and self.compare(observed) is None
        count = len(observed) if kept else 0
        return self._add_subject(count) if kept else show_value(observed)

    def _add_subject(self, count: int | None = None) -> str:
        """Return the text of the expectation, including the noun for the expected items. For an observation,
        the text also includes ``count``, the number of observed items.
        """
        if self.of and not self.is_named:
            return f"each {self.of}: {self.expected}" + ("" if count is None else f" ({count} of {count})")
        if count is None:
            return f"{self.expected} (each {self.of or 'of them'})"
        if count == 1:
            return f"{self.expected} (one {self.of})" if self.of else str(self.expected)
        return (
            f"{self.expected} (each {self.of}, {count} of {count})" if self.of else f"{self.expected} (each of {count})"
        )


@expectation.register(list)
@expectation.register(tuple)
def _(expected: list[Any] | tuple[Any, ...]) -> ListedItems:
    return ListedItems(expected, ordered=True)


@expectation.register(set)
@expectation.register(frozenset)
def _(expected: set[Any] | frozenset[Any]) -> ListedItems:
    return ListedItems(expected, ordered=False)


def any_order(*items: Any) -> ListedItems:
    """Return the expectation of exactly the given items, in any order."""
    return ListedItems(items, ordered=False)


def in_queue(*labels: Any) -> ListedItems:
    """Return the expectation that a queue contains exactly the messages with the given labels, in this order.
    Without labels, the queue is expected to be empty.
    """
    return ListedItems(labels, ordered=True, where="the queue")


def none(kind: str) -> NoItems:
    """Return the expectation that no item of the given kind is observed: ``none("message without a label")``. The
    observation is the list of all items of this kind.
    """
    return NoItems(kind)


def each(expected: Any, of: str | None = None) -> EachItem:
    """Return the expectation that each item of a list or mapping meets ``expected``. ``of`` is the noun for one
    item.
    """
    return EachItem(expected, of)


def _meets_expectation(expected: Any, observed: Any) -> bool:
    return expectation(expected).compare(observed) is None


def _match_items_to_expectations(expected: list[Any], found: list[Any]) -> tuple[list[Any], list[Any]]:
    """Assign found items to expected items. Return the missing expected items, and the unexpected found items."""
    fits = [[at for at, one in enumerate(found) if _meets_expectation(wanted, one)] for wanted in expected]
    owners: dict[int, int] = {}
    """For each assigned found item, by its index in ``found``: the index of the expected item to which it is
    assigned.
    """

    def find_place(number: int, tried: set[int]) -> bool:
        """Assign a found item to the expected item ``number``, and return whether this succeeded. If every suitable
        found item is already assigned, take such an item, provided that its previous expected item can be assigned
        another found item.
        """
        free = next((at for at in fits[number] if at not in owners), None)
        if free is not None:
            owners[free] = number
            return True
        for at in fits[number]:
            if at not in tried:
                tried.add(at)
                if fits[owners[at]] != fits[number] and find_place(owners[at], tried):
                    owners[at] = number
                    return True
        return False

    missing = [wanted for number, wanted in enumerate(expected) if not find_place(number, set())]
    return missing, [one for at, one in enumerate(found) if at not in owners]
