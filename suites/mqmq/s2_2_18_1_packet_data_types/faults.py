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
from harness.faults.sent_messages import carries, correct_packet_size, with_bytes_turned
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

MESSAGE = UserMessagePacket
OTHER = UUID("6d71636f-6e66-4f72-8d00-0000000000fe")
"""A queue manager, or a queue, that is nowhere."""
ON_DESTINATION, PUBLIC, ON_OTHER, DIRECT = 3, 5, 6, 7
"""Values of DQ and RQ: a private queue of the destination, a public one, a private one elsewhere, a direct name."""
TIME_AT = 12
"""Where TimeToReachQueue of the BaseHeader begins."""
NAMES_AT = 64
"""Where the names of the UserHeader begin."""


def _destined(kind: int) -> Callable[[UserMessagePacket], bool]:
    return lambda packet: kind == packet.UserHeader.DQ


def _answered(kind: int) -> Callable[[UserMessagePacket], bool]:
    return lambda packet: kind == packet.UserHeader.RQ


# -- lists of destinations -----------------------------------------------------------------------------------------

LIST = struct.pack("<HHI", 0x0064, 0, 1)
"""How the list of one destination goes on after its HeaderSize; then FormatType and the name."""


def _first_destination(change: Callable[[bytearray, int], None]) -> Install:
    """Change the only destination of a list; ``change`` gets the packet and where FormatType is."""

    def changed(data: bytes) -> bytes:
        buffer = bytearray(data)
        at = data.find(LIST)
        if at >= 0:
            change(buffer, at + len(LIST))
        return bytes(buffer)

    return wrong_bytes(MESSAGE, changed, carries("MultiQueueFormatHeader"))


def _unknown_type(data: bytearray, at: int) -> None:
    data[at : at + 2] = (9).to_bytes(2, "little")


def _no_terminator(data: bytearray, at: int) -> None:
    data[at + 2 :] = b"\1" * (len(data) - at - 2)


def _no_direct_name(data: bytearray, at: int) -> None:
    data[at + 2 : at + 4] = "\\".encode("utf-16-le")


def _distribution_lists(change: Callable[[MQFDistributionQueueFormatName], Any]) -> Install:
    """Change the elements of a list that are distribution lists."""

    def changed(elements: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(
            replace(one, FormatName=change(one.FormatName), Padding=None)
            if isinstance(one.FormatName, MQFDistributionQueueFormatName)
            else one
            for one in elements
        )

    changes = {
        "MultiQueueFormatHeader.Destination.FormatNameList": changed,
        "MultiQueueFormatHeader.Destination.HeaderSize": None,
        "MultiQueueFormatHeader.Destination.Padding": None,
    }
    return wrong_fields(MESSAGE, changes, carries("MultiQueueFormatHeader"))


add(
    "list-format-type-9",
    ("MQMQ-2.2.18.1.4-01", "MQMQ-2.2.18.1.4-02", "MQMQ-2.2.20.2-05"),
    "FormatType of a destination is 9.",
    _first_destination(_unknown_type),
)
add(
    "list-name-without-end",
    "MQMQ-2.2.18.1.4.1-01",
    "The text of a destination has no terminator.",
    _first_destination(_no_terminator),
)
add(
    "list-name-not-direct",
    "MQMQ-2.2.18.1.4.1-02",
    "A destination is no direct name.",
    _first_destination(_no_direct_name),
)
add(
    "handed-list-as-public-queue",
    "MQMQ-2.2.18.1.4.2-01",
    "A distribution list is listed as a queue.",
    _distribution_lists(lambda name: PublicQueueFormatName(name.DistributionListIdentifier)),
)
add(
    "handed-another-list",
    ("MQMQ-2.2.18.1.4.2-02", "MQDMPR-3.1.7.1.31-D06"),
    "A distribution list is listed with another GUID.",
    _distribution_lists(lambda name: replace(name, DistributionListIdentifier=OTHER)),
)


_Aligned = PrivateQueueFormatName | MQFDistributionQueueFormatName


def _unaligned(kind: type[_Aligned], format_type: bytes) -> Callable[[UserMessagePacket], bytes]:
    """Let the GUIDs of names of a kind in a list follow their FormatType at once."""

    def changed(packet: UserMessagePacket) -> bytes:
        data = packet.build()
        for one in packet.MultiQueueFormatHeader.Destination.FormatNameList if packet.MultiQueueFormatHeader else ():
            if isinstance(one.FormatName, kind):
                name = one.FormatName.build()
                data = data.replace(format_type + b"\0\0" + name, format_type + name)
        return correct_packet_size(data)

    return changed


def _byte_names(packet: UserMessagePacket) -> bytes:
    """Let the direct names of a list end with one byte of 0."""
    header = packet.MultiQueueFormatHeader
    data = packet.build()
    for one in header.Destination.FormatNameList if header is not None else ():
        name = one.build()
        data = data.replace(name, name[:-1])
    return correct_packet_size(data)


for _name, _rule, _says, _change in (
    (
        "list-private-name-unaligned",
        "MQMQ-2.2.18.1.7.2-D01",
        "The name of a private queue in a list begins where the one before ends.",
        _unaligned(PrivateQueueFormatName, b"\2\0"),
    ),
    (
        "handed-list-unaligned",
        "MQMQ-2.2.18.1.4.2-D01",
        "The GUID of a distribution list begins right behind its FormatType.",
        _unaligned(MQFDistributionQueueFormatName, b"\6\0"),
    ),
    ("list-names-end-with-a-byte", "MQMQ-2.2.18.1.4.1-D01", "A name in a list ends with a byte of 0.", _byte_names),
):
    add(_name, _rule, _says, packets(MESSAGE, _change, carries("MultiQueueFormatHeader")))

# -- names in the UserHeader ---------------------------------------------------------------------------------------


def _big_endian_number(packet: UserMessagePacket) -> bytes:
    data = packet.build()
    return data[:NAMES_AT] + data[NAMES_AT : NAMES_AT + 4][::-1] + data[NAMES_AT + 4 :]


def _big_endian_text(packet: UserMessagePacket) -> bytes:
    data = bytearray(packet.build())
    start = NAMES_AT + 2
    end = start + int.from_bytes(data[NAMES_AT:start], "little")
    data[start:end:2], data[start + 1 : end : 2] = data[start + 1 : end : 2], data[start:end:2]
    return bytes(data)


def _four_bytes_more(packet: UserMessagePacket) -> bytes:
    """Put four bytes behind the name of the response queue."""
    data = packet.build()
    end = len(packet.BaseHeader.build()) + len(packet.UserHeader.build())
    return correct_packet_size(data[:end] + b"more" + data[end:])


def _direct_name_wrong(change: Callable[[bytes], bytes]) -> Callable[[UserMessagePacket], bytes]:
    """Write the direct name of the destination in another way; ``change`` gets its count, text and padding."""

    def changed(packet: UserMessagePacket) -> bytes:
        data = packet.build()
        size = 2 + int.from_bytes(data[NAMES_AT : NAMES_AT + 2], "little")
        end = NAMES_AT + size + -size % 4
        return correct_packet_size(data[:NAMES_AT] + change(data[NAMES_AT:end]) + data[end:])

    return changed


def _counts_padding(name: bytes) -> bytes:
    return (len(name) - 2).to_bytes(2, "little") + name[2:]


def _unpadded(name: bytes) -> bytes:
    return name[: 2 + int.from_bytes(name[:2], "little")]


def _is_padded(packet: UserMessagePacket) -> bool:
    name = packet.build()[NAMES_AT : NAMES_AT + 2]
    return _destined(DIRECT)(packet) and -(2 + int.from_bytes(name, "little")) % 4 > 0


def _same_number(qm: QueueManager) -> None:
    qm.adm.last_private_queue_number = 20


for _name, _rules, _says, _install in (
    (
        "name-private-number-big-endian",
        ("MQMQ-2.2.18.1.5.1-01", "MQMQ-2.2.19.2-D06", "MQDMPR-3.1.7.1.32-D14"),
        "The number of a private queue is big-endian.",
        packets(MESSAGE, _big_endian_number, _destined(ON_DESTINATION)),
    ),
    (
        "name-one-number",
        ("MQMQ-2.2.18.1.5.1-02", "MQMQ-2.2.18.1.7.2-04", "MQDMPR-3.1.7.1.3-D04"),
        "Every new queue gets the same number.",
        always(_same_number),
    ),
    (
        "name-direct-text-big-endian",
        ("MQMQ-2.2.18.1.5.2-01",),
        "The text of a direct name is big-endian.",
        packets(MESSAGE, _big_endian_text, _destined(DIRECT)),
    ),
    (
        "name-direct-count-with-padding",
        ("MQMQ-2.2.18.1.5.2-D01",),
        "Count of a direct name counts its padding.",
        packets(MESSAGE, _direct_name_wrong(_counts_padding), _is_padded),
    ),
    (
        "name-direct-unpadded",
        ("MQMQ-2.2.18.1.5.2-D02",),
        "A direct name has no padding.",
        packets(MESSAGE, _direct_name_wrong(_unpadded), _is_padded),
    ),
    (
        "name-public-longer",
        ("MQMQ-2.2.18.1.7.1-01",),
        "A public queue takes 20 bytes.",
        packets(MESSAGE, _four_bytes_more, _answered(PUBLIC)),
    ),
    (
        "name-public-other",
        ("MQMQ-2.2.18.1.7.1-02",),
        "A public queue is named by another GUID.",
        wrong_fields(MESSAGE, {"UserHeader.ResponseQueue.PublicQueueIdentifier": OTHER}, _answered(PUBLIC)),
    ),
    (
        "name-private-longer",
        ("MQMQ-2.2.18.1.7.2-01",),
        "A private queue on any host takes 24 bytes.",
        packets(MESSAGE, _four_bytes_more, _answered(ON_OTHER)),
    ),
    (
        "name-private-other-host",
        ("MQMQ-2.2.18.1.7.2-02",),
        "A private queue has another host.",
        wrong_fields(MESSAGE, {"UserHeader.ResponseQueue.SourceQueueManager": OTHER}, _answered(ON_OTHER)),
    ),
    (
        "name-private-other-number",
        ("MQMQ-2.2.18.1.7.2-03",),
        "A private queue has another number.",
        wrong_fields(
            MESSAGE, {"UserHeader.ResponseQueue.PrivateQueueIdentifier": lambda old: old ^ 1}, _answered(ON_OTHER)
        ),
    ),
):
    add(_name, _rules, _says, _install)

# -- classes of messages -------------------------------------------------------------------------------------------


add(
    "message-identifier-number-first",
    "MQMQ-2.2.18.1.3-D01",
    "In a CorrelationID the number stands before the GUID.",
    wrong_fields(MESSAGE, {"MessagePropertiesHeader.CorrelationID": lambda old: old[16:] + old[:16]}),
)
C = MessageClass
CONFUSED = {
    C.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_MSG: C.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q,
    C.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q: C.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_MSG,
    C.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT: C.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT,
    C.MQMSG_CLASS_NACK_Q_PURGED: C.MQMSG_CLASS_NACK_Q_DELETED,
    C.MQMSG_CLASS_NACK_Q_DELETED: C.MQMSG_CLASS_NACK_Q_PURGED,
    C.MQMSG_CLASS_ACK_RECEIVE: C.MQMSG_CLASS_ACK_REACH_QUEUE,
    C.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA: C.MQMSG_CLASS_NACK_BAD_DST_Q,
}
"""The class of another event than the one that happened."""
OF_CONFUSED = (
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


def _called(others: Mapping[MessageClass, MessageClass]) -> Install:
    """Acknowledge some events with the class of another one."""

    class Called(AdminAcks):
        def send(self, message: Message, message_class: MessageClass, now: Now) -> None:
            super().send(message, others.get(message_class, message_class), now)

    return replace_part(Called)


for _name, _breaks, _says, _others in (
    ("message-classes-confused", OF_CONFUSED, "Acknowledgments have the class of another event.", CONFUSED),
    (
        "message-over-is-deleted",
        "MQMQ-2.2.18.1.6-D03",
        "A message that is over before it is sent counts as deleted.",
        {C.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT: C.MQMSG_CLASS_NACK_DELETED},
    ),
    (
        "message-unknown-provider-is-bad-encryption",
        ("MQMQ-2.2.18.1.6-D04", "MQDMPR-3.1.1.12-D21"),
        "An unknown provider counts as bad encryption.",
        {C.MQMSG_CLASS_NACK_UNSUPPORTED_CRYPTO_PROVIDER: C.MQMSG_CLASS_NACK_BAD_ENCRYPTION},
    ),
):
    add(_name, _breaks, _says, _called(_others))


def _compared(number: Callable[[TxSequenceID], int]) -> Install:
    """Compare sequences by another number of their identifiers."""

    class Compared(InSequence):
        def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
            header, known = packet.TransactionHeader, session.IncomingTxSequenceID
            if header is None or header.TxSequenceID == known or header.PreviousTxSequenceNumber:
                return super().is_in_sequence(session, packet)
            return number(header.TxSequenceID) > number(known)

    return replace_part(Compared)


add(
    "sequence-ordinal-first",
    ("MQMQ-2.2.18.1.2-D01", "MQMQ-2.2.18.1.2-D02"),
    "Sequences are compared by Ordinal, then by TimeStamp.",
    _compared(lambda one: one.Ordinal << 32 | one.TimeStamp),
)
add(
    "sequence-time-stamp-alone",
    "MQMQ-2.2.18.1.2-D02",
    "Sequences are compared by TimeStamp alone.",
    _compared(lambda one: one.TimeStamp),
)

add(
    "ordering-order-dropped",
    ("MQMQ-2.2.18.1.6-01", "MQDMPR-3.1.1.12-D08"),
    "No OrderAck is sent.",
    packets(MESSAGE, lambda packet: None, is_order_ack),
)


@fault("later-sequence-told-by-its-timestamp-alone", breaks="MQMQ-2.2.18.1.2-D02", blind=True)
class LaterSequenceToldByItsTimestampAlone(InSequence):
    """Of two sequences with one TimeStamp neither is later, whatever their Ordinals."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header, last = packet.TransactionHeader, session.IncomingTxSequenceID
        assert header is not None
        if header.TxSequenceID != last and header.TxSequenceID.TimeStamp == last.TimeStamp:
            return False
        return super().is_in_sequence(session, packet)


@fault("later-sequence-told-in-signed-numbers", breaks="MQMQ-2.2.18.1.2-D02", blind=True)
class LaterSequenceToldInSignedNumbers(InSequence):
    """The numbers of sequences are compared as signed ones."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header, last = packet.TransactionHeader, session.IncomingTxSequenceID
        assert header is not None
        if header.TxSequenceID == last:
            return super().is_in_sequence(session, packet)
        return _signed(header.TxSequenceID) > _signed(last) and header.PreviousTxSequenceNumber == 0


def _signed(identifier: TxSequenceID) -> int:
    return (int(identifier) ^ 1 << 63) - (1 << 63)


add(
    "header-message-time-big-endian",
    "MQMQ-2.2.18-D01",
    "TimeToReachQueue of a message is big-endian.",
    packets(MESSAGE, with_bytes_turned(TIME_AT, 4)),
)
