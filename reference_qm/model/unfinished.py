"""What has come of packets and requests that are not whole yet: one limit for all connections."""

from __future__ import annotations

UNFINISHED_LIMIT = 256 * 1024 * 1024
"""int bytes: 64 of the longest messages may be on their way at once."""


class Unfinished:
    """The bytes that connections hold of what is not whole: ``held``, by the names of the connections that hold any.

    A connection that goes on with it becomes the last; the one that has waited longest is the first to go.
    """

    __slots__ = ("held", "limit", "total")

    def __init__(self, limit: int = UNFINISHED_LIMIT) -> None:
        self.limit = limit
        self.total = 0
        self.held: dict[str, int] = {}

    def note(self, connection: str, size: int) -> None:
        """Note how much a connection holds now; 0 for nothing, also when it is closed."""
        known = self.held.pop(connection, 0)
        self.total += size - known
        if size:
            self.held[connection] = size

    def one_too_many(self) -> str | None:
        """Return the connection that is to be closed because all hold more than the limit; None when they do not."""
        return next(iter(self.held)) if self.total > self.limit else None
