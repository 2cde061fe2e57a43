"""Requests about queues of other queue managers: part of ``reference_qm.surface.commands``."""

from __future__ import annotations

from reference_qm.value_object import value_object


@value_object
class RemoteOpen:
    """Open a queue of another queue manager, by its format name, to read it from here. Result: remote, a number.

    ``access`` is receive or peek; ``deny_receive`` keeps others from receiving.
    """

    queue: str
    access: str = "receive"
    deny_receive: bool = False


@value_object
class RemoteClose:
    """Close what RemoteOpen opened: its cursors go, what waits for its messages is cancelled."""

    remote: int


@value_object
class RemoteOpenCursor:
    """Make a cursor of a remote queue. Result: cursor."""

    remote: int


@value_object
class RemoteCloseCursor:
    """Forget a cursor of a remote queue."""

    cursor: int


@value_object
class RemoteReceive:
    """Take a message of a remote queue, the first or the one at a cursor. Result: message, None after the time.

    One of ``remote`` (of RemoteOpen) and ``cursor`` (of RemoteOpenCursor) says where; ``timeout_ms`` None waits for
    ever.
    """

    remote: int | None = None
    cursor: int | None = None
    timeout_ms: int | None = 0


@value_object
class RemotePeek:
    """Read a message as RemoteReceive does, leaving it there; with ``next``, the one after that at the cursor."""

    remote: int | None = None
    cursor: int | None = None
    timeout_ms: int | None = 0
    next: bool = False


@value_object
class RemoteReadByLookupId:
    """Take, or only peek, the message of a remote queue with a lookup_id, or the one ``seek`` says. Result: message."""

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
