"""MS-MQDMPR 3.2.7.1, 3.2.7.2, 3.2.7.3, 3.2.7.4, 3.2.7.5 and 3.2.7.6: the states of a cursor, event by event."""

import pytest
from queueing_made import open_, put, queue_of

from reference_qm.model.enums import CursorState
from reference_qm.model.statuses import CursorStatus

UNREAD, READ = CursorState.UNREAD, CursorState.READ
WAIT_PEEK, WAIT_RECEIVE = CursorState.WAIT_PEEK, CursorState.WAIT_RECEIVE
SUCCEEDED, WAITING, NOT_FOUND = CursorStatus.SUCCEEDED, CursorStatus.WAITING, CursorStatus.NOT_FOUND
PEEK, NEXT = "get_message_for_peek", "get_next_message_for_peek"
DEQUEUE = "get_next_message_for_dequeue"


@pytest.fixture
def cursor(host):
    return host.core.queue_cursors.open(open_(host))


def raise_event(host, cursor, event, *arguments):
    """Raise an event of the cursor; return rStatus, the body of rPosition, and the state of the cursor afterwards."""
    status, position = getattr(host.core.queue_cursors, event)(cursor, *arguments)
    body = None if position is None else position.MessageReference.Body.decode()
    assert position is None or cursor.MessagePositionReference is position
    return status, body, cursor.CursorState


def test_a_cursor_begins_unread_at_the_start_with_a_handle_of_its_own(host, cursor):
    descriptor = cursor.OpenQueueDescriptorReference
    other = host.core.queue_cursors.open(descriptor)
    start = queue_of(host).MessagePositionList.Start
    assert (cursor.CursorState, cursor.MessagePositionReference) == (UNREAD, start)
    assert cursor.Handle != other.Handle
    assert descriptor.CursorCollection == {one.Handle: one for one in (cursor, other)}


def test_open_queue_descriptor_without_a_queue_gets_no_cursor(host):
    descriptor = open_(host)
    descriptor.QueueReference = None
    assert host.core.queue_cursors.open(descriptor) is None


FROM_UNREAD = {
    (PEEK, 0): (WAITING, None, WAIT_PEEK),
    (PEEK, 1): (SUCCEEDED, "a", READ),
    (NEXT, 0): (CursorStatus.ILLEGAL_CURSOR_ACTION, None, UNREAD),
    (NEXT, 1): (CursorStatus.ILLEGAL_CURSOR_ACTION, None, UNREAD),
    (DEQUEUE, 0): (WAITING, None, WAIT_RECEIVE),
    (DEQUEUE, 1): (SUCCEEDED, "a", UNREAD),
}


@pytest.mark.parametrize(("event", "messages"), FROM_UNREAD)
def test_cursor_in_unread_state_moves_as_in_document(host, cursor, event, messages):
    put(host, *"a"[:messages])
    arguments = (False,) if event == DEQUEUE else ()
    assert raise_event(host, cursor, event, *arguments) == FROM_UNREAD[event, messages]


FROM_READ = {
    (PEEK, "ab"): (SUCCEEDED, "a", READ),
    (PEEK, "b"): (CursorStatus.ALREADY_RECEIVED, None, READ),
    (NEXT, "ab"): (SUCCEEDED, "b", READ),
    (NEXT, "b"): (SUCCEEDED, "b", READ),
    (NEXT, "a"): (WAITING, None, WAIT_PEEK),
    (DEQUEUE, "ab"): (SUCCEEDED, "a", UNREAD),
    (DEQUEUE, "b"): (CursorStatus.ALREADY_RECEIVED, None, READ),
}


@pytest.mark.parametrize(("event", "left"), FROM_READ)
def test_cursor_in_read_state_moves_as_in_document(host, cursor, event, left):
    ids = dict(zip("ab", put(host, *"ab"), strict=True))
    assert raise_event(host, cursor, PEEK) == (SUCCEEDED, "a", READ)
    positions = queue_of(host).MessagePositionList
    for body in set("ab") - set(left):
        positions.remove(positions.find(ids[body]))
    arguments = (False,) if event == DEQUEUE else ()
    assert raise_event(host, cursor, event, *arguments) == FROM_READ[event, left]


def test_receive_by_cursor_with_timeout_0_finds_no_message(host, cursor):
    assert raise_event(host, cursor, DEQUEUE, True) == (NOT_FOUND, None, UNREAD)


AVAILABLE = {WAIT_PEEK: READ, WAIT_RECEIVE: UNREAD}


@pytest.mark.parametrize("state", AVAILABLE)
def test_cursor_wait_ends_when_a_message_becomes_available(host, cursor, state):
    raise_event(host, cursor, PEEK if state is WAIT_PEEK else DEQUEUE, *([] if state is WAIT_PEEK else [False]))
    assert cursor.CursorState is state
    put(host, "a")
    (position,) = queue_of(host).MessagePositionList
    host.core.queue_cursors.on_message_available(cursor, position)
    assert (cursor.CursorState, cursor.MessagePositionReference) == (AVAILABLE[state], position)


EXPIRED = {WAIT_PEEK: WAIT_PEEK, WAIT_RECEIVE: UNREAD}


@pytest.mark.parametrize("state", EXPIRED)
def test_cursor_finds_later_messages_after_expired_wait(host, cursor, state):
    put(host, "a")
    raise_event(host, cursor, DEQUEUE, False)
    positions = queue_of(host).MessagePositionList
    (position,) = positions
    cursor.CursorState = READ if state is WAIT_PEEK else UNREAD
    raise_event(host, cursor, NEXT if state is WAIT_PEEK else DEQUEUE, *([] if state is WAIT_PEEK else [False]))
    assert cursor.CursorState is state
    host.core.queue_cursors.on_read_wait_expired(cursor)
    assert (cursor.CursorState, cursor.MessagePositionReference) == (EXPIRED[state], position)
    put(host, "b")
    assert raise_event(host, cursor, DEQUEUE, True)[:2] == (SUCCEEDED, "b")


def test_expired_wait_does_not_move_cursor_to_deleted_message(host, cursor):
    (identifier,) = put(host, "a")
    other = host.core.queue_cursors.open(cursor.OpenQueueDescriptorReference)
    assert raise_event(host, other, PEEK) == (SUCCEEDED, "a", READ)
    positions = queue_of(host).MessagePositionList
    positions.remove(positions.find(identifier))
    assert raise_event(host, cursor, DEQUEUE, False) == (WAITING, None, WAIT_RECEIVE)
    host.core.queue_cursors.on_read_wait_expired(cursor)
    put(host, "b", priority=7)
    assert raise_event(host, cursor, DEQUEUE, True)[:2] == (SUCCEEDED, "b")
