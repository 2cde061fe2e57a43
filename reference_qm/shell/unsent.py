"""Limits the number of bytes that wait to be sent because clients do not read. One limit applies to all connections of
a process together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

UNSENT_BYTES_LIMIT = 1024 * 1024 * 1024
ALWAYS_ALLOWED_UNSENT_BYTES = 1024 * 1024
"""The number of unsent bytes that every connection may have, even if the limit for all connections is exceeded."""


class UnsentBytesLimit:
    """The limit for the bytes that wait to be sent on all connections of a process together."""

    def __init__(self, limit: int = UNSENT_BYTES_LIMIT) -> None:
        self.limit = limit
        self._waiting_byte_counters: list[Callable[[], Iterable[int]]] = []

    def include_connections(self, waiting: Callable[[], Iterable[int]]) -> None:
        """Also count the waiting bytes of further connections towards the limit. ``waiting`` returns the number of
        waiting bytes of each of these connections.
        """
        self._waiting_byte_counters.append(waiting)

    def is_full(self, waiting: int) -> bool:
        """Return whether a connection with the given number of waiting bytes exceeds the limit."""
        return (
            waiting > ALWAYS_ALLOWED_UNSENT_BYTES
            and sum(size for measure in self._waiting_byte_counters for size in measure()) > self.limit
        )
