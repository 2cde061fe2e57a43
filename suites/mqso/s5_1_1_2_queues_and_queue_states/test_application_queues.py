"""MS-MQSO 5.1.1.2: the states of an application queue, and its cursors."""

from __future__ import annotations

import pytest

from harness.expectations import between, each, facts, in_queue
from harness.run.marks import covers, needs, varied
from harness.sut.outcomes import Outcome
from harness.sut.shown import lookup_id
from suites.applications import Application, PendingRequest

PENDING_READ_TIMEOUT_MS = 60_000
SHORT_READ_TIMEOUT_MS = 200
SMALL_BODY_BYTES = 200
"""The size of a small body in bytes."""


@needs("queues", "receive")
@covers("MQSO-5.1.1.2-D01", "MQSO-5.1.1.2-D04")
@pytest.mark.parametrize("transactional", [False, True], ids=["plain", "transactional"])
@varied("positive journaling", "response queue", "queue journaling", "read by")
def test_queue_returns_messages_in_order_until_purged(peer, sut, judge, transactional):
    """Two of five messages are received in order. A purge removes the other three messages. A nontransactional queue
    also contains messages of the lowest and the highest priority, which the purge also removes. A second purge changes
    nothing, and the queue stores the next message.
    """
    application = Application(peer, sut, transactional=transactional)
    queue = application.queue
    application.store("1", "2", "3", "4", "5")
    labels = [sut.read_label("receive", queue=queue) for _ in range(2)]
    judge("MQSO-5.1.1.2-D01", expected=["1", "2"], observed=labels, case="labels returned by the reads")
    judge("MQSO-5.1.1.2-D01", expected=in_queue("3", "4", "5"), observed=sut.labels(queue))
    if not transactional:
        application.fill_queue("lowest", PR=0)
        application.fill_queue("highest", PR=7)
    sut.control.call("purge", queue=queue)
    judge("MQSO-5.1.1.2-D04", expected=in_queue(), observed=sut.labels(queue))
    sut.control.call("purge", queue=queue)
    application.store("6")
    judge("MQSO-5.1.1.2-D04", expected=in_queue("6"), observed=sut.labels(queue))


@needs("queues", "receive", "transactions")
@covers("MQSO-5.1.1.2-D04")
@varied("positive journaling", "response queue", "queue journaling")
def test_purge_removes_messages_around_locked_message(peer, sut, judge):
    """The second of three messages is received in a transaction, and then the queue is purged. The queue contains no
    message, neither before nor after the transaction is aborted.
    """
    application = Application(peer, sut, transactional=True)
    application.store("1", "2", "3")
    transaction = application.begin_transaction()
    received = application.receive_by_label("2", transaction=transaction)
    application.call("purge", queue=application.queue)
    while_locked = application.labels()
    application.end_transaction("abort", transaction)
    judge.all(
        expected={
            "label_of_the_received_message": "2",
            "labels_in_the_queue_while_the_message_is_locked": [],
            "labels_in_the_queue_after_the_abort": [],
        },
        observed={
            "label_of_the_received_message": received,
            "labels_in_the_queue_while_the_message_is_locked": while_locked,
            "labels_in_the_queue_after_the_abort": application.labels(),
        },
    )


WAITING_READ_RULES = ("MQSO-3.3.4.6-D01", "MQSO-5.1.1.2-D03")


@needs("queues", "receive")
@covers("MQSO-3.3.4.6-D01", "MQSO-5.1.1.2-D03")
@varied("acknowledgments", "positive journaling", "queue journaling", "queue quota", "queue privacy")
def test_receive_from_empty_queue_waits_for_message(peer, sut, judge):
    """A pending receive takes a message that arrives. A receive whose timeout has expired returns no message and takes
    no later message, whether it was requested by name or through a handle. When one of two pending receives through a
    handle is cancelled, the other still takes the next message.
    """
    application = Application(peer, sut)
    queue = application.queue
    reader = PendingRequest(peer, "receive", timeout_ms=PENDING_READ_TIMEOUT_MS, queue=queue)
    peer.settle()
    application.store_message_for_waiting_reader("awaited")
    label_or_outcome = reader.await_label()
    judge(*WAITING_READ_RULES, expected="awaited", observed=label_or_outcome, case="label returned by the read")
    judge("MQSO-5.1.1.2-D03", expected=in_queue(), observed=sut.labels(queue))
    handle = sut.control.call("open_queue", queue=queue, access="receive")["handle"]
    for where in ({"queue": queue}, {"handle": handle}):
        late_read = PendingRequest(peer, "receive", timeout_ms=SHORT_READ_TIMEOUT_MS, **where)
        label_or_outcome = late_read.await_label()
        judge(
            *WAITING_READ_RULES, expected=Outcome.NOTHING, observed=label_or_outcome, case="label returned by the read"
        )
        application.store("later")
        peer.settle()
        judge("MQSO-5.1.1.2-D03", expected=in_queue("later"), observed=sut.labels(queue))
        sut.control.call("purge", queue=queue)
    cancelled, other = (
        PendingRequest(peer, "receive", timeout_ms=PENDING_READ_TIMEOUT_MS, handle=handle) for _ in range(2)
    )
    peer.settle()
    sut.control.call("cancel", request=cancelled.number)
    peer.eventually(cancelled.is_answered)
    application.store_message_for_waiting_reader("for the other")
    observed = {"cancelled": cancelled.await_outcome() != Outcome.NO_ANSWER, "other_receive": other.await_label()}
    expected = facts(cancelled=True, other_receive="for the other")
    judge("MQSO-3.3.4.6-D01", expected=expected, observed=observed)


@needs("queue_control", "send", "receive")
@covers("MQSO-5.1.1.2-D05")
@varied("acknowledgments", "positive journaling", "negative journaling", "application tag", "trace")
def test_deleted_queue_and_its_messages_are_gone(sut, judge):
    """A queue with two messages and a journaled message is deleted. Peeks at the deleted queue and sends to it are
    refused. A new queue with the same name is empty, and so is its journal.
    """
    queue = sut.new_queue("deleted", journaling=True)
    sut.send_here(queue, ["journaled", "1", "2"], delivery="recoverable")
    sut.control.call("receive", queue=queue, timeout_ms=0)
    sut.delete_queue(queue)
    observed = {"peek": sut.attempt("peek", queue=queue), "send": sut.attempt(sut.send_here, queue, ["3"])}
    judge.all(expected=each(Outcome.REFUSED, "request for the deleted queue"), observed=observed)
    sut.create_queue(queue)
    for name in (queue, f"{queue};journal"):
        judge.all(expected=in_queue(), observed=sut.labels(name), case=name)


@needs("queues", "send", "receive")
@covers("MQSO-5.1.1.2-D02")
@varied("acknowledgments", "negative journaling", "response queue", "time to be received", "application tag")
@pytest.mark.parametrize("delivery", ["express", "transactional"])
def test_full_queue_stores_no_message(sut, judge, delivery):
    """A queue with a quota of 8 KB stores a message of 5,000 characters, and stores a second message of this size only
    after a purge. It stores small messages only up to the quota. The check runs for an express and for a transactional
    queue.
    """
    queue = sut.new_queue("full", quota_kb=8, transactional=delivery == "transactional")
    whole = {"body": "x" * 5_000, "delivery": delivery}
    to = sut.direct_name(queue)
    sut.send(to, label="first", **whole)
    sut.attempt(sut.send, to, label="too much", **whole)
    judge.all(expected=in_queue("first"), observed=sut.labels(queue))
    sut.control.call("purge", queue=queue)
    sut.send(to, label="again", **whole)
    judge.all(expected=in_queue("again"), observed=sut.labels(queue))
    small = {"body": "x" * SMALL_BODY_BYTES, "delivery": delivery}
    for number in range(4 * 1024 // SMALL_BODY_BYTES):
        sut.attempt(sut.send, to, label=f"small {number}", **small)
    stored = len(sut.labels(queue)) - 1
    most = (8 * 1024 - 5_000) // SMALL_BODY_BYTES
    judge.all(expected=between(0, most), observed=stored, case="number of small messages in the queue")


@needs("queues", "send", "receive", "restart")
@covers("MQSO-5.1.1.2-D06", "MQSO-5.1.1-D01")
@varied("queue journaling", "queue quota", "queue privacy")
def test_cursors_have_separate_positions_until_restart(sut, judge):
    """One of two cursors is moved and reads the second message. The other cursor, and a cursor that is opened later,
    still read the first message. After a restart, reads by all three cursors and their closing are refused, and a new
    cursor reads the first message.
    """
    queue = sut.new_queue("cursors")
    sut.send_here(queue, ["1", "2", "3"], delivery="recoverable")
    handle = sut.control.call("open_queue", queue=queue, access="receive")["handle"]
    first_cursor, second_cursor = (sut.control.call("open_cursor", handle=handle)["cursor"] for _ in range(2))
    observed = [sut.read_label("peek_message", cursor=first_cursor), sut.read_label("peek_next", cursor=first_cursor)]
    observed += [
        sut.read_label("peek_message", cursor=second_cursor),
        sut.read_label("peek_message", cursor=first_cursor),
    ]
    sut.control.call("peek_message", cursor=second_cursor, timeout_ms=0)
    sut.read_label("peek_next", cursor=second_cursor)
    third_cursor = sut.control.call("open_cursor", handle=handle)["cursor"]
    observed.append(sut.read_label("peek_message", cursor=third_cursor))
    expected = ["1", "2", "1", "2", "1"]
    judge("MQSO-5.1.1.2-D06", expected=expected, observed=observed, case="labels returned by the reads")
    sut.restart()
    outcomes_after = [
        sut.attempt("peek_message", cursor=cursor, timeout_ms=0)
        for cursor in (first_cursor, second_cursor, third_cursor)
    ]
    judge.all(expected=each(Outcome.REFUSED, "cursor"), observed=outcomes_after)
    closed = [sut.attempt("close_cursor", cursor=cursor) for cursor in (first_cursor, second_cursor, third_cursor)]
    handle = sut.control.call("open_queue", queue=queue, access="receive")["handle"]
    new_cursor = sut.control.call("open_cursor", handle=handle)["cursor"]
    judge(
        "MQSO-5.1.1-D01",
        expected=facts(closings=each(Outcome.REFUSED, "cursor"), label_at_a_new_cursor="1"),
        observed={"closings": closed, "label_at_a_new_cursor": sut.read_label("peek_message", cursor=new_cursor)},
    )


@needs("receive", "send", "queue_control", "transactions")
@covers(
    "MQSO-3.2.1-01",
    "MQSO-3.3.4.4-D01",
    "MQSO-3.3.4.4-D02",
    "MQSO-3.3.4.7-D01",
    "MQSO-3.3.4.7-D02",
    "MQSO-5.1.1.2-D01",
    "MQSO-5.1.1.3-D06",
    "MQSO-5.1.1.3-D07",
)
def test_aborted_transaction_leaves_three_queues_as_they_were(peer, sut, judge):
    """A transaction receives the first of four messages by its position and the third by its LookupIdentifier, and
    sends a message to each of two other queues. Until the abort, other readers get neither the received nor the sent
    messages. After the abort, the four messages are in their old order, and the other queues are empty.
    """
    application = Application(peer, sut, transactional=True)
    others = [sut.new_queue(f"other-{number}", transactional=True) for number in range(2)]
    application.store("1", "2", "3", "4")
    numbers = [lookup_id(one) for one in application.messages()]
    waiting = PendingRequest(peer, "receive", timeout_ms=PENDING_READ_TIMEOUT_MS, queue=others[1])
    transaction = application.begin_transaction()
    received = [
        application.receive(transaction=transaction),
        application.receive_by_label("3", transaction=transaction),
    ]
    for queue in others:
        sut.send(sut.direct_name(queue), label="sent", body="sent", transaction=transaction)
    peer.settle()
    peeked = [
        sut.attempt("peek_by_lookup_id", queue=application.queue, lookup_id=number, seek="current")
        for number in numbers
    ]
    in_transaction = {
        "received": received,
        "left": application.labels(),
        "peeked_by_others": [outcome == Outcome.DONE for outcome in peeked],
    }
    judge(
        "MQSO-3.3.4.7-D01",
        "MQSO-5.1.1.3-D06",
        expected=facts(received=["1", "3"], left=["2", "4"], peeked_by_others=[False, True, False, True]),
        observed=in_transaction,
    )
    judge("MQSO-3.3.4.4-D01", expected=False, observed=waiting.is_answered(), case="a waiting read of the other queue")
    application.end_transaction("abort", transaction)
    peer.settle()
    judge(
        "MQSO-3.2.1-01",
        "MQSO-3.3.4.7-D02",
        "MQSO-5.1.1.2-D01",
        "MQSO-5.1.1.3-D07",
        expected=in_queue("1", "2", "3", "4"),
        observed=application.labels(),
    )
    observed = {"waiting_read": waiting.is_answered(), "first": sut.labels(others[0]), "second": sut.labels(others[1])}
    judge("MQSO-3.3.4.4-D02", expected=facts(waiting_read=False, first=[], second=[]), observed=observed)
    sut.control.call("cancel", request=waiting.number)
