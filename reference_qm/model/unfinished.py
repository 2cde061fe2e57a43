"""Counts the bytes of unfinished packets and requests. All connections share one limit."""

from __future__ import annotations

MAX_UNFINISHED_PACKET_BYTES = 256 * 1024 * 1024
"""The limit in bytes, which is 64 times the maximum size of a message."""


class UnfinishedPacketByteCounts:
    """Counts the bytes of unfinished packets. ``held`` contains the number of these bytes for each connection, by the
    connection's name. A connection that receives bytes moves to the end of ``held``. The first connection is therefore
    the one whose unfinished packet has waited longest, and it is closed first.
    """

    __slots__ = ("held", "limit", "total")

    def __init__(self, limit: int = MAX_UNFINISHED_PACKET_BYTES) -> None:
        self.limit = limit
        self.total = 0
        self.held: dict[str, int] = {}

    def note(self, connection: str, size: int) -> None:
        """Set the number of unfinished bytes of a connection. The caller passes 0 when the connection has ended."""
        known = self.held.pop(connection, 0)
        self.total += size - known
        if size:
            self.held[connection] = size

    def find_connection_to_close(self) -> str | None:
        """Return the connection to close if the connections together have more bytes than the limit, or None."""
        return next(iter(self.held)) if self.total > self.limit else None
