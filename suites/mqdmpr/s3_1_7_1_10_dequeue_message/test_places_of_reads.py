"""MS-MQDMPR 3.1.7.1.10, 3.1.7.1.14: the queue from which a read takes its message, and the status of pending reads."""

from __future__ import annotations

import pytest

from harness.expectations import facts
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.applications import Application, PendingRequest
from suites.mqdmpr.steps.several_queues import SeveralQueues

pytestmark = needs("queue_control", "receive")

SHORT_TIMEOUT_MS, LONG_TIMEOUT_MS = 300, 60_000


def _open_places(sut, queues):
    """Open each queue, subqueue and journal that contains messages; return a handle and a cursor for each."""
    handles = {
        place: sut.control.call("open_queue", queue=queues.names[place], access="receive")["handle"]
        for place in ("queue", "subqueue", "journal", "other")
        if place in queues.names
    }
    return {
        place: (handle, sut.control.call("open_cursor", handle=handle)["cursor"]) for place, handle in handles.items()
    }


def _read(peer, verb, **where):
    """Read without waiting; return the label of the message, or the outcome if no message is read."""
    return PendingRequest(peer, verb, timeout_ms=0, **where).await_label()


@covers("MQDMPR-3.1.7.1.10-09", "MQDMPR-3.1.7.1.13-16", "MQDMPR-3.1.7.1.13-38", "MQDMPR-3.1.7.1.14-06")
@pytest.mark.parametrize("transactional", [False, True], ids=["not transactional", "transactional"])
def test_reads_take_messages_of_their_own_queue(peer, sut, judge, transactional):
    """A queue, its subqueue, its journal and another queue contain messages, and all four are open. Peeks by
    LookupIdentifier, peeks at the next message by cursors, and receives by handle and by cursor return only messages of
    the place that was opened.
    """
    queues = SeveralQueues(peer, sut, transactional=transactional)
    queues.fill("subqueue", "rst")
    queues.fill("queue", "ijabc")
    queues.fill("other", "uvw")
    queues.receive("queue")
    queues.receive("queue")
    queues.fill("queue", "k")
    queues.receive_by_lookup("queue", "k")
    places = _open_places(sut, queues)
    expected = {"queue": "abc", "subqueue": "rst", "journal": "ijk", "other": "uvw"}
    looked_up = {
        place: [
            PendingRequest(
                peer,
                "peek_by_lookup_id",
                queue=queues.names[place],
                lookup_id=queues.lookup_id(place, label),
                seek="current",
            ).await_label()
            for label in expected[place]
        ]
        for place in places
    }
    peeked, received = {}, {}
    for place, (_, cursor) in places.items():
        peeked[place] = [_read(peer, verb, cursor=cursor) for verb in ("peek_message", "peek_next", "peek_next")]
    for place, (handle, cursor) in places.items():
        received[place] = [
            _read(peer, "receive", cursor=cursor),
            *(_read(peer, "receive", handle=handle) for _ in range(2)),
        ]
    judge(
        "MQDMPR-3.1.7.1.13-16",
        "MQDMPR-3.1.7.1.13-38",
        expected={place: [*expected[place]] for place in places},
        observed=looked_up,
        evidence=queues.packets,
        case="peeks by LookupIdentifier",
    )
    judge(
        "MQDMPR-3.1.7.1.14-06",
        expected={place: [*expected[place]] for place in places},
        observed=peeked,
        evidence=queues.packets,
        case="peeks by cursors",
    )
    judge(
        "MQDMPR-3.1.7.1.10-09",
        expected={place: [expected[place][2], *expected[place][:2]] for place in places},
        observed=received,
        evidence=queues.packets,
        case="receives by cursors and handles",
    )


@covers("MQDMPR-3.1.7.1.10-35", "MQDMPR-3.1.7.1.14-33")
def test_pending_read_by_cursor_ends_with_status_of_its_wait(peer, sut, judge):
    """Receives and peeks at the next message by cursors wait, both behind a message and at the start of an empty queue.
    A cancelled read and a read from a queue that is deleted are refused, and a read whose timeout expires returns no
    message.
    """
    application, empty = Application(peer, sut), Application(peer, sut)
    deleted, empty_deleted = Application(peer, sut), Application(peer, sut)
    packets = [*application.fill("a"), *deleted.fill("b")]

    def open_cursor(queue, peeks):
        handle = sut.control.call("open_queue", queue=queue, access="receive")["handle"]
        cursor = sut.control.call("open_cursor", handle=handle)["cursor"]
        for _ in range(peeks):
            sut.read_label("peek_message", cursor=cursor)
        return cursor

    reads = {}
    for end, timeout_ms, bare, filled in (
        ("expired", SHORT_TIMEOUT_MS, empty, application),
        ("cancelled", LONG_TIMEOUT_MS, empty, application),
        ("deleted", LONG_TIMEOUT_MS, empty_deleted, deleted),
    ):
        for kind, verb, cursor in (
            ("receive", "receive", open_cursor(bare.queue, 0)),
            ("peek next", "peek_next", open_cursor(filled.queue, 1)),
        ):
            reads[kind, end] = PendingRequest(peer, verb, cursor=cursor, timeout_ms=timeout_ms)
    peer.settle()
    waits = {name: not read.is_answered() for name, read in reads.items() if name[1] != "expired"}
    for kind, end in waits:
        if end == "cancelled":
            sut.attempt(lambda number=reads[kind, end].number: sut.control.call("cancel", request=number))
    for one in (deleted, empty_deleted):
        sut.delete_queue(one.queue)
    for kind, rule in (("receive", "MQDMPR-3.1.7.1.10-35"), ("peek next", "MQDMPR-3.1.7.1.14-33")):
        judge(
            rule,
            expected=facts(waits=True, expired=Outcome.NOTHING, cancelled=Outcome.REFUSED, deleted=Outcome.REFUSED),
            observed={
                "waits": waits[kind, "cancelled"] and waits[kind, "deleted"],
                **{end: reads[kind, end].await_label() for end in ("expired", "cancelled", "deleted")},
            },
            evidence=packets,
            case=kind,
        )


@needs("transactions")
@covers("MQDMPR-3.1.7.1.10-12", "MQDMPR-3.1.7.1.10-15")
def test_receive_by_cursor_in_transaction_takes_message_of_cursor(peer, sut, judge):
    """Two cursors have peeked at the second and at the fourth of five messages. In a transaction, a receive by each
    cursor takes the message at the cursor, and a second receive takes the following message. An abort returns the
    messages.
    """
    application = Application(peer, sut, transactional=True)
    packets = application.fill(*"abcdefg")
    handle = sut.control.call("open_queue", queue=application.queue, access="receive")["handle"]
    cursors = []
    for steps in (1, 4):
        cursors.append(sut.control.call("open_cursor", handle=handle)["cursor"])
        sut.read_label("peek_message", cursor=cursors[-1])
        for _ in range(steps):
            sut.read_label("peek_next", cursor=cursors[-1])
    transaction = application.begin_transaction()

    def receive(cursor):
        return _read(peer, "receive", cursor=cursor, transaction=transaction)

    labels = [receive(cursor) for _ in range(2) for cursor in reversed(cursors)]
    left = application.labels()
    application.end_transaction("abort", transaction)
    judge(
        "MQDMPR-3.1.7.1.10-12",
        "MQDMPR-3.1.7.1.10-15",
        expected=facts(received=[*"ebfc"], left=[*"adg"], after_the_abort=[*"abcdefg"]),
        observed={"received": labels, "left": left, "after_the_abort": application.labels()},
        evidence=packets,
    )
