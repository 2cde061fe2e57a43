"""MS-MQDMPR 3.1.7.1.14, 3.1.7.1.15, 3.1.7.1.1, 3.1.7.1.2, 3.2.7: peeking, with and without a cursor."""

import pytest
from queueing_made import PLAIN, put, queue_of

from reference_qm.model.enums import CursorState
from reference_qm.model.statuses import Status
from reference_qm.surface.commands import CloseCursor, OpenCursor, OpenQueue, PeekMessage, ReceiveMessage

OK, TIMEOUT = Status.MQ_OK, Status.MQ_ERROR_IO_TIMEOUT


@pytest.fixture
def cursor(host, descriptor):
    return host.core.queue_cursors.open(descriptor)


def test_waiting_peek_ends_at_its_timeout(host, reads, descriptor):
    assert reads.call("0", "peek_message", descriptor, timeout_ms=0) == (TIMEOUT, None)
    reads.call("x", "peek_message", descriptor, timeout_ms=300)
    host.network.advance(300)
    assert reads.answers["x"] == (TIMEOUT, None)


def test_new_cursor_is_before_the_first_message_and_cannot_peek_next(host, reads, descriptor, cursor):
    put(host, "a")
    assert (cursor.CursorState, cursor.MessagePositionReference) == (
        CursorState.UNREAD,
        queue_of(host).MessagePositionList.Start,
    )
    assert descriptor.CursorCollection == {cursor.Handle: cursor}
    assert reads.call("x", "peek_next_message", descriptor, cursor) == (Status.MQ_ERROR_ILLEGAL_CURSOR_ACTION, None)


def test_closing_cursor_ends_only_its_waiting_reads(host, reads, descriptor, cursor):
    other = host.core.queue_cursors.open(descriptor)
    reads.call("gone", "peek_message", descriptor, cursor=cursor)
    reads.call("stays", "peek_message", descriptor, cursor=other)
    host.core.queue_opening.close_cursor(cursor)
    assert reads.answers == {"gone": (Status.MQ_ERROR_OPERATION_CANCELLED, None)}
    assert descriptor.CursorCollection == {other.Handle: other}


def test_a_closed_cursor_keeps_no_message(host, reads, descriptor, cursor):
    (one,) = put(host, "a")
    reads.call("1", "peek_message", descriptor, cursor=cursor)
    position = queue_of(host).MessagePositionList.find(one)
    assert position.reader_hold_count == 1
    queue_of(host).MessagePositionList.remove(position)
    host.core.queue_opening.close_cursor(cursor)
    assert (position.reader_hold_count, position.Next) == (0, None)


def test_cursor_commands_peek_receive_and_close(host):
    put(host, "a", "b")
    handle = host.ask(OpenQueue(PLAIN))["handle"]
    cursor = host.ask(OpenCursor(handle))["cursor"]
    assert host.ask(PeekMessage(cursor=cursor))["message"]["body"] == "a"
    assert host.ask(PeekMessage(cursor=cursor, next=True))["message"]["body"] == "b"
    assert host.ask(ReceiveMessage(cursor=cursor))["message"]["body"] == "b"
    assert host.ask(PeekMessage(PLAIN))["message"]["body"] == "a"
    assert "next needs a cursor" in host.refusal(PeekMessage(PLAIN, next=True))
    host.ask(CloseCursor(cursor))
    assert "open a new cursor" in host.refusal(CloseCursor(cursor))
    assert "open the queue again" in host.refusal(OpenCursor(999))
