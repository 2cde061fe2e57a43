"""MS-MQDMPR 3.1.7.1.10, 3.1.7.1.13, 3.1.7.1.14: cursors and lookups while messages are locked and other reads are
pending.
"""

from __future__ import annotations

from harness.expectations import facts, in_queue
from harness.peer.association import Call
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action, LookupId
from suites.applications import Application
from suites.mqqp.steps.lookups import find_lookup_ids
from suites.mqqp.steps.reading import send_messages_to_queue

LONG_TIMEOUT_MS = 0x8000_0000
"""A timeout of 24 days, whose low 31 bits are zero: a timeout that is kept in fewer bits expires at once."""
SHORT_TIMEOUT_MS = 300
NOT_FOUND_STATUS, ILLEGAL_CURSOR_STATUS = "MQ_ERROR_MESSAGE_NOT_FOUND", "MQ_ERROR_ILLEGAL_CURSOR_ACTION"
LARGE_BODY = b"large body " * 2_000


def _send_message_with_priority(remote, label, priority, **headers):
    remote.send_messages_and_require_acks(
        [remote.peer.recoverable_message(base={"PR": priority}, label=label, **headers)]
    )


@needs("qm2qm")
@covers("MQDMPR-3.1.7.1.10-23", "MQDMPR-3.1.7.1.10-31", "MQDMPR-3.1.7.1.10-34", "MQDMPR-3.1.7.1.14-13")
def test_each_waiting_cursor_moves_to_its_own_message(remote, judge):
    """Receives by two cursors wait, and messages of the priorities 7 and 5 arrive and are returned to the queue. Each
    of these cursors continues behind its own message. A third cursor has tried to receive from the empty queue, and
    receives by a fourth cursor have timed out twice; these two cursors have read no message.
    """
    queue = remote.open_with_messages()
    first, second, failed, timed_out = (queue.open_cursor() for _ in range(4))
    early = [queue.start_receive(hCursor=failed)]
    early += [queue.start_receive(hCursor=timed_out, ulTimeout=SHORT_TIMEOUT_MS) for _ in range(2)]
    reads = [queue.begin_receive(hCursor=one, ulTimeout=LONG_TIMEOUT_MS) for one in (first, second)]
    waits = [read.state_after_silence() for read in reads]
    for label, priority in (("a", 7), ("b", 5)):
        _send_message_with_priority(remote, label, priority)
    labels = [read.wait().label_or_outcome for read in reads]
    judge("MQDMPR-3.1.7.1.10-23", expected=[Call.WAITING] * 2, observed=waits, evidence=reads)
    for read in reads:
        queue.put_message_back(read)
    _send_message_with_priority(remote, "c", 0)
    later = [queue.start_receive(hCursor=one) for one in (first, second)]
    judge(
        "MQDMPR-3.1.7.1.10-31",
        expected=facts(pending_receives=["a", "b"], later_receives=["b", "c"]),
        observed={"pending_receives": labels, "later_receives": [one.label_or_outcome for one in later]},
        evidence=[*reads, *later],
    )
    for rule, cursor in (("MQDMPR-3.1.7.1.14-13", failed), ("MQDMPR-3.1.7.1.10-34", timed_out)):
        unread = queue.peek_next(hCursor=cursor)
        judge(
            rule, expected=ILLEGAL_CURSOR_STATUS, observed=unread.outcome, evidence=[*early, unread], case="peek next"
        )


@needs("qm2qm")
@covers(
    "MQDMPR-3.1.7.1.10-19",
    "MQDMPR-3.1.7.1.10-20",
    "MQDMPR-3.1.7.1.10-D05",
    "MQDMPR-3.1.7.1.10-D07",
    "MQDMPR-3.1.7.1.14-16",
)
def test_cursors_read_nothing_before_locked_last_message(remote, judge):
    """A cursor has received the second of three messages, and the last message, which is large, is locked. A receive by
    this cursor finds no message, and a peek at the next message by a cursor at the first message waits. Then receives
    lock two further messages, and only the last of them is free.
    """
    queue, other = remote.open_with_messages("a", "b"), remote.open()
    _send_message_with_priority(remote, "c", 3, body=LARGE_BODY)
    behind, at_last, at_first = (queue.open_cursor() for _ in range(3))
    for cursor, steps in ((behind, 1), (at_last, 2), (at_first, 0)):
        queue.peek(hCursor=cursor).expect_success()
        for _ in range(steps):
            queue.peek_next(hCursor=cursor).expect_success()
    queue.receive(hCursor=behind)
    locked = [queue.start_receive(hCursor=at_last)]
    none_left = queue.start_receive(hCursor=behind)
    judge(
        "MQDMPR-3.1.7.1.10-D07",
        expected="c",
        observed=locked[0].label_or_outcome,
        evidence=locked,
        case="large message",
    )
    judge(
        "MQDMPR-3.1.7.1.10-19",
        "MQDMPR-3.1.7.1.10-20",
        expected=NOT_FOUND_STATUS,
        observed=none_left.outcome,
        evidence=[*locked, none_left],
        case="receive behind the last free message",
    )
    waiting = queue.begin(Action.PEEK_NEXT, hCursor=at_first, ulTimeout=LONG_TIMEOUT_MS)
    judge(
        "MQDMPR-3.1.7.1.14-16",
        expected=Call.WAITING,
        observed=waiting.state_after_silence(),
        evidence=[*locked, waiting],
        case="peek next before the locked last message",
    )
    remote.deliver(["d", "e"])
    locked += [queue.start_receive() for _ in range(2)]
    judge(
        "MQDMPR-3.1.7.1.10-D05",
        expected=facts(locked=["c", "a", "d"], free=["e"]),
        observed={"locked": [one.label_or_outcome for one in locked], "free": other.labels()},
        evidence=locked,
    )


@needs("qm2qm")
@covers("MQDMPR-3.1.7.1.13-16", "MQDMPR-3.1.7.1.13-38", "MQDMPR-3.1.7.1.13-39", "MQDMPR-3.1.7.1.13-32")
def test_lookups_of_transactional_and_large_messages(remote, judge):
    """Lookups of transactional messages, including the previous and the next message, and of a large message return
    these messages. A receive of the next message, and a receive of the message with a given LookupIdentifier, make
    their messages unavailable to other readers.
    """
    kind = "transactional"
    queue, other = remote.open(kind), remote.open(kind)
    send_messages_to_queue(remote, kind, *"abcd")
    ids = find_lookup_ids(queue, 4)
    peeks = [queue.look_up(Action.LOOKUP_PEEK_CURRENT, one) for one in ids]
    peeks += [queue.look_up(Action.LOOKUP_PEEK_PREV, ids[2]), queue.look_up(Action.LOOKUP_PEEK_NEXT, ids[1])]
    plain = remote.open_with_messages()
    _send_message_with_priority(remote, "large", 3, body=LARGE_BODY)
    peeks.append(plain.look_up(Action.LOOKUP_PEEK_PREV, LookupId.BEHIND_LAST))
    judge(
        "MQDMPR-3.1.7.1.13-16",
        "MQDMPR-3.1.7.1.13-38",
        "MQDMPR-3.1.7.1.13-39",
        expected=[*"abcdbc", "large"],
        observed=[one.label_or_outcome for one in peeks],
        evidence=peeks,
    )
    receives = [queue.look_up(Action.LOOKUP_RECEIVE_NEXT, ids[0]), queue.look_up(Action.LOOKUP_RECEIVE_CURRENT, ids[3])]
    judge(
        "MQDMPR-3.1.7.1.13-32",
        expected=facts(receives=["b", "d"], visible_to_others=["a", "c"]),
        observed={"receives": [one.label_or_outcome for one in receives], "visible_to_others": other.labels()},
        evidence=receives,
        errata="E57",
    )


@needs("queue_control", "receive")
@covers("MQDMPR-3.1.7.1.10-D06")
def test_received_express_messages_leave_queue_as_received(peer, sut, judge):
    """A journaled queue contains express messages of the priorities 7 and 0. An application receives them, and each of
    them leaves the queue and is copied into the journal.
    """
    application = Application(peer, sut)
    sut.control.call("set_queue", name=application.queue, journaling=True)
    connection = peer.open_raw()
    destination = rf"TCP:{sut.address}\{application.queue}"
    packets = [
        connection.send(peer.message(destination=destination, label=label, base={"PR": priority}))
        for label, priority in (("urgent", 7), ("late", 0))
    ]
    application.await_message_count(2)
    labels = [application.receive() for _ in packets]
    judge(
        "MQDMPR-3.1.7.1.10-D06",
        expected=facts(received=["urgent", "late"], queue=in_queue(), journal=in_queue("urgent", "late")),
        observed={
            "received": labels,
            "queue": application.labels(),
            "journal": application.labels(f"{application.queue};journal"),
        },
        evidence=packets,
    )


@needs("qm2qm")
@covers("MQDMPR-3.1.7.1.10-38")
def test_receive_without_cursor_takes_first_message_beside_cursors(remote, judge):
    """One cursor is at the third of four messages, a second cursor has received the second message, and a third cursor
    is at the start of the queue. Receives without a cursor, by the handle of the cursors and by another handle, return
    the first available message.
    """
    queue, other = remote.open_with_messages(*"abcd"), remote.open()
    _, at_third, behind_second = (queue.open_cursor() for _ in range(3))
    for cursor, steps in ((at_third, 2), (behind_second, 1)):
        queue.peek(hCursor=cursor).expect_success()
        for _ in range(steps):
            queue.peek_next(hCursor=cursor).expect_success()
    locked = queue.start_receive(hCursor=behind_second)
    reads = [locked, queue.start_receive(), other.start_receive()]
    for read in reads[:2]:
        queue.put_message_back(read)
    reads += [queue.start_receive(), queue.start_receive()]
    judge(
        "MQDMPR-3.1.7.1.10-38",
        expected=[*"bacab"],
        observed=[read.label_or_outcome for read in reads],
        evidence=reads,
        case="labels of the receives, of which the first is by a cursor",
    )
