"""MS-MQDMPR 3.1.7.1.10 Dequeue Message: the cursor of a pending receive."""

from __future__ import annotations

from harness.peer.association import Call
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action

LONG_READ_TIMEOUT_MS = 600_000
"""A timeout in ms that is longer than any check, even on a system that stalls repeatedly."""
NOT_FOUND_STATUS, TIMEOUT_STATUS = "MQ_ERROR_MESSAGE_NOT_FOUND", "MQ_ERROR_IO_TIMEOUT"


@needs("qm2qm")
@covers("MQDMPR-3.1.7.1.10-20", "MQDMPR-3.1.7.1.10-31", "MQDMPR-3.1.7.1.10-D05")
def test_cursor_of_pending_receive_moves_to_arriving_message(remote, judge):
    """A pending receive by a cursor takes an arriving message, which is then returned to the queue. The next receive by
    this cursor takes the following message, and a receive by a new cursor takes the returned message. Then a receive by
    the first cursor with timeout 0 finds no message; a second pending receive moves the first cursor in the same way.
    Each receive by a cursor locks its message.
    """
    queue = remote.open_with_messages()
    cursor, fresh = (queue.open_cursor() for _ in range(2))
    read = queue.begin(Action.RECEIVE, hCursor=cursor, ulTimeout=LONG_READ_TIMEOUT_MS)
    waits = read.state_after_silence()
    remote.deliver(["first"])
    label = read.wait().label_or_outcome
    queue.put_message_back(read)
    remote.deliver(["second"])
    later_reads = [queue.start_receive(hCursor=one) for one in (cursor, fresh)]
    observed = [one.label_or_outcome for one in later_reads]
    judge(
        "MQDMPR-3.1.7.1.10-31",
        expected={
            "receive before an arrival": Call.WAITING,
            "receive after an arrival": "first",
            "next_receive_by_its_cursor": "second",
            "next_receive_by_another_cursor": "first",
        },
        observed={
            "receive before an arrival": waits,
            "receive after an arrival": label,
            "next_receive_by_its_cursor": observed[0],
            "next_receive_by_another_cursor": observed[1],
        },
        evidence=[read, *later_reads],
    )
    empty = queue.start_receive(hCursor=cursor, ulTimeout=0)
    beside = [queue.start_receive(hCursor=queue.open_cursor(), ulTimeout=0), queue.peek(ulTimeout=0)]
    judge(
        "MQDMPR-3.1.7.1.10-20",
        expected=[NOT_FOUND_STATUS] * 2,
        observed=[empty.outcome, beside[0].outcome],
        evidence=[empty, *beside],
        case="receives with timeout 0 by the moved cursor and by a new cursor",
    )
    judge(
        "MQDMPR-3.1.7.1.10-D05",
        expected=[NOT_FOUND_STATUS, TIMEOUT_STATUS],
        observed=[one.outcome for one in beside],
        evidence=[*later_reads, *beside],
        case="reads while receives by cursors have locked two messages",
    )
    second_wait = queue.begin(Action.RECEIVE, hCursor=cursor, ulTimeout=LONG_READ_TIMEOUT_MS)
    waits = second_wait.state_after_silence()
    remote.deliver(["third"])
    label = second_wait.wait().label_or_outcome
    queue.put_message_back(second_wait)
    remote.deliver(["fourth"])
    last = queue.start_receive(hCursor=cursor)
    judge(
        "MQDMPR-3.1.7.1.10-31",
        expected=[Call.WAITING, "third", "fourth"],
        observed=[waits, label, last.label_or_outcome],
        evidence=[second_wait, last],
        case="second wait of the cursor, its message, and the next receive by the cursor",
    )
