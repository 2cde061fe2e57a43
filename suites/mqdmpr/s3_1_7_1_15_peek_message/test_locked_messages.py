"""MS-MQDMPR 3.1.7.1.11, 3.1.7.1.15, 3.1.7.3.1 to 3.1.7.3.3: reads of a queue whose messages other
readers have locked.
"""

from __future__ import annotations

from harness.expectations import facts
from harness.peer.association import Call
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action, LookupId
from suites.mqqp.steps.lookups import find_lookup_ids

READ_TIMEOUT_MS = 60_000
TIMEOUT_STATUS, ALREADY_RECEIVED_STATUS, LOCKED_MESSAGE_STATUS = (
    "MQ_ERROR_IO_TIMEOUT",
    "MQ_ERROR_MESSAGE_ALREADY_RECEIVED",
    "MQ_ERROR_TRANSACTION_USAGE",
)
RETURNED_MESSAGE_RULES = ("MQDMPR-3.1.7.1.15-51", "MQDMPR-3.1.7.1.15-52", "MQDMPR-3.1.7.3.1-18", "MQDMPR-3.1.7.3.1-23")


@needs("qm2qm")
@covers(
    "MQDMPR-3.1.7.1.10-D01",
    "MQDMPR-3.1.7.1.11-07",
    "MQDMPR-3.1.7.1.15-12",
    "MQDMPR-3.1.7.1.15-16",
    "MQDMPR-3.1.7.1.15-44",
    "MQDMPR-3.1.7.1.15-58",
    "MQDMPR-3.1.7.1.15-59",
    "MQDMPR-3.1.7.3.2-16",
    "MQDMPR-3.1.7.3.3-35",
    *RETURNED_MESSAGE_RULES,
)
def test_locked_messages_are_read_when_they_are_returned(remote, judge):
    """A reader receives two of three messages, waits for a fourth, and does not end its receives. Peeks skip the two
    received messages, and a lookup of each of them fails. When the third message is also locked, peeks with and without
    a cursor wait, even after a different handle is closed. All these peeks return the first message when the reader
    returns it to the queue. After a purge, a peek by a cursor at this message fails.
    """
    queue, other = remote.open_with_messages("a", "b", "c"), remote.open()
    known = dict(zip("abc", find_lookup_ids(queue, 3), strict=True))
    cursor, late_cursor = queue.open_cursor(), queue.open_cursor()
    queue.peek(hCursor=cursor).expect_success()
    locking = [other.start_receive().expect_success()]
    peeks = [queue.peek(), queue.peek()]
    at_locked = queue.peek(hCursor=cursor)
    judge(
        "MQDMPR-3.1.7.1.15-58",
        "MQDMPR-3.1.7.1.15-59",
        "MQDMPR-3.1.7.3.2-16",
        expected=["b", "b"],
        observed=[peek.label_or_outcome for peek in peeks],
        evidence=peeks,
        case="peeks while a message is locked",
    )
    locking += [other.start_receive(), queue.start_receive()]
    waiting = other.begin(Action.RECEIVE, ulTimeout=READ_TIMEOUT_MS)
    state_of_receive = waiting.state_after_silence()
    remote.deliver(["d"])
    locking.append(waiting.wait())
    rest = [queue.start_receive(ulTimeout=0), queue.peek(ulTimeout=0)]
    lookups = [queue.look_up(Action.LOOKUP_PEEK_CURRENT, known[label]) for label in "abc"]
    lookups += [queue.look_up(Action.LOOKUP_PEEK_NEXT, LookupId.BEFORE_FIRST)]
    judge(
        "MQDMPR-3.1.7.1.11-07",
        "MQDMPR-3.1.7.1.15-59",
        expected=facts(receives=["a", "b", "c", "d"], later_reads=[TIMEOUT_STATUS] * 2),
        observed={
            "receives": [read.label_or_outcome for read in locking],
            "later_reads": [read.label_or_outcome for read in rest],
        },
        evidence=[*locking, *rest],
    )
    judge(
        "MQDMPR-3.1.7.3.3-35",
        expected=[LOCKED_MESSAGE_STATUS] * 3,
        observed=[read.outcome for read in lookups[:3]],
        evidence=lookups,
        case="lookups of locked messages",
    )
    readers = (queue, queue, remote.open())
    cursors: tuple[dict[str, int], ...] = ({}, {"hCursor": late_cursor}, {})
    waits = [
        reader.begin(Action.PEEK_CURRENT, ulTimeout=READ_TIMEOUT_MS, **by)
        for reader, by in zip(readers, cursors, strict=True)
    ]
    judge(
        "MQDMPR-3.1.7.1.10-D01",
        "MQDMPR-3.1.7.1.15-44",
        expected=[Call.WAITING] * 4,
        observed=[state_of_receive, *(read.state_after_silence() for read in waits)],
        evidence=[waiting, *waits],
        case="a receive and three peeks of a queue in which all messages are locked",
    )
    remote.open().close().expect_success()
    other.put_message_back(locking[0]).expect_success()
    labels = [read.wait().label_or_outcome for read in waits]
    judge(
        *RETURNED_MESSAGE_RULES,
        expected=["a", "a", "a"],
        observed=labels,
        evidence=[*locking[:1], *waits],
        case="waiting peeks after the return of a message",
    )
    at_returned = queue.peek(hCursor=cursor)
    judge(
        "MQDMPR-3.1.7.1.15-12",
        expected=facts(while_locked=ALREADY_RECEIVED_STATUS, after_the_return="a"),
        observed={"while_locked": at_locked.outcome, "after_the_return": at_returned.label_or_outcome},
        evidence=[at_locked, at_returned],
    )
    queue.purge().expect_success()
    remote.deliver(["e"])
    at_purged = [queue.peek(hCursor=one) for one in (cursor, late_cursor)]
    judge(
        "MQDMPR-3.1.7.1.15-16",
        expected=[ALREADY_RECEIVED_STATUS] * 2,
        observed=[read.outcome for read in at_purged],
        evidence=at_purged,
        case="peeks by cursors at a purged message",
    )
