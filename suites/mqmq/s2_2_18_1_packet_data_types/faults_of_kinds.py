"""Faults of packet data types that occur only in messages of one kind. Spec: MS-MQMQ 2.2.18.1, 2.2.20.1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.admin_acks import ALL_ACK_CLASSES, change_admin_acks
from harness.faults.fields import change_number_in_field
from harness.faults.made_up import MADE_UP_GUID
from harness.faults.parts import fault
from harness.faults.primitives import change_packets_of_kind, set_fields
from harness.faults.registry import Install, add
from harness.faults.sent_messages import reverse_number_bytes
from reference_qm.codec import MessageClass, TxSequenceID, UserMessagePacket
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import Message, Session
from reference_qm.surface.clock import Now
from suites.mqmq.steps.faulty_messages import drop_messages, misread_messages
from suites.mqmq.steps.kinds_of_messages import (
    has_destination_lists,
    is_admin_ack,
    is_final_ack,
    is_order_ack,
    is_report,
    is_transactional,
)

_MESSAGE_BODY_FIELD = "MessagePropertiesHeader.MessageBody"


def _change_ack_classes(by_class: dict[MessageClass, MessageClass], when: Callable[[Message], Any]) -> Install:
    def change_class_of_ack(ack: Message, message: Message) -> Message:
        old = MessageClass(ack.Class)
        return replace(ack, Class=by_class.get(old, old)) if when(message) else ack

    return change_admin_acks(ALL_ACK_CLASSES, change_class_of_ack)


def _is_transactional_message(message: Message) -> bool:
    return message.TransactionIdentifier is not None


def _change_message_bodies(change: Callable[[bytes], bytes], when: Callable[[Any], Any]) -> Install:
    return change_packets_of_kind(
        UserMessagePacket, lambda packet: set_fields(packet, {_MESSAGE_BODY_FIELD: change}).build(), when
    )


AckClass = MessageClass
_broken_rules: str | tuple[str, ...]
for _name, _broken_rules, _says, _install in (
    (
        "sender-lifetime-of-transactional-message-big-endian",
        "MQMQ-2.2.18-D01",
        "The sender sends a transactional message with a big-endian TimeToReachQueue.",
        change_packets_of_kind(UserMessagePacket, reverse_number_bytes(12, 4), is_transactional),
    ),
    (
        "receiver-number-of-order-ack-big-endian",
        "MQMQ-2.2.18-D01",
        "The receiver sends an OrderAck with a big-endian TxSequenceNumber.",
        _change_message_bodies(lambda body: body[:8] + body[8:12][::-1] + body[12:], is_order_ack),
    ),
    (
        "receiver-message-id-of-final-ack-big-endian",
        "MQMQ-2.2.18-D01",
        "The receiver sends a FinalAck with a big-endian MessageID in its body.",
        _change_message_bodies(lambda body: body[:32] + body[32:36][::-1] + body[36:], is_final_ack),
    ),
    (
        "receiver-sequence-of-order-ack-interchanged",
        "MQMQ-2.2.18.1.2-D01",
        "The receiver sends an OrderAck with TimeStamp before Ordinal.",
        _change_message_bodies(lambda body: body[4:8] + body[:4] + body[8:], is_order_ack),
    ),
    (
        "receiver-sequence-of-final-ack-interchanged",
        "MQMQ-2.2.18.1.2-D01",
        "The receiver sends a FinalAck with TimeStamp before Ordinal.",
        _change_message_bodies(lambda body: body[4:8] + body[:4] + body[8:], is_final_ack),
    ),
    (
        "receiver-identifier-in-final-ack-interchanged",
        "MQMQ-2.2.18.1.3-D01",
        "The receiver sends a FinalAck whose MessageIdentifier has the number before the GUID.",
        _change_message_bodies(lambda body: body[:16] + body[32:36] + body[16:32], is_final_ack),
    ),
    (
        "receiver-identifier-in-acknowledgment-of-transactional-message-interchanged",
        "MQMQ-2.2.18.1.3-D01",
        "The receiver acknowledges a transactional message with a CorrelationID that has the number before the GUID.",
        change_admin_acks(
            ALL_ACK_CLASSES,
            lambda ack, message: (
                replace(ack, CorrelationIdentifier=ack.CorrelationIdentifier[16:] + ack.CorrelationIdentifier[:16])
                if _is_transactional_message(message)
                else ack
            ),
        ),
    ),
    (
        "receiver-class-of-purged-transactional-message-q-deleted",
        "MQMQ-2.2.18.1.6-D01",
        "The receiver acknowledges a purged transactional message with class Q_DELETED.",
        _change_ack_classes(
            {AckClass.MQMSG_CLASS_NACK_Q_PURGED: AckClass.MQMSG_CLASS_NACK_Q_DELETED}, _is_transactional_message
        ),
    ),
    (
        "receiver-class-of-expired-transactional-message-q-purged",
        "MQMQ-2.2.18.1.6-D01",
        "The receiver acknowledges a transactional message that expired in its queue with class Q_PURGED.",
        _change_ack_classes(
            {AckClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT: AckClass.MQMSG_CLASS_NACK_Q_PURGED}, _is_transactional_message
        ),
    ),
    (
        "receiver-class-of-received-transactional-message-reach-queue",
        "MQMQ-2.2.18.1.6-D01",
        "The receiver acknowledges the receipt of a transactional message with class ACK_REACH_QUEUE.",
        _change_ack_classes(
            {AckClass.MQMSG_CLASS_ACK_RECEIVE: AckClass.MQMSG_CLASS_ACK_REACH_QUEUE}, _is_transactional_message
        ),
    ),
    (
        "receiver-class-of-late-transactional-message-receive-timeout",
        "MQMQ-2.2.18.1.6-D01",
        "The receiver acknowledges a transactional message that arrived too late with class RECEIVE_TIMEOUT.",
        _change_ack_classes(
            {AckClass.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT: AckClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT},
            _is_transactional_message,
        ),
    ),
    (
        "receiver-class-of-refused-transactional-message-not-transactional-msg",
        "MQMQ-2.2.18.1.6-D01",
        "The receiver acknowledges a transactional message for a nontransactional queue with class "
        "NOT_TRANSACTIONAL_MSG.",
        _change_ack_classes(
            {AckClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q: AckClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_MSG},
            lambda message: True,
        ),
    ),
    (
        "receiver-order-ack-class-0x00fe-from-number-2-on",
        "MQMQ-2.2.18.1.6-01",
        "The receiver sends an OrderAck for TxSequenceNumber 2 and higher numbers with MessageClass 0x00FE.",
        change_packets_of_kind(
            UserMessagePacket,
            lambda packet: set_fields(packet, {"MessagePropertiesHeader.MessageClass": 0xFE}).build(),
            lambda packet: is_order_ack(packet) and packet.MessagePropertiesHeader.MessageBody[8:12] != b"\1\0\0\0",
        ),
    ),
    (
        "receiver-source-of-acknowledgment-of-transactional-message-other",
        "MQMQ-2.2.18.1.3-01",
        "The receiver sends a FinalAck with the GUID of another queue manager as SourceQueueManager.",
        change_packets_of_kind(
            UserMessagePacket,
            lambda packet: set_fields(packet, {"UserHeader.SourceQueueManager": MADE_UP_GUID}).build(),
            is_final_ack,
        ),
    ),
    (
        "receiver-ordinal-of-report-1",
        "MQMQ-2.2.18.1.3-02",
        "The receiver sends every report with MessageID 1.",
        change_number_in_field(UserMessagePacket, "UserHeader.MessageID", lambda number: 1, is_report),
    ),
    (
        "receiver-ordinal-of-acknowledgment-of-4-bits",
        "MQMQ-2.2.18.1.3-02",
        "The receiver sends administration acknowledgments with only the lowest bit of MessageID.",
        change_number_in_field(UserMessagePacket, "UserHeader.MessageID", lambda number: number & 1, is_admin_ack),
    ),
    (
        "receiver-lists-of-transactional-message-dropped",
        "MQMQ-2.2.18.1.4.1-D01",
        "The receiver drops a transactional message with a MultiQueueFormatHeader.",
        drop_messages(lambda packet: is_transactional(packet) and has_destination_lists(packet)),
    ),
    (
        "receiver-ordinal-of-sequence-of-16-bits",
        "MQMQ-2.2.18.1.2-D01",
        "The receiver reads only the lowest 16 bits of the Ordinal of a TxSequenceID.",
        misread_messages(
            lambda packet: set_fields(
                packet,
                {
                    "TransactionHeader.TxSequenceID": lambda one: TxSequenceID(
                        Ordinal=one.Ordinal & 0xFFFF, TimeStamp=one.TimeStamp
                    )
                },
            ),
            is_transactional,
        ),
    ),
):
    add(_name, _broken_rules, _says, _install, blind=True)


@fault("receiver-compares-tx-sequence-ids-by-time-stamp-only", breaks="MQMQ-2.2.18.1.2-D02", blind=True)
class ReceiverComparesTxSequenceIdsByTimeStampOnly(TransactionalReceiving):
    """The receiver compares TxSequenceIDs only by TimeStamp: a greater Ordinal with the same TimeStamp is ignored."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        last: dict[Any, Any] = getattr(self, "last", {})
        self.last = last
        key = packet.UserHeader.SourceQueueManager
        known = last.setdefault(key, header.TxSequenceID)
        if known != header.TxSequenceID and known.TimeStamp == header.TxSequenceID.TimeStamp:
            return False
        last[key] = header.TxSequenceID
        return super().is_in_sequence(session, packet)


@fault(
    "sender-sends-no-nack-for-expired-transactional-message",
    breaks=("MQMQ-2.2.18.1.6-D03", "MQMQ-2.2.19.3-03"),
    blind=True,
)
class SenderSendsNoNackForExpiredTransactionalMessage(AdminAcks):
    """The sender sends no acknowledgment when a transactional message expires before it is sent."""

    def acknowledge_expiration(self, message: Message, now: Now) -> None:
        if not _is_transactional_message(message):
            super().acknowledge_expiration(message, now)


@fault(
    "sender-sends-no-nack-for-expired-message-with-jn-set",
    breaks=("MQMQ-2.2.18.1.6-D03", "MQMQ-2.2.19.3-03", "MQQB-3.1.7.1.2-03"),
    blind=True,
)
class SenderSendsNoNackForExpiredMessageWithJnSet(AdminAcks):
    """The sender sends no acknowledgment when a message that requests negative journaling expires before it is sent."""

    def acknowledge_expiration(self, message: Message, now: Now) -> None:
        if not message.NegativeJournalingRequested:
            super().acknowledge_expiration(message, now)


@fault("receiver-order-ack-of-second-queue-omitted", breaks="MQMQ-2.2.18.1.6-01", blind=True)
class ReceiverOrderAckOfSecondQueueOmitted(OrderAcks):
    """The receiver sends OrderAcks for only one sequence of each session."""

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        for one in list(session.order_acks_due)[1:]:
            del session.order_acks_due[one]
        super().on_order_ack_send_timer(session, now)
