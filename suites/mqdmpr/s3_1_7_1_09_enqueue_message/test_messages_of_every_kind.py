"""MS-MQDMPR 3.1.7.1.9 Enqueue Message: local messages that differ in size, priority and delivery mode, while
transactions are open.
"""

from __future__ import annotations

import base64

import pytest

from harness.capture.recorder import Frame
from harness.expectations import each, facts, in_queue, none
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.applications import Application, PendingRequest
from suites.mqqp.steps.reading import LOW_7_BYTES_MASK

pytestmark = needs("queue_control", "receive", "send")

LARGE_BODY_BYTES = 5_000
PENDING_READ_TIMEOUT_MS = 60_000
MESSAGE_BODIES_BASE64 = [
    base64.b64encode(body).decode()
    for body in (b"first", b"other", b"x" * LARGE_BODY_BYTES + b"1", b"x" * LARGE_BODY_BYTES + b"2", b"")
]
"""The bodies of messages with one label: two pairs of bodies of the same size, which differ only at the end, and no
body.
"""


@covers("MQDMPR-3.1.7.1.9-09", "MQDMPR-3.1.7.1.9-26")
@pytest.mark.parametrize("delivery", ["express", pytest.param("in transaction", marks=needs("transactions"))])
def test_similar_local_messages_keep_their_bodies(peer, sut, judge, delivery):
    """While a peek waits at another queue, an application sends five messages with the same label. Two are large, one
    has no body, and their bodies differ only at the end. Then the application sends a message to the queue at which the
    peek waits. Each send succeeds, and each message has its own body.
    """
    transactional = delivery == "in transaction"
    application, beside = (Application(peer, sut, transactional=transactional) for _ in range(2))
    how = {"transaction": application.begin_transaction()} if transactional else {"delivery": delivery, "priority": 7}
    waiting = PendingRequest(peer, "peek_message", queue=beside.queue, timeout_ms=PENDING_READ_TIMEOUT_MS)
    peer.settle()
    outcomes = [
        PendingRequest(peer, "send", to=sut.direct_name(queue), label=label, body_base64=body, **how).await_outcome()
        for queue, label, body in (
            *((application.queue, "same", body) for body in MESSAGE_BODIES_BASE64),
            (beside.queue, "last", ""),
        )
    ]
    if transactional:
        application.end_transaction("commit", how["transaction"])
    peeked = waiting.await_label()
    stored = application.messages()
    judge(
        "MQDMPR-3.1.7.1.9-26",
        expected=facts(sends=each(Outcome.DONE), peek="last", number_of_messages=len(MESSAGE_BODIES_BASE64)),
        observed={"sends": outcomes, "peek": peeked, "number_of_messages": len(stored)},
    )
    packets = beside.fill_queue("of the peer")
    bodies = [one.get("body_base64", "") for one in stored]
    judge(
        "MQDMPR-3.1.7.1.9-09",
        expected=MESSAGE_BODIES_BASE64,
        observed=bodies,
        case="bodies of the messages",
        evidence=packets,
    )


RULES_OF_LOOKUP_IDENTIFIER = ("MQDMPR-3.1.7.1.9-11", "MQDMPR-3.1.7.1.9-12", "MQDMPR-3.1.7.1.9-13")
DELIVERY_PRIORITY_AND_BODY_SIZE_OF_MESSAGES = (
    ("express", 3, 1),
    ("recoverable", 7, LARGE_BODY_BYTES),
    ("express", 0, LARGE_BODY_BYTES),
    ("recoverable", 3, 1),
)
"""The delivery mode, the priority and the size of the body of nontransactional messages."""


@covers("MQDMPR-3.1.7.1.9-10", *RULES_OF_LOOKUP_IDENTIFIER)
def test_lookup_identifiers_of_local_messages_of_each_kind(peer, sut, judge):
    """An application sends small and large messages, express, recoverable and transactional, each followed by a message
    from the peer. The high byte of each LookupIdentifier is 7 minus the priority, or 0 (errata E59, E102). The low
    bytes increase in the order of arrival.
    """
    plain, transactional = Application(peer, sut), Application(peer, sut, transactional=True)
    order: list[tuple[Application, str, int]] = []
    packets: list[Frame] = []
    for delivery, priority, size in (
        *DELIVERY_PRIORITY_AND_BODY_SIZE_OF_MESSAGES,
        ("transactional", 0, 1),
        ("transactional", 0, LARGE_BODY_BYTES),
    ):
        application = transactional if delivery == "transactional" else plain
        label = f"{delivery} {priority} {size}"
        how = {} if delivery == "transactional" else {"priority": priority}
        sut.send(sut.direct_name(application.queue), label=label, body="x" * size, delivery=delivery, **how)
        application.await_message_count(1 + sum(one is application for one, _, _ in order))
        packets += plain.fill_queue(f"after {label}")
        order += [(application, label, priority), (plain, f"after {label}", 3)]
    identifiers = {one: one.get_lookup_ids_by_label() for one in (plain, transactional)}
    for rule, application, allowed in (
        ("MQDMPR-3.1.7.1.9-11", transactional, lambda priority: (0, 7)),
        ("MQDMPR-3.1.7.1.9-12", plain, lambda priority: (0, 7 - priority)),
    ):
        odd = [
            f"{label}: 0x{identifiers[one][label] >> 56:02X}"
            for one, label, priority in order
            if one is application and identifiers[one][label] >> 56 not in allowed(priority)
        ]
        judge(rule, expected=none("identifier with a different high byte"), observed=odd, errata="E102")
    low = [identifiers[application][label] & LOW_7_BYTES_MASK for application, label, _ in order]
    judge(
        "MQDMPR-3.1.7.1.9-10",
        "MQDMPR-3.1.7.1.9-13",
        expected=sorted(set(low)),
        observed=low,
        case="low bytes in the order of arrival",
        evidence=packets,
    )


@needs("transactions")
@covers("MQDMPR-3.1.7.1.9-18", "MQDMPR-3.1.7.1.9-21", "MQDMPR-3.1.7.1.9-23")
def test_messages_of_transaction_stay_apart_from_other_messages(peer, sut, judge):
    """While two other transactions are open, an application receives a message in a transaction, and sends small and
    large messages in it to two local queues and to the peer. Only this transaction has operations, and none of its
    messages can be received. Messages that the application sends outside the transaction complete waiting receives, and
    can be received. After an abort, the local queues are as before.
    """
    first, second = (Application(peer, sut, transactional=True) for _ in range(2))
    outside = Application(peer, sut)
    packets = first.fill_queue("held")
    oldest, transaction, newest = (first.begin_transaction() for _ in range(3))
    received = first.receive(transaction=transaction)
    for to, label, size in (
        (sut.direct_name(first.queue), "a", LARGE_BODY_BYTES),
        (sut.direct_name(second.queue), "b", 1),
        (sut.direct_name(first.queue), "c", 0),
        (peer.direct_name(), "d", 1),
    ):
        sut.send(to, label=label, body="x" * size, transaction=transaction)
    labels = [first.labels(), second.labels()]
    operations = first.count_operations_of_transactions(oldest, transaction, newest)
    peeks = []
    for label, size in (("small", 1), ("large", LARGE_BODY_BYTES)):
        read = PendingRequest(peer, "receive", queue=outside.queue, timeout_ms=PENDING_READ_TIMEOUT_MS)
        peer.settle()
        sut.send(sut.direct_name(outside.queue), label=label, body="x" * size, delivery="express")
        peeks.append(read.await_label())
    outside.send("behind", delivery="recoverable")
    outside.send("ahead", delivery="express", priority=5)
    rest = outside.labels()
    for one in (oldest, transaction, newest):
        first.end_transaction("abort", one)
    judge(
        "MQDMPR-3.1.7.1.9-18",
        "MQDMPR-3.1.7.1.9-21",
        expected=facts(
            received="held",
            queues_before_the_abort=[[], []],
            operations={oldest: 0, transaction: 5, newest: 0},
            first_queue=in_queue("held"),
            second_queue=in_queue(),
        ),
        observed={
            "received": received,
            "queues_before_the_abort": labels,
            "operations": operations,
            "first_queue": first.labels(),
            "second_queue": second.labels(),
        },
    )
    judge(
        "MQDMPR-3.1.7.1.9-23",
        expected=facts(waiting_receives=["small", "large"], queue=in_queue("ahead", "behind")),
        observed={"waiting_receives": peeks, "queue": rest},
        evidence=packets,
    )
