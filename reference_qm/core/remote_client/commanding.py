"""What a higher layer asks of remote queues. The answers come when the sequences end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from reference_qm.core.protocol.errors import CommandError
from reference_qm.core.protocol.messages import describe_message
from reference_qm.core.protocol.resolving import is_address
from reference_qm.core.queueing.commanding import ACCESS, OPEN_LIMIT, cancel_waiting, check_number, one_of
from reference_qm.core.remote.enums import INFINITE_MS, ReadAction, ShareMode
from reference_qm.core.remote_client import running
from reference_qm.core.remote_client.model import PendingRemoteReadEntry, RemoteError, RemoteQueue, RemoteRead, Sequence
from reference_qm.core.remote_client.naming import find_server, queue_format
from reference_qm.core.remote_client.opening import open_for_application
from reference_qm.core.remote_client.reading import RemoteMessage
from reference_qm.model.enums import QueueAccessType
from reference_qm.model.statuses import Status
from reference_qm.surface import commands, remote_commands
from reference_qm.surface.commands import Result
from reference_qm.surface.effects import Completed, Rejected
from reference_qm.surface.inputs import Endpoint

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager
    from reference_qm.surface.clock import Now

LAST_ID = 0xFFFFFFFFFFFFFFFF
"""LookupId behind the last message; 0 is before the first. Spec: MS-MQQP 3.1.4.11."""
LOOKUPS: dict[str, tuple[ReadAction, ReadAction, int | None]] = {
    "first": (ReadAction.MQ_LOOKUP_PEEK_NEXT, ReadAction.MQ_LOOKUP_RECEIVE_NEXT, 0),
    "previous": (ReadAction.MQ_LOOKUP_PEEK_PREV, ReadAction.MQ_LOOKUP_RECEIVE_PREV, None),
    "current": (ReadAction.MQ_LOOKUP_PEEK_CURRENT, ReadAction.MQ_LOOKUP_RECEIVE_CURRENT, None),
    "next": (ReadAction.MQ_LOOKUP_PEEK_NEXT, ReadAction.MQ_LOOKUP_RECEIVE_NEXT, None),
    "last": (ReadAction.MQ_LOOKUP_PEEK_PREV, ReadAction.MQ_LOOKUP_RECEIVE_PREV, LAST_ID),
}
"""``seek``: the action that peeks, the one that receives, and the LookupId that goes with it, if one does."""


def remote_open(qm: QueueManager, request: remote_commands.RemoteOpen, token: int, now: Now) -> None:
    """Open a queue of another queue manager."""
    access = one_of("access", request.access, ACCESS)
    if len(qm.remote_client.queues) >= OPEN_LIMIT:
        raise CommandError(f"{OPEN_LIMIT} remote queues are open already: close some")
    host = find_server(qm, request.queue)
    queue = RemoteQueue(
        number=qm.next_handle(),
        FormatName=request.queue,
        RemoteServer=Endpoint(host, qm.config.remote_rpc_port),
        receives=access is QueueAccessType.RECEIVE,
    )
    share = ShareMode.MQ_DENY_RECEIVE_SHARE if request.deny_receive else ShareMode.MQ_DENY_NONE
    unresolved = None if is_address(host) else host
    opening = open_for_application(qm, queue, unresolved, queue_format(request.queue), share)
    _run(qm, opening, token, now, lambda opened: {"remote": opened.number})


def remote_close(qm: QueueManager, request: remote_commands.RemoteClose, token: int, now: Now) -> None:
    """Close a remote queue: whatever comes of it, it is open no more."""
    queue = qm.remote_client.queues.pop(_find_queue(qm, request.remote).number)
    cursors = qm.remote_client.cursors
    for number in [number for number, (of, _) in cursors.items() if of is queue]:
        del cursors[number]
    _run(qm, qm.procedures.close_queue_at_server(qm, queue), token, now)


def remote_open_cursor(qm: QueueManager, request: remote_commands.RemoteOpenCursor, token: int, now: Now) -> None:
    """Make a cursor at the server."""
    queue = _find_queue(qm, request.remote)
    if len(qm.remote_client.cursors) >= OPEN_LIMIT:
        raise CommandError(f"{OPEN_LIMIT} remote cursors are open already: close some")

    def created(handle: int) -> dict[str, Any]:
        number = qm.next_handle()
        qm.remote_client.cursors[number] = (queue, handle)
        return {"cursor": number}

    _run(qm, qm.procedures.create_remote_cursor(qm, queue), token, now, created)


def remote_close_cursor(qm: QueueManager, request: remote_commands.RemoteCloseCursor, token: int, now: Now) -> None:
    """Forget a cursor."""
    queue, cursor = _find_cursor(qm, request.cursor)
    del qm.remote_client.cursors[request.cursor]
    _run(qm, qm.procedures.close_remote_cursor(qm, queue, cursor), token, now)


def remote_receive(qm: QueueManager, request: remote_commands.RemoteReceive, token: int, now: Now) -> None:
    """Take a message out of a remote queue."""
    _read(qm, request, ReadAction.MQ_ACTION_RECEIVE, token, now)


def remote_peek(qm: QueueManager, request: remote_commands.RemotePeek, token: int, now: Now) -> None:
    """Read a message of a remote queue, leaving it there."""
    if request.next and request.cursor is None:
        raise CommandError("next: there is a next message only for a cursor: give one")
    action = ReadAction.MQ_ACTION_PEEK_NEXT if request.next else ReadAction.MQ_ACTION_PEEK_CURRENT
    _read(qm, request, action, token, now)


def remote_read_by_lookup_id(
    qm: QueueManager, request: remote_commands.RemoteReadByLookupId, token: int, now: Now
) -> None:
    """Take or read the message with a lookup identifier, or one beside it."""
    peeking, receiving, fixed = one_of("seek", request.seek, LOOKUPS)
    check_number("lookup_id", request.lookup_id, 0, LAST_ID)
    read = RemoteRead(
        queue=_find_queue(qm, request.remote),
        Action=peeking if request.peek else receiving,
        TimeOut=0,
        LookupId=request.lookup_id if fixed is None else fixed,
        token=token,
    )
    _begin_read(qm, read, now)


def remote_purge(qm: QueueManager, request: remote_commands.RemotePurge, token: int, now: Now) -> None:
    """Delete every message of a remote queue."""
    _run(qm, qm.procedures.purge_queue_at_server(qm, _find_queue(qm, request.remote)), token, now)


def cancel_command(qm: QueueManager, request: commands.CancelWaiting, token: int, now: Now) -> Result | None:
    """Cancel a command that waits for a message, here or at another queue manager."""
    entry = _pending(qm, request.token)
    if entry is None:
        return cancel_waiting(qm, request, token, now)
    cancelling = qm.procedures.cancel_pending_read(qm, entry.queue, entry.RequestId)
    _run(qm, cancelling, token, now, lambda nothing: {"cancelled": True})
    return None


REMOTE_CLIENT_HANDLERS: dict[type, Callable[[QueueManager, Any, int, Now], Result | None]] = {
    remote_commands.RemoteOpen: remote_open,
    remote_commands.RemoteClose: remote_close,
    remote_commands.RemoteOpenCursor: remote_open_cursor,
    remote_commands.RemoteCloseCursor: remote_close_cursor,
    remote_commands.RemoteReceive: remote_receive,
    remote_commands.RemotePeek: remote_peek,
    remote_commands.RemoteReadByLookupId: remote_read_by_lookup_id,
    remote_commands.RemotePurge: remote_purge,
    commands.CancelWaiting: cancel_command,
}


def _read(qm: QueueManager, request: Any, action: ReadAction, token: int, now: Now) -> None:
    if (request.remote is None) == (request.cursor is None):
        raise CommandError("remote, cursor: give one of them, it says where to read")
    time_out = INFINITE_MS if request.timeout_ms is None else request.timeout_ms
    check_number("timeout_ms", time_out, 0, INFINITE_MS)
    handle = 0
    if request.cursor is None:
        queue = _find_queue(qm, request.remote)
    else:
        queue, handle = _find_cursor(qm, request.cursor)
    read = RemoteRead(queue=queue, Action=action, TimeOut=time_out, CursorHandle=handle, token=token)
    _begin_read(qm, read, now)


def _begin_read(qm: QueueManager, read: RemoteRead, now: Now) -> None:
    if read.receives and not read.queue.receives:
        raise CommandError(f"{read.queue.FormatName!a} was opened to peek (MS-MQMP 3.1.4.2): open it to receive")

    def finished(found: Any) -> None:
        if isinstance(found, RemoteError) and found.status == Status.MQ_ERROR_IO_TIMEOUT:
            qm.emit(Completed(read.token, Result({"message": None})))
        else:
            _answer(qm, read.token, found, _describe)

    running.run(qm, qm.procedures.read_remote_message(qm, read), now, finished)


def _describe(found: RemoteMessage) -> dict[str, Any]:
    described = describe_message(found.message)
    described["lookup_id"] = found.LookupIdentifier
    return {"message": described}


def _run(
    qm: QueueManager,
    sequence: Sequence,
    token: int,
    now: Now,
    values: Callable[[Any], dict[str, Any]] = lambda nothing: {},
) -> None:
    running.run(qm, sequence, now, lambda outcome: _answer(qm, token, outcome, values))


def _answer(qm: QueueManager, token: int, outcome: Any, values: Callable[[Any], dict[str, Any]]) -> None:
    if isinstance(outcome, RemoteError):
        qm.emit(Rejected(token, str(outcome)))
    else:
        qm.emit(Completed(token, Result(values(outcome))))


def _pending(qm: QueueManager, token: int) -> PendingRemoteReadEntry | None:
    entries = qm.remote_client.PendingRemoteReadEntryCollection
    return next((entry for entry in entries if entry.token == token), None)


def _find_queue(qm: QueueManager, number: int) -> RemoteQueue:
    queue = qm.remote_client.queues.get(number)
    if queue is None:
        raise CommandError(f"no remote queue {number} is open: open it again, they end with a restart")
    return queue


def _find_cursor(qm: QueueManager, number: int) -> tuple[RemoteQueue, int]:
    found = qm.remote_client.cursors.get(number)
    if found is None:
        raise CommandError(f"no remote cursor {number}: open one, cursors end with their queue and with a restart")
    return found
