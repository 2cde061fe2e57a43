"""MS-MQDMPR 3.1.7.1.13, 3.1.7.3.3: reading by LookupIdentifier."""

import pytest
from queueing_made import PLAIN, open_, put, queue_of

from reference_qm.model.enums import MessageSeekAction as Seek
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.surface.commands import ReadByLookupIdentifier

OK, NOT_FOUND = Status.MQ_OK, (Status.MQ_ERROR_MESSAGE_NOT_FOUND, None)
EVENT = "read_by_lookup_identifier"


@pytest.mark.parametrize(
    ("action", "of", "body"),
    [
        (Seek.FIRST, None, "a"),
        (Seek.LAST, None, "d"),
        (Seek.CURRENT, "b", "b"),
        (Seek.NEXT, "b", "c"),
        (Seek.PREVIOUS, "c", "b"),
    ],
)
@pytest.mark.parametrize("peek", [True, False])
def test_the_message_meant_is_read(host, reads, action, of, body, peek):
    ids = dict(zip("abcd", put(host, *"abcd"), strict=True))
    given = ids[of] if of else 0
    assert reads.call("x", EVENT, open_(host), given, action, peek_operation=peek) == (OK, body)
    assert host.bodies() == [one for one in "abcd" if peek or one != body]


@pytest.mark.parametrize(("action", "of"), [(Seek.NEXT, "d"), (Seek.PREVIOUS, "a")])
def test_beyond_the_ends_there_is_nothing(host, reads, action, of):
    ids = dict(zip("abcd", put(host, *"abcd"), strict=True))
    assert reads.call("x", EVENT, open_(host), ids[of], action) == NOT_FOUND


@pytest.mark.parametrize("action", Seek)
def test_an_empty_queue_has_nothing(host, reads, action):
    assert reads.call("x", EVENT, open_(host), 7, action) == NOT_FOUND


@pytest.mark.parametrize("action", [Seek.CURRENT, Seek.NEXT, Seek.PREVIOUS])
def test_an_identifier_that_no_message_has_finds_nothing(host, reads, action):
    put(host, "a")
    assert reads.call("x", EVENT, open_(host), 7, action) == NOT_FOUND


def test_locked_messages_are_passed_over_and_not_read(host, reads):
    ids = put(host, "a", "b", "c")
    queue_of(host).MessagePositionList.find(ids[1]).State = MessagePositionState.LOCKED
    descriptor = open_(host)
    for name, peek in ("peek", True), ("receive", False):
        answer = reads.call(name, EVENT, descriptor, ids[1], Seek.CURRENT, peek_operation=peek)
        assert answer == (Status.MQ_ERROR_TRANSACTION_USAGE, None)
    assert reads.call("next", EVENT, descriptor, ids[0], Seek.NEXT, peek_operation=True) == (OK, "c")
    assert reads.call("previous", EVENT, descriptor, ids[2], Seek.PREVIOUS, peek_operation=True) == (OK, "a")


def test_one_that_was_received_while_a_cursor_is_at_it_is_said_to_be(host, reads):
    ids = put(host, "a", "b")
    descriptor = open_(host)
    cursor = host.core.cursors.open(descriptor)
    reads.call("peek", "peek_message", descriptor, cursor=cursor)
    reads.call("receive", "dequeue_message", descriptor)
    already = (Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED, None)
    assert reads.call("x", EVENT, descriptor, ids[0], Seek.CURRENT, peek_operation=True) == already
    assert reads.call("y", EVENT, descriptor, ids[0], Seek.NEXT, peek_operation=True) == (OK, "b")
    host.core.queue_opening.close_cursor(cursor)
    assert reads.call("z", EVENT, descriptor, ids[0], Seek.CURRENT, peek_operation=True) == NOT_FOUND


def test_a_two_phase_read_locks(host, reads):
    (one,) = put(host, "a")
    reads.call("x", EVENT, open_(host), one, Seek.CURRENT, two_phase_read=True)
    assert reads.positions["x"].State is MessagePositionState.LOCKED


def test_messages_move_on_one_by_one_over_the_command(host):
    ids = put(host, "a", "b", "c")
    asked = host.ask(ReadByLookupIdentifier(ids[0], "next", peek=True, queue=PLAIN))["message"]
    assert (asked["body"], asked["lookup_id"]) == ("b", ids[1])
    assert host.ask(ReadByLookupIdentifier(seek="last", queue=PLAIN))["message"]["body"] == "c"
    assert "MQ_ERROR_MESSAGE_NOT_FOUND (0xC00E0088)" in host.refusal(ReadByLookupIdentifier(ids[2], queue=PLAIN))
    assert "seek" in host.refusal(ReadByLookupIdentifier(ids[0], "here", queue=PLAIN))
