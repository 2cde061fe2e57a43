"""Faults that break rules of MS-MQQB 2.2.4 OrderAck Packet and of 2.2.4.1."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.fields import set_field_value
from harness.faults.ordering_acks import WRONG_HEADER_FAULTS
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import combine_installers, set_fields
from harness.faults.registry import Install, add
from harness.faults.sent_messages import change_constructed_packet
from reference_qm.codec import (
    MessageClass,
    MessagePropertiesHeader,
    OrderAckBody,
    PrivateName,
    PrivateQueueFormatName,
    PrivateQueueFormatNameId,
    UserMessagePacket,
    parse_format_name,
)
from reference_qm.core.part import QM
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.order_acks import OrderAcks, is_order_ack
from reference_qm.model.adm import IncomingTransactionalTransferInfo, Message, OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now

for _name, _rule, _does in (
    ("receiver-order-ack-priority-3", "MQQB-2.2.4-01", "has priority 3"),
    ("receiver-order-ack-mp-clear", "MQQB-2.2.4-02", "has MP clear"),
    ("receiver-order-ack-jn-set", "MQQB-2.2.4-03", "has JN set"),
    ("receiver-order-ack-sent-to-private-queue-5", "MQQB-2.2.4-04", "has private queue 5 as destination"),
    (
        "receiver-order-ack-destination-computer-name",
        "MQQB-2.2.4-05",
        "has a computer name instead of an address in its destination",
    ),
    ("receiver-order-ack-destination-other-address", "MQQB-2.2.4-06", "has a wrong address in its destination"),
    ("receiver-order-ack-label-wrong", "MQQB-2.2.4-07", "has a wrong label"),
    ("receiver-order-ack-body-40-bytes", "MQQB-2.2.4-08", "has a body of 40 bytes"),
    ("receiver-order-ack-requests-acknowledgment", "MQQB-2.2.4-09", "requests an acknowledgment"),
    ("receiver-order-ack-body-type-vt-ui1", "MQQB-2.2.4-11", "has BodyType VT_UI1"),
    (
        "receiver-order-ack-numbers-before-sequence-id",
        ("MQQB-2.2.4-12", "MQQB-2.2.4.1-D01"),
        "has its sequence numbers before TxSequenceID",
    ),
    ("receiver-order-ack-reserved-missing", "MQQB-2.2.4.1-D01", "has no reserved bytes"),
    (
        "receiver-order-ack-sequence-number-31-bits",
        "MQQB-2.2.4.1-D02",
        "has a TxSequenceNumber without its highest bit",
    ),
    ("receiver-order-ack-sequence-number-zero", "MQQB-2.2.4.1-D02", "has a TxSequenceNumber of 0"),
    ("receiver-order-ack-sequence-id-one-more", "MQQB-2.2.4.1-01", "has a TxSequenceID that is one too high"),
    ("receiver-order-ack-sequence-number-one-more", "MQQB-2.2.4.1-02", "has a TxSequenceNumber that is one too high"),
    (
        "receiver-order-ack-previous-number-one-more",
        "MQQB-2.2.4.1-03",
        "has a TxPreviousSequenceNumber that is one too high",
    ),
):
    add(_name, _rule, f"The receiver's OrderAck {_does}.", WRONG_HEADER_FAULTS[_does](is_order_ack))


def _is_order_ack_to_private_name(packet: UserMessagePacket) -> bool:
    """Return whether a packet is an OrderAck that is sent to a private format name."""
    return packet.MessagePropertiesHeader.MessageClass == 0xFF and packet.UserHeader.DQ == 3


def _is_order_ack_of_later_message(packet: UserMessagePacket) -> bool:
    """Return whether a packet is an OrderAck for a message other than the first message."""
    properties = packet.MessagePropertiesHeader
    return properties.MessageClass == 0xFF and int.from_bytes(properties.MessageBody[8:12], "little") > 1


for _name, _rule, _path, _value, _when in (
    (
        "receiver-order-ack-to-private-name-with-pa",
        "MQQB-2.2.4-09",
        "MessagePropertiesHeader.PA",
        1,
        _is_order_ack_to_private_name,
    ),
    (
        "receiver-order-ack-of-later-message-with-jn",
        "MQQB-2.2.4-03",
        "UserHeader.JN",
        1,
        _is_order_ack_of_later_message,
    ),
    (
        "receiver-order-ack-to-private-name-of-priority-3",
        "MQQB-2.2.4-01",
        "BaseHeader.PR",
        3,
        _is_order_ack_to_private_name,
    ),
    (
        "receiver-later-order-ack-with-body-type",
        "MQQB-2.2.4-11",
        "MessagePropertiesHeader.BodyType",
        8,
        _is_order_ack_of_later_message,
    ),
):
    add(
        _name,
        _rule,
        f"The receiver sends {_path} {_value} in an OrderAck "
        f"{'to a private name' if _when is _is_order_ack_to_private_name else 'of a later message'}.",
        set_field_value(UserMessagePacket, _path, _value, _when),
        blind=True,
    )


@fault("receiver-order-ack-with-session-header", breaks="MQQB-2.2.4-01")
class ReceiverOrderAckWithSessionHeader(MessageSending):
    """The receiver puts a due session acknowledgment into the OrderAck, so SH is set in BaseHeader.Flags."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        due = self.is_acknowledgment_due(session, now)
        packet = super().update_user_message(session, position, now)
        if due and is_order_ack(packet):
            flags = packet.BaseHeader.Flags | 0x10
            header = self.qm.session_acks.build_session_header(session)
            packet = replace(packet, BaseHeader=replace(packet.BaseHeader, Flags=flags), SessionHeader=header)
            self.qm.session_acks.reset_unacknowledged_counts(session, now)
        return packet


PROPERTIES_HEADER_NAME = "MessagePropertiesHeader"


add(
    "receiver-order-ack-message-size-0",
    "MQQB-2.2.4-08",
    "The receiver sends an OrderAck with a MessageSize of 0.",
    set_field_value(UserMessagePacket, f"{PROPERTIES_HEADER_NAME}.MessageSize", 0, is_order_ack),
)


add(
    "receiver-order-ack-message-size-16",
    "MQQB-2.2.4-08",
    "The receiver sends an OrderAck with a MessageSize of 16, the size without Reserved.",
    set_field_value(UserMessagePacket, f"{PROPERTIES_HEADER_NAME}.MessageSize", 16, is_order_ack),
)


class _LatestMessageRecorder(Identifying):
    """Remember the properties of the last transactional message that arrived."""

    def check_field_values(self, packet: Any) -> None:
        super().check_field_values(packet)
        if isinstance(packet, UserMessagePacket) and packet.TransactionHeader is not None:
            _LATEST_MESSAGE_PROPERTIES_BY_QUEUE_MANAGER[id(self.qm)] = packet.MessagePropertiesHeader


_LATEST_MESSAGE_PROPERTIES_BY_QUEUE_MANAGER: dict[int, MessagePropertiesHeader] = {}


def _copy_property_of_latest_message_to_order_ack(name: str) -> Install:
    """Return a function that installs a fault: the receiver copies one property of the latest message to an
    OrderAck.
    """

    def copy_property(packet: UserMessagePacket, message: Message) -> UserMessagePacket:
        last = next(reversed(_LATEST_MESSAGE_PROPERTIES_BY_QUEUE_MANAGER.values()), None)
        if message.Class is not MessageClass.MQMSG_CLASS_ORDER_ACK or last is None:
            return packet
        changed: UserMessagePacket = set_fields(packet, {f"{PROPERTIES_HEADER_NAME}.{name}": getattr(last, name)})
        return changed

    return combine_installers(replace_part(_LatestMessageRecorder), change_constructed_packet(copy_property))


add(
    "receiver-order-ack-flags-of-message",
    "MQQB-2.2.4-09",
    "The receiver sends MessagePropertiesHeader.Flags of the last message in an OrderAck.",
    _copy_property_of_latest_message_to_order_ack("Flags"),
)


NORMAL_MESSAGE_CLASS = 0


add(
    "receiver-order-ack-class-normal",
    "MQQB-2.2.4-10",
    "The receiver sends an OrderAck with the MessageClass NORMAL.",
    set_field_value(UserMessagePacket, "MessagePropertiesHeader.MessageClass", NORMAL_MESSAGE_CLASS, is_order_ack),
)


add(
    "receiver-order-ack-body-type-of-message",
    "MQQB-2.2.4-11",
    "The receiver sends BodyType of the last message as BodyType of an OrderAck.",
    _copy_property_of_latest_message_to_order_ack("BodyType"),
)


@fault("receiver-order-ack-always-with-first-tx-sequence-id-of-queue", breaks="MQQB-2.2.4.1-01", blind=True)
class ReceiverOrderAckAlwaysWithFirstTxSequenceIdOfQueue(OrderAcks):
    """The receiver sends the TxSequenceID of the sender's first sequence to a queue in every OrderAck
    for this queue.
    """

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        first = self.__dict__.setdefault("first", {})
        return replace(
            super().build(transfer), TxSequenceID=first.setdefault(id(transfer), transfer.saved_sequence_identifier)
        )


@fault("receiver-order-ack-ordinal-cut-to-16-bits", breaks="MQQB-2.2.4.1-01", blind=True)
class ReceiverOrderAckOrdinalCutTo16Bits(OrderAcks):
    """The receiver sends an OrderAck whose TxSequenceID has only the lower 16 bits of the Ordinal."""

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body = super().build(transfer)
        identifier = replace(body.TxSequenceID, Ordinal=body.TxSequenceID.Ordinal & 0xFFFF)
        return replace(body, TxSequenceID=identifier)


@fault("receiver-order-acks-of-two-queues-have-the-same-sequence", breaks="MQQB-2.2.4.1-01")
class ReceiverOrderAcksOfTwoQueuesHaveTheSameSequence(OrderAcks):
    """When the receiver acknowledges sequences to two queues at the same time, it sends the identifier of the first
    sequence in both OrderAcks.
    """

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        self.__dict__["first"] = next(iter(session.order_acks_due), None)
        super().on_order_ack_send_timer(session, now)
        self.__dict__["first"] = None

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body, first = super().build(transfer), self.__dict__.get("first")
        return body if first is None else replace(body, TxSequenceID=first.saved_sequence_identifier)


@fault("receiver-order-ack-of-second-sequence-has-id-of-first", breaks="MQQB-2.2.4.1-01")
class ReceiverOrderAckOfSecondSequenceHasIdOfFirst(OrderAcks):
    """The receiver sends the TxSequenceID of the first sequence in the OrderAcks for a second sequence."""

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body = super().build(transfer)
        known = self.__dict__.setdefault("known", {})
        key = (transfer.SenderIdentifier, transfer.FormatName)
        return replace(body, TxSequenceID=known.setdefault(key, body.TxSequenceID))


def _get_transfer_of_first_sender(transfer: IncomingTransactionalTransferInfo) -> IncomingTransactionalTransferInfo:
    """Return the state of the transfer from the sender that was the first to send a transactional message to the queue
    of the given transfer.
    """
    return next(iter(transfer.QueueReference.IncomingTransactionalTransferInfoCollection.values()))


@fault("receiver-order-acks-repeat-sequence-id-of-first-sender", breaks="MQQB-2.2.4.1-01")
class ReceiverOrderAcksRepeatSequenceIdOfFirstSender(OrderAcks):
    """TxSequenceID of every OrderAck is that of the first sender's sequence."""

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        return replace(
            super().build(transfer), TxSequenceID=_get_transfer_of_first_sender(transfer).saved_sequence_identifier
        )


@fault("receiver-order-ack-has-number-of-other-due-sequence", breaks="MQQB-2.2.4.1-02", blind=True)
class ReceiverOrderAckHasNumberOfOtherDueSequence(OrderAcks):
    """When the OrderAcks of two sequences are due at the same time, the receiver puts the number of the last sequence
    into both OrderAcks.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.last: int | None = None

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        self.last = next(
            (one.saved_sequence_number for one in reversed(session.order_acks_due) if one.saved_sequence_number), None
        )
        super().on_order_ack_send_timer(session, now)
        self.last = None

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body = super().build(transfer)
        if self.last is None:
            return body
        return replace(body, TxSequenceNumber=self.last, TxPreviousSequenceNumber=self.last - 1)


@fault("receiver-order-ack-number-at-most-65535", breaks="MQQB-2.2.4.1-02", blind=True)
class ReceiverOrderAckNumberAtMost65535(OrderAcks):
    """The receiver sends an OrderAck with TxSequenceNumber 0xFFFF instead of a greater number."""

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body = super().build(transfer)
        number = min(body.TxSequenceNumber, 0xFFFF)
        return replace(body, TxSequenceNumber=number, TxPreviousSequenceNumber=number - 1)


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

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        self.__dict__["first"] = next(iter(session.order_acks_due), None)
        super().on_order_ack_send_timer(session, now)
        self.__dict__["first"] = None

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body, first = super().build(transfer), self.__dict__.get("first")
        number = (
            first.saved_sequence_number if first is not None and first.saved_sequence_number else body.TxSequenceNumber
        )
        return replace(body, TxSequenceNumber=number, TxPreviousSequenceNumber=number - 1)


@fault("receiver-order-ack-number-increased-by-rejected-messages", breaks=("MQQB-2.2.4.1-02", "MQQB-3.1.1.6.2-03"))
class ReceiverOrderAckNumberIncreasedByRejectedMessages(OrderAcks):
    """The receiver adds the number of rejected messages to TxSequenceNumber of an OrderAck."""

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body = super().build(transfer)
        number = body.TxSequenceNumber + transfer.RejectCount
        return replace(body, TxSequenceNumber=number, TxPreviousSequenceNumber=number - 1)


@fault("receiver-order-acks-repeat-number-of-first-sender", breaks="MQQB-2.2.4.1-02")
class ReceiverOrderAcksRepeatNumberOfFirstSender(OrderAcks):
    """TxSequenceNumber of every OrderAck is that of the last message from the first sender."""

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        return replace(
            super().build(transfer), TxSequenceNumber=_get_transfer_of_first_sender(transfer).saved_sequence_number
        )


@fault("receiver-order-ack-previous-number-is-number-of-last-order-ack", breaks="MQQB-2.2.4.1-03", blind=True)
class ReceiverOrderAckPreviousNumberIsNumberOfLastOrderAck(OrderAcks):
    """The receiver sends the TxSequenceNumber of its previous OrderAck as TxPreviousSequenceNumber of an OrderAck."""

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        last = self.__dict__.setdefault("last", {})
        body = super().build(transfer)
        body = replace(body, TxPreviousSequenceNumber=last.get(id(transfer), 0))
        last[id(transfer)] = body.TxSequenceNumber
        return body


class _LatestMessageFinder(OrderAcks):
    """Find the last message that was accepted in each sequence."""

    def find_latest_message(self, transfer: IncomingTransactionalTransferInfo) -> Any:
        positions = list(transfer.QueueReference.MessagePositionList)
        return positions[-1].MessageReference if positions else None


@fault("receiver-order-ack-previous-number-copied-from-message", breaks="MQQB-2.2.4.1-03")
class ReceiverOrderAckPreviousNumberCopiedFromMessage(_LatestMessageFinder):
    """The receiver copies PreviousTxSequenceNumber of the latest message to TxPreviousSequenceNumber of the
    OrderAck.
    """

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body, message = super().build(transfer), self.find_latest_message(transfer)
        if message is None or message.TransactionSequenceNumber != body.TxSequenceNumber:
            return body
        return replace(body, TxPreviousSequenceNumber=message.TransactionPreviousSequenceNumber)


ORDER_ACK_RESERVED_OFFSET = 16


@fault("sender-order-ack-reserved-not-zero-ignored", breaks="MQQB-2.2.4.1-04")
class SenderOrderAckReservedNotZeroIgnored(OrderAcks):
    """The sender ignores an OrderAck whose Reserved field is not zero."""

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if not any(packet.MessagePropertiesHeader.MessageBody[ORDER_ACK_RESERVED_OFFSET:]):
            super().receive(session, packet, now)


@fault("sender-order-ack-ignored-if-last-reserved-byte-is-nonzero", breaks="MQQB-2.2.4.1-04", blind=True)
class SenderOrderAckIgnoredIfLastReservedByteIsNonzero(OrderAcks):
    """The sender ignores an OrderAck in which the last byte of Reserved is not zero."""

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if not packet.MessagePropertiesHeader.MessageBody[-1]:
            super().receive(session, packet, now)


@fault("sender-closes-session-if-order-ack-reserved-is-nonzero", breaks="MQQB-2.2.4.1-04", blind=True)
class SenderClosesSessionIfOrderAckReservedIsNonzero(OrderAcks):
    """The sender closes the session after an OrderAck in which the first byte of Reserved is not zero."""

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if packet.MessagePropertiesHeader.MessageBody[16]:
            self.qm.session_closing.close(session, "a fault", now)
            return
        super().receive(session, packet, now)


@fault("sender-ignores-order-ack-with-nonzero-last-4-bytes-of-reserved", breaks="MQQB-2.2.4.1-04")
class SenderIgnoresOrderAckWithNonzeroLast4BytesOfReserved(OrderAcks):
    """The sender ignores an OrderAck if the last four bytes of Reserved are not zero."""

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if not any(packet.MessagePropertiesHeader.MessageBody[-4:]):
            super().receive(session, packet, now)


add(
    "receiver-order-ack-to-private-name-body-type-byte-array",
    "MQQB-2.2.4-11",
    "The receiver sets BodyType of an OrderAck to a private format name to VT_VECTOR | VT_UI1.",
    set_field_value(
        UserMessagePacket,
        "MessagePropertiesHeader.BodyType",
        0x1011,
        lambda packet: (
            packet.MessagePropertiesHeader.MessageClass == 0xFF
            and packet.MessagePropertiesHeader.Label == "QM Ordering Ack"
            and isinstance(packet.UserHeader.DestinationQueue, PrivateQueueFormatNameId | PrivateQueueFormatName)
        ),
    ),
    blind=True,
)


@fault("receiver-sends-order-ack-to-private-admin-queue-of-message", breaks="MQQB-2.2.4-04", blind=True)
class ReceiverSendsOrderAckToPrivateAdminQueueOfMessage(MessageSending):
    """The receiver puts the number of the private administration queue that the acknowledged message names into
    DestinationQueue of an OrderAck with DQ 3.
    """

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        message = position.MessagePosition.MessageReference
        queue = packet.UserHeader.DestinationQueue
        if message.Class == MessageClass.MQMSG_CLASS_ORDER_ACK and isinstance(queue, PrivateQueueFormatNameId):
            acknowledged = self._find_acknowledged_message(message)
            admin = None if acknowledged is None else acknowledged.AdministrationQueueFormatName
            name = None if admin is None else parse_format_name(admin)
            if isinstance(name, PrivateName) and name.ComputerGuid == packet.UserHeader.QueueManagerAddress:
                number = PrivateQueueFormatNameId(name.QueueIdentifier)
                packet = replace(packet, UserHeader=replace(packet.UserHeader, DestinationQueue=number))
        super().transmit(session, position, packet)

    def _find_acknowledged_message(self, order_ack: Message) -> Message | None:
        body = OrderAckBody.parse(order_ack.Body)
        wanted = (body.TxSequenceID, body.TxSequenceNumber)
        for queue in self.qm.adm.QueueCollection.values():
            for position in queue.MessagePositionList:
                message = position.MessageReference
                if (message.TransactionalMessageSequenceIdentifier, message.TransactionSequenceNumber) == wanted:
                    return message
        return None


@fault("receiver-order-ack-copies-previous-number-of-message", breaks="MQQB-2.2.4.1-03", blind=True)
class ReceiverOrderAckCopiesPreviousNumberOfMessage(OrderAcks):
    """The receiver sets TxPreviousSequenceNumber of an OrderAck to PreviousTxSequenceNumber of the acknowledged
    message, which is lower than TxSequenceNumber minus one if the sequence has a gap.
    """

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body = super().build(transfer)
        wanted = (body.TxSequenceID, body.TxSequenceNumber)
        for position in transfer.QueueReference.MessagePositionList:
            message = position.MessageReference
            if (message.TransactionalMessageSequenceIdentifier, message.TransactionSequenceNumber) == wanted:
                return replace(body, TxPreviousSequenceNumber=message.TransactionPreviousSequenceNumber)
        return body
