"""Faults that break the rules MQQB-3.1.7.17-D03 to MQQB-3.1.7.17-D10."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import (
    FinalAckBody,
    MessageClass,
    MessageIdentifier,
    OrderAckBody,
    UserMessagePacket,
)
from reference_qm.core.part import QM
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import IncomingTransactionalTransferInfo, MessagePosition, Session
from reference_qm.surface.clock import Now

TransactionalAckBody = OrderAckBody | FinalAckBody


ACK_RECEIVE_CLASS = MessageClass.MQMSG_CLASS_ACK_RECEIVE


def _is_order_ack_class(message_class: MessageClass) -> bool:
    return message_class is MessageClass.MQMSG_CLASS_ORDER_ACK


def _is_receipt_class(message_class: MessageClass) -> bool:
    return message_class is ACK_RECEIVE_CLASS


def _is_refusal_class(message_class: MessageClass) -> bool:
    return not _is_order_ack_class(message_class) and not _is_receipt_class(message_class)


def _change_transactional_ack_body(
    when: Callable[[MessageClass], bool], change: Callable[[Any], TransactionalAckBody]
) -> Install:
    class ChangedAckBody(OrderAcks):
        def send_transactional_ack(
            self, name: str, message_class: MessageClass, body: TransactionalAckBody, now: Now
        ) -> None:
            super().send_transactional_ack(name, message_class, change(body) if when(message_class) else body, now)

    return replace_part(ChangedAckBody)


def _clear_previous_sequence_number(body: FinalAckBody) -> FinalAckBody:
    return replace(body, TxPreviousSequenceNumber=0)


def _change_source_guid(body: FinalAckBody) -> FinalAckBody:
    return replace(body, SourceGUID=UUID(int=body.SourceGUID.int ^ 1))


def _increment_message_id(body: FinalAckBody) -> FinalAckBody:
    return replace(body, MessageID=body.MessageID + 1)


def _change_sequence_timestamp(body: OrderAckBody) -> OrderAckBody:
    return replace(body, TxSequenceID=replace(body.TxSequenceID, TimeStamp=body.TxSequenceID.TimeStamp + 1))


def _set_sequence_numbers_to_those_of_first_message(body: OrderAckBody) -> OrderAckBody:
    return replace(body, TxSequenceNumber=1, TxPreviousSequenceNumber=0)


_TRANSACTIONAL_ACK_BODY_FAULTS: tuple[
    tuple[str, str, str, Callable[[MessageClass], bool], Callable[[Any], TransactionalAckBody]], ...
] = (
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
        _set_sequence_numbers_to_those_of_first_message,
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


for _name, _rule, _says, _when, _change in _TRANSACTIONAL_ACK_BODY_FAULTS:
    add(_name, _rule, _says, _change_transactional_ack_body(_when, _change))


@fault("receiver-order-ack-sequence-ordinal-cut-to-31-bits", breaks="MQQB-3.1.7.17-D03", blind=True)
class ReceiverOrderAckSequenceOrdinalCutTo31Bits(OrderAcks):
    """The receiver sends an OrderAck whose TxSequenceID has only the lower 31 bits of Ordinal."""

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body = super().build(transfer)
        identifier = body.TxSequenceID
        return replace(body, TxSequenceID=replace(identifier, Ordinal=identifier.Ordinal & 0x7FFFFFFF))


@fault("receiver-order-ack-names-sequence-of-other-queue", breaks="MQQB-3.1.7.17-D03", blind=True)
class ReceiverOrderAckNamesSequenceOfOtherQueue(OrderAcks):
    """When several OrderAcks are sent at one expiry of the timer, the receiver puts the TxSequenceID of the first
    sequence into every OrderAck.
    """

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        self.due = list(session.order_acks_due)
        super().on_order_ack_send_timer(session, now)

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body = super().build(transfer)
        return OrderAckBody(self.due[0].saved_sequence_identifier, body.TxSequenceNumber, body.TxPreviousSequenceNumber)


@fault("receiver-order-ack-tx-sequence-number-cut-to-31-bits", breaks="MQQB-3.1.7.17-D04", blind=True)
class ReceiverOrderAckTxSequenceNumberCutTo31Bits(OrderAcks):
    """The receiver sends an OrderAck whose TxSequenceNumber has only the lower 31 bits of the number of the last
    accepted message.
    """

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body = super().build(transfer)
        return replace(body, TxSequenceNumber=body.TxSequenceNumber & 0x7FFFFFFF)


@fault("receiver-order-ack-has-highest-number-of-any-queue", breaks="MQQB-3.1.7.17-D04", blind=True)
class ReceiverOrderAckHasHighestNumberOfAnyQueue(OrderAcks):
    """The receiver sends an OrderAck with the highest number that it accepted from the sender in any queue."""

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        self.due = list(session.order_acks_due)
        super().on_order_ack_send_timer(session, now)

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        number = max(one.saved_sequence_number for one in (*self.due, transfer))
        return OrderAckBody(transfer.saved_sequence_identifier, number, number - 1)


@fault("receiver-final-ack-previous-number-is-message-number-minus-one", breaks="MQQB-3.1.7.17-D05", blind=True)
class ReceiverFinalAckPreviousNumberIsMessageNumberMinusOne(FinalAcks):
    """The receiver sets TxPreviousSequenceNumber in a FinalAck to the number of the message minus one."""

    def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        previous = message.TransactionSequenceNumber - 1
        position.MessageReference = replace(message, TransactionPreviousSequenceNumber=previous)
        super().send_final_ack_of_message(position, reason, now)


@fault("receiver-final-ack-of-expired-message-has-own-source-guid", breaks="MQQB-3.1.7.17-D06", blind=True)
class ReceiverFinalAckOfExpiredMessageHasOwnSourceGuid(FinalAcks):
    """The receiver sets SourceGUID in the FinalAck of a message that expired in its queue to its own Identifier."""

    def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        if reason is MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT:
            own = MessageIdentifier(self.qm.adm.Identifier, message.Identifier.Ordinal)
            position.MessageReference = replace(message, Identifier=own)
        super().send_final_ack_of_message(position, reason, now)
        position.MessageReference = message


@fault("receiver-final-ack-of-removed-message-has-message-id-one-too-high", breaks="MQQB-3.1.7.17-D07")
class ReceiverFinalAckOfRemovedMessageHasMessageIdOneTooHigh(FinalAcks):
    """The receiver sends a FinalAck whose MessageID is one too high for a message that was purged or
    deleted with its queue.
    """

    def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        if reason in (MessageClass.MQMSG_CLASS_NACK_Q_PURGED, MessageClass.MQMSG_CLASS_NACK_Q_DELETED):
            identifier = replace(message.Identifier, Ordinal=message.Identifier.Ordinal + 1)
            position.MessageReference = replace(message, Identifier=identifier)
        super().send_final_ack_of_message(position, reason, now)
        position.MessageReference = message


@fault("receiver-final-ack-message-id-cut-to-16-bits", breaks=("MQQB-3.1.7.17-D07", "MQQB-3.1.7.17-D10"), blind=True)
class ReceiverFinalAckMessageIdCutTo16Bits(FinalAcks):
    """The receiver sends a FinalAck whose MessageID has only the lower 16 bits of the number of the message."""

    def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        identifier = replace(message.Identifier, Ordinal=message.Identifier.Ordinal & 0xFFFF)
        position.MessageReference = replace(message, Identifier=identifier)
        super().send_final_ack_of_message(position, reason, now)
        position.MessageReference = message

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        user = replace(packet.UserHeader, MessageID=packet.UserHeader.MessageID & 0xFFFF)
        super().send_negative_final_ack(session, replace(packet, UserHeader=user), message_class, now)


@fault("receiver-final-acks-repeat-message-id-of-first-message", breaks="MQQB-3.1.7.17-D07", blind=True)
class ReceiverFinalAcksRepeatMessageIdOfFirstMessage(FinalAcks):
    """The receiver sets MessageID in the FinalAcks of a sequence to the number of the first removed
    message of the sequence.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: dict[object, int] = {}

    def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        sequence = message.TransactionalMessageSequenceIdentifier
        ordinal = self.first.setdefault(sequence, message.Identifier.Ordinal)
        position.MessageReference = replace(message, Identifier=replace(message.Identifier, Ordinal=ordinal))
        super().send_final_ack_of_message(position, reason, now)


@fault("receiver-final-ack-of-refused-packet-previous-number-one-too-low", breaks="MQQB-3.1.7.17-D08", blind=True)
class ReceiverFinalAckOfRefusedPacketPreviousNumberOneTooLow(FinalAcks):
    """The receiver always sends TxSequenceNumber minus one as TxPreviousSequenceNumber in the FinalAck
    of a refused packet.
    """

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        header = packet.TransactionHeader
        if header is not None:
            packet = replace(
                packet, TransactionHeader=replace(header, PreviousTxSequenceNumber=header.TxSequenceNumber - 1)
            )
        super().send_negative_final_ack(session, packet, message_class, now)


@fault("receiver-final-ack-source-guid-is-guid-of-session", breaks="MQQB-3.1.7.17-D09", blind=True)
class ReceiverFinalAckSourceGuidIsGuidOfSession(FinalAcks):
    """The receiver sets SourceGUID in the FinalAck of a refused packet to the GUID of the session's queue manager."""

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        other = replace(packet.UserHeader, SourceQueueManager=session.RemoteQMGuid)
        super().send_negative_final_ack(session, replace(packet, UserHeader=other), message_class, now)


@fault("receiver-final-ack-of-refused-packet-message-id-cut-to-16-bits", breaks="MQQB-3.1.7.17-D10", blind=True)
class ReceiverFinalAckOfRefusedPacketMessageIdCutTo16Bits(FinalAcks):
    """The receiver puts only the low 16 bits of the MessageID into the FinalAck of a refused packet."""

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        user = replace(packet.UserHeader, MessageID=packet.UserHeader.MessageID & 0xFFFF)
        super().send_negative_final_ack(session, replace(packet, UserHeader=user), message_class, now)


@fault("receiver-final-ack-of-refused-packet-has-source-guid-of-session", breaks="MQQB-3.1.7.17-D09", blind=True)
class ReceiverFinalAckOfRefusedPacketHasSourceGuidOfSession(FinalAcks):
    """The receiver sets SourceGUID in the FinalAck of a refused packet to RemoteQMGuid of the session, which is the
    router if the packet was routed.
    """

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        header, user = packet.TransactionHeader, packet.UserHeader
        assert header is not None
        numbers = (header.TxSequenceNumber, header.PreviousTxSequenceNumber)
        body = FinalAckBody(header.TxSequenceID, *numbers, session.RemoteQMGuid, user.MessageID)
        name = self.qm.order_acks.build_order_queue_name(session, user.SourceQueueManager)
        self.qm.order_acks.send_transactional_ack(name, message_class, body, now)
