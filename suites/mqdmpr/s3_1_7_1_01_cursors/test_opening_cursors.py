"""MS-MQDMPR 3.1.7.1.1 Open Cursor, 3.1.7.1.2 Close Cursor: cursors of a remote reader."""

from __future__ import annotations

from harness.expectations import in_queue
from harness.peer.association import Call
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action

pytestmark = needs("qm2qm")

LONG_READ_TIMEOUT_MS = 600_000


@covers("MQDMPR-3.1.7.1.1-06", "MQDMPR-3.1.7.1.1-07", "MQDMPR-3.1.7.1.1-08", "MQDMPR-3.1.7.1.1-10")
def test_new_cursor_is_separate_and_before_first_message(remote, judge):
    """Two cursors are created, and one is moved to the second message. The other cursor, and a cursor that is created
    later, still read the first message. A cursor has no next message before its first read. It cannot be used with an
    earlier or later handle of the queue, or with a handle of another queue.
    """
    earlier = remote.open()
    queue = remote.open_with_messages("first", "second")
    others = [
        remote.open(association=queue.association),
        earlier,
        remote.open("admin", association=queue.association),
    ]
    cursors = [queue.cursor() for _ in range(2)]
    judge(
        "MQDMPR-3.1.7.1.1-10",
        expected=["MQ_OK", "MQ_OK"],
        observed=[call.outcome for call in cursors],
        evidence=cursors,
        case="outcomes of the calls that open a cursor",
    )
    going, staying = (call.expect_success().out.phCursor for call in cursors)
    early_reads = [queue.peek_next(hCursor=one) for one in (going, staying)]
    reads = [queue.peek(hCursor=going), queue.peek_next(hCursor=going)]
    reads.append(queue.peek(hCursor=staying))
    later = queue.open_cursor()
    later_reads = [queue.peek_next(hCursor=later), queue.peek(hCursor=later)]
    observed = [read.label_or_outcome for read in reads]
    evidence = [*cursors, *early_reads, *reads]
    judge(
        "MQDMPR-3.1.7.1.1-06",
        expected=["first", "second", "first"],
        observed=observed,
        evidence=evidence,
        case="labels returned by the reads",
    )
    judge(
        "MQDMPR-3.1.7.1.1-08",
        expected={
            "reads_of_the_next_message_by_new_cursors": [Call.FAILURE_HRESULT_TEXT, Call.FAILURE_HRESULT_TEXT],
            "reads_of_the_current_message": ["first", "first"],
            "reads_of_the_next_and_current_message_by_a_later_cursor": [Call.FAILURE_HRESULT_TEXT, "first"],
        },
        observed={
            "reads_of_the_next_message_by_new_cursors": [read.label_or_failure for read in early_reads],
            "reads_of_the_current_message": [observed[0], observed[2]],
            "reads_of_the_next_and_current_message_by_a_later_cursor": [
                later_reads[0].label_or_failure,
                later_reads[1].label_or_outcome,
            ],
        },
        evidence=[*evidence, *later_reads],
    )
    judge(
        "MQDMPR-3.1.7.1.1-10",
        expected=["first", "second"],
        observed=observed[:2],
        evidence=evidence,
        case="labels returned by the reads",
    )
    remote.deliver(["of the other queue"], queue="admin")
    foreign_reads = [one.peek(hCursor=cursor) for one in others for cursor in (going, staying)]
    then = queue.peek(hCursor=going)
    judge(
        "MQDMPR-3.1.7.1.1-07",
        expected=[*[Call.FAILURE_HRESULT_TEXT] * len(foreign_reads), "second"],
        observed=[*(one.label_or_failure for one in foreign_reads), then.label_or_outcome],
        evidence=[*foreign_reads, then],
        case="reads with other handles by the cursors, and a read with their own handle",
    )


@covers("MQDMPR-3.1.7.1.2-05")
def test_pending_read_of_closed_cursor_takes_no_message(remote, judge):
    """A pending receive by a cursor takes no message after the cursor is closed. A pending peek without a cursor, and a
    pending peek by a second cursor, get the next message. The check does not judge the answer to the receive.
    """
    queue = remote.open_with_messages()
    cursor = queue.open_cursor()
    receiving = queue.begin(Action.RECEIVE, hCursor=cursor, ulTimeout=LONG_READ_TIMEOUT_MS)
    peeking = queue.begin(Action.PEEK_CURRENT, ulTimeout=LONG_READ_TIMEOUT_MS)
    by_other_cursor = queue.begin(Action.PEEK_CURRENT, hCursor=queue.open_cursor(), ulTimeout=LONG_READ_TIMEOUT_MS)
    states = [read.state_after_silence() for read in (receiving, peeking, by_other_cursor)]
    closed = queue.close_cursor(cursor)
    state_of_peek = peeking.state_after_silence()
    remote.deliver(["first"])
    judge(
        "MQDMPR-3.1.7.1.2-05",
        expected={
            "pending reads before the close": [Call.WAITING] * 3,
            "close of the cursor": "MQ_OK",
            "pending peek after the close": Call.WAITING,
            "pending peek after an arrival": "first",
            "peek by the other cursor": "first",
            "queue": in_queue("first"),
        },
        observed={
            "pending reads before the close": states,
            "close of the cursor": closed.outcome,
            "pending peek after the close": state_of_peek,
            "pending peek after an arrival": peeking.wait().label_or_outcome,
            "peek by the other cursor": by_other_cursor.wait().label_or_outcome,
            "queue": queue.labels(),
        },
        evidence=[closed, peeking],
    )
