"""Faults of MS-MQQB 3.1.7.17 Send Transactional Acknowledgment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.fields import field_is
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import during, packets, skip, skip_during, wrong_fields
from harness.faults.registry import Install, add
from reference_qm.codec import FinalAckBody, MessageClass, OrderAckBody, PrivateName, UserMessagePacket
from reference_qm.core.names.numbering import Numbering
from reference_qm.core.names.queue_names import ORDER_QUEUE_NUMBER
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.order_acks import OrderAcks, is_final_ack, is_order_ack
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import MessagePosition, Session
from reference_qm.surface.clock import Now


def _is_transactional_ack(packet: UserMessagePacket) -> bool:
    return is_order_ack(packet) or is_final_ack(packet)


add(
    "receiver-final-ack-lost-with-session",
    "MQQB-3.1.7.17-11",
    "The receiver drops an unacknowledged FinalAck when its session ends.",
    skip(FinalAcks.keep_final_acks),
)
add(
    "receiver-final-ack-of-lost-session-not-sent-on-open-session",
    "MQQB-3.1.7.17-11",
    "The receiver does not send the FinalAck of a lost session on a different open session.",
    skip_during(FinalAcks.move_to_outgoing_queue, Sending.dispatch_messages),
)


@fault("receiver-transactional-ack-message-id-reused", breaks="MQQB-3.1.7.17-03")
class ReceiverTransactionalAckMessageIdReused(OrderAcks):
    """The receiver assigns the same MessageID to every OrderAck and FinalAck."""

    def send_transactional_ack(
        self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody, now: Now
    ) -> None:
        ordinal = self.qm.adm.MessageIdOrdinal
        super().send_transactional_ack(name, message_class, body, now)
        self.qm.adm.MessageIdOrdinal = ordinal


add(
    "receiver-final-ack-class-always-q-deleted",
    "MQQB-3.1.7.17-04",
    "The receiver's FinalAck always has the class NACK_Q_DELETED.",
    field_is(
        UserMessagePacket,
        "MessagePropertiesHeader.MessageClass",
        int(MessageClass.MQMSG_CLASS_NACK_Q_DELETED),
        is_final_ack,
    ),
)
add(
    "receiver-transactional-ack-priority-3",
    "MQQB-3.1.7.17-05",
    "The receiver's OrderAck or FinalAck has priority 3.",
    field_is(UserMessagePacket, "BaseHeader.PR", 3, _is_transactional_ack),
)
add(
    "receiver-order-ack-number-0",
    "MQQB-3.1.7.17-06",
    "The receiver's OrderAck has TxSequenceNumber 0.",
    wrong_fields(
        UserMessagePacket,
        {"MessagePropertiesHeader.MessageBody": lambda body: body[:8] + bytes(4) + body[12:]},
        is_order_ack,
    ),
)
add(
    "receiver-transactional-ack-queue-name-wrong",
    "MQQB-3.1.7.17-07",
    "The receiver addresses an OrderAck or FinalAck to the queue order$ instead of order_queue$.",
    wrong_fields(
        UserMessagePacket,
        {"UserHeader.DestinationQueue.DirectFormatName": lambda name: name.replace("order_queue$", "order$")},
        _is_transactional_ack,
    ),
)
add(
    "receiver-transactional-ack-not-sent",
    "MQQB-3.1.7.17-11",
    "The receiver sends no OrderAck and no FinalAck.",
    packets(UserMessagePacket, lambda packet: None, _is_transactional_ack),
)

# -- the body of an acknowledgment -----------------------------------------------------------------------------------

Body = OrderAckBody | FinalAckBody
RECEIVED_CLASS = MessageClass.MQMSG_CLASS_ACK_RECEIVE


def _is_order_ack_class(message_class: MessageClass) -> bool:
    return message_class is MessageClass.MQMSG_CLASS_ORDER_ACK


def _is_receipt_class(message_class: MessageClass) -> bool:
    return message_class is RECEIVED_CLASS


def _is_refusal_class(message_class: MessageClass) -> bool:
    return not _is_order_ack_class(message_class) and not _is_receipt_class(message_class)


def _change_ack_body(when: Callable[[MessageClass], bool], change: Callable[[Any], Body]) -> Install:
    class WithBody(OrderAcks):
        def send_transactional_ack(self, name: str, message_class: MessageClass, body: Body, now: Now) -> None:
            super().send_transactional_ack(name, message_class, change(body) if when(message_class) else body, now)

    return replace_part(WithBody)


def _clear_previous_sequence_number(body: FinalAckBody) -> FinalAckBody:
    return replace(body, TxPreviousSequenceNumber=0)


def _change_source_guid(body: FinalAckBody) -> FinalAckBody:
    return replace(body, SourceGUID=UUID(int=body.SourceGUID.int ^ 1))


def _increment_message_id(body: FinalAckBody) -> FinalAckBody:
    return replace(body, MessageID=body.MessageID + 1)


def _change_sequence_timestamp(body: OrderAckBody) -> OrderAckBody:
    return replace(body, TxSequenceID=replace(body.TxSequenceID, TimeStamp=body.TxSequenceID.TimeStamp + 1))


def _set_first_number(body: OrderAckBody) -> OrderAckBody:
    return replace(body, TxSequenceNumber=1, TxPreviousSequenceNumber=0)


_BODIES: tuple[tuple[str, str, str, Callable[[MessageClass], bool], Callable[[Any], Body]], ...] = (
    (
        "receiver-order-ack-sequence-id-wrong",
        "MQQB-3.1.7.17-D03",
        "The receiver's OrderAck has the TxSequenceID of a wrong sequence.",
        _is_order_ack_class,
        _change_sequence_timestamp,
    ),
    (
        "receiver-order-ack-number-always-1",
        "MQQB-3.1.7.17-D04",
        "The receiver's OrderAck always has TxSequenceNumber 1.",
        _is_order_ack_class,
        _set_first_number,
    ),
    (
        "receiver-final-ack-of-receipt-previous-number-0",
        "MQQB-3.1.7.17-D05",
        "The receiver's FinalAck of a received message has TxPreviousSequenceNumber 0.",
        _is_receipt_class,
        _clear_previous_sequence_number,
    ),
    (
        "receiver-final-ack-of-receipt-source-guid-wrong",
        "MQQB-3.1.7.17-D06",
        "The receiver's FinalAck of a received message has a wrong SourceGUID.",
        _is_receipt_class,
        _change_source_guid,
    ),
    (
        "receiver-final-ack-of-receipt-message-id-high",
        "MQQB-3.1.7.17-D07",
        "The receiver's FinalAck of a received message has a MessageID that is one too high.",
        _is_receipt_class,
        _increment_message_id,
    ),
    (
        "receiver-final-ack-of-refusal-previous-number-0",
        "MQQB-3.1.7.17-D08",
        "The receiver's FinalAck of a refused packet has TxPreviousSequenceNumber 0.",
        _is_refusal_class,
        _clear_previous_sequence_number,
    ),
    (
        "receiver-final-ack-of-refusal-source-guid-wrong",
        "MQQB-3.1.7.17-D09",
        "The receiver's FinalAck of a refused packet has a wrong SourceGUID.",
        _is_refusal_class,
        _change_source_guid,
    ),
    (
        "receiver-final-ack-of-refusal-message-id-high",
        "MQQB-3.1.7.17-D10",
        "The receiver's FinalAck of a refused packet has a MessageID that is one too high.",
        _is_refusal_class,
        _increment_message_id,
    ),
)
for _name, _rule, _says, _when, _change in _BODIES:
    add(_name, _rule, _says, _change_ack_body(_when, _change))

# -- the delivery and the destination of an acknowledgment -----------------------------------------------------------

add(
    "receiver-final-ack-delivery-express",
    "MQQB-3.1.7.17-D01",
    "The receiver's FinalAck is express.",
    field_is(UserMessagePacket, "UserHeader.DM", 0, is_final_ack),
)
add(
    "receiver-transactional-ack-privacy-level-1",
    "MQQB-3.1.7.17-D02",
    "The receiver's OrderAck or FinalAck has PrivacyLevel 1.",
    field_is(UserMessagePacket, "MessagePropertiesHeader.PrivacyLevel", 1, _is_transactional_ack),
)


@fault("receiver-transactional-ack-always-to-private-name", breaks="MQQB-3.1.7.17-D11")
class ReceiverTransactionalAckAlwaysToPrivateName(OrderAcks):
    """The receiver addresses every OrderAck and FinalAck to a private format name."""

    def name_order_queue(self, session: Session, source: UUID) -> str:
        return str(PrivateName(source, ORDER_QUEUE_NUMBER))


@fault("receiver-transactional-ack-always-to-direct-name", breaks="MQQB-3.1.7.17-D13")
class ReceiverTransactionalAckAlwaysToDirectName(OrderAcks):
    """The receiver addresses every OrderAck and FinalAck to a direct format name."""

    def name_order_queue(self, session: Session, source: UUID) -> str:
        return f"DIRECT=TCP:{session.RemoteQMAddress}\\PRIVATE$\\order_queue$"


@fault("receiver-transactional-ack-private-queue-number-5", breaks=("MQQB-3.1.7.17-D13", "MQQB-3.1.7.17-07"))
class ReceiverTransactionalAckPrivateQueueNumber5(OrderAcks):
    """The receiver addresses an OrderAck or FinalAck to private queue 5 instead of private queue 4."""

    def name_order_queue(self, session: Session, source: UUID) -> str:
        name = super().name_order_queue(session, source)
        return name if session.DirectFormatSession else str(PrivateName(source, ORDER_QUEUE_NUMBER + 1))


@fault("receiver-transactional-ack-without-open-session-dropped", breaks=("MQQB-3.1.7.17-11", "MQQB-3.1.7.2.2-01"))
class ReceiverTransactionalAckWithoutOpenSessionDropped(OrderAcks):
    """The receiver drops an OrderAck or FinalAck when no session with the sender is open."""

    def send_transactional_ack(
        self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody, now: Now
    ) -> None:
        if self._queue_of_open_session(name) is not None:
            super().send_transactional_ack(name, message_class, body, now)


@fault("receiver-final-ack-source-guid-of-session", breaks="MQQB-3.1.7.17-D09", blind=True)
class ReceiverFinalAckSourceGuidOfSession(FinalAcks):
    """The receiver sets SourceGUID in the FinalAck of a refused packet to the GUID of the session's queue manager."""

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        other = replace(packet.UserHeader, SourceQueueManager=session.RemoteQMGuid)
        super().refuse_transactional(session, replace(packet, UserHeader=other), message_class, now)


add(
    "receiver-transactional-ack-message-id-of-previous-message",
    "MQQB-3.1.7.17-03",
    "The receiver's OrderAck or FinalAck has the same MessageID as the message that the receiver sent before it.",
    during(
        OrderAcks.send_transactional_ack,
        Numbering.assign_identifier,
        lambda original, *_: lambda qm: qm.adm.MessageIdOrdinal or original(qm),
    ),
    blind=True,
)


@fault("receiver-final-ack-of-removed-message-message-id-one-more", breaks="MQQB-3.1.7.17-D07")
class ReceiverFinalAckOfRemovedMessageMessageIdOneMore(FinalAcks):
    """The receiver sends a FinalAck whose MessageID is one too high for a message that was purged or
    deleted with its queue.
    """

    def acknowledge_final(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        if reason in (MessageClass.MQMSG_CLASS_NACK_Q_PURGED, MessageClass.MQMSG_CLASS_NACK_Q_DELETED):
            identifier = replace(message.Identifier, Ordinal=message.Identifier.Ordinal + 1)
            position.MessageReference = replace(message, Identifier=identifier)
        super().acknowledge_final(position, reason, now)
        position.MessageReference = message
