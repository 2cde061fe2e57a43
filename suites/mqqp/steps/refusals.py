"""Well-formed calls of qm2qm that the SUT must refuse."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from harness.peer.association import Call
from harness.peer.remote import RemoteQueue
from harness.wire.rpc_qm2qm import Ack, Action, Method
from harness.wire.rpc_qmcomm import PEEK_ACCESS

SHORT_READ_TIMEOUT_MS, LONG_READ_TIMEOUT_MS = 200, 600_000
RefusedCallMaker = Callable[[RemoteQueue], list[Call]]


def _call_refused_lookups(queue: RemoteQueue) -> list[Call]:
    wrong = ({"ulTimeout": 1}, {"hCursor": queue.UNKNOWN_HANDLE}, {"hRemoteQueue": 0, "dwQueue": 0})
    receives = [queue.look_up(Action.LOOKUP_RECEIVE_NEXT, 0, **fields) for fields in wrong]
    return [*receives, *(queue.look_up(action, 0) for action in (Action.LOOKUP_RECEIVE_NEXT, Action.LOOKUP_PEEK_NEXT))]


def _call_refused_reads(by: Method, queue: RemoteQueue) -> list[Call]:
    unknown = {"hRemoteQueue": queue.UNKNOWN_HANDLE, "dwQueue": queue.UNKNOWN_HANDLE}
    wrong = ({"dwQueue": 0}, {"hCursor": queue.UNKNOWN_HANDLE}, unknown)
    receives = [queue.start_receive(by=by, **fields) for fields in wrong]
    late = [queue.start_receive(by=by), queue.start_receive(by=by, ulTimeout=SHORT_READ_TIMEOUT_MS), queue.peek(by=by)]
    peeking = queue.remote.open(association=queue.association, access=PEEK_ACCESS)
    unread = queue.peek_next(by=by, hCursor=queue.open_cursor())
    late += [unread, peeking.start_receive(by=by)]
    return [*receives, queue.peek_next(by=by), *late, _peek_at_received_message(by, queue)]


def _peek_at_received_message(by: Method, queue: RemoteQueue) -> Call:
    """Peek by a cursor at a message that was received after the cursor had read it."""
    queue.remote.deliver(["received"])
    cursor = queue.open_cursor()
    queue.peek(by=by, hCursor=cursor).expect_success()
    queue.receive(by=by)
    return queue.peek(by=by, hCursor=cursor)


def _call_refused_end_receives(queue: RemoteQueue) -> list[Call]:
    nulls = [
        queue.association.call(Method.END_RECEIVE, pphContext=queue.NULL_HANDLE, dwAck=ack)
        for ack in (Ack.RR_NACK, Ack.RR_ACK)
    ]
    closed = queue.remote.open_with_messages("held", association=queue.association)
    held = closed.start_receive()
    closed.close()
    ended = closed.end(held)
    queue.purge()
    return nulls if ended.outcome == "MQ_OK" else [*nulls, ended]  # a server is not required to refuse the last call


def _call_refused_openings(queue: RemoteQueue) -> list[Call]:
    return [
        queue.open_session(pQueue=0),
        queue.open_session(dwpContext=0),
        queue.open_session(pQueue=queue.UNKNOWN_HANDLE),
        queue.open_session(pQueue=0, dwpContext=0),
    ]


def _call_refused_closings(queue: RemoteQueue) -> list[Call]:
    return [queue.association.call(Method.CLOSE_QUEUE, pphContext=queue.NULL_HANDLE)]


def _call_refused_cursor_closings(queue: RemoteQueue) -> list[Call]:
    unknown, other = queue.UNKNOWN_HANDLE, queue.remote.open(association=queue.association)
    refused = [queue.close_cursor(unknown), queue.close_cursor(1, hQueue=unknown), queue.close_cursor(0)]
    return [*refused, queue.close_cursor(other.open_cursor())]


def _call_refused_cancellings(queue: RemoteQueue) -> list[Call]:
    wrong = [
        queue.association.call(Method.CANCEL_RECEIVE, hQueue=queue.handle, pQueue=value, dwRequestID=1)
        for value in (0, queue.UNKNOWN_HANDLE)
    ]
    idle = queue.cancel(queue.remote.request_id())
    queue.begin_receive(ulTimeout=LONG_READ_TIMEOUT_MS)
    return [*wrong, idle, queue.cancel(queue.remote.request_id())]


def _call_refused_purges(queue: RemoteQueue) -> list[Call]:
    peeking = queue.remote.open(association=queue.association, access=PEEK_ACCESS)
    unknown = [queue.association.call(Method.PURGE_QUEUE, hQueue=handle) for handle in (0, queue.UNKNOWN_HANDLE)]
    return [*unknown, peeking.purge(), peeking.start_receive()]


REFUSED_PURGE_CALLS_BY_METHOD = {Method.PURGE_QUEUE: _call_refused_purges}
"""The refused calls of RemoteQMPurgeQueue, which may also throw its errors (note <18>), and of a receive through a
handle for peeks.
"""
REFUSED_CALLS_BY_METHOD: dict[Method, RefusedCallMaker] = {
    Method.START_RECEIVE: partial(_call_refused_reads, Method.START_RECEIVE),
    Method.END_RECEIVE: _call_refused_end_receives,
    Method.OPEN_QUEUE: _call_refused_openings,
    Method.CLOSE_QUEUE: _call_refused_closings,
    Method.CLOSE_CURSOR: _call_refused_cursor_closings,
    Method.CANCEL_RECEIVE: _call_refused_cancellings,
    Method.START_RECEIVE2: partial(_call_refused_reads, Method.START_RECEIVE2),
    Method.START_RECEIVE_BY_LOOKUP_ID: _call_refused_lookups,
}
"""For each method, the function that makes calls that the SUT must refuse; the queue is empty."""
