"""Stores the deadlines of many items, with a single timer for the earliest deadline."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

DatedItem = TypeVar("DatedItem")

DEADLINE_SWEEP_THRESHOLD = 4_096
"""The number of entries that the heap must have before it is searched for entries that are no longer relevant."""


class DeadlineCollection(Generic[DatedItem]):
    """A collection of items and the times at which they are due, int s UTC. ``matters`` is a function that returns
    whether an item is still relevant. Irrelevant items are removed when they are due, or earlier if the collection has
    become large.
    """

    __slots__ = ("_cleanup_size", "_heap", "_is_relevant", "_known", "_last_order")

    def __init__(self, matters: Callable[[DatedItem], bool]) -> None:
        self._is_relevant = matters
        self._known: set[DatedItem] = set()
        self._heap: list[tuple[int, int, DatedItem]] = []
        self._last_order = 0
        self._cleanup_size = DEADLINE_SWEEP_THRESHOLD

    def __len__(self) -> int:
        return len(self._heap)

    @property
    def earliest_s(self) -> int | None:
        """The time in s UTC when the first item is due, or None if there is no item."""
        return self._heap[0][0] if self._heap else None

    def add(self, thing: DatedItem, due_s: int) -> None:
        """Add an item with the time when it is due. If the item is already in the collection, its time does not
        change.
        """
        if thing in self._known:
            return
        if len(self._heap) >= self._cleanup_size:
            self._drop_irrelevant_items()
        self._last_order += 1
        self._known.add(thing)
        heapq.heappush(self._heap, (due_s, self._last_order, thing))

    def take_due_items(self, now_s: int) -> Iterator[DatedItem]:
        """Remove the items that are due, and yield the relevant items among them, in the order of their times."""
        while self._heap and self._heap[0][0] <= now_s:
            _, _, thing = heapq.heappop(self._heap)
            self._known.discard(thing)
            if self._is_relevant(thing):
                yield thing

    def _drop_irrelevant_items(self) -> None:
        self._heap = [entry for entry in self._heap if self._is_relevant(entry[2])]
        heapq.heapify(self._heap)
        self._known = {thing for _, _, thing in self._heap}
        self._cleanup_size = max(DEADLINE_SWEEP_THRESHOLD, 2 * len(self._heap))
