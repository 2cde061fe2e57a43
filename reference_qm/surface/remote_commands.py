"""Defines the requests for queues of other queue managers, which extend the requests of ``surface.commands``."""

from __future__ import annotations

from reference_qm.value_object import value_object


@value_object
class RemoteOpen:
    """Open a queue of another queue manager, which a format name identifies, for remote reading. Result: remote, a
    number.

    ``access`` is receive or peek. ``deny_receive``: deny other users the right to receive.
    """

    queue: str
    access: str = "receive"
    deny_receive: bool = False


@value_object
class RemoteClose:
    """Close a remote queue and its cursors, and cancel the reads that wait at the queue."""

    remote: int


@value_object
class RemoteOpenCursor:
    """Create a cursor of a remote queue. Result: cursor."""

    remote: int


@value_object
class RemoteCloseCursor:
    """Close a cursor of a remote queue."""

    cursor: int


@value_object
class RemoteReceive:
    """Receive the first message of a remote queue, or the message at a cursor. Result: message, or None after the
    timeout.

    Exactly one of ``remote`` (of RemoteOpen) and ``cursor`` (of RemoteOpenCursor) identifies the queue, or the
    position in it. ``timeout_ms``: the time to wait for a message, or None for no limit.
    """

    remote: int | None = None
    cursor: int | None = None
    timeout_ms: int | None = 0


@value_object
class RemotePeek:
    """Peek at the first message of a remote queue, or at the message at a cursor. ``next``: peek at the message after
    the cursor instead.
    """

    remote: int | None = None
    cursor: int | None = None
    timeout_ms: int | None = 0
    next: bool = False


@value_object
class RemoteReadByLookupId:
    """Receive or peek at the message of a remote queue that has a lookup_id, or at the message that ``seek``
    selects.

    Result: message.
    """

    remote: int
    lookup_id: int = 0
    seek: str = "current"
    peek: bool = False


@value_object
class RemotePurge:
    """Delete every message of a remote queue."""

    remote: int


RemoteRequest = (
    RemoteOpen
    | RemoteClose
    | RemoteOpenCursor
    | RemoteCloseCursor
    | RemoteReceive
    | RemotePeek
    | RemoteReadByLookupId
    | RemotePurge
)
