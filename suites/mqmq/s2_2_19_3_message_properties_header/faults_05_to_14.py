"""Faults that break the rules MQMQ-2.2.19.3-05 to MQMQ-2.2.19.3-14."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from operator import or_
from typing import Any

from harness.faults.fields import add_to_field, change_number_in_field, send_wrong_size, set_field_value
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import change_core_at_restart, change_packets_of_kind, send_wrong_field_values
from harness.faults.received_messages import change_received_message
from harness.faults.registry import Install, add
from harness.faults.sent_messages import change_inserted_message, correct_packet_size, has_security_item
from reference_qm.codec import FormatError, MessageClass, MessagePropertiesHeader, Packet, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.order_acks import ORDER_ACK_LABEL
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.surface.clock import Now
from suites.mqmq.s2_2_19_3_message_properties_header.fault_steps import USER_MESSAGE_TYPE


def _refuse_unused_flag(bit: int) -> Install:
    """Let the receiver refuse a message as malformed if an unused bit of MessagePropertiesHeader.Flags is set."""

    class UnusedFlagRefuser(Identifying):
        def check_field_values(self, packet: Packet) -> None:
            if isinstance(packet, UserMessagePacket) and packet.MessagePropertiesHeader.Flags >> bit & 1:
                raise FormatError("MessagePropertiesHeader.Flags", 0, "a fault", f"bit {bit} is set")
            super().check_field_values(packet)

    return replace_part(UnusedFlagRefuser)


for _name, _rule, _bit in (
    ("receiver-message-properties-bit-4-refused", "MQMQ-2.2.19.3-05", 4),
    ("receiver-message-properties-bit-5-refused", "MQMQ-2.2.19.3-06", 5),
    ("receiver-message-properties-bit-6-refused", "MQMQ-2.2.19.3-07", 6),
    ("receiver-message-properties-bit-7-refused", "MQMQ-2.2.19.3-08", 7),
):
    _says = f"The receiver refuses a message with bit {_bit} of MessagePropertiesHeader.Flags set."
    add(_name, _rule, _says, _refuse_unused_flag(_bit))


for _name, _rule, _bit in (
    ("sender-message-properties-bit-4-set", "MQMQ-2.2.19.3-05", 4),
    ("sender-message-properties-bit-5-set", "MQMQ-2.2.19.3-06", 5),
    ("sender-message-properties-bit-6-set", "MQMQ-2.2.19.3-07", 6),
    ("sender-message-properties-bit-7-set", "MQMQ-2.2.19.3-08", 7),
):
    _says = f"The sender sets bit {_bit} of MessagePropertiesHeader.Flags in a message."
    add(
        _name,
        _rule,
        _says,
        change_number_in_field(UserMessagePacket, "MessagePropertiesHeader.Flags", partial(or_, 1 << _bit)),
    )


NO_ACK_REQUEST_FIELDS = {"MessagePropertiesHeader.Flags": 0}


for _name, _rule, _says, _changes, _when in (
    (
        "receiver-message-properties-bit-4-of-transactional-message-suppresses-acknowledgments",
        "MQMQ-2.2.19.3-05",
        "The receiver sends no acknowledgments for a transactional message when bit 4 of "
        "MessagePropertiesHeader.Flags is set.",
        NO_ACK_REQUEST_FIELDS,
        lambda packet: packet.MessagePropertiesHeader.Flags & 0x10 and packet.TransactionHeader is not None,
    ),
    (
        "receiver-message-properties-bit-6-message-expires",
        "MQMQ-2.2.19.3-07",
        "The receiver removes a message after one second when bit 6 of MessagePropertiesHeader.Flags is set.",
        {"UserHeader.TimeToBeReceived": 1},
        lambda packet: packet.MessagePropertiesHeader.Flags & 0x40,
    ),
    (
        "receiver-message-properties-bit-7-makes-express",
        "MQMQ-2.2.19.3-08",
        "The receiver treats a recoverable message as express when bit 7 of MessagePropertiesHeader.Flags is set.",
        {"UserHeader.Flags": lambda flags: flags & ~(3 << 5)},
        lambda packet: packet.MessagePropertiesHeader.Flags & 0x80 and packet.TransactionHeader is None,
    ),
    (
        "receiver-correlation-id-of-transactional-message-cut-to-16-bytes",
        "MQMQ-2.2.19.3-13",
        "The receiver delivers only the first 16 bytes of CorrelationID of a transactional message.",
        {"MessagePropertiesHeader.CorrelationID": lambda old: old[:16] + bytes(4)},
        lambda packet: packet.TransactionHeader is not None,
    ),
    (
        "receiver-application-tag-of-transactional-message-cut-to-31-bits",
        "MQMQ-2.2.19.3-16",
        "The receiver clears the highest bit of ApplicationTag of a transactional message.",
        {"MessagePropertiesHeader.ApplicationTag": lambda old: old & 0x7FFFFFFF},
        lambda packet: packet.TransactionHeader is not None,
    ),
):
    add(_name, _rule, _says, change_received_message(_changes, _when))


PROPERTIES_HEADER_FIXED_SIZE = len(MessagePropertiesHeader().build())


LARGEST_SIGNED_32_BIT_SIZE = 0x7FFF_FFFF


SHA1_ALGORITHM = 32772


DES_ALGORITHM = 26113


def _insert_bytes_after_label(packet: UserMessagePacket) -> bytes:
    """Insert four bytes after the label."""
    headers = (packet.BaseHeader, packet.UserHeader, packet.TransactionHeader, packet.SecurityHeader)
    before = sum(len(header.build()) for header in headers if header is not None)
    at = before + PROPERTIES_HEADER_FIXED_SIZE + 2 * packet.MessagePropertiesHeader.LabelLength
    data = packet.build()
    return correct_packet_size(data[:at] + b"more" + data[at:])


def _remove_properties_padding(packet: UserMessagePacket) -> bytes:
    properties = packet.MessagePropertiesHeader
    used = PROPERTIES_HEADER_FIXED_SIZE + 2 * properties.LabelLength + properties.ExtensionSize + properties.MessageSize
    data = packet.build()
    return correct_packet_size(data[: len(data) - -used % 4])


def _is_properties_header_last(packet: UserMessagePacket) -> bool:
    others = (packet.DebugHeader, packet.SoapHeader, packet.MultiQueueFormatHeader, packet.SessionHeader)
    return all(header is None for header in others)


def _change_fields_of_labeled_messages(**changes: Any) -> Install:
    """Change fields of a message that has a label."""
    fields = {f"MessagePropertiesHeader.{name}": change for name, change in changes.items()}
    return send_wrong_field_values(UserMessagePacket, fields, lambda packet: bool(packet.MessagePropertiesHeader.Label))


for _name, _broken_rules, _says, _install in (
    (
        "sender-label-length-in-bytes",
        ("MQMQ-2.2.19.3-09",),
        "The sender writes LabelLength of a UserMessage in bytes, not in WCHARs.",
        change_number_in_field(UserMessagePacket, "MessagePropertiesHeader.LabelLength", lambda old: 2 * old),
    ),
    (
        "sender-4-uncounted-bytes-after-label",
        ("MQMQ-2.2.19.3-10", "MQMQ-2.2.19.3-31", "MQMQ-2.2.19.3-32", "MQMQ-2.2.19.3-33"),
        "The sender's UserMessage carries four extra bytes after the label, which no size field includes.",
        change_packets_of_kind(UserMessagePacket, _insert_bytes_after_label, _is_properties_header_last),
    ),
    (
        "sender-label-unterminated",
        ("MQMQ-2.2.19.3-11", "MQMQ-2.2.19.3-30"),
        "The sender's UserMessage carries a label without its terminating null.",
        _change_fields_of_labeled_messages(LabelTerminated=False),
    ),
    (
        "sender-label-with-null-inside",
        ("MQMQ-2.2.19.3-30",),
        "The sender's UserMessage carries a label with a null between its characters.",
        _change_fields_of_labeled_messages(Label=lambda old: f"{old}\0x"),
    ),
    (
        "sender-label-header-field-508-bytes-long",
        (
            "MQMQ-2.2.19.3-29",
            "MQDMPR-3.1.1.12-45",
        ),
        "The sender's UserMessage carries a label of 508 bytes.",
        _change_fields_of_labeled_messages(Label="x" * 253),
    ),
    (
        "sender-message-class-0x0200",
        ("MQMQ-2.2.19.3-12",),
        "The sender's UserMessage carries MessageClass 0x0200.",
        set_field_value(UserMessagePacket, "MessagePropertiesHeader.MessageClass", 0x0200),
    ),
    (
        "sender-body-type-0x77",
        ("MQMQ-2.2.19.3-15",),
        "The sender's UserMessage carries BodyType 0x77.",
        set_field_value(UserMessagePacket, "MessagePropertiesHeader.BodyType", 0x77),
    ),
    (
        "sender-message-size-one-too-large",
        ("MQMQ-2.2.19.3-17",),
        "The sender's UserMessage carries a MessageSize that is one too large.",
        send_wrong_size(UserMessagePacket, "MessagePropertiesHeader.MessageSize", 1),
    ),
    (
        "sender-message-size-beyond-packet",
        ("MQMQ-2.2.19.3-18",),
        "The sender's UserMessage carries a MessageSize above the size of the packet.",
        set_field_value(UserMessagePacket, "MessagePropertiesHeader.MessageSize", LARGEST_SIGNED_32_BIT_SIZE),
    ),
    (
        "sender-allocation-body-size-zero",
        ("MQMQ-2.2.19.3-19",),
        "The sender's UserMessage carries AllocationBodySize 0.",
        set_field_value(UserMessagePacket, "MessagePropertiesHeader.AllocationBodySize", 0),
    ),
    (
        "sender-privacy-level-2",
        ("MQMQ-2.2.19.3-20",),
        "The sender's UserMessage carries PrivacyLevel 2.",
        set_field_value(UserMessagePacket, "MessagePropertiesHeader.PrivacyLevel", 2),
    ),
    (
        "sender-signed-message-hash-algorithm-sha1",
        ("MQMQ-2.2.19.3-23", "MQMQ-2.2.19.3-D02", "MQDMPR-3.1.7.1.32-D13"),
        "The sender's signed UserMessage carries HashAlgorithm SHA-1.",
        set_field_value(
            UserMessagePacket, "MessagePropertiesHeader.HashAlgorithm", SHA1_ALGORITHM, has_security_item("Signature")
        ),
    ),
    (
        "sender-encryption-algorithm-0x1234",
        ("MQMQ-2.2.19.3-24",),
        "The sender's UserMessage carries EncryptionAlgorithm 0x1234.",
        set_field_value(UserMessagePacket, "MessagePropertiesHeader.EncryptionAlgorithm", 0x1234),
    ),
    (
        "sender-encrypted-message-algorithm-des",
        ("MQMQ-2.2.19.3-26",),
        "The sender's encrypted UserMessage carries EncryptionAlgorithm DES.",
        set_field_value(
            UserMessagePacket,
            "MessagePropertiesHeader.EncryptionAlgorithm",
            DES_ALGORITHM,
            has_security_item("EncryptionKey"),
        ),
    ),
    (
        "sender-extension-size-4-too-large",
        ("MQMQ-2.2.19.3-27",),
        "The sender's UserMessage carries an ExtensionSize that is 4 too large.",
        send_wrong_size(UserMessagePacket, "MessagePropertiesHeader.ExtensionSize"),
    ),
    (
        "sender-extension-size-beyond-packet",
        ("MQMQ-2.2.19.3-28",),
        "The sender's UserMessage carries an ExtensionSize above the size of the packet.",
        set_field_value(UserMessagePacket, "MessagePropertiesHeader.ExtensionSize", LARGEST_SIGNED_32_BIT_SIZE),
    ),
    (
        "sender-message-properties-header-unpadded",
        ("MQMQ-2.2.19.3-34",),
        "The sender's MessagePropertiesHeader has no padding.",
        change_packets_of_kind(UserMessagePacket, _remove_properties_padding, _is_properties_header_last),
    ),
):
    add(_name, _broken_rules, _says, _install)


add(
    "receiver-label-without-trailing-blanks",
    ("MQMQ-2.2.19.3-09",),
    "The receiver delivers a label without its trailing blanks.",
    change_inserted_message(lambda message: replace(message, Label=message.Label.rstrip())),
    blind=True,
)


def _has_surrogates_in_label(packet: Any) -> bool:
    return any(ord(character) > 0xFFFF for character in packet.MessagePropertiesHeader.Label or "")


add(
    "sender-user-message-label-length-counts-characters",
    "MQMQ-2.2.19.3-09",
    "The sender counts a character of two WCHARs once in LabelLength.",
    add_to_field(UserMessagePacket, "MessagePropertiesHeader.LabelLength", -1, when=_has_surrogates_in_label),
    blind=True,
)


add(
    "sender-label-length-counts-characters",
    "MQMQ-2.2.19.3-09",
    "The sender counts a character outside the basic plane of Unicode as one WCHAR in LabelLength.",
    change_number_in_field(
        USER_MESSAGE_TYPE,
        "MessagePropertiesHeader.LabelLength",
        lambda size: size - 1,
        lambda packet: any(ord(one) > 0xFFFF for one in packet.MessagePropertiesHeader.Label or ""),
    ),
)


@fault("receiver-correlation-id-of-message-lost", breaks="MQMQ-2.2.19.3-13")
class ReceiverCorrelationIdOfMessageLost(MessagePositions):
    """The receiver delivers a message without its CorrelationID."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, CorrelationIdentifier=bytes(20)))


add(
    "receiver-correlation-id-last-4-bytes-lost",
    ("MQMQ-2.2.19.3-13", "MQDMPR-3.1.1.12-34"),
    "The receiver sets the last four bytes of CorrelationID to zero in a message that it delivers.",
    change_inserted_message(
        lambda message: replace(message, CorrelationIdentifier=message.CorrelationIdentifier[:16] + bytes(4))
    ),
    blind=True,
)


def _clear_correlation_identifiers(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        for position in queue.MessagePositionList:
            position.MessageReference = replace(position.MessageReference, CorrelationIdentifier=bytes(20))


add(
    "receiver-correlation-id-lost-at-restart",
    "MQMQ-2.2.19.3-13",
    "At a restart, the receiver sets CorrelationID of every stored message to zero.",
    change_core_at_restart(_clear_correlation_identifiers),
)


def _is_admin_ack(packet: UserMessagePacket) -> bool:
    properties = packet.MessagePropertiesHeader
    return properties.MessageClass > MessageClass.MQMSG_CLASS_REPORT and properties.Label != ORDER_ACK_LABEL


add(
    "receiver-ack-correlation-id-zero",
    "MQMQ-2.2.19.3-14",
    "The receiver sets CorrelationID of its acknowledgment to zero.",
    set_field_value(UserMessagePacket, "MessagePropertiesHeader.CorrelationID", bytes(20), _is_admin_ack),
)


@fault("receiver-copies-correlation-id-of-refused-message-to-nack", breaks="MQMQ-2.2.19.3-14")
class ReceiverCopiesCorrelationIdOfRefusedMessageToNack(AdminAcks):
    """A queue manager sends a negative acknowledgment with the CorrelationID of the refused message."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        built = super().build(message, message_class, now)
        if message_class & 0x8000:
            built = replace(built, CorrelationIdentifier=message.CorrelationIdentifier)
        return built


add(
    "sender-extension-size-low-byte-only",
    "MQMQ-2.2.19.3-27",
    "The sender writes only the low byte of ExtensionSize.",
    change_number_in_field(
        UserMessagePacket,
        "MessagePropertiesHeader.ExtensionSize",
        lambda old: old & 0xFF,
        lambda packet: len(packet.MessagePropertiesHeader.ExtensionData) > 255,
    ),
    blind=True,
)
