"""MS-MQDMPR 3.1.7.1.14, 3.1.7.1.15, 3.1.7.1.1, 3.1.7.1.2, 3.2.7: peeking, with and without a cursor."""

from dataclasses import replace

import pytest
from queueing_made import PLAIN, open_, put, queue_of

from reference_qm.model.enums import CursorState
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.surface.commands import CloseCursor, OpenCursor, OpenQueue, PeekMessage, ReceiveMessage

OK, TIMEOUT = Status.MQ_OK, Status.MQ_ERROR_IO_TIMEOUT


@pytest.fixture
def cursor(host, descriptor):
    return host.core.cursors.open(descriptor)


def test_a_peek_leaves_the_message_there(host, reads, descriptor):
    put(host, "a", "b")
    assert [reads.call(name, "peek_message", descriptor) for name in "xy"] == [(OK, "a"), (OK, "a")]
    assert host.bodies() == ["a", "b"]


def test_all_that_wait_to_peek_get_the_message_and_then_one_that_receives(host, reads, descriptor):
    other = open_(host)
    reads.call("peek 1", "peek_message", descriptor)
    reads.call("receive 1", "dequeue_message", descriptor)
    reads.call("receive 2", "dequeue_message", descriptor)
    reads.call("peek 2", "peek_message", other)
    put(host, "a")
    assert reads.answers == {"peek 1": (OK, "a"), "receive 1": (OK, "a")}
    put(host, "b")
    assert reads.answers["receive 2"] == (OK, "b")
    put(host, "c")
    assert reads.answers["peek 2"] == (OK, "c")
    assert host.bodies() == ["c"]


def test_a_peek_waits_no_longer_than_it_may(host, reads, descriptor):
    assert reads.call("0", "peek_message", descriptor, timeout_ms=0) == (TIMEOUT, None)
    reads.call("x", "peek_message", descriptor, timeout_ms=300)
    host.network.advance(300)
    assert reads.answers["x"] == (TIMEOUT, None)


def test_a_locked_message_is_seen_only_if_it_says_so(host, reads, descriptor):
    (one,) = put(host, "a")
    position = queue_of(host).MessagePositionList.find(one)
    position.State = MessagePositionState.LOCKED
    assert reads.call("x", "peek_message", descriptor, timeout_ms=0) == (TIMEOUT, None)
    position.MessageReference = replace(position.MessageReference, AllowPeekWhenLocked=True)
    assert reads.call("y", "peek_message", descriptor, timeout_ms=0) == (OK, "a")
    assert reads.call("z", "dequeue_message", descriptor, timeout_ms=0) == (TIMEOUT, None)


def test_a_new_cursor_is_before_the_first_message_and_has_nothing_next(host, reads, descriptor, cursor):
    put(host, "a")
    assert (cursor.CursorState, cursor.MessagePositionReference) == (
        CursorState.UNREAD,
        queue_of(host).MessagePositionList.Start,
    )
    assert descriptor.CursorCollection == {cursor.Handle: cursor}
    assert reads.call("x", "peek_next_message", descriptor, cursor) == (Status.MQ_ERROR_ILLEGAL_CURSOR_ACTION, None)


def test_a_cursor_goes_from_message_to_message(host, reads, descriptor, cursor):
    put(host, "a", "b", "c")
    assert [reads.call(name, "peek_message", descriptor, cursor=cursor) for name in "xy"] == [(OK, "a")] * 2
    assert cursor.CursorState is CursorState.READ
    assert [reads.call(name, "peek_next_message", descriptor, cursor) for name in "12"] == [(OK, "b"), (OK, "c")]
    assert reads.call("end", "peek_next_message", descriptor, cursor, timeout_ms=0) == (TIMEOUT, None)


def test_cursors_do_not_disturb_each_other(host, reads, descriptor, cursor):
    put(host, "a", "b")
    other = host.core.cursors.open(descriptor)
    assert other.Handle != cursor.Handle
    reads.call("1", "peek_message", descriptor, cursor=cursor)
    reads.call("2", "peek_next_message", descriptor, cursor)
    assert reads.call("3", "peek_message", descriptor, cursor=other) == (OK, "a")


def test_a_peek_at_a_message_that_is_gone_says_so_and_the_next_is_found(host, reads, descriptor, cursor):
    ids = put(host, "a", "b", "c")
    reads.call("1", "peek_message", descriptor, cursor=cursor)
    positions = queue_of(host).MessagePositionList
    for one in ids[:2]:
        positions.remove(positions.find(one))
    put(host, "high", priority=7)
    already = (Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED, None)
    assert reads.call("2", "peek_message", descriptor, cursor=cursor) == already
    assert reads.call("3", "peek_next_message", descriptor, cursor) == (OK, "c")


def test_what_comes_in_the_place_of_a_message_that_is_gone_is_next(host, reads, descriptor, cursor):
    put(host, "a")
    reads.call("1", "peek_message", descriptor, cursor=cursor)
    reads.call("2", "dequeue_message", descriptor)
    put(host, "b")
    assert reads.call("3", "peek_next_message", descriptor, cursor) == (OK, "b")


def test_a_cursor_waits_at_the_end_and_goes_on(host, reads, descriptor, cursor):
    put(host, "a")
    reads.call("1", "peek_message", descriptor, cursor=cursor)
    reads.call("waits", "peek_next_message", descriptor, cursor, timeout_ms=1_000)
    assert cursor.CursorState is CursorState.WAIT_PEEK
    put(host, "b")
    assert reads.answers["waits"] == (OK, "b")
    assert cursor.CursorState is CursorState.READ
    reads.call("in vain", "peek_next_message", descriptor, cursor, timeout_ms=1_000)
    host.network.advance(1_000)
    assert reads.answers["in vain"] == (TIMEOUT, None)
    put(host, "c")
    assert reads.call("again", "peek_next_message", descriptor, cursor) == (OK, "c")


def test_an_unread_cursor_waits_for_the_first_message(host, reads, descriptor, cursor):
    reads.call("waits", "peek_message", descriptor, cursor=cursor)
    put(host, "a")
    assert reads.answers["waits"] == (OK, "a")
    assert cursor.CursorState is CursorState.READ


def test_a_message_before_the_cursor_satisfies_it_too_and_takes_it_back(host, reads, descriptor, cursor):
    put(host, "a")
    reads.call("1", "peek_message", descriptor, cursor=cursor)
    reads.call("waits", "peek_next_message", descriptor, cursor)
    put(host, "high", priority=7)
    assert reads.answers["waits"] == (OK, "high")
    assert reads.call("2", "peek_next_message", descriptor, cursor) == (OK, "a")


def test_closing_a_cursor_ends_what_waits_with_it_and_nothing_else(host, reads, descriptor, cursor):
    other = host.core.cursors.open(descriptor)
    reads.call("gone", "peek_message", descriptor, cursor=cursor)
    reads.call("stays", "peek_message", descriptor, cursor=other)
    host.core.queue_opening.close_cursor(cursor)
    assert reads.answers == {"gone": (Status.MQ_ERROR_OPERATION_CANCELLED, None)}
    assert descriptor.CursorCollection == {other.Handle: other}


def test_a_closed_cursor_keeps_no_message(host, reads, descriptor, cursor):
    (one,) = put(host, "a")
    reads.call("1", "peek_message", descriptor, cursor=cursor)
    position = queue_of(host).MessagePositionList.find(one)
    assert position.held == 1
    queue_of(host).MessagePositionList.remove(position)
    host.core.queue_opening.close_cursor(cursor)
    assert (position.held, position.Next) == (0, None)


def test_cursors_over_commands(host):
    put(host, "a", "b")
    handle = host.ask(OpenQueue(PLAIN))["handle"]
    cursor = host.ask(OpenCursor(handle))["cursor"]
    assert host.ask(PeekMessage(cursor=cursor))["message"]["body"] == "a"
    assert host.ask(PeekMessage(cursor=cursor, next=True))["message"]["body"] == "b"
    assert host.ask(ReceiveMessage(cursor=cursor))["message"]["body"] == "b"
    assert host.ask(PeekMessage(PLAIN))["message"]["body"] == "a"
    assert "give one" in host.refusal(PeekMessage(PLAIN, next=True))
    host.ask(CloseCursor(cursor))
    assert "open one" in host.refusal(CloseCursor(cursor))
    assert "open the queue again" in host.refusal(OpenCursor(999))
