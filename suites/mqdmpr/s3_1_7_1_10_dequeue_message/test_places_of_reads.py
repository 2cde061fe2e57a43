"""MS-MQDMPR 3.1.7.1.10, 3.1.7.1.14: the queue from which a read takes its message, and the status of pending reads."""

from __future__ import annotations

import pytest

from harness.expectations import facts
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.applications import Application, PendingRequest
from suites.mqdmpr.steps.several_queues import JournaledQueuesWithMessages

pytestmark = needs("queue_control", "receive")

SHORT_TIMEOUT_MS, LONG_TIMEOUT_MS = 300, 60_000


RULES_OF_EACH_ENDED_READ = ("MQDMPR-3.1.7.3.1-19", "MQDMPR-3.1.7.3.1-20", "MQDMPR-3.1.7.3.5-03")
ENDED_READ_RULES_BY_KIND_OF_READ = {
    "receive": ("MQDMPR-3.1.7.1.10-35", *RULES_OF_EACH_ENDED_READ),
    "peek next": ("MQDMPR-3.1.7.1.14-33", *RULES_OF_EACH_ENDED_READ),
    "peek by a cursor": ("MQDMPR-3.1.7.1.15-35", *RULES_OF_EACH_ENDED_READ),
    "peek": ("MQDMPR-3.1.7.1.15-55", *RULES_OF_EACH_ENDED_READ),
    "receive in a transaction": RULES_OF_EACH_ENDED_READ,
}
"""For each kind of pending read, the rules about its end without a message."""


def _open_queues_with_messages(sut, queues):
    """Open each queue, subqueue and journal that contains messages; return a handle and a cursor for each."""
    handles = {
        place: sut.control.call("open_queue", queue=queues.names[place], access="receive")["handle"]
        for place in ("queue", "subqueue", "journal", "other")
        if place in queues.names
    }
    return {
        place: (handle, sut.control.call("open_cursor", handle=handle)["cursor"]) for place, handle in handles.items()
    }


def _open_cursor(sut, queue, peeks=0):
    """Open a cursor of a queue, and peek by the cursor; return its number."""
    handle = sut.control.call("open_queue", queue=queue, access="receive")["handle"]
    cursor = sut.control.call("open_cursor", handle=handle)["cursor"]
    for _ in range(peeks):
        sut.read_label("peek_message", cursor=cursor)
    return cursor


def _read_without_waiting(peer, verb, **where):
    """Read without waiting; return the label of the message, or the outcome if no message is read."""
    return PendingRequest(peer, verb, timeout_ms=0, **where).await_label()


@covers(
    "MQDMPR-3.1.7.1.10-09",
    "MQDMPR-3.1.7.1.13-16",
    "MQDMPR-3.1.7.1.13-38",
    "MQDMPR-3.1.7.1.14-06",
    "MQDMPR-3.1.7.1.15-06",
    "MQDMPR-3.1.7.2-01",
)
@pytest.mark.parametrize("transactional", [False, True], ids=["not transactional", "transactional"])
def test_reads_take_messages_of_their_own_queue(peer, sut, judge, transactional):
    """A queue, its subqueue, its journal and another queue contain messages, and all four are open. Peeks by
    LookupIdentifier, peeks by handle, by path name and by cursor, and receives by handle and by cursor return only
    messages of the place that was opened.
    """
    queues = JournaledQueuesWithMessages(peer, sut, transactional=transactional)
    queues.fill_queue("subqueue", "rst")
    queues.fill_queue("queue", "ijabc")
    queues.fill_queue("other", "uvw")
    queues.receive("queue")
    queues.receive("queue")
    queues.fill_queue("queue", "k")
    queues.receive_by_lookup("queue", "k")
    places = _open_queues_with_messages(sut, queues)
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
    peeked_first = {
        place: [
            _read_without_waiting(peer, "peek_message", handle=handle),
            _read_without_waiting(peer, "peek_message", queue=queues.names[place]),
            _read_without_waiting(peer, "peek_message", handle=handle),
        ]
        for place, (handle, _) in places.items()
    }
    judge(
        "MQDMPR-3.1.7.1.15-06",
        expected={place: [expected[place][0]] * 3 for place in places},
        observed=peeked_first,
        evidence=queues.packets,
        case="peeks by handle and by path name",
    )
    peeked, received = {}, {}
    for place, (_, cursor) in places.items():
        peeked[place] = [
            _read_without_waiting(peer, verb, cursor=cursor) for verb in ("peek_message", "peek_next", "peek_next")
        ]
    for place, (handle, cursor) in places.items():
        received[place] = [
            _read_without_waiting(peer, "receive", cursor=cursor),
            *(_read_without_waiting(peer, "receive", handle=handle) for _ in range(2)),
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
    judge(
        "MQDMPR-3.1.7.2-01",
        expected={place: [] for place in places},
        observed={
            place: [label for label in sut.labels(queues.names[place]) if label in expected[place]] for place in places
        },
        evidence=queues.packets,
        case="received messages that are still in their place",
    )


@covers(*(rule for rules in ENDED_READ_RULES_BY_KIND_OF_READ.values() for rule in rules))
def test_pending_read_ends_with_status_of_its_wait(peer, sut, judge):
    """Receives, peeks and peeks at the next message by cursors wait, both behind a message and at the start of an empty
    queue; a peek by path name waits too. If the SUT has transactions, a receive in a transaction waits as well. The
    reads are cancelled, the last one first. A cancelled read is refused, and a read whose timeout expires returns no
    message.
    """
    application, empty = Application(peer, sut), Application(peer, sut)
    transaction = {}
    if sut.has("transactions"):
        of_transaction = Application(peer, sut, transactional=True)
        transaction = {"queue": of_transaction.queue, "transaction": of_transaction.begin_transaction()}
    packets = application.fill_queue("a")
    reads = {}
    for end, timeout_ms in (("expired", SHORT_TIMEOUT_MS), ("cancelled", LONG_TIMEOUT_MS)):
        for kind, verb, where in (
            ("receive", "receive", {"cursor": _open_cursor(sut, empty.queue)}),
            ("peek next", "peek_next", {"cursor": _open_cursor(sut, application.queue, peeks=1)}),
            ("peek by a cursor", "peek_message", {"cursor": _open_cursor(sut, empty.queue)}),
            ("peek", "peek_message", {"queue": empty.queue}),
            ("receive in a transaction", "receive", transaction),
        ):
            if where:
                reads[kind, end] = PendingRequest(peer, verb, timeout_ms=timeout_ms, **where)
    peer.settle()
    waits = {name: not read.is_answered() for name, read in reads.items() if name[1] == "cancelled"}
    for name in reversed(waits):
        sut.attempt(lambda number=reads[name].number: sut.control.call("cancel", request=number))
    for kind, _ in waits:
        judge(
            *ENDED_READ_RULES_BY_KIND_OF_READ[kind],
            expected=facts(waits=True, expired=Outcome.NOTHING, cancelled=Outcome.REFUSED),
            observed={
                "waits": waits[kind, "cancelled"],
                "expired": reads[kind, "expired"].await_label(),
                "cancelled": reads[kind, "cancelled"].await_label(),
            },
            evidence=packets,
            case=kind,
        )
    if transaction:
        of_transaction.end_transaction("abort", transaction["transaction"])


@covers("MQDMPR-3.1.7.1.14-33")
def test_pending_peek_next_is_refused_when_its_queue_is_deleted(peer, sut, judge):
    """A peek at the next message by a cursor waits at the last message of a queue. The peek is refused when the queue
    is deleted.
    """
    application = Application(peer, sut)
    packets = application.fill_queue("a")
    cursor = _open_cursor(sut, application.queue, peeks=1)
    peek = PendingRequest(peer, "peek_next", cursor=cursor, timeout_ms=LONG_TIMEOUT_MS)
    peer.settle()
    waits = not peek.is_answered()
    sut.delete_queue(application.queue)
    judge(
        "MQDMPR-3.1.7.1.14-33",
        expected=facts(waits=True, end=Outcome.REFUSED),
        observed={"waits": waits, "end": peek.await_label()},
        evidence=packets,
    )


@needs("transactions")
@covers("MQDMPR-3.1.7.1.10-12", "MQDMPR-3.1.7.1.10-15")
def test_receive_by_cursor_in_transaction_takes_message_of_cursor(peer, sut, judge):
    """Two cursors have peeked at the second and at the fourth of five messages. In a transaction, a receive by each
    cursor takes the message at the cursor, and a second receive takes the following message. An abort returns the
    messages.
    """
    application = Application(peer, sut, transactional=True)
    packets = application.fill_queue(*"abcdefg")
    handle = sut.control.call("open_queue", queue=application.queue, access="receive")["handle"]
    cursors = []
    for steps in (1, 4):
        cursors.append(sut.control.call("open_cursor", handle=handle)["cursor"])
        sut.read_label("peek_message", cursor=cursors[-1])
        for _ in range(steps):
            sut.read_label("peek_next", cursor=cursors[-1])
    transaction = application.begin_transaction()

    def receive_by_cursor(cursor):
        return _read_without_waiting(peer, "receive", cursor=cursor, transaction=transaction)

    labels = [receive_by_cursor(cursor) for _ in range(2) for cursor in reversed(cursors)]
    left = application.labels()
    application.end_transaction("abort", transaction)
    judge(
        "MQDMPR-3.1.7.1.10-12",
        "MQDMPR-3.1.7.1.10-15",
        expected=facts(received=[*"ebfc"], left=[*"adg"], after_the_abort=[*"abcdefg"]),
        observed={"received": labels, "left": left, "after_the_abort": application.labels()},
        evidence=packets,
    )
