"""MS-MQDMPR 3.2 Cursor: cursors at removed messages, unread cursors, and pending reads by cursors."""

from __future__ import annotations

import pytest

from harness.expectations import each, in_queue
from harness.peer.association import Call
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action, Method
from suites.mqqp.steps.methods import parametrize_by_method_with_rules

pytestmark = needs("qm2qm")

LONG_READ_TIMEOUT_MS, SHORT_READ_TIMEOUT_MS = 60_000, 300
SAMPLE_REQUEST_ID = 0x6D71_0002
"""A dwRequestID that no other check uses."""
ALREADY_RECEIVED_STATUS, ILLEGAL_CURSOR_STATUS = "MQ_ERROR_MESSAGE_ALREADY_RECEIVED", "MQ_ERROR_ILLEGAL_CURSOR_ACTION"


@parametrize_by_method_with_rules(
    {
        Method.START_RECEIVE: {
            "current": ["MQQP-3.1.4.1-D04", "MQQP-3.1.4.1-D16"],
            "next": ["MQQP-3.1.4.1-D05", "MQQP-3.1.4.1-D17", "MQDMPR-3.1.7.3.2-11"],
        },
        Method.START_RECEIVE2: {
            "current": ["MQQP-3.1.4.10-36", "MQQP-3.1.4.10-D03", "MQDMPR-3.2.7.2-27"],
            "next": [
                "MQQP-3.1.4.10-40",
                "MQQP-3.1.4.10-D04",
                "MQDMPR-3.1.7.1.14-10",
                "MQDMPR-3.1.7.3.2-11",
                "MQDMPR-3.2.7.3-09",
            ],
        },
    }
)
@covers("MQDMPR-3.1.7.1.10-16", "MQDMPR-3.1.7.1.10-17", "MQDMPR-3.1.7.1.15-15", "MQDMPR-3.1.7.1.15-16")
@covers("MQDMPR-3.1.7.1.11-15", "MQDMPR-3.1.7.2.1-04")
@pytest.mark.parametrize("ended", [False, True], ids=["locked", "taken"])
def test_cursor_at_message_received_by_other_has_only_next(remote, judge, by, rules, ended):
    """When another reader locks or receives a cursor's current message, a peek or receive by the cursor fails with
    MQ_ERROR_MESSAGE_ALREADY_RECEIVED, and a peek-next returns the message after the current message.
    """
    queue, other = remote.open_with_messages("first", "second", "third", "fourth"), remote.open()
    cursor, second_cursor, cursor_of_other = (reader.open_cursor() for reader in (queue, queue, other))
    for reader, reader_cursor in ((queue, cursor), (queue, second_cursor), (other, cursor_of_other)):
        reader.peek(by=by, hCursor=reader_cursor).expect_success()
        first_peek = reader.peek_next(by=by, hCursor=reader_cursor)
    receive = other.start_receive(by=by, hCursor=cursor_of_other)
    if ended:
        other.acknowledge(receive).expect_success()
    failed_peeks = [queue.peek(by=by, hCursor=cursor) for _ in range(2)]
    failed_receive = queue.start_receive(by=by, hCursor=second_cursor)
    following = [
        queue.read(action, by=by, hCursor=cursor)
        for action in (Action.PEEK_NEXT, Action.PEEK_CURRENT, Action.PEEK_NEXT)
    ]
    expected = {
        "first peek": "second",
        "receive by the other reader": "second",
        "later peeks": each(Call.FAILURE_HRESULT_TEXT),
    }
    observed = {
        "first peek": first_peek.label_or_outcome,
        "receive by the other reader": receive.label_or_outcome,
        "later peeks": [read.label_or_failure for read in failed_peeks],
    }
    evidence = [receive, *failed_peeks, *following]
    judge(*rules["current"], expected=expected, observed=observed, evidence=evidence)
    outcomes = [read.outcome for read in failed_peeks]
    judge(
        "MQDMPR-3.1.7.2.1-04",
        expected=each(ALREADY_RECEIVED_STATUS, "read"),
        observed=[*outcomes, failed_receive.outcome],
        evidence=[*failed_peeks, failed_receive],
        case="reads by cursors at the message",
    )
    judge(
        "MQDMPR-3.1.7.1.15-15",
        "MQDMPR-3.1.7.1.15-16",
        expected=each(ALREADY_RECEIVED_STATUS, "peek"),
        observed=outcomes,
        evidence=failed_peeks,
    )
    judge(
        "MQDMPR-3.1.7.1.10-16",
        "MQDMPR-3.1.7.1.10-17",
        "MQDMPR-3.1.7.1.11-15",
        expected=ALREADY_RECEIVED_STATUS,
        observed=failed_receive.outcome,
        evidence=[receive, failed_receive],
        case="receive by the cursor",
    )
    labels = [read.label_or_outcome for read in following]
    judge(
        *rules["next"],
        expected=["third", "third", "fourth"],
        observed=labels,
        evidence=evidence,
        case="labels returned by the reads",
    )


def leave_cursor_without_read(remote, queue, cursor, by):
    """Leave a cursor unused; return the message that the cursor reaches."""
    remote.deliver(["first", "second"])
    return "first"


def receive_by_cursor(remote, queue, cursor, by):
    """Receive the current message of a cursor; return the message that the cursor reaches."""
    remote.deliver(["first", "second"])
    queue.peek(by=by, hCursor=cursor).expect_success()
    queue.receive(by=by, hCursor=cursor)
    return "second"


def await_message_by_cursor(remote, queue, cursor, by):
    """Receive with a cursor a message that arrives later; return the message that the cursor reaches."""
    read = queue.begin(Action.RECEIVE, by=by, hCursor=cursor, ulTimeout=LONG_READ_TIMEOUT_MS)
    read.state_after_silence()
    remote.deliver(["first"])
    queue.acknowledge(read.wait().expect_success()).expect_success()
    remote.deliver(["second"])
    return "second"


def time_out_receive_by_cursor(remote, queue, cursor, by):
    """Let a receive by a cursor time out; return None, because the specification does not define the cursor's position
    afterwards.
    """
    queue.begin(Action.RECEIVE, by=by, hCursor=cursor, ulTimeout=SHORT_READ_TIMEOUT_MS).wait(
        SHORT_READ_TIMEOUT_MS + remote.sut.response_timeout_ms
    )
    remote.deliver(["first"])


def time_out_receives_by_two_cursors(remote, queue, cursor, by):
    """Let receives by another cursor and by the cursor time out; return None, because the specification does not define
    the cursor's position afterwards.
    """
    for one in (queue.open_cursor(), cursor):
        read = queue.begin(Action.RECEIVE, by=by, hCursor=one, ulTimeout=SHORT_READ_TIMEOUT_MS)
        read.wait(SHORT_READ_TIMEOUT_MS + remote.sut.response_timeout_ms)
    remote.deliver(["first"])


def time_out_second_receive_by_cursor(remote, queue, cursor, by):
    """Receive a message with a cursor, and let a second receive by the cursor time out; return None, because the
    specification does not define the cursor's position afterwards.
    """
    remote.deliver(["first"])
    queue.receive(by=by, hCursor=cursor)
    time_out_receive_by_cursor(remote, queue, cursor, by)


def cancel_receive_by_cursor(remote, queue, cursor, by):
    """Cancel a pending receive by a cursor; return the message that the cursor reaches."""
    read = queue.begin_receive(by=by, hCursor=cursor, dwRequestID=SAMPLE_REQUEST_ID, ulTimeout=LONG_READ_TIMEOUT_MS)
    read.state_after_silence()
    queue.cancel(SAMPLE_REQUEST_ID)
    remote.deliver(["first", "second"])
    return "first"


ACTION_LEAVING_CURSOR_UNREAD_BY_NAME = {
    "fresh": leave_cursor_without_read,
    "receive": receive_by_cursor,
    "received later": await_message_by_cursor,
    "received nothing": time_out_receive_by_cursor,
    "received nothing beside another": time_out_receives_by_two_cursors,
    "received nothing later": time_out_second_receive_by_cursor,
    "cancelled": cancel_receive_by_cursor,
}
"""Actions after which a cursor is unread. Each action returns the message that a peek by the cursor must then return,
or None if the specification does not define this message.
"""


@parametrize_by_method_with_rules(
    {
        Method.START_RECEIVE: {"next": ["MQQP-3.1.4.1-D17"]},
        Method.START_RECEIVE2: {
            "next": [
                "MQQP-3.1.4.10-40",
                "MQDMPR-3.2.7.1-07",
                "MQDMPR-3.2.7.1-08",
                "MQDMPR-3.2.7.3-06",
                "MQDMPR-3.2.7.4-26",
                "MQDMPR-3.2.7.5-06",
                "MQDMPR-3.2.7.6-05",
            ]
        },
    }
)
@covers("MQDMPR-3.1.7.1.14-13", "MQDMPR-3.1.7.1.14-14")
@pytest.mark.parametrize("way", ACTION_LEAVING_CURSOR_UNREAD_BY_NAME)
def test_unread_cursor_has_no_next_message(remote, judge, by, rules, way):
    """A peek-next by a new cursor, by a cursor whose message was received, or by a cursor whose receive timed out or
    was cancelled fails with MQ_ERROR_ILLEGAL_CURSOR_ACTION until a peek has read a message. Earlier cursors of the
    same handle have read a message, and one of them was closed.
    """
    queue = remote.open_with_messages("earlier")
    first_cursor = queue.open_cursor()
    queue.peek(by=by, hCursor=first_cursor).expect_success()
    closed_cursor = queue.open_cursor()
    queue.peek(by=by, hCursor=closed_cursor).expect_success()
    queue.close_cursor(closed_cursor)
    queue.receive(by=by)
    cursor = queue.open_cursor()
    position = ACTION_LEAVING_CURSOR_UNREAD_BY_NAME[way](remote, queue, cursor, by)
    refused = queue.peek_next(by=by, hCursor=cursor)
    unread = ("MQDMPR-3.1.7.1.14-13", "MQDMPR-3.1.7.1.14-14")
    judge(
        *unread,
        expected=ILLEGAL_CURSOR_STATUS,
        observed=refused.outcome,
        evidence=refused,
        case="peek next by the unread cursor",
    )
    observed, expected = [refused.label_or_failure], [Call.FAILURE_HRESULT_TEXT]
    reads = [refused]
    if position is not None:
        remote.deliver(["third"])
        reads += [queue.read(action, by=by, hCursor=cursor) for action in (Action.PEEK_CURRENT, Action.PEEK_NEXT)]
        expected += [position, "second" if position == "first" else "third"]
        observed += [read.label_or_outcome for read in reads[1:]]
    judge(*rules["next"], expected=expected, observed=observed, case="labels returned by the reads", evidence=reads)


def await_message_before_cursor(remote, by, first, then):
    """Begin a read while its cursor is at a message of low priority; then send a message of high priority, whose
    position is before the cursor. Return the states of the read before and after the arrival, the queue, the cursor,
    and the read.
    """
    queue = remote.open_with_messages()
    low, high = (
        remote.peer.recoverable_message(base={"PR": priority}, label=label)
        for priority, label in ((1, "first"), (6, "second"))
    )
    remote.send_messages_and_require_acks([low])
    cursor = queue.open_cursor()
    queue.read(first, by=by, hCursor=cursor).expect_success()
    read = queue.begin(then, by=by, hCursor=cursor, ulTimeout=LONG_READ_TIMEOUT_MS)
    state = read.state_after_silence()
    remote.send_messages_and_require_acks([high])
    return (
        {"pending read before an arrival": state, "pending read after an arrival": read.wait().label_or_outcome},
        queue,
        cursor,
        read,
    )


@parametrize_by_method_with_rules(
    {
        Method.START_RECEIVE: {"next": ["MQQP-3.1.4.1-D17", "MQDMPR-3.1.7.1.14-24"]},
        Method.START_RECEIVE2: {"next": ["MQQP-3.1.4.10-40", "MQDMPR-3.1.7.1.14-24", "MQDMPR-3.2.7.3-16"]},
    }
)
@covers("MQDMPR-3.1.7.1.14-25", "MQDMPR-3.2.7.5-07")
def test_pending_peek_next_gets_message_before_its_cursor(remote, judge, by, rules):
    """A pending peek-next by a cursor at a message of priority 1 returns an arriving message of priority 6, whose
    position is before the cursor. Then the cursor is at this message.
    """
    observed, queue, cursor, read = await_message_before_cursor(remote, by, Action.PEEK_CURRENT, Action.PEEK_NEXT)
    judge(
        *rules["next"],
        expected={"pending read before an arrival": Call.WAITING, "pending read after an arrival": "second"},
        observed=observed,
        evidence=read,
    )
    later = [queue.read(action, by=by, hCursor=cursor) for action in (Action.PEEK_CURRENT, Action.PEEK_NEXT)]
    judge(
        "MQDMPR-3.1.7.1.14-25",
        "MQDMPR-3.2.7.5-07",
        expected=["second", "first"],
        observed=[one.label_or_outcome for one in later],
        evidence=[read, *later],
        case="labels returned by the later reads of the cursor",
    )


@covers("MQDMPR-3.2.7.5-06")
def test_completed_receive_leaves_other_cursors_of_handle(remote, judge):
    """A message completes a pending receive by a cursor while another cursor of the same handle is at an earlier
    message. The reader then returns the received message to the queue. A peek at the next message by the other cursor
    returns this message.
    """
    queue = remote.open_with_messages("first")
    other, cursor = queue.open_cursor(), queue.open_cursor()
    queue.peek(hCursor=other).expect_success()
    queue.receive(hCursor=cursor).expect_success()
    read = queue.begin(Action.RECEIVE, hCursor=cursor, ulTimeout=LONG_READ_TIMEOUT_MS)
    read.state_after_silence()
    remote.deliver(["second"])
    received = read.wait().label_or_outcome
    queue.put_message_back(read)
    following = queue.peek_next(hCursor=other)
    judge(
        "MQDMPR-3.2.7.5-06",
        expected={"pending receive": "second", "peek next by the other cursor": "second"},
        observed={"pending receive": received, "peek next by the other cursor": following.label_or_outcome},
        evidence=[read, following],
    )


@parametrize_by_method_with_rules(
    {
        Method.START_RECEIVE: {"receive": ["MQQP-3.1.4.1-D15", "MQDMPR-3.1.7.1.10-30"]},
        Method.START_RECEIVE2: {"receive": ["MQQP-3.1.4.10-31", "MQDMPR-3.1.7.1.10-30", "MQDMPR-3.2.7.4-17"]},
    }
)
def test_pending_receive_by_cursor_gets_message_before_it(remote, judge, by, rules):
    """A pending receive by a cursor at a message of priority 1 returns an arriving message of priority 6, whose
    position is before the cursor.
    """
    observed, _, _, read = await_message_before_cursor(remote, by, Action.RECEIVE, Action.RECEIVE)
    judge(
        *rules["receive"],
        expected={"pending read before an arrival": Call.WAITING, "pending read after an arrival": "second"},
        observed=observed,
        evidence=read,
    )


@parametrize_by_method_with_rules(
    {
        Method.START_RECEIVE: {"receive": ["MQQP-3.1.4.1-D15"]},
        Method.START_RECEIVE2: {
            "receive": [
                "MQQP-3.1.4.10-31",
                "MQDMPR-3.2.7.4-07",
                "MQDMPR-3.2.7.4-20",
                "MQDMPR-3.2.7.4-21",
                "MQDMPR-3.2.7.4-22",
            ]
        },
    }
)
def test_receive_by_cursor_continues_behind_its_message(remote, judge, by, rules):
    """A cursor receives the first message, and the reader returns this message with RR_NACK. The next receive by this
    cursor takes the second message, and a receive by a new cursor takes the returned first message.
    """
    queue = remote.open_with_messages("first", "second", "third")
    cursor, new_cursor = (queue.open_cursor() for _ in range(2))
    first_read = queue.start_receive(by=by, hCursor=cursor)
    end = queue.put_message_back(first_read)
    reads = [queue.start_receive(by=by, hCursor=one) for one in (cursor, new_cursor)]
    observed = [read.label_or_outcome for read in reads]
    judge(
        *rules["receive"],
        expected={
            "first receive": "first",
            "end of the receive, with RR_NACK": "MQ_OK",
            "receive by the cursor": "second",
            "receive by a new cursor": "first",
        },
        observed={
            "first receive": first_read.label_or_outcome,
            "end of the receive, with RR_NACK": end.outcome,
            "receive by the cursor": observed[0],
            "receive by a new cursor": observed[1],
        },
        evidence=[first_read, *reads],
    )


@parametrize_by_method_with_rules(
    {
        Method.START_RECEIVE: {
            "next": ["MQQP-3.1.4.1-D05", "MQQP-3.1.4.1-D17", "MQDMPR-3.1.7.3.2-12", "MQDMPR-3.1.7.3.2-16"],
            "receive": ["MQQP-3.1.4.1-D03", "MQDMPR-3.1.7.3.2-16"],
        },
        Method.START_RECEIVE2: {
            "next": ["MQQP-3.1.4.10-40", "MQQP-3.1.4.10-D04", "MQDMPR-3.1.7.3.2-12", "MQDMPR-3.1.7.3.2-16"],
            "receive": ["MQQP-3.1.4.10-D02", "MQDMPR-3.1.7.3.2-16"],
        },
    }
)
def test_message_locked_by_other_reader_is_skipped(remote, judge, by, rules):
    """Another reader locks the second of four messages. Peeks by a cursor and two receives skip this message. When it
    is returned with RR_NACK, it is in the queue again.
    """
    labels = ["first", "second", "third", "fourth"]
    queue, other = remote.open_with_messages(*labels), remote.open()
    cursor_of_other = other.open_cursor()
    for action in (Action.PEEK_CURRENT, Action.PEEK_NEXT):
        other.read(action, by=by, hCursor=cursor_of_other).expect_success()
    locked = other.start_receive(by=by, hCursor=cursor_of_other).expect_success()
    cursor = queue.open_cursor()
    steps = [
        queue.read(action, by=by, hCursor=cursor)
        for action in (Action.PEEK_CURRENT, Action.PEEK_NEXT, Action.PEEK_NEXT, Action.PEEK_NEXT)
    ]
    judge(
        *rules["next"],
        expected={
            "receive by the other reader": "second",
            "peeks by the cursor": ["first", "third", "fourth"],
            "peek next at the end of the queue": Call.FAILURE_HRESULT_TEXT,
        },
        observed={
            "receive by the other reader": locked.label_or_outcome,
            "peeks by the cursor": [step.label_or_outcome for step in steps[:3]],
            "peek next at the end of the queue": steps[3].label_or_failure,
        },
        evidence=[locked, *steps],
    )
    receives = [queue.receive(by=by), queue.receive(by=by)]
    other.put_message_back(locked).expect_success()
    judge(
        *rules["receive"],
        expected={"receives": ["first", "third"], "queue": in_queue("second", "fourth")},
        observed={"receives": [read.label_or_outcome for read in receives], "queue": queue.labels()},
        evidence=receives,
    )
