"""MS-MQQB 3.1.7.2 Message Position Deleted, 3.1.7.2.1, 3.1.7.2.2: the ways in which an application receives a
message.
"""

from __future__ import annotations

import pytest

from harness.expectations import acknowledged, acknowledgments_of_classes, facts, in_queue
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs
from harness.wire.rpc_qmcomm import DIRECT, queue_format
from suites.mqqb.steps.acknowledged_application import AcknowledgedApplication
from suites.mqqb.steps.disposition import Q_PURGED, RECEIVE, AckClass, get_correlation_id, identifier

pytestmark = needs("receive", "queues")

RULES_OF_LOCAL_RECEIPT = ("MQDMPR-3.1.7.1.10-D06", "MQDMPR-3.1.7.1.13-34")
"""Rules about messages that a local application receives."""


@covers("MQQB-3.1.7.2-01", "MQQB-3.1.7.2.1-D01", *RULES_OF_LOCAL_RECEIPT)
def test_each_way_of_receiving_is_acknowledged_and_peeking_is_not(peer, sut, judge):
    """An application receives eleven messages by queue, handle, cursor, lookup identifier or a waiting read, and peeks
    at other messages. The SUT sends ACK_RECEIVE only for the received messages.
    """
    application = AcknowledgedApplication(peer, sut, transactional=False)
    queue = application.queue
    application.fill_queue(*"abcdefghij")
    handle = application.call("open_queue", queue=queue, access="receive")["handle"]
    cursor = application.call("open_cursor", handle=handle)["cursor"]
    application.call("peek_message", cursor=cursor, timeout_ms=0)
    for _ in range(2):
        application.call("peek_next", cursor=cursor, timeout_ms=0)
    application.call("receive", cursor=cursor, timeout_ms=0)  # c
    application.call("receive", handle=handle, timeout_ms=0)  # a
    application.receive()  # b
    application.call("close_cursor", cursor=cursor)
    known = application.get_lookup_ids_by_label()
    for place, label, seek in (
        ({"queue": queue}, "g", "current"),
        ({"handle": handle}, "d", "next"),  # e
        ({"handle": handle}, "i", "previous"),  # h
        ({"queue": queue}, "d", "last"),  # j
    ):
        application.call("receive_by_lookup_id", lookup_id=known[label], seek=seek, **place)
    for seek in ("first", "current", "next", "last"):
        application.call("peek_by_lookup_id", queue=queue, lookup_id=known["d"], seek=seek)
    application.call("peek_message", handle=handle, timeout_ms=0)
    application.receive()  # d
    for _ in range(2):
        application.call("receive", handle=handle, timeout_ms=0)  # f, i
    given_up = application.sut.control.begin("receive", handle=handle, timeout_ms=application.READ_TIMEOUT_MS)
    application.call("cancel", request=given_up)
    application.begin_read_before_arrival("k", "receive", handle=handle)
    application.begin_read_before_arrival("l", "peek_message", queue=queue)
    application.call("close_queue", handle=handle)
    observed = {
        "labels_of_the_acknowledged_messages": application.await_receive_acks(11),
        "labels_left_in_the_queue": application.labels(),
    }
    evidence = list(application.sent.values())
    expected = facts(labels_of_the_acknowledged_messages=[*"abcdefghijk"], labels_left_in_the_queue=["l"])
    judge("MQQB-3.1.7.2-01", "MQQB-3.1.7.2.1-D01", expected=expected, observed=observed, evidence=evidence)
    if sut.reads_remotely:
        judge.give_up(Verdict.NOT_OBSERVABLE, "the messages are received by remote reads, not by a local application")
    else:
        judge(*RULES_OF_LOCAL_RECEIPT, expected=expected, observed=observed, evidence=evidence)
    application.receiver.acknowledge_all()


@needs("transactions")
@covers("MQQB-3.1.7.2-01", "MQQB-3.1.7.2.1-D01", "MQQB-3.1.7.2.2-01")
def test_message_received_in_transaction_is_acknowledged_at_commit(peer, sut, judge):
    """An application receives messages in transactions that abort or commit, in one or two phases. At a commit, the SUT
    sends an ACK_RECEIVE and a FinalAck for each message. At an abort, it returns the message to the queue.
    """
    application = AcknowledgedApplication(peer, sut, transactional=True)
    queue = application.queue
    aborted = application.begin_transaction()
    application.begin_read_before_arrival("a", "receive", queue=queue, transaction=aborted)
    application.end_transaction("abort", aborted)
    for verb, external in (("abort", False), ("abort", True), ("commit", False)):
        transaction = application.begin_transaction(external=external)
        application.receive(transaction=transaction)  # a
        sut.control.begin("receive", queue=queue, timeout_ms=application.READ_TIMEOUT_MS, transaction=transaction)
        peer.settle()
        if external:
            application.end_transaction("prepare", transaction)
        application.end_transaction(verb, transaction)
    application.fill_queue(*"bcdefg")
    refused = application.begin_transaction(external=True)
    application.receive(transaction=refused)  # b
    application.end_transaction("prepare", refused)
    application.end_transaction("abort", refused)
    back = application.labels()
    committed, voted, alone = (
        application.begin_transaction(),
        application.begin_transaction(external=True),
        application.begin_transaction(external=True),
    )
    application.receive(transaction=committed)  # b
    application.receive_by_label("d", transaction=committed)
    application.receive(transaction=voted)  # c
    application.receive(transaction=alone)  # e
    application.end_transaction("prepare", voted)
    early = application.await_receive_acks(1), application.await_final_acks(1)
    there = application.labels()
    application.end_transaction("commit", committed)
    application.end_transaction("commit", voted)
    application.end_transaction("prepare", alone, single_phase=True)
    application.receive()  # f
    late = application.await_receive_acks(6), application.await_final_acks(6)
    evidence = list(application.sent.values())
    for rules, which in ((("MQQB-3.1.7.2-01", "MQQB-3.1.7.2.1-D01"), 0), (("MQQB-3.1.7.2.2-01",), 1)):
        expected = facts(
            labels_in_the_queue_after_the_abort=[*"bcdefg"],
            labels_acknowledged_before_the_commit=["a"],
            labels_in_the_queue_before_the_commit=[*"fg"],
            labels_acknowledged_after_the_commit=[*"abcdef"],
            labels_left_in_the_queue=["g"],
        )
        observed = {
            "labels_in_the_queue_after_the_abort": back,
            "labels_acknowledged_before_the_commit": early[which],
            "labels_in_the_queue_before_the_commit": there,
            "labels_acknowledged_after_the_commit": late[which],
            "labels_left_in_the_queue": application.labels(),
        }
        judge(*rules, expected=expected, observed=observed, evidence=evidence)
    application.receiver.acknowledge_all()


@needs("transactions")
@covers("MQQB-3.1.7.2-01", "MQQB-3.1.7.2.1-D03", "MQDMPR-3.1.4.5-08", "MQMQ-2.2.19.3-04")
def test_messages_purged_during_transactions_are_acknowledged_once(peer, sut, judge):
    """An application receives two of three messages in transactions. It then purges the queue, commits one transaction,
    and aborts the other. The SUT acknowledges each removed message once, and the third message with NACK_Q_PURGED.
    """
    application = AcknowledgedApplication(peer, sut, transactional=True)
    queue = application.queue
    application.fill_queue(*"abc")
    committed, aborted = application.begin_transaction(), application.begin_transaction()
    for transaction in (committed, aborted):
        application.receive(transaction=transaction)
    application.call("purge", queue=queue)
    application.end_transaction("commit", committed)
    application.end_transaction("abort", aborted)
    sent = list(application.sent.values())
    came = application.receiver.await_acks(3)
    evidence = [*sent, *came]
    acked = application.list_labels(map(get_correlation_id, came))
    observed = sorted([*acked, *application.labels()])
    judge(
        "MQQB-3.1.7.2-01",
        expected=[*"abc"],
        observed=observed,
        case="labels of the acknowledged and the remaining messages",
        evidence=evidence,
    )
    left = {"labels_of_the_acknowledged_messages": acked, "labels_left_in_the_queue": application.labels()}
    judge(
        "MQDMPR-3.1.4.5-08",
        expected=facts(labels_of_the_acknowledged_messages=[*"abc"], labels_left_in_the_queue=[]),
        observed=left,
        evidence=evidence,
    )
    of_third = [ack for ack in came if get_correlation_id(ack) == identifier(sent[2])]
    judge(
        "MQQB-3.1.7.2.1-D03",
        expected=acknowledgments_of_classes(AckClass.Q_PURGED),
        observed=of_third,
        case="acknowledgments of the third message",
        evidence=evidence,
    )
    judge(
        "MQMQ-2.2.19.3-04",
        expected=["b"],
        observed=[label for label in acked if label == "b"],
        case="labels of the acknowledged messages of the aborted transaction",
        evidence=evidence,
        errata="E119",
    )
    application.receiver.acknowledge_all()


@needs("subqueues")
@covers("MQQB-3.1.7.2-01", "MQQB-3.1.7.2.1-D01")
@pytest.mark.parametrize("transactional", [False, True], ids=["plain", "transactional"])
def test_moved_message_is_acknowledged_only_when_received(peer, sut, judge, transactional):
    """An application moves messages to a subqueue and one of them back, and then receives four messages. The SUT
    acknowledges each receive, but no move.
    """
    application = AcknowledgedApplication(peer, sut, transactional=transactional)
    queue, subqueue = application.queue, f"{application.queue};mqc-sub"
    sut.create_queue(subqueue, transactional=transactional)
    application.fill_queue(*"abcde")
    known = application.get_lookup_ids_by_label()
    for label in "abcd":
        application.call("move", queue=queue, lookup_id=known[label], to=subqueue)
    moved = application.get_lookup_ids_by_label(subqueue)
    application.call("move", queue=subqueue, lookup_id=moved["a"], to=queue)
    early = application.await_receive_acks(0)
    application.receive(queue=subqueue)  # b
    application.call("receive_by_lookup_id", queue=subqueue, lookup_id=moved["d"], seek="current")
    for _ in range(2):
        application.receive()
    late = application.await_receive_acks(4)
    evidence = list(application.sent.values())
    observed = {
        "labels_acknowledged_after_the_moves": early,
        "labels_acknowledged_after_the_receipts": late,
        "labels_left_in_the_queue": application.labels(subqueue),
    }
    judge.all(
        expected=facts(
            labels_acknowledged_after_the_moves=[],
            labels_acknowledged_after_the_receipts=[*"abde"],
            labels_left_in_the_queue=["c"],
        ),
        observed=observed,
        evidence=evidence,
    )
    application.receiver.acknowledge_all()


@needs("qm2qm", "receive", "queue_control")
@covers("MQQB-3.1.7.2-01", "MQMQ-2.2.19.3-02", "MQDMPR-3.1.1.2-D05", "MQDMPR-3.1.1.12-D24")
def test_message_received_or_purged_by_remote_reader_is_acknowledged(remote, sut, judge):
    """A remote reader receives one message from a queue with Journaling, returns a second, and then purges the queue.
    The SUT acknowledges the first message with ACK_RECEIVE and puts it into the journal. It acknowledges the other
    messages with NACK_Q_PURGED.
    """
    application = AcknowledgedApplication(remote.peer, sut, transactional=False)
    sut.control.call("set_queue", name=application.queue, journaling=True)
    sent = application.fill_queue(*"abc")
    queue = remote.open(form=queue_format(DIRECT, rf"TCP:{sut.address}\{application.queue}"))
    received, returned = queue.start_receive(), queue.start_receive()
    early = application.receiver.await_acks(0)
    queue.acknowledge(received).expect_success()
    queue.put_message_back(returned).expect_success()
    journal = sut.labels(f"{application.queue};journal")
    application.receiver.await_acks(1)
    queue.purge().expect_success()
    came = application.receiver.await_acks(3)
    evidence = [*sent, *came]
    classes = {kind: application.receiver.list_acks_of_class(kind, *sent) for kind in (RECEIVE, Q_PURGED)}
    judge(
        "MQQB-3.1.7.2-01",
        "MQMQ-2.2.19.3-02",
        expected=facts(acknowledgments_before_the_end=[], acknowledgments_of_receipt=acknowledged(sent[0])),
        observed={"acknowledgments_before_the_end": early, "acknowledgments_of_receipt": classes[RECEIVE]},
        evidence=evidence,
    )
    judge("MQDMPR-3.1.1.12-D24", expected=acknowledged(*sent[1:]), observed=classes[Q_PURGED], evidence=evidence)
    judge("MQDMPR-3.1.1.2-D05", expected=in_queue("a"), observed=journal, evidence=evidence)
    application.receiver.acknowledge_all()
