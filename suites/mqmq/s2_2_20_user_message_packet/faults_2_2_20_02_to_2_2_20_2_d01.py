"""Faults that break the rules MQMQ-2.2.20-02 to MQMQ-2.2.20.2-D01."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.fields import add_to_field, register_refusal_faults, send_wrong_size, set_bits, set_field_value
from harness.faults.parts import fault
from harness.faults.primitives import change_packets_of_kind, send_wrong_field_values
from harness.faults.registry import add
from harness.faults.sent_messages import correct_packet_size, has_header
from reference_qm.codec import (
    DebugHeader,
    FormatError,
    Packet,
    SessionHeader,
    UserMessagePacket,
)
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Message, MessagePosition, Queue
from suites.mqmq.s2_2_20_user_message_packet.fault_steps import (
    REMOVED_TRACE_QUEUE_FIELDS,
    change_received_fields,
    make_destination_list_length_condition,
)

SESSION_HEADER_SIZE = len(SessionHeader().build())


GUID_SIZE = 16


LARGEST_BODY_BYTES = 0xFFFFFF


def _is_debug_header_last(packet: UserMessagePacket) -> bool:
    """Return whether DebugHeader is the last header."""
    return packet.DebugHeader is not None and packet.SessionHeader is None


for _name, _broken_rules, _says, _install in (
    (
        "sender-user-message-in-bit-set",
        ("MQMQ-2.2.20-02",),
        "The sender sets IN in a UserMessage.",
        set_bits(UserMessagePacket, "BaseHeader.IN"),
    ),
    (
        "sender-user-message-sh-without-session-header",
        ("MQMQ-2.2.20-09",),
        "The sender's UserMessage has BaseHeader.Flags.SH set, but contains no SessionHeader.",
        change_packets_of_kind(
            UserMessagePacket, lambda packet: packet.build()[:-SESSION_HEADER_SIZE], has_header("SessionHeader")
        ),
    ),
    (
        "sender-destination-list-header-size-4",
        ("MQMQ-2.2.20.2-01",),
        "The sender's list of destinations carries HeaderSize 4.",
        set_field_value(UserMessagePacket, "MultiQueueFormatHeader.Destination.HeaderSize", 4),
    ),
    (
        "sender-list-element-count-too-large",
        ("MQMQ-2.2.20.2-04", "MQMQ-2.2.20.2-06"),
        "The sender's list of destinations carries an ElementCount that is much too large.",
        set_field_value(UserMessagePacket, "MultiQueueFormatHeader.Destination.ElementCount", LARGEST_BODY_BYTES),
    ),
    (
        "sender-list-signature-id-0x015f",
        ("MQMQ-2.2.20.3-01",),
        "The sender's MQFSignatureHeader carries ID 0x015F.",
        set_field_value(UserMessagePacket, "MultiQueueFormatHeader.Signature.ID", 0x015F),
    ),
    (
        "sender-list-signature-size-beyond-packet",
        ("MQMQ-2.2.20.3-03", "MQMQ-2.2.20.3-04"),
        "The sender's MQFSignatureHeader carries a Size above the size of the packet.",
        set_field_value(UserMessagePacket, "MultiQueueFormatHeader.Signature.Size", LARGEST_BODY_BYTES),
    ),
    (
        "sender-list-signature-reversed",
        (
            "MQMQ-2.2.20.3-05",
            "MQDMPR-3.1.1.12-30",
            "MQDMPR-3.1.1.12-29",
        ),
        "The sender's MQFSignatureHeader carries the bytes of the signature in reverse order.",
        send_wrong_field_values(
            UserMessagePacket,
            {"MultiQueueFormatHeader.Signature.Signature": lambda old: old[::-1]},
            has_header("MultiQueueFormatHeader"),
        ),
    ),
    (
        "sender-debug-header-qt-2",
        ("MQMQ-2.2.20.8-01",),
        "The sender's DebugHeader carries QT 2.",
        send_wrong_field_values(
            UserMessagePacket, {"DebugHeader.QueueIdentifier": None, "DebugHeader.Flags": 2}, _is_debug_header_last
        ),
    ),
    (
        "sender-debug-header-without-queue-identifier",
        ("MQMQ-2.2.20.8-17",),
        "The sender's DebugHeader has QT 1, but contains no QueueIdentifier.",
        change_packets_of_kind(
            UserMessagePacket, lambda packet: correct_packet_size(packet.build()[:-GUID_SIZE]), _is_debug_header_last
        ),
    ),
):
    add(_name, _broken_rules, _says, _install)


LARGEST_UNCUT_BODY_BYTES = 0x10000


def _halve_large_body(data: bytes) -> bytes:
    """Return the first half of a large body, and a small body unchanged."""
    return data[: len(data) // 2] if len(data) > LARGEST_UNCUT_BODY_BYTES else data


add(
    "sender-large-body-cut-in-half",
    "MQMQ-2.2.20-D01",
    "The sender's UserMessage carries only the first half of a body above 64 KiB.",
    send_wrong_field_values(
        UserMessagePacket,
        {"MessagePropertiesHeader.MessageBody": _halve_large_body, "MessagePropertiesHeader.Padding": None},
    ),
)


BYTES_PER_MEBIBYTE = 0x100000


@fault("receiver-body-cut-at-1-mib", breaks="MQMQ-2.2.20-D01")
class ReceiverBodyCutAt1Mib(MessagePositions):
    """The receiver delivers only the first MiB of a body."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, Body=message.Body[:BYTES_PER_MEBIBYTE]))


LARGEST_PACKET_BYTES = 0x200000


@fault("receiver-message-over-two-megabytes-refused", breaks="MQMQ-2.2.20-D01", blind=True)
class ReceiverMessageOverTwoMegabytesRefused(Identifying):
    """The receiver refuses a message of more than 2 MB in one packet."""

    def identify_packet(self, data: bytes) -> Packet:
        packet = super().identify_packet(data)
        if isinstance(packet, UserMessagePacket) and len(data) > LARGEST_PACKET_BYTES:
            raise FormatError("BaseHeader.PacketSize", 0, "a fault", "the value is too large")
        return packet


FIRST_BODY_PART_BYTES = 1000


@fault("sender-user-message-long-body-first-part-only", breaks="MQMQ-2.2.20-D01", blind=True)
class SenderUserMessageLongBodyFirstPartOnly(MessageSending):
    """The sender puts only the first 1000 bytes of a longer body into the UserMessage Packet."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet: UserMessagePacket = super().construct_user_message(position)
        properties = packet.MessagePropertiesHeader
        if len(properties.MessageBody) <= FIRST_BODY_PART_BYTES:
            return packet
        body = properties.MessageBody[:FIRST_BODY_PART_BYTES]
        return replace(packet, MessagePropertiesHeader=replace(properties, MessageBody=body))


def _move_transaction_header_back(packet: UserMessagePacket) -> bytes:
    """Put the TransactionHeader after the MessagePropertiesHeader."""
    properties = packet.MessagePropertiesHeader.build()
    transaction = packet.TransactionHeader.build() if packet.TransactionHeader is not None else b""
    return packet.build().replace(transaction + properties, properties + transaction)


add(
    "sender-transaction-header-after-properties",
    ("MQMQ-2.2.20-D02", "MQDMPR-3.1.7.1.30-03"),
    "The sender's UserMessage has the TransactionHeader after the MessagePropertiesHeader.",
    change_packets_of_kind(UserMessagePacket, _move_transaction_header_back, has_header("TransactionHeader")),
)


def _move_debug_header_to_front(packet: UserMessagePacket) -> bytes:
    """Put the DebugHeader before the MessagePropertiesHeader."""
    properties, debug = packet.MessagePropertiesHeader.build(), (packet.DebugHeader or DebugHeader()).build()
    return packet.build().replace(properties + debug, debug + properties)


add(
    "sender-debug-header-before-properties",
    ("MQMQ-2.2.20-D02", "MQDMPR-3.1.7.1.30-03"),
    "The sender's UserMessage has the DebugHeader before the MessagePropertiesHeader.",
    change_packets_of_kind(UserMessagePacket, _move_debug_header_to_front, has_header("DebugHeader")),
)


add(
    "sender-mqf-address-header-size-of-three-names-too-small",
    "MQMQ-2.2.20.2-01",
    "The sender writes a HeaderSize that is 4 too small if the list of destinations has three names or more.",
    send_wrong_size(
        UserMessagePacket,
        "MultiQueueFormatHeader.Destination.HeaderSize",
        -4,
        make_destination_list_length_condition(3),
    ),
)


register_refusal_faults(
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


for _name, _rule, _path in (
    ("sender-list-reserved-not-zero", "MQMQ-2.2.20.2-03", "MultiQueueFormatHeader.Response.Reserved"),
    ("sender-list-signature-reserved-not-zero", "MQMQ-2.2.20.3-02", "MultiQueueFormatHeader.Signature.Reserved"),
    ("sender-debug-header-reserved-not-zero", "MQMQ-2.2.20.8-16", "DebugHeader.Reserved"),
):
    add(
        _name,
        _rule,
        f"The sender sets {_path} of a message to a nonzero value.",
        set_field_value(UserMessagePacket, _path, 0xA5C3),
    )


@fault("receiver-refuses-nonzero-reserved-of-admin-or-response-list", breaks="MQMQ-2.2.20.2-03")
class ReceiverRefusesNonzeroReservedOfAdminOrResponseList(Identifying):
    """The receiver refuses a message in which Reserved of the list of administration or response queues is not 0."""

    def check_field_values(self, packet: Packet) -> None:
        header = packet.MultiQueueFormatHeader if isinstance(packet, UserMessagePacket) else None
        if header is not None and (header.Administration.Reserved or header.Response.Reserved):
            raise FormatError("MQFAddressHeader.Reserved", 0, "MS-MQMQ 2.2.20.2", "the value is not 0")
        super().check_field_values(packet)


@fault("receiver-mqf-response-header-reserved-disables-authentication", breaks="MQMQ-2.2.20.2-03")
class ReceiverMqfResponseHeaderReservedDisablesAuthentication(SecurityOnReceipt):
    """The receiver does not verify the signature of a message when Reserved of its list of response queues is not 0."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        lists = packet.MultiQueueFormatHeader
        return packet if lists is not None and lists.Response.Reserved else super().authenticate_packet(packet)


for _name, _rule, _says, _when, _changes in (
    (
        "debug-header-reserved-odd-hides-queue",
        "MQMQ-2.2.20.8-16",
        "The receiver sends no report on a traced message whose DebugHeader has an odd Reserved.",
        lambda packet: packet.DebugHeader is not None and packet.DebugHeader.Reserved & 1,
        REMOVED_TRACE_QUEUE_FIELDS,
    ),
    (
        "destination-list-reserved-hides-list",
        "MQMQ-2.2.20.2-03",
        "The receiver ignores the list of destinations if its Reserved is not 0.",
        lambda packet: packet.MultiQueueFormatHeader is not None and packet.MultiQueueFormatHeader.Destination.Reserved,
        {"MultiQueueFormatHeader.Destination.FormatNameList": (), "MultiQueueFormatHeader.Destination.Padding": None},
    ),
):
    add(f"receiver-{_name}", _rule, _says, change_received_fields(_when, _changes))


add(
    "sender-mqf-address-header-element-count-of-four-names-three",
    ("MQMQ-2.2.20.2-04", "MQMQ-2.2.20.2-06"),
    "The sender writes an ElementCount that is one too low if the list of destinations has four names or more.",
    add_to_field(
        UserMessagePacket,
        "MultiQueueFormatHeader.Destination.ElementCount",
        -1,
        make_destination_list_length_condition(4),
    ),
)


add(
    "sender-mqf-address-header-id-of-responses-in-signed-message-administration",
    "MQMQ-2.2.20.2-D01",
    "The sender sets HeaderID of the list of response queues to 0xC8 if MQFSignatureHeader has a signature.",
    set_field_value(
        UserMessagePacket,
        "MultiQueueFormatHeader.Response.HeaderID",
        0xC8,
        lambda packet: packet.MultiQueueFormatHeader is not None and packet.MultiQueueFormatHeader.Signature.Size > 0,
    ),
)
