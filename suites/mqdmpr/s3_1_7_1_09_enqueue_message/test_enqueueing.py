"""MS-MQDMPR 3.1.7.1.9 Enqueue Message: LookupIdentifiers, and messages that the SUT sends to its own queues."""

from __future__ import annotations

import pytest

from harness.expectations import acknowledgments_of_classes, facts, holds, in_queue, none
from harness.run.marks import covers, needs, varied
from harness.sut.outcomes import Outcome
from harness.sut.shown import lookup_id
from harness.wire.rpc_qm2qm import Method
from suites.applications import Application, PendingRequest
from suites.mqqb.steps.disposition import RECEIVE_TIMEOUT, AcknowledgingReceiver
from suites.mqqp.steps.reading import LOW_7_BYTES_MASK

pytestmark = needs("queues", "receive")

MESSAGE_LIFETIME_S = 2
"""TimeToBeReceived, in seconds, of the messages that expire in their queue."""
MESSAGE_PRIORITIES = (3, 6, 0, 7, 3)
"""The priorities of the messages, in order of arrival."""


@covers("MQDMPR-3.1.7.1.9-11", "MQDMPR-3.1.7.1.9-12")
def test_lookup_identifier_high_byte_is_from_priority_or_0(peer, sut, judge):
    """The high byte of a LookupIdentifier is 7 minus the priority of the message, or 0 (errata E59, E102). The check
    compares transactional and nontransactional messages.
    """
    application, transactional_application = Application(peer, sut), Application(peer, sut, transactional=True)
    for number, priority in enumerate(MESSAGE_PRIORITIES):
        application.fill_queue(f"message {number}", PR=priority)
    transactional_application.fill_queue("first", "second")
    odd = [
        f"{label}: 0x{identifier >> 56:02X}"
        for number, priority in enumerate(MESSAGE_PRIORITIES)
        for label, identifier in application.get_lookup_ids_by_label().items()
        if label == f"message {number}" and identifier >> 56 not in (0, 7 - priority)
    ]
    judge("MQDMPR-3.1.7.1.9-12", expected=none("identifier with a different high byte"), observed=odd, errata="E102")
    odd = [
        f"{label}: 0x{one >> 56:02X}"
        for label, one in transactional_application.get_lookup_ids_by_label().items()
        if one >> 56 not in (0, 7)
    ]
    judge("MQDMPR-3.1.7.1.9-11", expected=none("identifier with a different high byte"), observed=odd, errata="E102")


@needs("qm2qm")
@covers("MQDMPR-3.1.7.1.9-13")
def test_lookup_identifier_low_bytes_grow_over_all_queues(remote, sut, judge):
    """The low seven bytes of the LookupIdentifiers of three messages in two queues increase in the order of arrival,
    and equal the SequentialIds that a remote reader receives.
    """
    queue, transactional = remote.open_with_messages("first"), Application(remote.peer, sut, transactional=True)
    transactional.fill_queue("between")
    read = queue.receive(by=Method.START_RECEIVE2)
    first = read.out.lpRemoteReadDesc2.SequentialId
    between = transactional.get_lookup_ids_by_label()["between"] & LOW_7_BYTES_MASK
    remote.open_with_messages("second")
    lookup_ids = {one["label"]: lookup_id(one) & LOW_7_BYTES_MASK for one in sut.messages()}
    later = queue.receive(by=Method.START_RECEIVE2)
    second = later.out.lpRemoteReadDesc2.SequentialId
    judge(
        "MQDMPR-3.1.7.1.9-13",
        expected={
            "labels returned by the reads": ["first", "second"],
            "SequentialId": lookup_ids["second"],
            "lookup identifier of the second message": holds("greater than all earlier ones"),
        },
        observed={
            "labels returned by the reads": [read.label_or_outcome, later.label_or_outcome],
            "SequentialId": second,
            "lookup identifier of the second message": first < between < lookup_ids["second"]
            or [first, between, lookup_ids["second"]],
        },
        evidence=[read, later],
    )


@needs("send")
@covers("MQDMPR-3.1.7.1.9-26")
@varied("acknowledgments", "time to be received", "time to reach queue", "application tag", "trace")
def test_send_to_local_queue_succeeds_and_message_is_stored(peer, sut, judge):
    """A send to a local queue with room succeeds, and the message is in the queue."""
    application = Application(peer, sut)
    answer = PendingRequest(
        peer, "send", to=sut.direct_name(application.queue), label="sent", body="sent"
    ).await_outcome()
    application.await_message_count(1)
    judge(
        "MQDMPR-3.1.7.1.9-26",
        expected={"send": Outcome.DONE, "queue": in_queue("sent")},
        observed={"send": answer, "queue": application.labels()},
    )


TRANSACTIONAL_SEND_RULES = ("MQDMPR-3.1.7.1.9-17", "MQDMPR-3.1.7.1.9-18", "MQDMPR-3.1.7.1.9-21")


@needs("send", "transactions")
@covers(*TRANSACTIONAL_SEND_RULES)
@varied("time to reach queue", "application tag", "trace", "queue journaling")
def test_message_sent_in_transaction_is_stored_at_commit(peer, sut, judge):
    """Messages that are sent to a local queue in a transaction are in the queue after the commit, in the order of
    sending; after an abort they are not in the queue.
    """
    application = Application(peer, sut, transactional=True)
    committed, aborted = application.begin_transaction(), application.begin_transaction()
    for number in (1, 2):
        application.send(f"sent {number}", transaction=committed)
        application.send(f"not sent {number}", transaction=aborted)
    labels_before = application.labels()
    last_before = sut.attempt("peek_by_lookup_id", queue=application.queue, seek="last")
    counts = list(application.count_operations_of_transactions(committed, aborted).values())
    application.end_transaction("commit", committed)
    application.end_transaction("abort", aborted)
    application.await_message_count(2)
    labels_after = application.labels()
    judge(
        "MQDMPR-3.1.7.1.9-17",
        expected={
            "queue_before_the_commit": in_queue(),
            "peek_at_the_last_message_before_the_commit": Outcome.REFUSED,
            "queue_after_the_commit": in_queue("sent 1", "sent 2"),
        },
        observed={
            "queue_before_the_commit": labels_before,
            "peek_at_the_last_message_before_the_commit": last_before,
            "queue_after_the_commit": labels_after,
        },
    )
    judge(
        "MQDMPR-3.1.7.1.9-18",
        "MQDMPR-3.1.7.1.9-21",
        expected={"number of operations of each transaction": [2, 2], "queue": in_queue("sent 1", "sent 2")},
        observed={"number of operations of each transaction": counts, "queue": labels_after},
    )


@needs("qm2qm")
@covers("MQDMPR-3.1.7.1.9-14")
@pytest.mark.parametrize("locked", ["a", "b", "c"])
def test_message_is_inserted_by_priority_around_locked_message(remote, judge, locked):
    """A reader has locked one of three messages of priority 3 when messages of the priorities 3, 5, 4, 2 and 7 arrive.
    When the reader returns the locked message, all messages are in the order of their priorities and, within a
    priority, in the order of their arrival.
    """
    queue, reader = remote.open_with_messages(*"abc"), remote.open()
    cursor = reader.open_cursor()
    reader.peek(hCursor=cursor).expect_success()
    for _ in range("abc".index(locked)):
        reader.peek_next(hCursor=cursor).expect_success()
    held = reader.start_receive(hCursor=cursor)
    remote.send_messages_and_require_acks(
        [
            remote.peer.recoverable_message(base={"PR": priority}, label=label)
            for label, priority in (
                ("d", 3),
                ("high", 5),
                ("middle", 4),
                ("low", 2),
                ("second high", 5),
                ("top", 7),
                ("second top", 7),
            )
        ]
    )
    reader.put_message_back(held).expect_success()
    judge.all(
        expected={
            "label of the locked message": locked,
            "queue": in_queue("top", "second top", "high", "second high", "middle", *"abcd", "low"),
        },
        observed={"label of the locked message": held.label_or_outcome, "queue": queue.labels()},
        evidence=held,
    )


@needs("send")
@covers("MQDMPR-3.1.7.1.9-15")
def test_local_message_past_time_to_be_received_leaves_queue(peer, sut, judge):
    """An application sends express and recoverable messages to a queue of its own computer. The messages whose
    TimeToBeReceived has expired leave the queue with a negative acknowledgment. The messages with time left stay.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    queue = sut.new_queue("local")
    request = {"acks": ["negative_receive"], "admin_queue": peer.direct_name()}
    for lifetime_s in (MESSAGE_LIFETIME_S, 100 * MESSAGE_LIFETIME_S):
        for delivery in ("express", "recoverable"):
            label = f"{delivery} {lifetime_s}"
            sut.send_here(queue, [label], delivery=delivery, time_to_be_received_s=lifetime_s, **request)
    peer.pass_time((MESSAGE_LIFETIME_S + 1) * 1_000)
    came = receiver.await_acks(2)
    judge.all(
        expected=facts(
            queue=in_queue("express 200", "recoverable 200"),
            acknowledgments=acknowledgments_of_classes(*[RECEIVE_TIMEOUT] * 2),
        ),
        observed={"queue": sut.labels(queue), "acknowledgments": came},
        evidence=came,
    )
    receiver.acknowledge_all()
