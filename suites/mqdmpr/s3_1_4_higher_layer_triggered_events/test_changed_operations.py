"""MS-MQDMPR 3.1.4.3, 3.1.4.4: transactions whose messages or queues were removed before the prepare request, and moves
between subqueues.
"""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import any_order, each, none
from harness.run.marks import covers, needs, varied
from harness.sut.outcomes import Outcome
from suites.applications import Application

pytestmark = needs("receive", "queue_control", "transactions")

SHORT_LIFETIME_S = 15
"""The lifetime of the messages that expire; the transactions have received them before."""


MESSAGE_REMOVAL_BY_PURGE, MESSAGE_REMOVAL_BY_EXPIRY, MESSAGE_REMOVAL_BY_QUEUE_DELETION = (
    "purged",
    "expired",
    "deleted with the queue",
)


@covers("MQDMPR-3.1.4.3-08")
@pytest.mark.parametrize(
    "removal", [MESSAGE_REMOVAL_BY_PURGE, MESSAGE_REMOVAL_BY_EXPIRY, MESSAGE_REMOVAL_BY_QUEUE_DELETION]
)
@varied("response queue", "queue journaling", "queue privacy")
def test_transaction_whose_messages_were_removed_is_prepared(peer, sut, judge, removal):
    """Five transactions of a coordinator each have different operations: one receive, two receives, a receive by
    LookupIdentifier, a move to a subqueue, or a send. Then the messages in the transactions' queues are purged, expire,
    or are deleted with the queue. The SUT prepares each transaction.
    """
    operations = {
        "one receive": _receive_in_transaction,
        "two receives": _receive_twice_in_transaction,
        "receive by LookupIdentifier": _receive_by_lookup_in_transaction,
    }
    if sut.has("subqueues"):
        operations["move"] = _move_to_subqueue_in_transaction
    if sut.has("send"):
        operations["send"] = _send_in_transaction
    transactions = {}
    packets = []
    for name, operate in operations.items():
        application = Application(peer, sut, transactional=True)
        connection = peer.open_raw()
        user = {"TimeToBeReceived": SHORT_LIFETIME_S} if removal == MESSAGE_REMOVAL_BY_EXPIRY else {}
        packets += [connection.send(application.build_message(label, user)) for label in ("first", "second", "third")]
        if not application.await_message_count(3):
            raise ConformanceFailure("the SUT did not store the messages")
        transactions[name] = application, application.begin_transaction(external=True)
        operate(*transactions[name])
    if removal == MESSAGE_REMOVAL_BY_EXPIRY:
        peer.pass_time((SHORT_LIFETIME_S + 2) * 1_000)
    for application, _ in transactions.values():
        if removal == MESSAGE_REMOVAL_BY_PURGE:
            application.call("purge", queue=application.queue)
        if removal == MESSAGE_REMOVAL_BY_QUEUE_DELETION:
            sut.delete_queue(application.queue)
    prepared = {name: sut.attempt("prepare", transaction=one) for name, (_, one) in transactions.items()}
    for application, one in transactions.values():
        application.end_transaction("abort", one)
    judge.all(expected=each(Outcome.DONE, "prepare request"), observed=prepared, evidence=packets)


def _receive_in_transaction(application, transaction):
    application.receive(transaction=transaction)


def _receive_twice_in_transaction(application, transaction):
    for _ in range(2):
        application.receive(transaction=transaction)


def _receive_by_lookup_in_transaction(application, transaction):
    application.receive_by_label("second", transaction=transaction)


def _move_to_subqueue_in_transaction(application, transaction):
    subqueue = f"{application.queue};mqc-sub"
    application.sut.create_queue(subqueue, transactional=True)
    _move_message(application, "second", application.queue, subqueue, transaction=transaction)


def _move_message(application, label, source, target, **how):
    """Move the message with the given label; raise ConformanceFailure if the message is not in the source queue."""
    known = application.get_lookup_ids_by_label(source)
    if label not in known:
        raise ConformanceFailure(f"the message {label} was not in the queue from which the check moves it")
    application.call("move", queue=source, lookup_id=known[label], to=target, **how)


def _send_in_transaction(application, transaction):
    application.send("sent", transaction=transaction)


@needs("subqueues")
@covers("MQDMPR-3.1.4.4-16", "MQDMPR-3.1.4.4-17")
@pytest.mark.parametrize("coordinated", [False, True], ids=["internal", "prepared"])
@varied("response queue", "queue journaling", "queue privacy")
def test_message_moved_from_each_place_is_only_in_target(peer, sut, judge, coordinated):
    """A transaction moves messages from a queue to its subqueues, from each subqueue to the other, and from a subqueue
    to the queue. After the commit, each message is in its target, and nowhere else.
    """
    application = Application(peer, sut, transactional=True)
    queue, first, second = application.queue, *(f"{application.queue};mqc-{name}" for name in ("first", "second"))
    for name in (first, second):
        sut.create_queue(name, transactional=True)
    moves = {
        "a": (queue, first),
        "b": (queue, second),
        "c": (first, second),
        "d": (second, first),
        "e": (first, queue),
        "f": (second, queue),
    }
    packets = application.fill_queue(*moves, "stays")
    for label, (source, _) in moves.items():
        if source != queue:
            _move_message(application, label, queue, source)
    work = application.begin_transaction(external=coordinated)
    for label, (source, target) in moves.items():
        _move_message(application, label, source, target, transaction=work)
    if coordinated:
        application.end_transaction("prepare", work)
    application.end_transaction("commit", work)
    labels = {name: application.labels(name) for name in (queue, first, second)}
    remaining = [label for label, (source, _) in moves.items() if label in labels[source]]
    judge(
        "MQDMPR-3.1.4.4-16",
        expected=none("moved message in its source"),
        observed=remaining,
        evidence=packets,
    )
    judge(
        "MQDMPR-3.1.4.4-17",
        expected={
            "queue": any_order("stays", "e", "f"),
            "first subqueue": any_order("a", "d"),
            "second subqueue": any_order("b", "c"),
        },
        observed={"queue": labels[queue], "first subqueue": labels[first], "second subqueue": labels[second]},
        evidence=packets,
    )
