"""Limits the bytes that wait for clients that do not read, with one limit for all connections of a process."""

from __future__ import annotations

from collections.abc import Callable, Iterable

UNSENT_BYTES_LIMIT = 1024 * 1024 * 1024
ALWAYS_ALLOWED_BYTES = 1024 * 1024
"""The number of unsent bytes that any connection may have, regardless of the number of unsent bytes of other
connections.
"""


class Unsent:
    """The limit of bytes that wait to be sent, for the connections of all kinds together."""

    def __init__(self, limit: int = UNSENT_BYTES_LIMIT) -> None:
        self.limit = limit
        self._measures: list[Callable[[], Iterable[int]]] = []

    def include_connections(self, waiting: Callable[[], Iterable[int]]) -> None:
        """Include further connections in the limit: ``waiting`` returns the number of waiting bytes of each of them."""
        self._measures.append(waiting)

    def is_full(self, waiting: int) -> bool:
        """Return whether a connection with the given number of waiting bytes exceeds the limit."""
        return (
            waiting > ALWAYS_ALLOWED_BYTES
            and sum(size for measure in self._measures for size in measure()) > self.limit
        )
