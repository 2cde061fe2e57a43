"""MS-MQDMPR 3.1.1.12 Message: received messages of rare kinds, and their acknowledgments."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import acknowledged, each, holds
from harness.expectations.protocol import get_class_name
from harness.run.marks import covers, malforms, needs
from harness.sut.provisioning import CAROL
from harness.sut.shown import lookup_id
from suites.messages import Sequence
from suites.mqqb.steps.disposition import (
    AcknowledgingReceiver,
    get_correlation_id,
    get_final_ack_identifier,
    get_message_class,
    identifier,
)
from suites.mqqb.steps.exchanges import deliver_message
from suites.mqqb.steps.ordering import Receiver
from suites.mqqb.steps.secured import SENDER_TYPE_OF_NO_SENDER, SecuredMessageSender

ORDER_ACK_CLASS = 0xFF
RECEIVE_REJECTED_CLASS = 0xC004
ORDER_ACK_LABEL, ORDER_ACK_BODY_SIZE = "QM Ordering Ack", 36
SOAP_HEADER_TEXTS = {"Header": "<Envelope>one</Envelope>", "Body": "<Body>one</Body>"}


@covers("MQDMPR-3.1.1.12-65")
@pytest.mark.parametrize("delivery", ["express", "recoverable", "transactional"])
def test_messages_with_equal_soap_envelopes_are_accepted(peer, sut, judge, delivery):
    """The peer sends three messages with the same SoapHeader: the SUT accepts each of them."""
    sequence = Sequence(peer)
    kind = "transactional" if delivery == "transactional" else "plain"
    for number in range(3):
        label = f"soap {peer.next_message_id()}"
        if delivery == "transactional":
            packet = sequence.message(label=label, soap=SOAP_HEADER_TEXTS)
        else:
            packet = peer.message({"DM": int(delivery == "recoverable")}, label=label, soap=SOAP_HEADER_TEXTS)
        done = deliver_message(peer, packet, label, kind)
        judge(
            "MQDMPR-3.1.1.12-65",
            expected=done.accepted_outcome,
            observed=done.outcome,
            case=f"message {number + 1} with the same envelope",
            evidence=done.frames,
        )


def _list_order_acks(receiver: Receiver) -> list[Any]:
    """Return the messages of the SUT that have the label and the size of an OrderAck, whatever their class."""

    def is_order_ack(frame: Any) -> bool:
        properties = frame["MessagePropertiesHeader"]
        label = str(properties.Label).rstrip("\0")
        return label == ORDER_ACK_LABEL and len(bytes(properties.MessageBody)) == ORDER_ACK_BODY_SIZE

    return [frame for frame in receiver.messages if is_order_ack(frame)]


@covers("MQDMPR-3.1.1.12-D08")
def test_every_order_ack_has_its_class(peer, sut, judge):
    """The peer sends two transactional messages, repeats the second, and then sends a message of a later sequence. Each
    OrderAck of the SUT, also a repeated one, has the class OrderAck.
    """
    receiver = Receiver(peer, sut)
    receiver.send()
    second = receiver.sequence.message()
    receiver.session.send(second)
    _await_order_acks(receiver, 1)
    before = len(_list_order_acks(receiver))
    receiver.session.send(second)
    receiver.poll(lambda: _list_order_acks(receiver), before)
    known = len(_list_order_acks(receiver))
    receiver.session.send(Sequence(peer, 2).message())
    receiver.poll(lambda: _list_order_acks(receiver), known)
    acks = _list_order_acks(receiver)
    judge(
        "MQDMPR-3.1.1.12-D08",
        expected=each(get_class_name(ORDER_ACK_CLASS), "MessageClass"),
        observed=[get_class_name(get_message_class(frame)) for frame in acks],
        evidence=[*receiver.session.sent, *acks],
    )
    peer.inbox.acknowledge()


def _await_order_acks(receiver: Receiver, count: int) -> None:
    while len(_list_order_acks(receiver)) < count:
        if receiver.poll(lambda: _list_order_acks(receiver)) is None:
            raise ConformanceFailure("no OrderAck arrived for the transactional messages")


@needs("queues", "receive", "transactions", "reject")
@covers("MQDMPR-3.1.1.12-D27")
@pytest.mark.parametrize("external", [False, True], ids=["internal", "external"])
def test_all_rejections_of_transaction_are_nacked(peer, sut, judge, external):
    """An application rejects two of three messages that it has received in one transaction. The SUT acknowledges the
    rejected messages as rejected, to the administration queue and, because they request a FinalAck, to the sender.
    """
    queue = sut.new_queue("rejecting", transactional=True)
    receiver = AcknowledgingReceiver(peer, sut)
    user = receiver.add_admin_queue_fields({"DM": 1, "JN": 1})
    labels = ["rejected", "received", "rejected, too"]
    headers: dict[str, Any] = {"destination": rf"TCP:{sut.address}\{queue}", "properties": {"NR": 1}}
    frames = {
        label: receiver.send_packet(receiver.sequence.message(user, label=label, transaction={"FA": 1}, **headers))
        for label in labels
    }
    if not peer.eventually(lambda: sut.labels(queue) == labels):
        raise ConformanceFailure("the messages did not arrive in their queue")
    transaction = sut.control.call("begin", external=external)["transaction"]
    for label in labels:
        shown = sut.control.call("receive", queue=queue, timeout_ms=0, transaction=transaction)["message"]
        if shown is None:
            raise ConformanceFailure("a message that is in the queue cannot be received")
        if label != "received":
            sut.control.call("reject", queue=queue, lookup_id=lookup_id(shown), transaction=transaction)
    if external:
        sut.control.call("prepare", transaction=transaction)
    sut.control.call("commit", transaction=transaction)
    acks = receiver.await_acks(2)
    finals = receiver.await_messages_of_sut(receiver.list_final_acks, 3)
    rejected = [label for label in labels if label != "received"]
    judge(
        "MQDMPR-3.1.1.12-D27",
        expected={label: acknowledged(frames[label], of_class=RECEIVE_REJECTED_CLASS) for label in rejected},
        observed={
            label: [ack for ack in acks if get_correlation_id(ack) == identifier(frames[label])] for label in rejected
        },
        case="administration acknowledgments",
        evidence=[*frames.values(), *acks],
    )
    judge(
        "MQDMPR-3.1.1.12-D27",
        expected={label: [get_class_name(RECEIVE_REJECTED_CLASS)] for label in rejected},
        observed={
            label: [
                get_class_name(get_message_class(ack))
                for ack in finals
                if get_final_ack_identifier(ack) == identifier(frames[label])
            ]
            for label in rejected
        },
        case="classes of the FinalAcks",
        evidence=[*frames.values(), *finals],
    )
    receiver.acknowledge_all()


@needs("security", "receive", "queue_control")
@covers("MQDMPR-3.1.1.12-D54")
@malforms("MQMQ-2.2.20.6-02")
def test_security_id_without_sender_type_gives_no_right(peer, sut, judge):
    """The peer sends to a restricted queue a message with the SecurityID of a user who may write there. The message has
    the SenderIdentifierType None, so the SUT treats its sender as the anonymous user and does not store the message.
    """
    secured = SecuredMessageSender(peer, sut)
    kinds = {"with the type of the sender": {}, "without a type of the sender": {"ST": SENDER_TYPE_OF_NO_SENDER}}
    found = {}
    for kind, security in kinds.items():
        packet = secured.message(CAROL, queue="restricted", security=security)
        found[kind] = secured.send_and_read_dispositions({kind: packet}, "restricted")[kind]
    first, second = found.values()
    if first.found is None:
        raise ConformanceFailure("the SUT does not accept the message of a user who may write to the queue")
    judge(
        "MQDMPR-3.1.1.12-D54",
        expected=holds("not stored in its queue", otherwise="stored in its queue"),
        observed=second.found is None,
        case="message with the SecurityID of a user and the SenderIdentifierType None",
        evidence=[*first.frames, *second.frames],
    )
