"""Faults of MS-MQQB 2.2.4 OrderAck Packet that need two messages, two queues or two senders."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.fields import field_is
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import both, set_fields
from harness.faults.registry import Install, add
from harness.faults.sent_messages import change_construction
from reference_qm.codec import MessageClass, MessagePropertiesHeader, OrderAckBody, UserMessagePacket
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.order_acks import OrderAcks, is_order_ack
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import IncomingTransactionalTransferInfo, Message, OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now

PROPERTIES = "MessagePropertiesHeader"

add(
    "receiver-order-ack-message-size-0",
    "MQQB-2.2.4-08",
    "The receiver sends an OrderAck with a MessageSize of 0.",
    field_is(UserMessagePacket, f"{PROPERTIES}.MessageSize", 0, is_order_ack),
)
add(
    "receiver-order-ack-message-size-16",
    "MQQB-2.2.4-08",
    "The receiver sends an OrderAck with a MessageSize of 16, the size without Reserved.",
    field_is(UserMessagePacket, f"{PROPERTIES}.MessageSize", 16, is_order_ack),
)


@fault("receiver-order-ack-with-session-header", breaks="MQQB-2.2.4-01")
class ReceiverOrderAckWithSessionHeader(Sending):
    """The receiver puts a due session acknowledgment into the OrderAck, so SH is set in BaseHeader.Flags."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        due = self.is_acknowledgment_due(session, now)
        packet = super().update_user_message(session, position, now)
        if due and is_order_ack(packet):
            flags = packet.BaseHeader.Flags | 0x10
            header = self.qm.session_acks.build_header(session)
            packet = replace(packet, BaseHeader=replace(packet.BaseHeader, Flags=flags), SessionHeader=header)
            self.qm.session_acks.note_acknowledged(session, now)
        return packet


class _FindingLatestMessage(OrderAcks):
    """Find the last message that was accepted in each sequence."""

    def latest(self, transfer: IncomingTransactionalTransferInfo) -> Any:
        positions = list(transfer.QueueReference.MessagePositionList)
        return positions[-1].MessageReference if positions else None


@fault("receiver-order-ack-previous-number-of-message", breaks="MQQB-2.2.4.1-03")
class ReceiverOrderAckPreviousNumberOfMessage(_FindingLatestMessage):
    """The receiver copies PreviousTxSequenceNumber of the last message to TxPreviousSequenceNumber of the OrderAck."""

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body, message = super().build(transfer), self.latest(transfer)
        if message is None or message.TransactionSequenceNumber != body.TxSequenceNumber:
            return body
        return replace(body, TxPreviousSequenceNumber=message.TransactionPreviousSequenceNumber)


@fault("receiver-order-ack-number-of-16-bits", breaks="MQQB-2.2.4.1-02")
class ReceiverOrderAckNumberOf16Bits(OrderAcks):
    """The receiver sends only the low 16 bits of a TxSequenceNumber above 65,535."""

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body = super().build(transfer)
        number = body.TxSequenceNumber & 0xFFFF or body.TxSequenceNumber
        return replace(body, TxSequenceNumber=number, TxPreviousSequenceNumber=number - 1)


@fault("receiver-order-acks-of-two-queues-have-the-same-number", breaks="MQQB-2.2.4.1-02")
class ReceiverOrderAcksOfTwoQueuesHaveTheSameNumber(OrderAcks):
    """When the receiver acknowledges sequences to two queues at the same time, it sends the number of the first
    sequence in both OrderAcks.
    """

    def on_send_timer(self, session: Session, now: Now) -> None:
        self.__dict__["first"] = next(iter(session.order_acks_due), None)
        super().on_send_timer(session, now)
        self.__dict__["first"] = None

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body, first = super().build(transfer), self.__dict__.get("first")
        number = first.saved_number if first is not None and first.saved_number else body.TxSequenceNumber
        return replace(body, TxSequenceNumber=number, TxPreviousSequenceNumber=number - 1)


@fault("receiver-order-acks-of-two-queues-have-the-same-sequence", breaks="MQQB-2.2.4.1-01")
class ReceiverOrderAcksOfTwoQueuesHaveTheSameSequence(OrderAcks):
    """When the receiver acknowledges sequences to two queues at the same time, it sends the identifier of the first
    sequence in both OrderAcks.
    """

    def on_send_timer(self, session: Session, now: Now) -> None:
        self.__dict__["first"] = next(iter(session.order_acks_due), None)
        super().on_send_timer(session, now)
        self.__dict__["first"] = None

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body, first = super().build(transfer), self.__dict__.get("first")
        return body if first is None else replace(body, TxSequenceID=first.saved_identifier)


@fault("receiver-order-ack-number-after-rejected-message", breaks="MQQB-2.2.4.1-02")
class ReceiverOrderAckNumberAfterRejectedMessage(OrderAcks):
    """The receiver adds the number of rejected messages to TxSequenceNumber of an OrderAck."""

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body = super().build(transfer)
        number = body.TxSequenceNumber + transfer.RejectCount
        return replace(body, TxSequenceNumber=number, TxPreviousSequenceNumber=number - 1)


@fault("receiver-order-ack-sequence-of-first-message", breaks="MQQB-2.2.4.1-01")
class ReceiverOrderAckSequenceOfFirstMessage(OrderAcks):
    """The receiver sends the TxSequenceID of the first sequence in the OrderAcks for a second sequence."""

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body = super().build(transfer)
        known = self.__dict__.setdefault("known", {})
        key = (transfer.SenderIdentifier, transfer.FormatName)
        return replace(body, TxSequenceID=known.setdefault(key, body.TxSequenceID))


class _RememberingLatestMessage(Identifying):
    """Remember the properties of the last transactional message that arrived."""

    def check_form(self, packet: Any) -> None:
        super().check_form(packet)
        if isinstance(packet, UserMessagePacket) and packet.TransactionHeader is not None:
            _LAST[id(self.qm)] = packet.MessagePropertiesHeader


_LAST: dict[int, MessagePropertiesHeader] = {}


def _copy_property(name: str) -> Install:
    """Return a function that installs a fault: the receiver copies one property of the last message to an OrderAck."""

    def copy(packet: UserMessagePacket, message: Message) -> UserMessagePacket:
        last = next(reversed(_LAST.values()), None)
        if message.Class is not MessageClass.MQMSG_CLASS_ORDER_ACK or last is None:
            return packet
        changed: UserMessagePacket = set_fields(packet, {f"{PROPERTIES}.{name}": getattr(last, name)})
        return changed

    return both(replace_part(_RememberingLatestMessage), change_construction(copy))


add(
    "receiver-order-ack-body-type-of-message",
    "MQQB-2.2.4-11",
    "The receiver sends BodyType of the last message as BodyType of an OrderAck.",
    _copy_property("BodyType"),
)
add(
    "receiver-order-ack-flags-of-message",
    "MQQB-2.2.4-09",
    "The receiver sends MessagePropertiesHeader.Flags of the last message in an OrderAck.",
    _copy_property("Flags"),
)


@fault("initiator-order-ack-reserved-refused", breaks="MQQB-2.2.4.1-04")
class InitiatorOrderAckReservedRefused(OrderAcks):
    """The sender ignores an OrderAck if the last four bytes of Reserved are not zero."""

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if not any(packet.MessagePropertiesHeader.MessageBody[-4:]):
            super().receive(session, packet, now)
