"""MS-MQDMPR 3.1.7.1.10, 3.1.7.3.1: receives by a cursor whose earlier receive failed, timed out, or returned its
message to the queue.
"""

from __future__ import annotations

from harness.expectations import each, facts, in_queue
from harness.peer.association import Call
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action

pytestmark = needs("qm2qm")

SHORT_READ_TIMEOUT_MS, LONG_READ_TIMEOUT_MS = 400, 600_000
NOT_FOUND_STATUS, TIMEOUT_STATUS = "MQ_ERROR_MESSAGE_NOT_FOUND", "MQ_ERROR_IO_TIMEOUT"


@covers("MQDMPR-3.1.7.1.10-16")
def test_each_receive_by_cursor_at_received_message_fails(remote, judge):
    """A cursor is at the second of three messages, which another reader locks, and then receives. Two receives by the
    cursor while the message is locked, and two receives afterwards, fail, and remove no message.
    """
    queue, other = remote.open_with_messages("a", "b", "c"), remote.open()
    cursors = [queue.open_cursor(), other.open_cursor()]
    for reader, cursor in zip((queue, other), cursors, strict=True):
        reader.peek(hCursor=cursor).expect_success()
        reader.peek_next(hCursor=cursor).expect_success()
    taken = other.start_receive(hCursor=cursors[1]).expect_success()
    reads = [queue.start_receive(hCursor=cursors[0]) for _ in range(2)]
    other.acknowledge(taken).expect_success()
    reads += [queue.start_receive(hCursor=cursors[0]) for _ in range(2)]
    judge(
        "MQDMPR-3.1.7.1.10-16",
        expected=facts(receives=each(Call.FAILURE_HRESULT_TEXT), queue=in_queue("a", "c")),
        observed={"receives": [read.label_or_failure for read in reads], "queue": queue.labels()},
        evidence=[taken, *reads],
    )


@covers("MQDMPR-3.1.7.1.10-20", "MQDMPR-3.1.7.1.10-35")
def test_cursor_that_waited_in_vain_finds_no_message(remote, judge):
    """Two receives by a cursor of an empty queue wait one after the other, and end with MQ_ERROR_IO_TIMEOUT. A receive
    by this cursor with timeout 0 then returns MQ_ERROR_MESSAGE_NOT_FOUND.
    """
    queue = remote.open()
    cursor = queue.open_cursor()
    waits = []
    for _ in range(2):
        waits.append(queue.begin(Action.RECEIVE, hCursor=cursor, ulTimeout=SHORT_READ_TIMEOUT_MS))
        slack_ms = remote.sut.slack_ms(SHORT_READ_TIMEOUT_MS)
        waits[-1].wait(SHORT_READ_TIMEOUT_MS + slack_ms + remote.sut.response_timeout_ms)
    at_once = queue.start_receive(hCursor=cursor, ulTimeout=0)
    judge(
        "MQDMPR-3.1.7.1.10-35",
        expected=[TIMEOUT_STATUS] * 2,
        observed=[read.outcome for read in waits],
        evidence=waits,
        case="two receives that wait in vain",
    )
    judge(
        "MQDMPR-3.1.7.1.10-20",
        expected=NOT_FOUND_STATUS,
        observed=at_once.outcome,
        evidence=[*waits, at_once],
        case="receive with timeout 0 by a cursor that waited in vain",
    )


@covers("MQDMPR-3.1.7.3.1-23")
def test_pending_receive_by_cursor_returns_message_that_arrived(remote, judge):
    """A cursor receives a message and returns it to the queue. A second receive by this cursor waits, although the
    queue contains the message, and returns the message that arrives.
    """
    queue = remote.open_with_messages("a")
    cursor = queue.open_cursor()
    taken = queue.start_receive(hCursor=cursor).expect_success()
    queue.put_message_back(taken).expect_success()
    read = queue.begin(Action.RECEIVE, hCursor=cursor, ulTimeout=LONG_READ_TIMEOUT_MS)
    waits = read.state_after_silence()
    remote.deliver(["b"])
    judge(
        "MQDMPR-3.1.7.3.1-23",
        expected=facts(before_an_arrival=Call.WAITING, after_an_arrival="b"),
        observed={"before_an_arrival": waits, "after_an_arrival": read.wait().label_or_outcome},
        evidence=[taken, read],
    )
