"""Faults that break the rules MQQB-3.1.7.17-03 to MQQB-3.1.7.17-D02."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from harness.faults.fields import set_field_value
from harness.faults.parts import fault
from harness.faults.primitives import (
    change_packets_of_kind,
    omit_step,
    omit_step_during,
    replace_method_during,
    send_wrong_field_values,
)
from harness.faults.registry import add
from reference_qm.codec import (
    FinalAckBody,
    MessageClass,
    OrderAckBody,
    PrivateName,
    UserMessagePacket,
)
from reference_qm.core.names.message_numbering import MessageNumbering
from reference_qm.core.names.queue_names import ORDER_QUEUE_NUMBER
from reference_qm.core.part import QM
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.order_acks import OrderAcks, is_final_ack, is_order_ack
from reference_qm.model.adm import IncomingTransactionalTransferInfo, MessagePosition, OutgoingQueue, Session
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now


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
    "receiver-transactional-ack-message-id-of-previous-message",
    "MQQB-3.1.7.17-03",
    "The receiver's OrderAck or FinalAck has the same MessageID as the message that the receiver sent before it.",
    replace_method_during(
        OrderAcks.send_transactional_ack,
        MessageNumbering.assign_message_ordinal,
        lambda original, *_: lambda qm: qm.adm.MessageIdOrdinal or original(qm),
    ),
    blind=True,
)


@fault("receiver-final-acks-share-identifier-of-first", breaks="MQQB-3.1.7.17-03", blind=True)
class ReceiverFinalAcksShareIdentifierOfFirst(MessageSending):
    """The receiver gives all FinalAcks to a sender the MessageID of the first FinalAck."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: dict[str, object] = {}

    def on_message_position_available(self, queue: OutgoingQueue, position: MessagePosition, now: Now) -> None:
        message = position.MessageReference
        if message.Label == "QM Ordering Ack" and message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE:
            first = self.first.setdefault(message.DestinationQueueFormatName, message.Identifier)
            position.MessageReference = replace(message, Identifier=first)  # type: ignore[arg-type]
        super().on_message_position_available(queue, position, now)


add(
    "receiver-final-ack-class-always-q-deleted",
    "MQQB-3.1.7.17-04",
    "The receiver's FinalAck always has the class NACK_Q_DELETED.",
    set_field_value(
        UserMessagePacket,
        "MessagePropertiesHeader.MessageClass",
        int(MessageClass.MQMSG_CLASS_NACK_Q_DELETED),
        is_final_ack,
    ),
)


class _TransactionalAckChanger(OrderAcks):
    """Change each OrderAck and FinalAck that the receiver sends."""

    def send_transactional_ack(
        self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody, now: Now
    ) -> None:
        name, message_class, body = self.change(name, message_class, body)
        super().send_transactional_ack(name, message_class, body, now)

    def change(
        self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody
    ) -> tuple[str, MessageClass, OrderAckBody | FinalAckBody]:
        raise NotImplementedError


@fault("receiver-final-ack-repeats-class-of-preceding-final-ack", breaks="MQQB-3.1.7.17-04", blind=True)
class ReceiverFinalAckRepeatsClassOfPrecedingFinalAck(_TransactionalAckChanger):
    """The receiver gives a FinalAck the class of the preceding FinalAck."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.last: MessageClass | None = None

    def change(
        self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody
    ) -> tuple[str, MessageClass, OrderAckBody | FinalAckBody]:
        if isinstance(body, FinalAckBody):
            self.last = self.last or message_class
            return name, self.last, body
        return name, message_class, body


def _is_transactional_ack(packet: UserMessagePacket) -> bool:
    return is_order_ack(packet) or is_final_ack(packet)


add(
    "receiver-transactional-ack-priority-3",
    "MQQB-3.1.7.17-05",
    "The receiver's OrderAck or FinalAck has priority 3.",
    set_field_value(UserMessagePacket, "BaseHeader.PR", 3, _is_transactional_ack),
)


add(
    "receiver-order-ack-number-0",
    "MQQB-3.1.7.17-06",
    "The receiver's OrderAck has TxSequenceNumber 0.",
    send_wrong_field_values(
        UserMessagePacket,
        {"MessagePropertiesHeader.MessageBody": lambda body: body[:8] + bytes(4) + body[12:]},
        is_order_ack,
    ),
)


@fault("receiver-order-ack-previous-number-repeats-preceding-order-ack", breaks="MQQB-3.1.7.17-06", blind=True)
class ReceiverOrderAckPreviousNumberRepeatsPrecedingOrderAck(OrderAcks):
    """The receiver sets TxPreviousSequenceNumber of an OrderAck to the number of the preceding OrderAck."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.last: dict[object, int] = {}

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body = super().build(transfer)
        previous = self.last.get(transfer.saved_sequence_identifier, 0)
        self.last[transfer.saved_sequence_identifier] = body.TxSequenceNumber
        return OrderAckBody(body.TxSequenceID, body.TxSequenceNumber, previous)


add(
    "receiver-transactional-ack-queue-name-wrong",
    "MQQB-3.1.7.17-07",
    "The receiver addresses an OrderAck or FinalAck to the queue order$ instead of order_queue$.",
    send_wrong_field_values(
        UserMessagePacket,
        {"UserHeader.DestinationQueue.DirectFormatName": lambda name: name.replace("order_queue$", "order$")},
        _is_transactional_ack,
    ),
)


@fault("receiver-addresses-transactional-acks-to-private-queue-5", breaks=("MQQB-3.1.7.17-D13", "MQQB-3.1.7.17-07"))
class ReceiverAddressesTransactionalAcksToPrivateQueue5(OrderAcks):
    """The receiver addresses an OrderAck or FinalAck to private queue 5 instead of private queue 4."""

    def build_order_queue_name(self, session: Session, source: UUID) -> str:
        name = super().build_order_queue_name(session, source)
        return name if session.DirectFormatSession else str(PrivateName(source, ORDER_QUEUE_NUMBER + 1))


@fault("receiver-order-acks-for-later-senders-sent-to-first-sender", breaks="MQQB-3.1.7.17-07", blind=True)
class ReceiverOrderAcksForLaterSendersSentToFirstSender(_TransactionalAckChanger):
    """The receiver addresses all OrderAcks and FinalAcks to the order queue of the first sender."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: str | None = None

    def change(
        self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody
    ) -> tuple[str, MessageClass, OrderAckBody | FinalAckBody]:
        self.first = self.first or name
        return self.first, message_class, body


add(
    "receiver-final-ack-lost-with-session",
    "MQQB-3.1.7.17-11",
    "The receiver drops an unacknowledged FinalAck when its session ends.",
    omit_step(FinalAcks.keep_final_acks),
)


add(
    "receiver-final-ack-of-lost-session-not-sent-on-open-session",
    "MQQB-3.1.7.17-11",
    "The receiver does not send the FinalAck of a lost session on a different open session.",
    omit_step_during(FinalAcks.move_to_outgoing_queue, MessageSending.dispatch_messages),
)


add(
    "receiver-transactional-ack-not-sent",
    "MQQB-3.1.7.17-11",
    "The receiver sends no OrderAck and no FinalAck.",
    change_packets_of_kind(UserMessagePacket, lambda packet: None, _is_transactional_ack),
)


@fault("receiver-transactional-ack-without-open-session-dropped", breaks=("MQQB-3.1.7.17-11", "MQQB-3.1.7.2.2-01"))
class ReceiverTransactionalAckWithoutOpenSessionDropped(OrderAcks):
    """The receiver drops an OrderAck or FinalAck when no session with the sender is open."""

    def send_transactional_ack(
        self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody, now: Now
    ) -> None:
        if self._find_queue_of_open_session(name) is not None:
            super().send_transactional_ack(name, message_class, body, now)


ACK_RECEIVE_CLASS = MessageClass.MQMSG_CLASS_ACK_RECEIVE


@fault("receiver-final-ack-of-purged-message-without-session-not-sent", breaks="MQQB-3.1.7.17-11", blind=True)
class ReceiverFinalAckOfPurgedMessageWithoutSessionNotSent(FinalAcks):
    """If the session of a message is closed, the receiver sends no FinalAck when the message is removed without
    receipt.
    """

    def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        if reason is ACK_RECEIVE_CLASS or any(not one.initiator for one in self.qm.sessions.values()):
            super().send_final_ack_of_message(position, reason, now)


add(
    "receiver-final-ack-delivery-express",
    "MQQB-3.1.7.17-D01",
    "The receiver's FinalAck is express.",
    set_field_value(UserMessagePacket, "UserHeader.DM", 0, is_final_ack),
)


@fault("receiver-negative-final-ack-sent-as-express-message", breaks="MQQB-3.1.7.17-D01", blind=True)
class ReceiverNegativeFinalAckSentAsExpressMessage(MessageSending):
    """The receiver sends a negative FinalAck as an express message."""

    def on_message_position_available(self, queue: OutgoingQueue, position: MessagePosition, now: Now) -> None:
        message = position.MessageReference
        if message.Label == "QM Ordering Ack" and message.Class & 0x8000:
            position.MessageReference = replace(message, DeliveryGuarantee=DeliveryGuarantee.EXPRESS)
        super().on_message_position_available(queue, position, now)


add(
    "receiver-transactional-ack-privacy-level-1",
    "MQQB-3.1.7.17-D02",
    "The receiver's OrderAck or FinalAck has PrivacyLevel 1.",
    set_field_value(UserMessagePacket, "MessagePropertiesHeader.PrivacyLevel", 1, _is_transactional_ack),
)
