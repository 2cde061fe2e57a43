"""What waits for clients that do not read: one limit for all connections of a process."""

from __future__ import annotations

from collections.abc import Callable, Iterable

UNSENT_LIMIT = 1024 * 1024 * 1024
LITTLE = 1024 * 1024
"""int bytes that may wait on any connection without a look at the others: it is measured, not kept."""


class Unsent:
    """The bytes that wait to be sent on every connection, whatever it carries."""

    def __init__(self, limit: int = UNSENT_LIMIT) -> None:
        self.limit = limit
        self._measures: list[Callable[[], Iterable[int]]] = []

    def measure(self, waiting: Callable[[], Iterable[int]]) -> None:
        """Let the limit hold for more connections, too: ``waiting`` tells the bytes that wait on each."""
        self._measures.append(waiting)

    def is_full(self, waiting: int) -> bool:
        """Return whether there is no room any more for a connection on which so many bytes wait."""
        return waiting > LITTLE and sum(size for measure in self._measures for size in measure()) > self.limit
