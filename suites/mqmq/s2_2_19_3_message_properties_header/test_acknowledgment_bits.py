"""MS-MQMQ 2.2.19.3 MessagePropertiesHeader: the acknowledgments that the bits PA, PR, NA and NR request."""

from __future__ import annotations

import pytest

from harness.expectations import any_order, facts
from harness.run.marks import covers, needs, varied
from suites.applications import Application, PendingRequest
from suites.messages import Sequence
from suites.mqqb.steps.disposition import (
    AcknowledgingReceiver,
    get_correlation_id,
    identifier,
    list_message_class_names,
)
from suites.mqqb.steps.secured import SecuredMessageSender, flip_signature_bit, sign_message

LONG_READ_TIMEOUT_MS = 600_000
QUEUE_QUOTA_KB = 8


@covers("MQMQ-2.2.19.3-01", "MQMQ-2.2.19.3-03")
@pytest.mark.parametrize(
    ("queue", "expected"),
    [("transactional", ["ACK_REACH_QUEUE"]), ("plain", ["NACK_NOT_TRANSACTIONAL_Q"])],
    ids=["accepted", "refused"],
)
@varied("queue quota", "queue privacy")
def test_transactional_message_is_acknowledged_only_on_request(peer, sut, judge, queue, expected):
    """Two transactional messages arrive, one with PA and NA and one without these bits. Only the message with PA and NA
    gets an acknowledgment of its arrival or refusal.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    sequence = Sequence(peer)
    sent = [
        receiver.send_packet(sequence.message(fields, queue=queue, properties=bits))
        for fields, bits in (({}, {}), (receiver.add_admin_queue_fields(), {"PA": 1, "NA": 1}))
    ]
    acks = receiver.await_acks(1)
    without, requested = (
        list_message_class_names([ack for ack in acks if get_correlation_id(ack) == identifier(one)]) for one in sent
    )
    observed = {"acknowledgments_without_PA_and_NA": without, "acknowledgments_with_PA_and_NA": requested}
    judge.all(
        expected=facts(acknowledgments_without_PA_and_NA=[], acknowledgments_with_PA_and_NA=expected),
        observed=observed,
        evidence=[*sent, *acks],
    )
    receiver.acknowledge_all()


@needs("queues", "receive")
@covers("MQMQ-2.2.19.3-01", "MQMQ-2.2.19.3-02", "MQMQ-2.2.18.1.6-D01")
@pytest.mark.parametrize("delivery", [0, 1], ids=["express", "recoverable"])
@varied("positive journaling", "response queue", "queue journaling")
def test_message_taken_by_waiting_read_is_acknowledged_twice(peer, sut, judge, delivery):
    """A message with PA and PR arrives in a queue at which a receive waits. The peer gets one acknowledgment of the
    arrival and one of the receipt.
    """
    application = Application(peer, sut)
    waiting = PendingRequest(peer, "receive", queue=application.queue, timeout_ms=LONG_READ_TIMEOUT_MS)
    peer.settle()
    receiver = AcknowledgingReceiver(peer, sut)
    sent = receiver.send_packet(
        application.build_message(
            "first", receiver.add_admin_queue_fields({"DM": delivery}), properties={"PA": 1, "PR": 1}
        )
    )
    received = waiting.await_label()
    acks = receiver.await_acks(2)
    judge.all(
        expected=facts(
            label_of_the_received_message="first", acknowledgments=any_order("ACK_REACH_QUEUE", "ACK_RECEIVE")
        ),
        observed={"label_of_the_received_message": received, "acknowledgments": list_message_class_names(acks)},
        evidence=[sent, *acks],
    )
    receiver.acknowledge_all()


@needs("queues")
@covers("MQMQ-2.2.19.3-03")
def test_message_to_full_queue_is_acknowledged_as_refused(peer, sut, judge):
    """Two messages with NA arrive in a queue with room for one. The second message gets an acknowledgment of class
    NACK_Q_EXCEED_QUOTA.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    destination = rf"TCP:{sut.address}\{sut.new_queue('small', quota_kb=QUEUE_QUOTA_KB)}"
    sent = [
        receiver.send_packet(
            peer.recoverable_message(
                receiver.add_admin_queue_fields(),
                destination=destination,
                properties={"NA": 1},
                body=bytes(700 * QUEUE_QUOTA_KB),
            )
        )
        for _ in range(2)
    ]
    acks = receiver.await_acks(1)
    observed = [
        list_message_class_names([ack for ack in acks if get_correlation_id(ack) == identifier(one)]) for one in sent
    ]
    judge.all(
        expected=[[], ["NACK_Q_EXCEED_QUOTA"]],
        observed=observed,
        case="acknowledgments of each message",
        evidence=[*sent, *acks],
    )
    receiver.acknowledge_all()


@needs("insecure_nacks")
@covers("MQMQ-2.2.19.3-03")
@pytest.mark.parametrize("delivery", [0, 1], ids=["express", "recoverable"])
def test_message_to_missing_queue_is_acknowledged_as_refused(peer, sut, judge, delivery):
    """SendInsecureNacks is TRUE. Two messages, one with NA and one without, are sent to a missing queue. Only the
    message with NA gets an acknowledgment, which has the class NACK_BAD_DST_Q.
    """
    sut.enable_insecure_nacks()
    receiver = AcknowledgingReceiver(peer, sut)
    destination = rf"TCP:{sut.address}\private$\mqc-missing"
    sent = [
        receiver.send_packet(peer.message({"DM": delivery, **fields}, destination=destination, properties=bits))
        for fields, bits in (({}, {}), (receiver.add_admin_queue_fields(), {"NA": 1}))
    ]
    acks = receiver.await_acks(1)
    observed = [
        list_message_class_names([ack for ack in acks if get_correlation_id(ack) == identifier(one)]) for one in sent
    ]
    judge.all(
        expected=[[], ["NACK_BAD_DST_Q"]],
        observed=observed,
        case="acknowledgments of each message",
        evidence=[*sent, *acks],
    )
    receiver.acknowledge_all()


@needs("security", "insecure_nacks")
@covers("MQMQ-2.2.19.3-03")
def test_message_with_forged_signature_is_acknowledged_as_refused(peer, sut, judge):
    """A signed message with NA and a forged signature arrives. If the SUT acknowledges refusals for security reasons,
    the message gets an acknowledgment of class NACK_BAD_SIGNATURE.
    """
    secured = SecuredMessageSender(peer, sut)
    secured.require_accepted_signature()
    found = secured.send_and_read_dispositions({"forged": flip_signature_bit(sign_message(secured.message()))})[
        "forged"
    ]
    expected = secured.refused("NACK_BAD_SIGNATURE")
    judge.all(expected=expected, observed=found.answer, case="acknowledgment", evidence=found.frames)


@needs("queue_control")
@covers("MQMQ-2.2.19.3-04")
@pytest.mark.parametrize("transactional", [False, True], ids=["plain", "transactional"])
def test_messages_of_deleted_queue_are_acknowledged_as_not_received(peer, sut, judge, transactional):
    """A queue that contains two messages with NR and one message without NR is deleted. The two messages with NR get
    acknowledgments of class NACK_Q_DELETED.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    name = sut.new_queue("deleted", transactional=transactional)
    destination = rf"TCP:{sut.address}\{name}"
    sequence = Sequence(peer)
    sent = []
    for bits in ({"NR": 1}, {}, {"NR": 1}):
        user = receiver.add_admin_queue_fields() if bits else {}
        if transactional:
            packet = sequence.message(user, destination=destination, properties=bits)
        else:
            packet = peer.recoverable_message(user, destination=destination, properties=bits)
        sent.append(receiver.send_packet(packet))
    receiver.require_session_ack()
    sut.delete_queue(name)
    acks = receiver.await_acks(2)
    observed = [
        list_message_class_names([ack for ack in acks if get_correlation_id(ack) == identifier(one)]) for one in sent
    ]
    judge.all(
        expected=[["NACK_Q_DELETED"], [], ["NACK_Q_DELETED"]],
        observed=observed,
        case="acknowledgments of each message",
        evidence=[*sent, *acks],
    )
    receiver.acknowledge_all()
