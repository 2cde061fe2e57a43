"""Faults of MS-MQMQ 2.2.20 UserMessage Packet: its optional headers, those of lists, of SOAP and of tracing."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.fields import add_bits_set, add_refusals, bit_set, field_is
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import packets, wrong_fields
from harness.faults.registry import Install, add
from harness.faults.sent_messages import carries, correct_packet_size
from reference_qm.codec import DebugHeader, FormatError, Packet, SessionHeader, UserMessagePacket
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.model.adm import Message, MessagePosition, Queue

MESSAGE = UserMessagePacket
SESSION_HEADER_SIZE = len(SessionHeader().build())
GUID_SIZE = 16
LIST_HEAD = 12
LARGE = 0xFFFFFF
PIECE = 0x10000
MEBIBYTE = 0x100000


def _ends_traced(packet: UserMessagePacket) -> bool:
    """Is DebugHeader the last header?"""
    return packet.DebugHeader is not None and packet.SessionHeader is None


for _name, _rules, _says, _install in (
    ("message-internal", ("MQMQ-2.2.20-02",), "IN is set in a message.", bit_set(MESSAGE, "BaseHeader.IN")),
    (
        "message-without-session-header",
        ("MQMQ-2.2.20-09",),
        "SH is set in a message without SessionHeader.",
        packets(MESSAGE, lambda packet: packet.build()[:-SESSION_HEADER_SIZE], carries("SessionHeader")),
    ),
    (
        "list-size",
        ("MQMQ-2.2.20.2-01",),
        "HeaderSize is less than its own header.",
        field_is(MESSAGE, "MultiQueueFormatHeader.Destination.HeaderSize", 4),
    ),
    (
        "list-count",
        ("MQMQ-2.2.20.2-04", "MQMQ-2.2.20.2-06"),
        "ElementCount is much too large.",
        field_is(MESSAGE, "MultiQueueFormatHeader.Destination.ElementCount", LARGE),
    ),
    (
        "list-signature-id",
        ("MQMQ-2.2.20.3-01",),
        "ID of the signature is another.",
        field_is(MESSAGE, "MultiQueueFormatHeader.Signature.ID", 0x015F),
    ),
    (
        "list-signature-size",
        ("MQMQ-2.2.20.3-03", "MQMQ-2.2.20.3-04"),
        "Size of the signature is larger than the packet.",
        field_is(MESSAGE, "MultiQueueFormatHeader.Signature.Size", LARGE),
    ),
    (
        "handed-list-signature",
        (
            "MQMQ-2.2.20.3-05",
            "MQDMPR-3.1.1.12-30",
            "MQDMPR-3.1.1.12-29",
        ),
        "The signature of a list is made of something else.",
        wrong_fields(
            MESSAGE,
            {"MultiQueueFormatHeader.Signature.Signature": lambda old: old[::-1]},
            carries("MultiQueueFormatHeader"),
        ),
    ),
    (
        "message-debug-queue-type",
        ("MQMQ-2.2.20.8-01",),
        "A traced message has QT 2.",
        wrong_fields(MESSAGE, {"DebugHeader.QueueIdentifier": None, "DebugHeader.Flags": 2}, _ends_traced),
    ),
    (
        "message-debug-queue-missing",
        ("MQMQ-2.2.20.8-17",),
        "A traced message has QT 1 and no QueueIdentifier.",
        packets(MESSAGE, lambda packet: correct_packet_size(packet.build()[:-GUID_SIZE]), _ends_traced),
    ),
):
    add(_name, _rules, _says, _install)


def _count_before_id(packet: UserMessagePacket) -> bytes:
    """Put ElementCount before HeaderID and Reserved."""
    header = packet.MultiQueueFormatHeader
    if header is None:
        return packet.build()
    data = header.Destination.build()
    return packet.build().replace(data, data[:4] + data[8:12] + data[4:8] + data[12:])


def _unpadded(packet: UserMessagePacket) -> bytes:
    """Leave out the padding of the list of destinations."""
    header = packet.MultiQueueFormatHeader
    if header is None:
        return packet.build()
    data, padded = packet.build(), header.Destination.build()
    names = sum(len(one.build()) for one in header.Destination.FormatNameList)
    return correct_packet_size(data.replace(padded, padded[: LIST_HEAD + names]))


def _size_before_id(packet: UserMessagePacket) -> bytes:
    data = packet.build()
    return data[:-8] + data[-4:] + data[-8:-4]


for _name, _rule, _says, _change in (
    ("list-count-before-id", "MQMQ-2.2.20.2-D02", "ElementCount stands before HeaderID.", _count_before_id),
    ("list-unpadded", "MQMQ-2.2.20.2-D03", "The names of a list are not padded.", _unpadded),
    ("list-signature-size-first", "MQMQ-2.2.20.3-D01", "Size of the signature stands before ID.", _size_before_id),
):
    add(_name, _rule, _says, packets(MESSAGE, _change, carries("MultiQueueFormatHeader")))


def _half(data: bytes) -> bytes:
    """Return a large body's first half."""
    return data[: len(data) // 2] if len(data) > PIECE else data


def _debug_header_first(packet: UserMessagePacket) -> bytes:
    """Put the DebugHeader before the MessagePropertiesHeader."""
    properties, debug = packet.MessagePropertiesHeader.build(), (packet.DebugHeader or DebugHeader()).build()
    return packet.build().replace(properties + debug, debug + properties)


def _traces_swapped(packet: UserMessagePacket) -> bytes:
    """Put QueueIdentifier before Flags and Reserved."""
    debug = (packet.DebugHeader or DebugHeader()).build()
    return packet.build().replace(debug, debug[4:] + debug[:4])


def _transaction_header_later(packet: UserMessagePacket) -> bytes:
    """Put the TransactionHeader behind the MessagePropertiesHeader."""
    properties = packet.MessagePropertiesHeader.build()
    transaction = packet.TransactionHeader.build() if packet.TransactionHeader is not None else b""
    return packet.build().replace(transaction + properties, properties + transaction)


add(
    "message-transaction-header-later",
    ("MQMQ-2.2.20-D02", "MQDMPR-3.1.7.1.30-03"),
    "The TransactionHeader stands behind the MessagePropertiesHeader.",
    packets(MESSAGE, _transaction_header_later, carries("TransactionHeader")),
)
add(
    "message-debug-header-first",
    ("MQMQ-2.2.20-D02", "MQDMPR-3.1.7.1.30-03"),
    "The DebugHeader stands before the MessagePropertiesHeader.",
    packets(MESSAGE, _debug_header_first, carries("DebugHeader")),
)
add(
    "message-debug-queue-first",
    ("MQMQ-2.2.20.8-D01", "MQDMPR-3.1.7.1.32-D07"),
    "QueueIdentifier stands before Flags.",
    packets(MESSAGE, _traces_swapped, carries("DebugHeader")),
)
add(
    "message-in-pieces",
    "MQMQ-2.2.20-D01",
    "Of a body above 64 KiB one half is in the packet.",
    wrong_fields(MESSAGE, {"MessagePropertiesHeader.MessageBody": _half, "MessagePropertiesHeader.Padding": None}),
)


@fault("message-first-mebibyte", breaks="MQMQ-2.2.20-D01")
class FirstMebibyte(Positions):
    """Of a received body only the first MiB is kept."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, Body=message.Body[:MEBIBYTE]))


def _misread(text: str) -> Install:
    """Look for what follows a text of a SoapHeader at the wrong place, unless the text has an even number of WCHARs."""

    class Misread(Identifying):
        def check_form(self, packet: Packet) -> None:
            soap = getattr(packet, "SoapHeader", None)
            if soap is not None and getattr(soap, f"{text}DataLength") % 2:
                raise FormatError(f"SoapHeader.{text}", 0, "a fault", "what follows it is somewhere else")
            super().check_form(packet)

    return replace_part(Misread)


add(
    "soap-header-text-misread",
    ("MQMQ-2.2.20.7-03", "MQDMPR-3.1.1.12-65", "MQMQ-2.2.20.7-D01"),
    "What follows Header is looked for elsewhere.",
    _misread("Header"),
)
add("soap-body-text-misread", "MQMQ-2.2.20.7-06", "What follows Body is looked for elsewhere.", _misread("Body"))


def _sections_swapped(packet: UserMessagePacket) -> bytes:
    soap = packet.SoapHeader
    if soap is None:
        return packet.build()
    swapped = replace(soap, Header=soap.Body, Body=soap.Header)
    return replace(packet, BaseHeader=replace(packet.BaseHeader, PacketSize=0), SoapHeader=swapped).build()


add(
    "soap-texts-swapped",
    "MQMQ-2.2.20.7-D01",
    "The two sections of a SoapHeader change places.",
    packets(MESSAGE, _sections_swapped, carries("SoapHeader")),
)

add_refusals(
    MESSAGE,
    ("message-list-reserved-refused", "MQMQ-2.2.20.2-03", "MultiQueueFormatHeader.Destination.Reserved"),
    ("message-list-signature-reserved-refused", "MQMQ-2.2.20.3-02", "MultiQueueFormatHeader.Signature.Reserved"),
    ("message-soap-reserved-refused", "MQMQ-2.2.20.7-02", "SoapHeader.Reserved"),
    ("message-soap-reserved1-refused", "MQMQ-2.2.20.7-05", "SoapHeader.Reserved1"),
    ("message-debug-x2-refused", "MQMQ-2.2.20.8-02", "DebugHeader.X2"),
    ("message-debug-x3-refused", "MQMQ-2.2.20.8-03", "DebugHeader.X3"),
    ("message-debug-x4-refused", "MQMQ-2.2.20.8-04", "DebugHeader.X4"),
    ("message-debug-x5-refused", "MQMQ-2.2.20.8-05", "DebugHeader.X5"),
    ("message-debug-x6-refused", "MQMQ-2.2.20.8-06", "DebugHeader.X6"),
    ("message-debug-x7-refused", "MQMQ-2.2.20.8-07", "DebugHeader.X7"),
    ("message-debug-x8-refused", "MQMQ-2.2.20.8-08", "DebugHeader.X8"),
    ("message-debug-x9-refused", "MQMQ-2.2.20.8-09", "DebugHeader.X9"),
    ("message-debug-x10-refused", "MQMQ-2.2.20.8-10", "DebugHeader.X10"),
    ("message-debug-x11-refused", "MQMQ-2.2.20.8-11", "DebugHeader.X11"),
    ("message-debug-x12-refused", "MQMQ-2.2.20.8-12", "DebugHeader.X12"),
    ("message-debug-x13-refused", "MQMQ-2.2.20.8-13", "DebugHeader.X13"),
    ("message-debug-x14-refused", "MQMQ-2.2.20.8-14", "DebugHeader.X14"),
    ("message-debug-x15-refused", "MQMQ-2.2.20.8-15", "DebugHeader.X15"),
    ("message-debug-reserved-refused", "MQMQ-2.2.20.8-16", "DebugHeader.Reserved"),
)

add_bits_set(
    MESSAGE,
    ("message-debug-x2-sent", "MQMQ-2.2.20.8-02", "DebugHeader.X2"),
    ("message-debug-x3-sent", "MQMQ-2.2.20.8-03", "DebugHeader.X3"),
    ("message-debug-x4-sent", "MQMQ-2.2.20.8-04", "DebugHeader.X4"),
    ("message-debug-x5-sent", "MQMQ-2.2.20.8-05", "DebugHeader.X5"),
    ("message-debug-x6-sent", "MQMQ-2.2.20.8-06", "DebugHeader.X6"),
    ("message-debug-x7-sent", "MQMQ-2.2.20.8-07", "DebugHeader.X7"),
    ("message-debug-x8-sent", "MQMQ-2.2.20.8-08", "DebugHeader.X8"),
    ("message-debug-x9-sent", "MQMQ-2.2.20.8-09", "DebugHeader.X9"),
    ("message-debug-x10-sent", "MQMQ-2.2.20.8-10", "DebugHeader.X10"),
    ("message-debug-x11-sent", "MQMQ-2.2.20.8-11", "DebugHeader.X11"),
    ("message-debug-x12-sent", "MQMQ-2.2.20.8-12", "DebugHeader.X12"),
    ("message-debug-x13-sent", "MQMQ-2.2.20.8-13", "DebugHeader.X13"),
    ("message-debug-x14-sent", "MQMQ-2.2.20.8-14", "DebugHeader.X14"),
    ("message-debug-x15-sent", "MQMQ-2.2.20.8-15", "DebugHeader.X15"),
)

for _name, _rule, _path in (
    ("message-list-reserved-sent", "MQMQ-2.2.20.2-03", "MultiQueueFormatHeader.Response.Reserved"),
    ("message-list-signature-reserved-sent", "MQMQ-2.2.20.3-02", "MultiQueueFormatHeader.Signature.Reserved"),
    ("message-debug-reserved-sent", "MQMQ-2.2.20.8-16", "DebugHeader.Reserved"),
):
    add(_name, _rule, f"{_path} is not 0 in a message that is sent.", field_is(MESSAGE, _path, 0xA5C3))
