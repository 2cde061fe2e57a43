"""Faults that break the rules MQMQ-2.2.18-D01 to MQMQ-2.2.18.1.4.1-02."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast
from uuid import UUID

from harness.faults.made_up import MADE_UP_GUID
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import (
    change_packets_of_kind,
    replace_method_during,
    send_wrong_bytes,
    send_wrong_field_values,
    set_fields,
)
from harness.faults.registry import Install, add
from harness.faults.sent_messages import has_header, reverse_number_bytes
from reference_qm.codec import (
    DirectQueueFormatName,
    FinalAckBody,
    FormatError,
    MessageClass,
    MessageIdentifier,
    OrderAckBody,
    PrivateName,
    TxSequenceID,
    UserMessagePacket,
    parse_format_name,
    parse_packet,
)
from reference_qm.codec.mqf import MQFFormatNameElement
from reference_qm.codec.queue_formats import MQFDistributionQueueFormatName, PrivateQueueFormatName
from reference_qm.core.names.message_numbering import MessageNumbering
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import Message, MessagePosition, Session
from reference_qm.surface.clock import Now
from suites.mqmq.steps.kinds_of_messages import is_admin_ack

TIME_TO_REACH_QUEUE_OFFSET = 12
"""The offset of TimeToReachQueue in the BaseHeader."""


add(
    "sender-user-message-time-to-reach-queue-big-endian",
    "MQMQ-2.2.18-D01",
    "The sender's UserMessage carries a big-endian TimeToReachQueue.",
    change_packets_of_kind(UserMessagePacket, reverse_number_bytes(TIME_TO_REACH_QUEUE_OFFSET, 4)),
)


def make_message_class_condition(*classes: int) -> Callable[[Any], bool]:
    """Return a condition that selects messages of some classes."""
    return lambda packet: packet.MessagePropertiesHeader.MessageClass in classes


def reverse_previous_number_bytes(body: bytes) -> bytes:
    """Return the body of an OrderAck in which the bytes of TxPreviousSequenceNumber are reversed."""
    return body[:12] + body[12:16][::-1] + body[16:]


add(
    "receiver-order-ack-previous-number-big-endian",
    "MQMQ-2.2.18-D01",
    "A queue manager sends an OrderAck whose TxPreviousSequenceNumber is big-endian.",
    send_wrong_field_values(
        UserMessagePacket,
        {"MessagePropertiesHeader.MessageBody": reverse_previous_number_bytes},
        make_message_class_condition(MessageClass.MQMSG_CLASS_ORDER_ACK),
    ),
)


add(
    "sender-application-tag-big-endian",
    "MQMQ-2.2.18-D01",
    "The sender writes ApplicationTag of a message in big-endian order.",
    send_wrong_field_values(
        UserMessagePacket,
        {
            "MessagePropertiesHeader.ApplicationTag": lambda tag: int.from_bytes(tag.to_bytes(4, "little"), "big"),
        },
    ),
)


USER_MESSAGE_TYPE = UserMessagePacket


PROPERTIES_HEADER_NAME = "MessagePropertiesHeader"


for _name, _rule, _says, _install in (
    (
        "admin-ack-correlation-id-number-reversed",
        "MQMQ-2.2.18-D01",
        "A queue manager sends an administration acknowledgment with a big-endian number in CorrelationID.",
        send_wrong_field_values(
            USER_MESSAGE_TYPE,
            {f"{PROPERTIES_HEADER_NAME}.CorrelationID": lambda old: old[:16] + old[:15:-1]},
            is_admin_ack,
        ),
    ),
    (
        "response-queue-direct-name-of-odd-length-extended",
        "MQMQ-2.2.18.1.5.2-D02",
        "The sender appends a character to a direct name with an odd number of characters in ResponseQueue.",
        send_wrong_field_values(
            USER_MESSAGE_TYPE,
            {"UserHeader.ResponseQueue": lambda old: DirectQueueFormatName(old.DirectFormatName + "x")},
            lambda p: (
                isinstance(p.UserHeader.ResponseQueue, DirectQueueFormatName)
                and len(p.UserHeader.ResponseQueue.DirectFormatName) % 2 == 1
            ),
        ),
    ),
):
    add(f"narrow-{_name}", _rule, _says, _install, blind=True)


def _change_compared_sequence_number(number: Callable[[TxSequenceID], int]) -> Install:
    """Let the receiver compare TxSequenceIDs by the numbers that `number` computes from them."""

    class ComparedNumberChanger(TransactionalReceiving):
        def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
            header, known = packet.TransactionHeader, session.IncomingTxSequenceID
            if header is None or header.TxSequenceID == known or header.PreviousTxSequenceNumber:
                return super().is_in_sequence(session, packet)
            return number(header.TxSequenceID) > number(known)

    return replace_part(ComparedNumberChanger)


add(
    "receiver-tx-sequence-id-ordinal-compared-first",
    ("MQMQ-2.2.18.1.2-D01", "MQMQ-2.2.18.1.2-D02"),
    "The receiver compares two TxSequenceIDs by Ordinal first, then by TimeStamp.",
    _change_compared_sequence_number(lambda one: one.Ordinal << 32 | one.TimeStamp),
)


def swap_ordinal_and_time_stamp(identifier: TxSequenceID) -> TxSequenceID:
    """Return a TxSequenceID in which Ordinal and TimeStamp are exchanged."""
    return TxSequenceID(Ordinal=identifier.TimeStamp, TimeStamp=identifier.Ordinal)


@fault("receiver-final-ack-tx-sequence-id-halves-exchanged", breaks="MQMQ-2.2.18.1.2-D01")
class ReceiverFinalAckTxSequenceIdHalvesExchanged(OrderAcks):
    """The receiver sends a FinalAck in which Ordinal and TimeStamp of TxSequenceID are exchanged."""

    def send_transactional_ack(
        self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody, now: Now
    ) -> None:
        if isinstance(body, FinalAckBody):
            body = replace(body, TxSequenceID=swap_ordinal_and_time_stamp(body.TxSequenceID))
        super().send_transactional_ack(name, message_class, body, now)


add(
    "receiver-tx-sequence-id-ordinal-ignored",
    "MQMQ-2.2.18.1.2-D02",
    "The receiver compares two TxSequenceIDs only by TimeStamp.",
    _change_compared_sequence_number(lambda one: one.TimeStamp),
)


@fault("receiver-refuses-later-sequence-with-equal-time-stamp", breaks="MQMQ-2.2.18.1.2-D02", blind=True)
class ReceiverRefusesLaterSequenceWithEqualTimeStamp(TransactionalReceiving):
    """The receiver refuses a later sequence whose TimeStamp equals that of the known sequence."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header, last = packet.TransactionHeader, session.IncomingTxSequenceID
        assert header is not None
        if header.TxSequenceID != last and header.TxSequenceID.TimeStamp == last.TimeStamp:
            return False
        return super().is_in_sequence(session, packet)


def _read_sequence_identifier_as_signed(identifier: TxSequenceID) -> int:
    return (int(identifier) ^ 1 << 63) - (1 << 63)


@fault("receiver-tx-sequence-id-compared-as-signed", breaks="MQMQ-2.2.18.1.2-D02", blind=True)
class ReceiverTxSequenceIdComparedAsSigned(TransactionalReceiving):
    """The receiver compares two TxSequenceIDs as signed integers."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header, last = packet.TransactionHeader, session.IncomingTxSequenceID
        assert header is not None
        if header.TxSequenceID == last:
            return super().is_in_sequence(session, packet)
        return (
            _read_sequence_identifier_as_signed(header.TxSequenceID) > _read_sequence_identifier_as_signed(last)
            and header.PreviousTxSequenceNumber == 0
        )


class DerivedSequenceIdComparer(TransactionalReceiving):
    """The receiver compares a number that it derives wrongly from each TxSequenceID."""

    def derive_compared_number(self, identifier: TxSequenceID) -> int:
        """Return the number that the receiver compares."""
        return int(identifier)

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        if header.TxSequenceID == session.IncomingTxSequenceID:
            return super().is_in_sequence(session, packet)
        later = self.derive_compared_number(header.TxSequenceID) > self.derive_compared_number(
            session.IncomingTxSequenceID
        )
        return later and header.PreviousTxSequenceNumber == 0


@fault("receiver-compares-time-stamp-of-tx-sequence-id-as-signed", breaks="MQMQ-2.2.18.1.2-D02")
class ReceiverComparesTimeStampOfTxSequenceIdAsSigned(DerivedSequenceIdComparer):
    """The receiver compares TimeStamp of TxSequenceIDs as a signed number."""

    def derive_compared_number(self, identifier: TxSequenceID) -> int:
        number = int(identifier)
        return number - (1 << 64) if number >> 63 else number


@fault("receiver-tx-sequence-id-ordinal-compared-as-16-bits", breaks="MQMQ-2.2.18.1.2-D02")
class ReceiverTxSequenceIdOrdinalComparedAs16Bits(DerivedSequenceIdComparer):
    """The receiver compares only the lower 16 bits of Ordinal of TxSequenceIDs."""

    def derive_compared_number(self, identifier: TxSequenceID) -> int:
        return identifier.TimeStamp << 32 | identifier.Ordinal & 0xFFFF


add(
    "sender-report-source-queue-manager-made-up",
    "MQMQ-2.2.18.1.3-01",
    "A queue manager sends a report whose SourceQueueManager is not the GUID of the queue manager.",
    send_wrong_field_values(
        UserMessagePacket,
        {"UserHeader.SourceQueueManager": MADE_UP_GUID},
        make_message_class_condition(MessageClass.MQMSG_CLASS_REPORT),
    ),
)


add(
    "receiver-order-ack-ordinal-that-of-last-message",
    "MQMQ-2.2.18.1.3-02",
    "A queue manager sends an OrderAck or a FinalAck with the ordinal of its previous message.",
    replace_method_during(
        OrderAcks.send_transactional_ack,
        MessageNumbering.assign_message_ordinal,
        lambda original, *_: lambda qm: qm.adm.MessageIdOrdinal,
    ),
)


add(
    "receiver-ack-correlation-id-number-before-guid",
    "MQMQ-2.2.18.1.3-D01",
    "The receiver's acknowledgment carries a CorrelationID with the number before the GUID.",
    send_wrong_field_values(
        UserMessagePacket, {"MessagePropertiesHeader.CorrelationID": lambda old: old[16:] + old[:16]}
    ),
)


@fault("receiver-ack-correlation-number-cut-to-two-bytes", breaks="MQMQ-2.2.18.1.3-D01", blind=True)
class ReceiverAckCorrelationNumberCutToTwoBytes(AdminAcks):
    """The receiver sends an acknowledgment whose CorrelationID contains only the lower two bytes of a message number
    above 0xFFFF.
    """

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        number = message.Identifier.Ordinal & 0xFFFF
        short = MessageIdentifier(message.Identifier.QueueManagerGuid, number)
        return replace(super().build(message, message_class, now), CorrelationIdentifier=short.build())


add(
    "receiver-ack-receive-correlation-number-big-endian",
    "MQMQ-2.2.18.1.3-D01",
    "A queue manager sends an ACK_RECEIVE whose CorrelationID contains the message number in big-endian order.",
    send_wrong_field_values(
        UserMessagePacket,
        {"MessagePropertiesHeader.CorrelationID": lambda old: old[:16] + old[16:][::-1]},
        lambda packet: (
            make_message_class_condition(MessageClass.MQMSG_CLASS_ACK_RECEIVE)(packet)
            and packet.MessagePropertiesHeader.Label is None
        ),
    ),
)


DESTINATION_LIST_HEADER_START_BYTES = struct.pack("<HHI", 0x0064, 0, 1)
"""The bytes between HeaderSize and FormatType in a list of one destination."""


def _change_single_listed_destination(change: Callable[[bytearray, int], None]) -> Install:
    """Change a list that has one destination; `change` is called with the packet and the offset of FormatType."""

    def change_destination_bytes(data: bytes) -> bytes:
        buffer = bytearray(data)
        at = data.find(DESTINATION_LIST_HEADER_START_BYTES)
        if at >= 0:
            change(buffer, at + len(DESTINATION_LIST_HEADER_START_BYTES))
        return bytes(buffer)

    return send_wrong_bytes(UserMessagePacket, change_destination_bytes, has_header("MultiQueueFormatHeader"))


def _set_unknown_format_type(data: bytearray, at: int) -> None:
    data[at : at + 2] = (9).to_bytes(2, "little")


add(
    "sender-destination-list-format-type-9",
    ("MQMQ-2.2.18.1.4-01", "MQMQ-2.2.18.1.4-02", "MQMQ-2.2.20.2-05"),
    "The sender's list of destinations carries FormatType 9.",
    _change_single_listed_destination(_set_unknown_format_type),
)


def _remove_name_terminator(data: bytearray, at: int) -> None:
    data[at + 2 :] = b"\1" * (len(data) - at - 2)


add(
    "sender-destination-list-name-unterminated",
    "MQMQ-2.2.18.1.4.1-01",
    "The sender's list of destinations carries a direct name without its null.",
    _change_single_listed_destination(_remove_name_terminator),
)


def _corrupt_direct_name(data: bytearray, at: int) -> None:
    data[at + 2 : at + 4] = "\\".encode("utf-16-le")


add(
    "sender-destination-list-name-not-direct",
    "MQMQ-2.2.18.1.4.1-02",
    "The sender's list of destinations carries a text of FormatType 3 that is not a direct name.",
    _change_single_listed_destination(_corrupt_direct_name),
)


_DESTINATION_LIST_FIELD = "MultiQueueFormatHeader.Destination.FormatNameList"


def _reverse_guid_bytes(element: MQFFormatNameElement) -> MQFFormatNameElement:
    name = element.FormatName
    if not isinstance(name, MQFDistributionQueueFormatName):
        return element
    turned = UUID(bytes=name.DistributionListIdentifier.bytes_le)
    return replace(element, FormatName=MQFDistributionQueueFormatName(turned))


@fault("router-hop-count-nack-source-queue-manager-is-destination-guid", breaks="MQMQ-2.2.18.1.3-01", blind=True)
class RouterHopCountNackSourceQueueManagerIsDestinationGuid(MessageSending):
    """A router sends the negative acknowledgment of a message with too many hops with the destination's GUID as
    SourceQueueManager.
    """

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        message = position.MessageReference
        if message.Class != MessageClass.MQMSG_CLASS_NACK_HOP_COUNT_EXCEEDED or not message.ResponseQueueFormatName:
            return packet
        try:
            meant = parse_format_name(message.ResponseQueueFormatName)
        except FormatError:
            return packet
        if not isinstance(meant, PrivateName):
            return packet
        return replace(packet, UserHeader=replace(packet.UserHeader, SourceQueueManager=meant.ComputerGuid))


@fault("server-remote-read-distribution-list-guid-big-endian", breaks="MQMQ-2.2.18.1.4.2-02", blind=True)
class ServerRemoteReadDistributionListGuidBigEndian(RemoteReads):
    """In a message that a remote reader gets, the server writes the GUID of a distribution list in network byte
    order.
    """

    def serialize_remote_message(self, position: MessagePosition) -> bytes:
        data = super().serialize_remote_message(position)
        packet = cast(UserMessagePacket, parse_packet(data))
        if packet.MultiQueueFormatHeader is None:
            return data
        elements = tuple(map(_reverse_guid_bytes, packet.MultiQueueFormatHeader.Destination.FormatNameList))
        return set_fields(packet, {"BaseHeader.PacketSize": 0, _DESTINATION_LIST_FIELD: elements}).build()


@fault("receiver-deleted-subqueue-messages-acknowledged-as-purged", breaks="MQMQ-2.2.18.1.6-D01", blind=True)
class ReceiverDeletedSubqueueMessagesAcknowledgedAsPurged(MessagePositions):
    """When a queue is deleted, the receiver first purges its subqueues, so the negative acknowledgments of their
    messages have the class Q_PURGED.
    """

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        queue = position.QueueReference
        in_subqueue = queue.parent is not None and queue.QueueType is not QueueType.SYSTEM
        if reason is MessageClass.MQMSG_CLASS_NACK_Q_DELETED and in_subqueue:
            reason = MessageClass.MQMSG_CLASS_NACK_Q_PURGED
        super().delete_message(position, reason)


def _change_private_number(element: MQFFormatNameElement) -> MQFFormatNameElement:
    name = element.FormatName
    if not isinstance(name, PrivateQueueFormatName):
        return element
    return replace(element, FormatName=replace(name, PrivateQueueIdentifier=name.PrivateQueueIdentifier & 0xFFFF))


@fault("server-remote-read-private-number-in-list-cut-to-16-bits", breaks="MQMQ-2.2.18.1.7.2-03", blind=True)
class ServerRemoteReadPrivateNumberInListCutTo16Bits(RemoteReads):
    """In a message that a remote reader gets, the server cuts the numbers of private queues in the list of destinations
    to 16 bits.
    """

    def serialize_remote_message(self, position: MessagePosition) -> bytes:
        data = super().serialize_remote_message(position)
        packet = cast(UserMessagePacket, parse_packet(data))
        if packet.MultiQueueFormatHeader is None:
            return data
        elements = tuple(map(_change_private_number, packet.MultiQueueFormatHeader.Destination.FormatNameList))
        return set_fields(packet, {"BaseHeader.PacketSize": 0, _DESTINATION_LIST_FIELD: elements}).build()
