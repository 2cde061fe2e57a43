"""Faults of MS-MQQB 2.2.5 FinalAck Packet, 2.2.5.1 FinalAck Body."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.fields import bit_clear, field_is
from harness.faults.ordering_acks import WRONG_HEADER_FAULTS
from harness.faults.parts import fault, override_method, replace_part
from harness.faults.registry import add
from reference_qm.codec import FinalAckBody, MessageClass, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.order_acks import OrderAcks, is_final_ack
from reference_qm.model.adm import MessagePosition
from reference_qm.surface.clock import Now

WRONG_FINAL_ACK_CLASS = 0xC004


def _has_class(value: MessageClass) -> Callable[[UserMessagePacket], bool]:
    return lambda packet: is_final_ack(packet) and packet.MessagePropertiesHeader.MessageClass == value


for _name, _rule, _does in (
    ("receiver-final-ack-priority-3", "MQQB-2.2.5-01", "has priority 3"),
    ("receiver-final-ack-mp-clear", "MQQB-2.2.5-02", "has MP clear"),
    ("receiver-final-ack-jn-set", "MQQB-2.2.5-04", "has JN set"),
    ("receiver-final-ack-sent-to-private-queue-5", "MQQB-2.2.5-05", "has private queue 5 as destination"),
    (
        "receiver-final-ack-destination-computer-name",
        "MQQB-2.2.5-06",
        "has a computer name instead of an address in its destination",
    ),
    ("receiver-final-ack-destination-other-address", "MQQB-2.2.5-07", "has a wrong address in its destination"),
    ("receiver-final-ack-label-wrong", "MQQB-2.2.5-08", "has a wrong label"),
    ("receiver-final-ack-body-40-bytes", "MQQB-2.2.5-09", "has a body of 40 bytes"),
    ("receiver-final-ack-requests-acknowledgment", "MQQB-2.2.5-10", "requests an acknowledgment"),
    ("receiver-final-ack-body-type-vt-ui1", "MQQB-2.2.5-23", "has BodyType VT_UI1"),
    (
        "receiver-final-ack-numbers-before-sequence-id",
        ("MQQB-2.2.5-24", "MQQB-2.2.5.1-D01"),
        "has its sequence numbers before TxSequenceID",
    ),
    ("receiver-final-ack-message-id-before-source-guid", "MQQB-2.2.5.1-D01", "has MessageID before SourceGUID"),
    (
        "receiver-final-ack-sequence-number-31-bits",
        "MQQB-2.2.5.1-D02",
        "has a TxSequenceNumber without its highest bit",
    ),
    ("receiver-final-ack-sequence-number-zero", "MQQB-2.2.5.1-D02", "has a TxSequenceNumber of 0"),
    ("receiver-final-ack-sequence-id-one-more", "MQQB-2.2.5.1-01", "has a TxSequenceID that is one too high"),
    ("receiver-final-ack-sequence-number-one-more", "MQQB-2.2.5.1-02", "has a TxSequenceNumber that is one too high"),
    (
        "receiver-final-ack-previous-number-one-more",
        "MQQB-2.2.5.1-03",
        "has a TxPreviousSequenceNumber that is one too high",
    ),
):
    add(_name, _rule, f"The receiver's FinalAck {_does}.", WRONG_HEADER_FAULTS[_does](is_final_ack))

add(
    "receiver-final-ack-delivery-mode-0",
    "MQQB-2.2.5-03",
    "The receiver's FinalAck is express: its DM is 0.",
    bit_clear(UserMessagePacket, "UserHeader.DM", is_final_ack),
)

for _name, _rule, _class in (
    ("receiver-final-ack-class-ack-receive-replaced", "MQQB-2.2.5-11", MessageClass.MQMSG_CLASS_ACK_RECEIVE),
    (
        "receiver-final-ack-class-not-transactional-q-replaced",
        "MQQB-2.2.5-13",
        MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q,
    ),
    ("receiver-final-ack-class-bad-dst-q-replaced", "MQQB-2.2.5-14", MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q),
    ("receiver-final-ack-class-access-denied-replaced", "MQQB-2.2.5-15", MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED),
    ("receiver-final-ack-class-bad-encryption-replaced", "MQQB-2.2.5-16", MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION),
    (
        "receiver-final-ack-class-unsupported-provider-replaced",
        "MQQB-2.2.5-17",
        MessageClass.MQMSG_CLASS_NACK_UNSUPPORTED_CRYPTO_PROVIDER,
    ),
    ("receiver-final-ack-class-bad-signature-replaced", "MQQB-2.2.5-18", MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE),
    ("receiver-final-ack-class-exceed-quota-replaced", "MQQB-2.2.5-19", MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA),
    ("receiver-final-ack-class-q-deleted-replaced", "MQQB-2.2.5-20", MessageClass.MQMSG_CLASS_NACK_Q_DELETED),
    ("receiver-final-ack-class-q-purged-replaced", "MQQB-2.2.5-21", MessageClass.MQMSG_CLASS_NACK_Q_PURGED),
    (
        "receiver-final-ack-class-receive-timeout-replaced",
        "MQQB-2.2.5-22",
        MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT,
    ),
):
    add(
        _name,
        _rule,
        f"The receiver's FinalAck has the MessageClass 0x{WRONG_FINAL_ACK_CLASS:04X} instead of {_class.name}.",
        field_is(UserMessagePacket, "MessagePropertiesHeader.MessageClass", WRONG_FINAL_ACK_CLASS, _has_class(_class)),
    )


@fault("receiver-final-ack-sent-without-journaling", breaks="MQQB-2.2.5-D01")
class ReceiverFinalAckSentWithoutJournaling(FinalAcks):
    """The receiver sends a FinalAck for each transactional message that leaves its queue, even without journaling."""

    def position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        for session in self.qm.sessions.values():
            if position.order_queue is None and message.TransactionSequenceNumber:
                source = message.Identifier.QueueManagerGuid
                position.order_queue = self.qm.order_acks.name_order_queue(session, source)
        super().position_deleted(position, reason, now)


@fault("receiver-final-ack-of-message-with-jn-alone-missing", breaks="MQQB-2.2.5-D01")
class ReceiverFinalAckOfMessageWithJnAloneMissing(FinalAcks):
    """The receiver sends no FinalAck for a message with only negative journaling that leaves its queue."""

    def position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        if not position.MessageReference.PositiveJournalingRequested:
            position.order_queue = None
        super().position_deleted(position, reason, now)


@fault(
    "receiver-final-ack-of-received-message-with-jn-missing", breaks=("MQQB-2.2.5-D01", "MQQB-3.1.7.2.2-01"), blind=True
)
class ReceiverFinalAckOfReceivedMessageWithJnMissing(FinalAcks):
    """When an application receives a message with only JN, the receiver sends no FinalAck; the receiver sends a
    FinalAck only when such a message fails.
    """

    def acknowledge_final(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        silent = message.NegativeJournalingRequested and not message.PositiveJournalingRequested
        if reason is not MessageClass.MQMSG_CLASS_ACK_RECEIVE or not silent or message.FinalAckRequired:
            super().acknowledge_final(position, reason, now)


@fault(
    "receiver-final-ack-of-failed-message-with-jp-missing", breaks=("MQQB-2.2.5-D01", "MQQB-3.1.7.2.2-01"), blind=True
)
class ReceiverFinalAckOfFailedMessageWithJpMissing(FinalAcks):
    """When a message with only JP fails, the receiver sends no FinalAck; the receiver sends a FinalAck only when an
    application receives such a message.
    """

    def acknowledge_final(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        silent = message.PositiveJournalingRequested and not message.NegativeJournalingRequested
        if reason is MessageClass.MQMSG_CLASS_ACK_RECEIVE or not silent or message.FinalAckRequired:
            super().acknowledge_final(position, reason, now)


def _change_final_ack(change: Any) -> Any:
    def make_changed_sending(original: Any) -> Any:
        def send_changed_final_ack(qm: QM, name: str, message_class: MessageClass, body: Any, now: Now) -> None:
            original(qm, name, message_class, change(body) if isinstance(body, FinalAckBody) else body, now)

        return send_changed_final_ack

    return replace_part(override_method(OrderAcks.send_transactional_ack, make_changed_sending))


add(
    "receiver-final-ack-previous-number-ignores-gap",
    ("MQQB-2.2.5.1-03", "MQQB-3.1.7.17-D05", "MQQB-3.1.7.17-D08"),
    "The receiver's FinalAck has a TxPreviousSequenceNumber one less than its TxSequenceNumber, even after a gap.",
    _change_final_ack(lambda body: replace(body, TxPreviousSequenceNumber=body.TxSequenceNumber - 1)),
    blind=True,
)


@fault("receiver-final-ack-names-newest-sequence", breaks="MQQB-2.2.5.1-01", blind=True)
class ReceiverFinalAckNamesNewestSequence(FinalAcks):
    """The receiver sends a FinalAck with the sender's newest TxSequenceID instead of the TxSequenceID of
    the message.
    """

    def acknowledge_final(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        key = (message.Identifier.QueueManagerGuid, message.DestinationQueueFormatName.lower())
        transfer = position.QueueReference.IncomingTransactionalTransferInfoCollection.get(key)
        if transfer is not None:
            position.MessageReference = replace(
                message, TransactionalMessageSequenceIdentifier=transfer.SequenceIdentifier
            )
        super().acknowledge_final(position, reason, now)
