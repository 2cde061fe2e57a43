"""Faults of MS-MQMQ 2.2.20 UserMessage Packet and its headers for distribution lists, SOAP and tracing."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.fields import add_bits_set, add_refusals, bit_set, field_is
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import packets, wrong_fields
from harness.faults.registry import Install, add
from harness.faults.sent_messages import correct_packet_size, has_header
from reference_qm.codec import DebugHeader, FormatError, Packet, SessionHeader, UserMessagePacket
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.model.adm import Message, MessagePosition, Queue

SESSION_HEADER_SIZE = len(SessionHeader().build())
GUID_SIZE = 16
LIST_HEAD = 12
LARGE_BODY_BYTES = 0xFFFFFF
PIECE_BYTES = 0x10000
MEBIBYTE = 0x100000


def _is_debug_header_last(packet: UserMessagePacket) -> bool:
    """Return whether DebugHeader is the last header."""
    return packet.DebugHeader is not None and packet.SessionHeader is None


for _name, _rules, _says, _install in (
    (
        "sender-user-message-in-bit-set",
        ("MQMQ-2.2.20-02",),
        "The sender sets IN in a UserMessage.",
        bit_set(UserMessagePacket, "BaseHeader.IN"),
    ),
    (
        "sender-user-message-sh-without-session-header",
        ("MQMQ-2.2.20-09",),
        "The sender's UserMessage has BaseHeader.Flags.SH set, but contains no SessionHeader.",
        packets(UserMessagePacket, lambda packet: packet.build()[:-SESSION_HEADER_SIZE], has_header("SessionHeader")),
    ),
    (
        "sender-destination-list-header-size-4",
        ("MQMQ-2.2.20.2-01",),
        "The sender's list of destinations carries HeaderSize 4.",
        field_is(UserMessagePacket, "MultiQueueFormatHeader.Destination.HeaderSize", 4),
    ),
    (
        "sender-list-element-count-too-large",
        ("MQMQ-2.2.20.2-04", "MQMQ-2.2.20.2-06"),
        "The sender's list of destinations carries an ElementCount that is much too large.",
        field_is(UserMessagePacket, "MultiQueueFormatHeader.Destination.ElementCount", LARGE_BODY_BYTES),
    ),
    (
        "sender-list-signature-id-0x015f",
        ("MQMQ-2.2.20.3-01",),
        "The sender's MQFSignatureHeader carries ID 0x015F.",
        field_is(UserMessagePacket, "MultiQueueFormatHeader.Signature.ID", 0x015F),
    ),
    (
        "sender-list-signature-size-beyond-packet",
        ("MQMQ-2.2.20.3-03", "MQMQ-2.2.20.3-04"),
        "The sender's MQFSignatureHeader carries a Size above the size of the packet.",
        field_is(UserMessagePacket, "MultiQueueFormatHeader.Signature.Size", LARGE_BODY_BYTES),
    ),
    (
        "sender-list-signature-reversed",
        (
            "MQMQ-2.2.20.3-05",
            "MQDMPR-3.1.1.12-30",
            "MQDMPR-3.1.1.12-29",
        ),
        "The sender's MQFSignatureHeader carries the bytes of the signature in reverse order.",
        wrong_fields(
            UserMessagePacket,
            {"MultiQueueFormatHeader.Signature.Signature": lambda old: old[::-1]},
            has_header("MultiQueueFormatHeader"),
        ),
    ),
    (
        "sender-debug-header-qt-2",
        ("MQMQ-2.2.20.8-01",),
        "The sender's DebugHeader carries QT 2.",
        wrong_fields(
            UserMessagePacket, {"DebugHeader.QueueIdentifier": None, "DebugHeader.Flags": 2}, _is_debug_header_last
        ),
    ),
    (
        "sender-debug-header-without-queue-identifier",
        ("MQMQ-2.2.20.8-17",),
        "The sender's DebugHeader has QT 1, but contains no QueueIdentifier.",
        packets(
            UserMessagePacket, lambda packet: correct_packet_size(packet.build()[:-GUID_SIZE]), _is_debug_header_last
        ),
    ),
):
    add(_name, _rules, _says, _install)


def _count_before_id(packet: UserMessagePacket) -> bytes:
    """Put ElementCount before HeaderID and Reserved in the list of destinations."""
    header = packet.MultiQueueFormatHeader
    if header is None:
        return packet.build()
    data = header.Destination.build()
    return packet.build().replace(data, data[:4] + data[8:12] + data[4:8] + data[12:])


def _remove_destination_padding(packet: UserMessagePacket) -> bytes:
    """Remove the padding of the list of destinations."""
    header = packet.MultiQueueFormatHeader
    if header is None:
        return packet.build()
    data, padded = packet.build(), header.Destination.build()
    names = sum(len(one.build()) for one in header.Destination.FormatNameList)
    return correct_packet_size(data.replace(padded, padded[: LIST_HEAD + names]))


def _swap_size_and_id(packet: UserMessagePacket) -> bytes:
    data = packet.build()
    return data[:-8] + data[-4:] + data[-8:-4]


for _name, _rule, _says, _change in (
    (
        "sender-list-element-count-before-header-id",
        "MQMQ-2.2.20.2-D02",
        "The sender's list of destinations has ElementCount before HeaderID.",
        _count_before_id,
    ),
    (
        "sender-list-names-unpadded",
        "MQMQ-2.2.20.2-D03",
        "The sender's list of destinations has no padding after its names.",
        _remove_destination_padding,
    ),
    (
        "sender-list-signature-size-before-id",
        "MQMQ-2.2.20.3-D01",
        "The sender's MQFSignatureHeader has Size before ID.",
        _swap_size_and_id,
    ),
):
    add(_name, _rule, _says, packets(UserMessagePacket, _change, has_header("MultiQueueFormatHeader")))


def _cut_large_body(data: bytes) -> bytes:
    """Return the first half of a large body, and a small body unchanged."""
    return data[: len(data) // 2] if len(data) > PIECE_BYTES else data


def _move_debug_header_to_front(packet: UserMessagePacket) -> bytes:
    """Put the DebugHeader before the MessagePropertiesHeader."""
    properties, debug = packet.MessagePropertiesHeader.build(), (packet.DebugHeader or DebugHeader()).build()
    return packet.build().replace(properties + debug, debug + properties)


def _move_trace_queue_to_front(packet: UserMessagePacket) -> bytes:
    """Put QueueIdentifier before Flags and Reserved."""
    debug = (packet.DebugHeader or DebugHeader()).build()
    return packet.build().replace(debug, debug[4:] + debug[:4])


def _move_transaction_header_back(packet: UserMessagePacket) -> bytes:
    """Put the TransactionHeader after the MessagePropertiesHeader."""
    properties = packet.MessagePropertiesHeader.build()
    transaction = packet.TransactionHeader.build() if packet.TransactionHeader is not None else b""
    return packet.build().replace(transaction + properties, properties + transaction)


add(
    "sender-transaction-header-after-properties",
    ("MQMQ-2.2.20-D02", "MQDMPR-3.1.7.1.30-03"),
    "The sender's UserMessage has the TransactionHeader after the MessagePropertiesHeader.",
    packets(UserMessagePacket, _move_transaction_header_back, has_header("TransactionHeader")),
)
add(
    "sender-debug-header-before-properties",
    ("MQMQ-2.2.20-D02", "MQDMPR-3.1.7.1.30-03"),
    "The sender's UserMessage has the DebugHeader before the MessagePropertiesHeader.",
    packets(UserMessagePacket, _move_debug_header_to_front, has_header("DebugHeader")),
)
add(
    "sender-debug-header-queue-identifier-first",
    ("MQMQ-2.2.20.8-D01", "MQDMPR-3.1.7.1.32-D07"),
    "The sender's DebugHeader has QueueIdentifier before Flags.",
    packets(UserMessagePacket, _move_trace_queue_to_front, has_header("DebugHeader")),
)
add(
    "sender-large-body-cut-in-half",
    "MQMQ-2.2.20-D01",
    "The sender's UserMessage carries only the first half of a body above 64 KiB.",
    wrong_fields(
        UserMessagePacket,
        {"MessagePropertiesHeader.MessageBody": _cut_large_body, "MessagePropertiesHeader.Padding": None},
    ),
)


@fault("receiver-body-cut-at-1-mib", breaks="MQMQ-2.2.20-D01")
class ReceiverBodyCutAt1Mib(Positions):
    """The receiver delivers only the first MiB of a body."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, Body=message.Body[:MEBIBYTE]))


def _refuse_odd_soap_text(text: str) -> Install:
    """Let the receiver refuse messages with a SoapHeader in which the field `text` has an odd number of WCHARs."""

    class Misread(Identifying):
        def check_form(self, packet: Packet) -> None:
            soap = getattr(packet, "SoapHeader", None)
            if soap is not None and getattr(soap, f"{text}DataLength") % 2:
                raise FormatError(f"SoapHeader.{text}", 0, "a fault", "the next header is not at its offset")
            super().check_form(packet)

    return replace_part(Misread)


add(
    "receiver-soap-header-with-odd-header-length-refused",
    ("MQMQ-2.2.20.7-03", "MQDMPR-3.1.1.12-65", "MQMQ-2.2.20.7-D01"),
    "The receiver refuses a SoapHeader whose HeaderDataLength is odd.",
    _refuse_odd_soap_text("Header"),
)
add(
    "receiver-soap-header-with-odd-body-length-refused",
    "MQMQ-2.2.20.7-06",
    "The receiver refuses a SoapHeader whose BodyDataLength is odd.",
    _refuse_odd_soap_text("Body"),
)


def _swap_soap_sections(packet: UserMessagePacket) -> bytes:
    soap = packet.SoapHeader
    if soap is None:
        return packet.build()
    swapped = replace(soap, Header=soap.Body, Body=soap.Header)
    return replace(packet, BaseHeader=replace(packet.BaseHeader, PacketSize=0), SoapHeader=swapped).build()


add(
    "sender-soap-header-sections-swapped",
    "MQMQ-2.2.20.7-D01",
    "The sender forwards a SoapHeader with the texts of its two sections swapped.",
    packets(UserMessagePacket, _swap_soap_sections, has_header("SoapHeader")),
)

add_refusals(
    UserMessagePacket,
    ("receiver-list-reserved-refused", "MQMQ-2.2.20.2-03", "MultiQueueFormatHeader.Destination.Reserved"),
    ("receiver-list-signature-reserved-refused", "MQMQ-2.2.20.3-02", "MultiQueueFormatHeader.Signature.Reserved"),
    ("receiver-soap-header-reserved-refused", "MQMQ-2.2.20.7-02", "SoapHeader.Reserved"),
    ("receiver-soap-header-reserved1-refused", "MQMQ-2.2.20.7-05", "SoapHeader.Reserved1"),
    ("receiver-debug-header-x2-refused", "MQMQ-2.2.20.8-02", "DebugHeader.X2"),
    ("receiver-debug-header-x3-refused", "MQMQ-2.2.20.8-03", "DebugHeader.X3"),
    ("receiver-debug-header-x4-refused", "MQMQ-2.2.20.8-04", "DebugHeader.X4"),
    ("receiver-debug-header-x5-refused", "MQMQ-2.2.20.8-05", "DebugHeader.X5"),
    ("receiver-debug-header-x6-refused", "MQMQ-2.2.20.8-06", "DebugHeader.X6"),
    ("receiver-debug-header-x7-refused", "MQMQ-2.2.20.8-07", "DebugHeader.X7"),
    ("receiver-debug-header-x8-refused", "MQMQ-2.2.20.8-08", "DebugHeader.X8"),
    ("receiver-debug-header-x9-refused", "MQMQ-2.2.20.8-09", "DebugHeader.X9"),
    ("receiver-debug-header-x10-refused", "MQMQ-2.2.20.8-10", "DebugHeader.X10"),
    ("receiver-debug-header-x11-refused", "MQMQ-2.2.20.8-11", "DebugHeader.X11"),
    ("receiver-debug-header-x12-refused", "MQMQ-2.2.20.8-12", "DebugHeader.X12"),
    ("receiver-debug-header-x13-refused", "MQMQ-2.2.20.8-13", "DebugHeader.X13"),
    ("receiver-debug-header-x14-refused", "MQMQ-2.2.20.8-14", "DebugHeader.X14"),
    ("receiver-debug-header-x15-refused", "MQMQ-2.2.20.8-15", "DebugHeader.X15"),
    ("receiver-debug-header-reserved-refused", "MQMQ-2.2.20.8-16", "DebugHeader.Reserved"),
)

add_bits_set(
    UserMessagePacket,
    ("sender-debug-header-x2-set", "MQMQ-2.2.20.8-02", "DebugHeader.X2"),
    ("sender-debug-header-x3-set", "MQMQ-2.2.20.8-03", "DebugHeader.X3"),
    ("sender-debug-header-x4-set", "MQMQ-2.2.20.8-04", "DebugHeader.X4"),
    ("sender-debug-header-x5-set", "MQMQ-2.2.20.8-05", "DebugHeader.X5"),
    ("sender-debug-header-x6-set", "MQMQ-2.2.20.8-06", "DebugHeader.X6"),
    ("sender-debug-header-x7-set", "MQMQ-2.2.20.8-07", "DebugHeader.X7"),
    ("sender-debug-header-x8-set", "MQMQ-2.2.20.8-08", "DebugHeader.X8"),
    ("sender-debug-header-x9-set", "MQMQ-2.2.20.8-09", "DebugHeader.X9"),
    ("sender-debug-header-x10-set", "MQMQ-2.2.20.8-10", "DebugHeader.X10"),
    ("sender-debug-header-x11-set", "MQMQ-2.2.20.8-11", "DebugHeader.X11"),
    ("sender-debug-header-x12-set", "MQMQ-2.2.20.8-12", "DebugHeader.X12"),
    ("sender-debug-header-x13-set", "MQMQ-2.2.20.8-13", "DebugHeader.X13"),
    ("sender-debug-header-x14-set", "MQMQ-2.2.20.8-14", "DebugHeader.X14"),
    ("sender-debug-header-x15-set", "MQMQ-2.2.20.8-15", "DebugHeader.X15"),
)

for _name, _rule, _path in (
    ("sender-list-reserved-not-zero", "MQMQ-2.2.20.2-03", "MultiQueueFormatHeader.Response.Reserved"),
    ("sender-list-signature-reserved-not-zero", "MQMQ-2.2.20.3-02", "MultiQueueFormatHeader.Signature.Reserved"),
    ("sender-debug-header-reserved-not-zero", "MQMQ-2.2.20.8-16", "DebugHeader.Reserved"),
):
    add(
        _name,
        _rule,
        f"The sender sets {_path} of a message to a nonzero value.",
        field_is(UserMessagePacket, _path, 0xA5C3),
    )


add(
    "transactional-debug-header-with-qt-0",
    "MQMQ-2.2.20.8-D01",
    "The sender sets QT to 0 in the DebugHeader of a transactional message, although QueueIdentifier is present.",
    field_is(UserMessagePacket, "DebugHeader.QT", 0, when=has_header("TransactionHeader")),
)


@fault("reserved-of-response-list-not-ignored", breaks="MQMQ-2.2.20.2-03")
class ReservedOfResponseListNotIgnored(Identifying):
    """The receiver refuses a message in which Reserved of the list of administration or response queues is not 0."""

    def check_form(self, packet: Packet) -> None:
        header = packet.MultiQueueFormatHeader if isinstance(packet, UserMessagePacket) else None
        if header is not None and (header.Administration.Reserved or header.Response.Reserved):
            raise FormatError("MS-MQMQ 2.2.20.2", 0, "Reserved 0", "another value")
        super().check_form(packet)
