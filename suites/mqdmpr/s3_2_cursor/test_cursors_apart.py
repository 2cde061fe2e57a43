"""MS-MQDMPR 3.2.1, 3.2.7: cursors of several queues, and a receive by a cursor without a message.

The checks of MS-MQQP 3.1.4.1 judge the states of a cursor in one queue.
"""

from __future__ import annotations

import pytest

from harness.expectations import distinct_values, in_queue
from harness.peer.association import Call
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action
from suites.mqqp.steps.cancelling import NO_MESSAGE_OUTCOME, describe_cancelled_read
from suites.mqqp.steps.reading import send_messages_to_queue

pytestmark = needs("qm2qm")

COUNT_OF_OPENED_CURSORS = 3
"""The number of cursors of each queue."""
RULES_OF_CURSOR_HANDLES = ("MQDMPR-3.2.1.2-02", "MQDMPR-3.2.7.1-05")
SHORT_READ_TIMEOUT_MS, LONG_READ_TIMEOUT_MS = 300, 600_000
MESSAGE_LIFETIME_S = 2
"""TimeToBeReceived, in seconds, of a message that must expire in its queue."""
RULES_BY_READ_ACTION = {
    Action.PEEK_CURRENT: ("MQDMPR-3.2.7.1-06", "MQDMPR-3.2.7.2-03"),
    Action.PEEK_NEXT: ("MQDMPR-3.2.7.3-03",),
    Action.RECEIVE: ("MQDMPR-3.2.7.4-04", "MQDMPR-3.2.7.4-28"),
}
"""For each action, the rules about a cursor of a second queue; the last of these rules is about the status of success.
"""


@covers(*RULES_OF_CURSOR_HANDLES, *(rule for rules in RULES_BY_READ_ACTION.values() for rule in rules))
def test_cursor_has_unique_handle_and_reads_its_queue(remote, judge):
    """The peer creates six cursors for two queues, closes one of them, and creates another. All open cursors have
    different handles. A peek, a peek-next and a receive by each cursor return messages of the cursor's queue.
    """
    plain_queue, admin_queue = remote.open(), remote.open("admin")
    remote.deliver(["first", "second"])
    remote.deliver(["third", "first"], queue="admin")
    openings = [
        queue.cursor().expect_success() for _ in range(COUNT_OF_OPENED_CURSORS) for queue in (plain_queue, admin_queue)
    ]
    cursors = [call.out.phCursor for call in openings]
    judge(
        *RULES_OF_CURSOR_HANDLES,
        expected=distinct_values("handles", 2 * COUNT_OF_OPENED_CURSORS),
        observed=cursors,
        evidence=openings,
    )
    closed = plain_queue.close_cursor(cursors[2])
    later = admin_queue.cursor().expect_success()
    judge(
        *RULES_OF_CURSOR_HANDLES,
        expected=distinct_values("handles", 2 * COUNT_OF_OPENED_CURSORS),
        observed=[*cursors[:2], *cursors[3:], later.out.phCursor],
        evidence=[closed, later],
        case="handles after one cursor was closed and another was created",
    )
    for action, expected in (
        (Action.PEEK_CURRENT, ["first", "third"]),
        (Action.PEEK_NEXT, ["second", "first"]),
        (Action.RECEIVE, ["second", "first"]),
    ):
        reads = [
            queue.read(action, hCursor=cursor)
            for queue, cursor in zip((plain_queue, admin_queue), cursors, strict=False)
        ]
        observed = [read.label_or_outcome for read in reads]
        judge(
            *RULES_BY_READ_ACTION[action],
            expected=expected,
            observed=observed,
            evidence=reads,
            case="labels returned by the reads",
        )


@needs("inspect", "receive", "queue_control")
@covers("MQDMPR-3.2.1.2-02")
def test_cursors_of_applications_have_unique_handles(remote, sut, judge):
    """Applications open two queues, one of them twice, and create two cursors for each handle; a remote reader creates
    two cursors. All cursors have different handles.
    """
    queues = [sut.new_queue("first"), sut.new_queue("second")]
    for queue in (*queues, queues[0]):
        handle = sut.control.call("open_queue", queue=queue, access="peek")["handle"]
        for _ in range(2):
            sut.control.call("open_cursor", handle=handle)
    reader = remote.open()
    opened = [reader.cursor().expect_success() for _ in range(2)]
    handles = [
        cursor["Handle"]
        for descriptor in sut.inspect()["OpenQueueDescriptors"]
        for cursor in descriptor["CursorCollection"]
    ]
    judge("MQDMPR-3.2.1.2-02", expected=distinct_values("handles", len(handles)), observed=handles, evidence=opened)


@covers("MQDMPR-3.2.7.5-07")
def test_cursor_of_pending_receive_moves_to_message_before_it(remote, judge):
    """A cursor has received a message of priority 1, and a receive by the cursor waits. It gets an arriving message of
    priority 7, and the cursor moves to this message: the next receive by the cursor gets a message of priority 5.
    """
    queue = remote.open_with_messages()
    cursor = queue.open_cursor()
    urgent, between, low = (
        remote.peer.recoverable_message(base={"PR": priority}, label=label)
        for priority, label in ((7, "urgent"), (5, "between"), (1, "low"))
    )
    remote.send_messages_and_require_acks([low])
    reads = [queue.start_receive(hCursor=cursor)]
    pending = queue.begin_receive(hCursor=cursor, ulTimeout=LONG_READ_TIMEOUT_MS)
    state = pending.state_after_silence()
    remote.send_messages_and_require_acks([urgent])
    reads.append(pending.wait())
    remote.send_messages_and_require_acks([between])
    reads.append(queue.start_receive(hCursor=cursor))
    judge(
        "MQDMPR-3.2.7.5-07",
        expected={"pending receive": Call.WAITING, "labels of the receives": ["low", "urgent", "between"]},
        observed={"pending receive": state, "labels of the receives": [read.label_or_outcome for read in reads]},
        evidence=reads,
    )


@covers("MQDMPR-3.2.7.5-07")
@pytest.mark.parametrize("kind", ["plain", "transactional"])
def test_cursors_of_pending_peeks_move_to_arriving_message(remote, judge, kind):
    """Peeks by two cursors wait at the start of a queue. Both get an arriving message, and both cursors move to this
    message: the next peek-next by each cursor gets the second message.
    """
    queue = remote.open(kind)
    cursors = [queue.open_cursor() for _ in range(2)]
    reads = [queue.begin(Action.PEEK_CURRENT, hCursor=one, ulTimeout=LONG_READ_TIMEOUT_MS) for one in cursors]
    states = [read.state_after_silence() for read in reads]
    send_messages_to_queue(remote, kind, "first", "second")
    for read in reads:
        read.wait()
    reads += [queue.peek_next(hCursor=cursor) for cursor in cursors]
    judge(
        "MQDMPR-3.2.7.5-07",
        expected={"pending peeks": [Call.WAITING] * 2, "labels of the peeks": ["first", "first", "second", "second"]},
        observed={"pending peeks": states, "labels of the peeks": [one.label_or_outcome for one in reads]},
        evidence=reads,
    )


@covers("MQDMPR-3.2.7.4-02", "MQDMPR-3.2.7.4-14")
def test_receive_by_cursor_with_timeout_0_does_not_wait(remote, judge):
    """A receive by a cursor with timeout zero fails at once with MQ_ERROR_MESSAGE_NOT_FOUND if the queue is empty, or
    if another reader has locked the only message. When a message arrives or is returned to the queue, a further receive
    takes this message.
    """
    queue = remote.open_with_messages()
    cursor = queue.open_cursor()
    empty = queue.start_receive(hCursor=cursor)
    judge(
        "MQDMPR-3.2.7.4-02",
        expected=Call.FAILURE_HRESULT_TEXT,
        observed=empty.label_or_failure,
        evidence=empty,
        case="receive from the empty queue",
    )
    judge.conclude("MQDMPR-3.2.7.4-02")
    remote.deliver(["first"])
    first_read = queue.receive(hCursor=cursor)
    second_read = queue.start_receive(hCursor=cursor)
    remote.deliver(["second"])
    third_read = queue.start_receive(hCursor=cursor)
    queue.acknowledge(third_read).expect_success()
    other = remote.open()
    remote.deliver(["third"])
    locked = other.start_receive()
    fourth_read = queue.start_receive(hCursor=cursor)
    other.put_message_back(locked).expect_success()
    fifth_read = queue.start_receive(hCursor=cursor)
    calls = [empty, first_read, second_read, third_read, fourth_read, fifth_read]
    expected = ["MQ_ERROR_MESSAGE_NOT_FOUND", "first", "MQ_ERROR_MESSAGE_NOT_FOUND", "second"]
    expected += ["MQ_ERROR_MESSAGE_NOT_FOUND", "third"]
    observed = [call.label_or_outcome for call in calls]
    judge("MQDMPR-3.2.7.4-14", expected=expected, observed=observed, evidence=calls, case="outcomes of the receives")


@covers("MQDMPR-3.2.7.4-30")
def test_receive_by_cursor_of_message_taken_by_other_fails(remote, judge):
    """Another reader locks, and then receives, the message at a cursor. A receive by this cursor fails both times and
    takes no other message.
    """
    queue, other = remote.open_with_messages("first", "second"), remote.open()
    cursor = queue.open_cursor()
    queue.peek(hCursor=cursor).expect_success()
    read_by_other = other.start_receive()
    locked = queue.start_receive(hCursor=cursor)
    other.acknowledge(read_by_other).expect_success()
    read_by_cursor = queue.start_receive(hCursor=cursor)
    judge(
        "MQDMPR-3.2.7.4-30",
        expected={
            "receive by the other reader": "first",
            "receive by the cursor while the message is locked": Call.FAILURE_HRESULT_TEXT,
            "receive by the cursor after the end of the other receive": Call.FAILURE_HRESULT_TEXT,
            "queue": in_queue("second"),
        },
        observed={
            "receive by the other reader": read_by_other.label_or_outcome,
            "receive by the cursor while the message is locked": locked.label_or_failure,
            "receive by the cursor after the end of the other receive": read_by_cursor.label_or_failure,
            "queue": queue.labels(),
        },
        evidence=[read_by_other, locked, read_by_cursor],
    )


def wait_until_message_expires(remote, queue):
    """Let the cursor's message expire, and let a further message arrive."""
    remote.peer.pass_time((MESSAGE_LIFETIME_S + 1) * 1_000)


def purge_queue(remote, queue):
    """Delete all messages of the queue."""
    queue.purge().expect_success()


@covers("MQDMPR-3.2.7.2-27", "MQDMPR-3.2.7.4-30", "MQDMPR-3.1.7.1.10-16")
@pytest.mark.parametrize("remove", [wait_until_message_expires, purge_queue], ids=["expired", "purged"])
def test_cursor_at_removed_message_reads_no_other(remote, judge, remove):
    """The current message of two cursors expires or is purged, and a second message arrives. A peek and a receive by
    these cursors fail and take no message. A new cursor reads the second message.
    """
    queue = remote.open_with_messages()
    remote.deliver(["first"], TimeToBeReceived=MESSAGE_LIFETIME_S)
    peeking, receiving = (queue.open_cursor() for _ in range(2))
    for cursor in (peeking, receiving):
        queue.peek(hCursor=cursor).expect_success()
    remove(remote, queue)
    remote.deliver(["second"])
    peek, receive = queue.peek(hCursor=peeking), queue.start_receive(hCursor=receiving)
    fresh = queue.peek(hCursor=queue.open_cursor())
    for rules, read in ((("MQDMPR-3.2.7.2-27",), peek), (("MQDMPR-3.2.7.4-30", "MQDMPR-3.1.7.1.10-16"), receive)):
        judge(
            *rules,
            expected={"read by the old cursor": Call.FAILURE_HRESULT_TEXT, "peek by a new cursor": "second"},
            observed={"read by the old cursor": read.label_or_failure, "peek by a new cursor": fresh.label_or_outcome},
            evidence=[read, fresh],
        )


def end_waiting_receive(remote, queue, cursor, end):
    """Begin a receive by a cursor that waits, and end it by its timeout or by a cancellation; return the receive."""
    number = remote.request_id()
    timeout_ms = SHORT_READ_TIMEOUT_MS if end == "timed out" else LONG_READ_TIMEOUT_MS
    read = queue.begin(Action.RECEIVE, hCursor=cursor, dwRequestID=number, ulTimeout=timeout_ms)
    if end == "cancelled":
        read.state_after_silence()
        queue.cancel(number).expect_success()
    read.wait(SHORT_READ_TIMEOUT_MS + remote.sut.response_timeout_ms)
    return read


@covers("MQDMPR-3.2.7.4-16", "MQDMPR-3.2.7.6-04")
@pytest.mark.parametrize("end", ["timed out", "cancelled"])
def test_cursor_of_ended_receive_is_behind_all_messages(remote, judge, end):
    """A receive by a cursor has timed out or was cancelled, and then another reader returns a message to the queue. The
    cursor does not reach this message, but a new cursor does (erratum E106). While two messages are locked, a second
    receive by the cursor ends in the same way, and the cursor does not reach these messages either. The handle also has
    another cursor.
    """
    queue, other = remote.open_with_messages("first"), remote.open()
    _, cursor = (queue.open_cursor() for _ in range(2))
    read_by_other = other.start_receive()
    waited = end_waiting_receive(remote, queue, cursor, end)
    other.put_message_back(read_by_other).expect_success()
    fresh = queue.open_cursor()
    first_peek = queue.peek(hCursor=fresh)
    last_read = queue.start_receive(hCursor=cursor)
    judge.all(
        expected={
            "receive by the other reader": "first",
            "receive that ends": NO_MESSAGE_OUTCOME,
            "peek by a new cursor": "first",
            "receive by the cursor": Call.FAILURE_HRESULT_TEXT,
        },
        observed={
            "receive by the other reader": read_by_other.label_or_outcome,
            "receive that ends": describe_cancelled_read(waited),
            "peek by a new cursor": first_peek.label_or_outcome,
            "receive by the cursor": last_read.label_or_failure,
        },
        evidence=[read_by_other, waited, first_peek, last_read],
    )
    judge.conclude("MQDMPR-3.2.7.4-16", "MQDMPR-3.2.7.6-04")
    remote.deliver(["second"])
    read_later = [other.start_receive(), other.start_receive()]
    waited_again = end_waiting_receive(remote, queue, cursor, end)
    for one in read_later:
        other.put_message_back(one).expect_success()
    at_last = queue.start_receive(hCursor=cursor)
    judge.all(
        expected=[NO_MESSAGE_OUTCOME, Call.FAILURE_HRESULT_TEXT],
        observed=[describe_cancelled_read(waited_again), at_last.label_or_failure],
        evidence=[waited_again, at_last],
        case="second receive that ends, and receive after the return of both messages",
    )


@covers("MQDMPR-3.2.7.3-15")
@pytest.mark.parametrize("timeout_ms", [0, SHORT_READ_TIMEOUT_MS])
def test_cursor_of_timed_out_peek_next_has_no_current_message(remote, judge, timeout_ms):
    """When a peek-next by a cursor has returned without a message, at once or after its timeout, a peek by that cursor
    fails until a new message arrives, and then returns that message.
    """
    queue = remote.open_with_messages("first")
    cursor = queue.open_cursor()
    read = queue.peek(hCursor=cursor)
    waited = queue.begin(Action.PEEK_NEXT, hCursor=cursor, ulTimeout=timeout_ms)
    waited.wait(timeout_ms + remote.sut.response_timeout_ms)
    second_peek = queue.peek(hCursor=cursor)
    remote.deliver(["second"])
    third_peek = queue.peek(hCursor=cursor)
    judge(
        "MQDMPR-3.2.7.3-15",
        expected={
            "first_peek": "first",
            "read that times out": Call.FAILURE_HRESULT_TEXT,
            "peek of the current message": Call.FAILURE_HRESULT_TEXT,
            "peek after an arrival": "second",
        },
        observed={
            "first_peek": read.label_or_outcome,
            "read that times out": waited.label_or_failure,
            "peek of the current message": second_peek.label_or_failure,
            "peek after an arrival": third_peek.label_or_outcome,
        },
        evidence=[read, waited, second_peek, third_peek],
    )
