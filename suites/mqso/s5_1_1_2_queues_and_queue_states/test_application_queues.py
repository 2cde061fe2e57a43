"""MS-MQSO 5.1.1.2: the states of an application queue, and its cursors."""

from __future__ import annotations

import pytest

from harness.expectations import each, in_queue
from harness.run.marks import covers, needs, varied
from harness.sut.outcomes import Outcome
from suites.applications import Application, PendingRequest

PENDING_TIMEOUT_MS = 60_000
SHORT_READ_TIMEOUT_MS = 200


@needs("queues", "receive")
@covers("MQSO-5.1.1.2-D01", "MQSO-5.1.1.2-D04")
@pytest.mark.parametrize("transactional", [False, True], ids=["plain", "transactional"])
@varied("positive journaling", "response queue", "queue journaling", "read by")
def test_queue_returns_messages_in_order_until_purged(peer, sut, judge, transactional):
    """Two of five messages are received in order, a purge removes the other three, a second purge changes nothing, and
    the queue stores the next message.
    """
    application = Application(peer, sut, transactional=transactional)
    queue = application.queue
    application.store("1", "2", "3", "4", "5")
    labels = [sut.read_label("receive", queue=queue) for _ in range(2)]
    judge("MQSO-5.1.1.2-D01", expected=["1", "2"], observed=labels, case="labels returned by the reads")
    judge("MQSO-5.1.1.2-D01", expected=in_queue("3", "4", "5"), observed=sut.labels(queue))
    sut.control.call("purge", queue=queue)
    judge("MQSO-5.1.1.2-D04", expected=in_queue(), observed=sut.labels(queue))
    sut.control.call("purge", queue=queue)
    application.store("6")
    judge("MQSO-5.1.1.2-D04", expected=in_queue("6"), observed=sut.labels(queue))


@needs("queues", "receive", "transactions")
@covers("MQSO-5.1.1.2-D04")
@varied("positive journaling", "response queue", "queue journaling")
def test_purge_removes_messages_around_locked_message(peer, sut, judge):
    """The second of three messages is received in a transaction and the queue is purged: the queue contains no message
    before and after the transaction is aborted.
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


WAIT_RULES = ("MQSO-3.3.4.6-D01", "MQSO-5.1.1.2-D03")


@needs("queues", "receive")
@covers("MQSO-3.3.4.6-D01", "MQSO-5.1.1.2-D03")
@varied("acknowledgments", "positive journaling", "queue journaling", "queue quota", "queue privacy")
def test_receive_from_empty_queue_waits_for_message(peer, sut, judge):
    """A pending receive takes a message that arrives; a receive whose timeout has expired returns no message and takes
    no later message.
    """
    application = Application(peer, sut)
    queue = application.queue
    reader = PendingRequest(peer, "receive", timeout_ms=PENDING_TIMEOUT_MS, queue=queue)
    peer.settle()
    application.store_for_reader("awaited")
    label_or_outcome = reader.await_label()
    judge(*WAIT_RULES, expected="awaited", observed=label_or_outcome, case="label returned by the read")
    judge("MQSO-5.1.1.2-D03", expected=in_queue(), observed=sut.labels(queue))
    late_read = PendingRequest(peer, "receive", timeout_ms=SHORT_READ_TIMEOUT_MS, queue=queue)
    label_or_outcome = late_read.await_label()
    judge(*WAIT_RULES, expected=Outcome.NOTHING, observed=label_or_outcome, case="label returned by the read")
    application.store("later")
    peer.settle()
    judge("MQSO-5.1.1.2-D03", expected=in_queue("later"), observed=sut.labels(queue))


@needs("queue_control", "send", "receive")
@covers("MQSO-5.1.1.2-D05")
@varied("acknowledgments", "positive journaling", "negative journaling", "application tag", "trace")
def test_deleted_queue_and_its_messages_are_gone(sut, judge):
    """When a queue with two messages has been deleted, the SUT refuses to peek at the queue and to send to it; a new
    queue with the same name is empty.
    """
    queue = sut.new_queue("deleted")
    sut.send_here(queue, ["1", "2"], delivery="recoverable")
    sut.delete_queue(queue)
    observed = {"peek": sut.attempt("peek", queue=queue), "send": sut.attempt(sut.send_here, queue, ["3"])}
    judge.all(expected=each(Outcome.REFUSED, "request for the deleted queue"), observed=observed)
    sut.create_queue(queue)
    judge.all(expected=in_queue(), observed=sut.labels(queue))


@needs("queues", "send", "receive")
@covers("MQSO-5.1.1.2-D02")
@varied("acknowledgments", "negative journaling", "response queue", "time to be received", "application tag")
def test_full_queue_stores_no_message(sut, judge):
    """A queue with a quota of 8 KB stores a first message of 5,000 characters, and a second message of this size only
    after a purge.
    """
    queue = sut.new_queue("full", quota_kb=8)
    whole = "x" * 5_000
    to = sut.direct_name(queue)
    sut.send(to, label="first", body=whole)
    sut.attempt(sut.send, to, label="too much", body=whole)
    judge.all(expected=in_queue("first"), observed=sut.labels(queue))
    sut.control.call("purge", queue=queue)
    sut.send(to, label="again", body=whole)
    judge.all(expected=in_queue("again"), observed=sut.labels(queue))


@needs("queues", "send", "receive", "restart")
@covers("MQSO-5.1.1.2-D06", "MQSO-5.1.1-D01")
@varied("queue journaling", "queue quota", "queue privacy")
def test_cursors_have_separate_positions_until_restart(sut, judge):
    """One of two cursors is moved and reads the second message, while the other cursor reads the first; after a
    restart, reads by both cursors are refused.
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
    judge("MQSO-5.1.1.2-D06", expected=["1", "2", "1", "2"], observed=observed, case="labels returned by the reads")
    sut.restart()
    outcomes_after = [
        sut.attempt("peek_message", cursor=cursor, timeout_ms=0) for cursor in (first_cursor, second_cursor)
    ]
    judge.all(expected=each(Outcome.REFUSED, "read by an old cursor"), observed=outcomes_after)
