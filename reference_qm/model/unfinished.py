"""Counts the bytes of unfinished packets and requests, with one limit for all connections."""

from __future__ import annotations

UNFINISHED_LIMIT = 256 * 1024 * 1024
"""The limit in bytes: the size of 64 messages of maximum length."""


class Unfinished:
    """The number of bytes of unfinished packets, by the name of the connection (``held``). A connection that makes
    progress moves to the end; the connection that has waited longest is closed first.
    """

    __slots__ = ("held", "limit", "total")

    def __init__(self, limit: int = UNFINISHED_LIMIT) -> None:
        self.limit = limit
        self.total = 0
        self.held: dict[str, int] = {}

    def note(self, connection: str, size: int) -> None:
        """Set the number of unfinished bytes of a connection; the number is 0 when the connection has ended."""
        known = self.held.pop(connection, 0)
        self.total += size - known
        if size:
            self.held[connection] = size

    def find_connection_to_close(self) -> str | None:
        """Return the connection to close when the bytes of all connections exceed the limit, else None."""
        return next(iter(self.held)) if self.total > self.limit else None
