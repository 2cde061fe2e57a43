"""Faults of MS-MQMQ 2.2.18.1 Packet Data Types: the names of queues inside messages."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import always, packets, wrong_bytes, wrong_fields
from harness.faults.registry import Install, add
from harness.faults.sent_messages import correct_packet_size, has_header, reverse_number_bytes
from reference_qm.codec import (
    MessageClass,
    MQFDistributionQueueFormatName,
    PrivateQueueFormatName,
    PublicQueueFormatName,
    TxSequenceID,
    UserMessagePacket,
)
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.core.transfer.order_acks import is_order_ack
from reference_qm.model.adm import Message, Session
from reference_qm.surface.clock import Now

SECOND_QUEUE_MANAGER_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000fe")
"""The GUID of an unknown queue manager or queue."""
ON_DESTINATION, PUBLIC, ON_OTHER, DIRECT = 3, 5, 6, 7
"""The values of DQ and RQ for a private queue of the destination, a public queue, a private queue of another host, and
a direct name.
"""
TIME_TO_REACH_QUEUE_OFFSET = 12
"""The offset of TimeToReachQueue in the BaseHeader."""
QUEUE_NAMES_OFFSET = 64
"""The offset of the first queue name of the UserHeader."""


def _has_destination_type(kind: int) -> Callable[[UserMessagePacket], bool]:
    return lambda packet: kind == packet.UserHeader.DQ


def _has_response_queue_type(kind: int) -> Callable[[UserMessagePacket], bool]:
    return lambda packet: kind == packet.UserHeader.RQ


# -- lists of destinations -----------------------------------------------------------------------------------------

LIST_HEAD_SIZE = struct.pack("<HHI", 0x0064, 0, 1)
"""The bytes between HeaderSize and FormatType in a list of one destination."""


def _change_only_destination(change: Callable[[bytearray, int], None]) -> Install:
    """Change a list that has one destination; `change` is called with the packet and the offset of FormatType."""

    def change_destination_bytes(data: bytes) -> bytes:
        buffer = bytearray(data)
        at = data.find(LIST_HEAD_SIZE)
        if at >= 0:
            change(buffer, at + len(LIST_HEAD_SIZE))
        return bytes(buffer)

    return wrong_bytes(UserMessagePacket, change_destination_bytes, has_header("MultiQueueFormatHeader"))


def _set_unknown_format_type(data: bytearray, at: int) -> None:
    data[at : at + 2] = (9).to_bytes(2, "little")


def _remove_name_terminator(data: bytearray, at: int) -> None:
    data[at + 2 :] = b"\1" * (len(data) - at - 2)


def _spoil_direct_name(data: bytearray, at: int) -> None:
    data[at + 2 : at + 4] = "\\".encode("utf-16-le")


def _change_distribution_lists(change: Callable[[MQFDistributionQueueFormatName], Any]) -> Install:
    """Change the distribution lists in the sender's list of destinations."""

    def change_list_bytes(elements: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(
            replace(one, FormatName=change(one.FormatName), Padding=None)
            if isinstance(one.FormatName, MQFDistributionQueueFormatName)
            else one
            for one in elements
        )

    changes = {
        "MultiQueueFormatHeader.Destination.FormatNameList": change_list_bytes,
        "MultiQueueFormatHeader.Destination.HeaderSize": None,
        "MultiQueueFormatHeader.Destination.Padding": None,
    }
    return wrong_fields(UserMessagePacket, changes, has_header("MultiQueueFormatHeader"))


add(
    "sender-destination-list-format-type-9",
    ("MQMQ-2.2.18.1.4-01", "MQMQ-2.2.18.1.4-02", "MQMQ-2.2.20.2-05"),
    "The sender's list of destinations carries FormatType 9.",
    _change_only_destination(_set_unknown_format_type),
)
add(
    "sender-destination-list-name-unterminated",
    "MQMQ-2.2.18.1.4.1-01",
    "The sender's list of destinations carries a direct name without its null.",
    _change_only_destination(_remove_name_terminator),
)
add(
    "sender-destination-list-name-not-direct",
    "MQMQ-2.2.18.1.4.1-02",
    "The sender's list of destinations carries a text of FormatType 3 that is not a direct name.",
    _change_only_destination(_spoil_direct_name),
)
add(
    "sender-distribution-list-sent-as-public-queue",
    "MQMQ-2.2.18.1.4.2-01",
    "The sender's list of destinations carries a distribution list in the form of a public queue.",
    _change_distribution_lists(lambda name: PublicQueueFormatName(name.DistributionListIdentifier)),
)
add(
    "sender-distribution-list-has-wrong-guid",
    ("MQMQ-2.2.18.1.4.2-02", "MQDMPR-3.1.7.1.31-D06"),
    "The sender's list of destinations carries a wrong GUID for a distribution list.",
    _change_distribution_lists(lambda name: replace(name, DistributionListIdentifier=SECOND_QUEUE_MANAGER_GUID)),
)


_Aligned = PrivateQueueFormatName | MQFDistributionQueueFormatName


def _remove_guid_alignment(kind: type[_Aligned], format_type: bytes) -> Callable[[UserMessagePacket], bytes]:
    """Remove the padding between FormatType and GUID in the destinations of one kind."""

    def remove_alignment_bytes(packet: UserMessagePacket) -> bytes:
        data = packet.build()
        for one in packet.MultiQueueFormatHeader.Destination.FormatNameList if packet.MultiQueueFormatHeader else ():
            if isinstance(one.FormatName, kind):
                name = one.FormatName.build()
                data = data.replace(format_type + b"\0\0" + name, format_type + name)
        return correct_packet_size(data)

    return remove_alignment_bytes


def _shorten_name_terminator(packet: UserMessagePacket) -> bytes:
    """Shorten the terminator of the direct names in a list to one byte."""
    header = packet.MultiQueueFormatHeader
    data = packet.build()
    for one in header.Destination.FormatNameList if header is not None else ():
        name = one.build()
        data = data.replace(name, name[:-1])
    return correct_packet_size(data)


for _name, _rule, _says, _change in (
    (
        "sender-destination-list-private-name-unaligned",
        "MQMQ-2.2.18.1.7.2-D01",
        "The sender's list of destinations carries a private name that is not aligned to 4 bytes.",
        _remove_guid_alignment(PrivateQueueFormatName, b"\2\0"),
    ),
    (
        "sender-destination-list-distribution-list-unaligned",
        "MQMQ-2.2.18.1.4.2-D01",
        "The sender's list of destinations carries a distribution list whose GUID is not aligned to 4 bytes.",
        _remove_guid_alignment(MQFDistributionQueueFormatName, b"\6\0"),
    ),
    (
        "sender-destination-list-name-null-of-one-byte",
        "MQMQ-2.2.18.1.4.1-D01",
        "The sender's list of destinations carries direct names that end with a null of one byte.",
        _shorten_name_terminator,
    ),
):
    add(_name, _rule, _says, packets(UserMessagePacket, _change, has_header("MultiQueueFormatHeader")))

# -- names in the UserHeader ---------------------------------------------------------------------------------------


def _swap_number_bytes(packet: UserMessagePacket) -> bytes:
    data = packet.build()
    return (
        data[:QUEUE_NAMES_OFFSET]
        + data[QUEUE_NAMES_OFFSET : QUEUE_NAMES_OFFSET + 4][::-1]
        + data[QUEUE_NAMES_OFFSET + 4 :]
    )


def _swap_text_bytes(packet: UserMessagePacket) -> bytes:
    data = bytearray(packet.build())
    start = QUEUE_NAMES_OFFSET + 2
    end = start + int.from_bytes(data[QUEUE_NAMES_OFFSET:start], "little")
    data[start:end:2], data[start + 1 : end : 2] = data[start + 1 : end : 2], data[start:end:2]
    return bytes(data)


def _append_to_response_queue_name(packet: UserMessagePacket) -> bytes:
    """Append four bytes to the name of the response queue."""
    data = packet.build()
    end = len(packet.BaseHeader.build()) + len(packet.UserHeader.build())
    return correct_packet_size(data[:end] + b"more" + data[end:])


def _change_direct_name(change: Callable[[bytes], bytes]) -> Callable[[UserMessagePacket], bytes]:
    """Change the direct name of the destination; `change` is called with its count, text and padding as bytes."""

    def change_name_bytes(packet: UserMessagePacket) -> bytes:
        data = packet.build()
        size = 2 + int.from_bytes(data[QUEUE_NAMES_OFFSET : QUEUE_NAMES_OFFSET + 2], "little")
        end = QUEUE_NAMES_OFFSET + size + -size % 4
        return correct_packet_size(data[:QUEUE_NAMES_OFFSET] + change(data[QUEUE_NAMES_OFFSET:end]) + data[end:])

    return change_name_bytes


def _count_name_padding(name: bytes) -> bytes:
    return (len(name) - 2).to_bytes(2, "little") + name[2:]


def _remove_name_padding(name: bytes) -> bytes:
    return name[: 2 + int.from_bytes(name[:2], "little")]


def _has_padded_name(packet: UserMessagePacket) -> bool:
    name = packet.build()[QUEUE_NAMES_OFFSET : QUEUE_NAMES_OFFSET + 2]
    return _has_destination_type(DIRECT)(packet) and -(2 + int.from_bytes(name, "little")) % 4 > 0


def _reset_private_queue_number(qm: QueueManager) -> None:
    qm.adm.last_private_queue_number = 20


for _name, _rules, _says, _install in (
    (
        "sender-private-name-number-big-endian",
        ("MQMQ-2.2.18.1.5.1-01", "MQMQ-2.2.19.2-D06", "MQDMPR-3.1.7.1.32-D14"),
        "The sender's PrivateQueueFormatNameId carries a big-endian number.",
        packets(UserMessagePacket, _swap_number_bytes, _has_destination_type(ON_DESTINATION)),
    ),
    (
        "queue-manager-new-private-queues-same-number",
        ("MQMQ-2.2.18.1.5.1-02", "MQMQ-2.2.18.1.7.2-04", "MQDMPR-3.1.7.1.3-D04"),
        "The queue manager assigns the same number to every new private queue.",
        always(_reset_private_queue_number),
    ),
    (
        "sender-direct-name-text-big-endian",
        ("MQMQ-2.2.18.1.5.2-01",),
        "The sender's DirectQueueFormatName carries big-endian text.",
        packets(UserMessagePacket, _swap_text_bytes, _has_destination_type(DIRECT)),
    ),
    (
        "sender-direct-name-count-includes-padding",
        ("MQMQ-2.2.18.1.5.2-D01",),
        "The sender's DirectQueueFormatName carries a count that includes the padding.",
        packets(UserMessagePacket, _change_direct_name(_count_name_padding), _has_padded_name),
    ),
    (
        "sender-direct-name-without-padding",
        ("MQMQ-2.2.18.1.5.2-D02",),
        "The sender's DirectQueueFormatName has no padding.",
        packets(UserMessagePacket, _change_direct_name(_remove_name_padding), _has_padded_name),
    ),
    (
        "sender-public-name-of-20-bytes",
        ("MQMQ-2.2.18.1.7.1-01",),
        "The sender's PublicQueueFormatName has 20 bytes.",
        packets(UserMessagePacket, _append_to_response_queue_name, _has_response_queue_type(PUBLIC)),
    ),
    (
        "sender-public-name-has-wrong-guid",
        ("MQMQ-2.2.18.1.7.1-02",),
        "The sender's PublicQueueFormatName carries the GUID of an unknown queue.",
        wrong_fields(
            UserMessagePacket,
            {"UserHeader.ResponseQueue.PublicQueueIdentifier": SECOND_QUEUE_MANAGER_GUID},
            _has_response_queue_type(PUBLIC),
        ),
    ),
    (
        "sender-private-name-of-24-bytes",
        ("MQMQ-2.2.18.1.7.2-01",),
        "The sender's PrivateQueueFormatName has 24 bytes.",
        packets(UserMessagePacket, _append_to_response_queue_name, _has_response_queue_type(ON_OTHER)),
    ),
    (
        "sender-private-name-has-wrong-host",
        ("MQMQ-2.2.18.1.7.2-02",),
        "The sender's PrivateQueueFormatName carries the GUID of an unknown host.",
        wrong_fields(
            UserMessagePacket,
            {"UserHeader.ResponseQueue.SourceQueueManager": SECOND_QUEUE_MANAGER_GUID},
            _has_response_queue_type(ON_OTHER),
        ),
    ),
    (
        "sender-private-name-has-wrong-number",
        ("MQMQ-2.2.18.1.7.2-03",),
        "The sender's PrivateQueueFormatName carries a wrong queue number.",
        wrong_fields(
            UserMessagePacket,
            {"UserHeader.ResponseQueue.PrivateQueueIdentifier": lambda old: old ^ 1},
            _has_response_queue_type(ON_OTHER),
        ),
    ),
):
    add(_name, _rules, _says, _install)

# -- classes of messages -------------------------------------------------------------------------------------------


add(
    "receiver-ack-correlation-id-number-before-guid",
    "MQMQ-2.2.18.1.3-D01",
    "The receiver's acknowledgment carries a CorrelationID with the number before the GUID.",
    wrong_fields(UserMessagePacket, {"MessagePropertiesHeader.CorrelationID": lambda old: old[16:] + old[:16]}),
)
WRONG_CLASS_BY_CLASS = {
    MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_MSG: MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q,
    MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q: MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_MSG,
    MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT: MessageClass.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT,
    MessageClass.MQMSG_CLASS_NACK_Q_PURGED: MessageClass.MQMSG_CLASS_NACK_Q_DELETED,
    MessageClass.MQMSG_CLASS_NACK_Q_DELETED: MessageClass.MQMSG_CLASS_NACK_Q_PURGED,
    MessageClass.MQMSG_CLASS_ACK_RECEIVE: MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE,
    MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA: MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q,
}
"""For each message class of an event, the message class of a different event."""
RULES_OF_WRONG_CLASS = (
    "MQMQ-2.2.18.1.6-D01",
    "MQDMPR-3.1.1.12-03",
    "MQDMPR-3.1.1.12-D09",
    "MQDMPR-3.1.1.12-D13",
    "MQDMPR-3.1.1.12-D19",
    "MQDMPR-3.1.1.12-D20",
    "MQDMPR-3.1.1.12-D23",
    "MQDMPR-3.1.1.12-D24",
    "MQDMPR-3.1.1.12-D25",
    "MQDMPR-3.1.7.1.32-D08",
)


def _change_acknowledgment_class(others: Mapping[MessageClass, MessageClass]) -> Install:
    """Acknowledge some events with the message class of a different event."""

    class Called(AdminAcks):
        def send(self, message: Message, message_class: MessageClass, now: Now) -> None:
            super().send(message, others.get(message_class, message_class), now)

    return replace_part(Called)


for _name, _breaks, _says, _others in (
    (
        "receiver-ack-message-class-of-other-event",
        RULES_OF_WRONG_CLASS,
        "The receiver acknowledges an event with the MessageClass of a different event.",
        WRONG_CLASS_BY_CLASS,
    ),
    (
        "receiver-ack-of-unknown-provider-bad-encryption",
        ("MQMQ-2.2.18.1.6-D04", "MQDMPR-3.1.1.12-D21"),
        "The receiver sends NACK_BAD_ENCRYPTION for a message whose cryptographic provider is unknown.",
        {MessageClass.MQMSG_CLASS_NACK_UNSUPPORTED_CRYPTO_PROVIDER: MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION},
    ),
):
    add(_name, _breaks, _says, _change_acknowledgment_class(_others))


def _change_compared_sequence_number(number: Callable[[TxSequenceID], int]) -> Install:
    """Let the receiver compare TxSequenceIDs by the numbers that `number` computes from them."""

    class Compared(InSequence):
        def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
            header, known = packet.TransactionHeader, session.IncomingTxSequenceID
            if header is None or header.TxSequenceID == known or header.PreviousTxSequenceNumber:
                return super().is_in_sequence(session, packet)
            return number(header.TxSequenceID) > number(known)

    return replace_part(Compared)


add(
    "receiver-tx-sequence-id-ordinal-compared-first",
    ("MQMQ-2.2.18.1.2-D01", "MQMQ-2.2.18.1.2-D02"),
    "The receiver compares two TxSequenceIDs by Ordinal first, then by TimeStamp.",
    _change_compared_sequence_number(lambda one: one.Ordinal << 32 | one.TimeStamp),
)
add(
    "receiver-tx-sequence-id-ordinal-ignored",
    "MQMQ-2.2.18.1.2-D02",
    "The receiver compares two TxSequenceIDs by TimeStamp only.",
    _change_compared_sequence_number(lambda one: one.TimeStamp),
)

add(
    "receiver-order-ack-missing",
    ("MQMQ-2.2.18.1.6-01", "MQDMPR-3.1.1.12-D08"),
    "The receiver sends no OrderAck.",
    packets(UserMessagePacket, lambda packet: None, is_order_ack),
)


@fault("receiver-sequence-of-equal-timestamp-refused", breaks="MQMQ-2.2.18.1.2-D02", blind=True)
class ReceiverSequenceOfEqualTimestampRefused(InSequence):
    """The receiver refuses a later sequence whose TimeStamp equals that of the known sequence."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header, last = packet.TransactionHeader, session.IncomingTxSequenceID
        assert header is not None
        if header.TxSequenceID != last and header.TxSequenceID.TimeStamp == last.TimeStamp:
            return False
        return super().is_in_sequence(session, packet)


@fault("receiver-tx-sequence-id-compared-as-signed", breaks="MQMQ-2.2.18.1.2-D02", blind=True)
class ReceiverTxSequenceIdComparedAsSigned(InSequence):
    """The receiver compares two TxSequenceIDs as signed integers."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header, last = packet.TransactionHeader, session.IncomingTxSequenceID
        assert header is not None
        if header.TxSequenceID == last:
            return super().is_in_sequence(session, packet)
        return (
            _read_identifier_as_signed(header.TxSequenceID) > _read_identifier_as_signed(last)
            and header.PreviousTxSequenceNumber == 0
        )


def _read_identifier_as_signed(identifier: TxSequenceID) -> int:
    return (int(identifier) ^ 1 << 63) - (1 << 63)


add(
    "sender-user-message-time-to-reach-queue-big-endian",
    "MQMQ-2.2.18-D01",
    "The sender's UserMessage carries a big-endian TimeToReachQueue.",
    packets(UserMessagePacket, reverse_number_bytes(TIME_TO_REACH_QUEUE_OFFSET, 4)),
)
