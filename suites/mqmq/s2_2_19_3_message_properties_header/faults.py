"""Faults of MS-MQMQ 2.2.19.3 MessagePropertiesHeader."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from operator import or_
from typing import Any

from harness.faults.fields import change_number, field_is, size_wrong
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import packets, set_fields, wrong_fields
from harness.faults.registry import Install, add
from harness.faults.sent_messages import change_construction, change_insertion, correct_packet_size, has_security_item
from reference_qm.codec import FormatError, MessageClass, MessagePropertiesHeader, Packet, UserMessagePacket
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.core.transfer.arrival import Arrival
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.order_acks import ORDER_ACK_LABEL
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Message, MessagePosition, Queue, Session
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now

PROPERTIES = "MessagePropertiesHeader"
FIXED_SIZE = len(MessagePropertiesHeader().build())
HUGE_SIZE = 0x7FFF_FFFF
SHA1, DES = 0x8004, 0x6601


def _insert_bytes_after_label(packet: UserMessagePacket) -> bytes:
    """Insert four bytes after the label."""
    headers = (packet.BaseHeader, packet.UserHeader, packet.TransactionHeader, packet.SecurityHeader)
    before = sum(len(header.build()) for header in headers if header is not None)
    at = before + FIXED_SIZE + 2 * packet.MessagePropertiesHeader.LabelLength
    data = packet.build()
    return correct_packet_size(data[:at] + b"more" + data[at:])


def _remove_properties_padding(packet: UserMessagePacket) -> bytes:
    properties = packet.MessagePropertiesHeader
    used = FIXED_SIZE + 2 * properties.LabelLength + properties.ExtensionSize + properties.MessageSize
    data = packet.build()
    return correct_packet_size(data[: len(data) - -used % 4])


def _is_last_header(packet: UserMessagePacket) -> bool:
    others = (packet.DebugHeader, packet.SoapHeader, packet.MultiQueueFormatHeader, packet.SessionHeader)
    return all(header is None for header in others)


def _change_labelled_message(**changes: Any) -> Install:
    """Change fields of a message that has a label."""
    fields = {f"MessagePropertiesHeader.{name}": change for name, change in changes.items()}
    return wrong_fields(UserMessagePacket, fields, lambda packet: bool(packet.MessagePropertiesHeader.Label))


# -- sent messages --------------------------------------------------------------------------------------------------

for _name, _rules, _says, _install in (
    (
        "sender-label-length-in-bytes",
        ("MQMQ-2.2.19.3-09",),
        "The sender writes LabelLength of a UserMessage in bytes, not in WCHARs.",
        change_number(UserMessagePacket, "MessagePropertiesHeader.LabelLength", lambda old: 2 * old),
    ),
    (
        "sender-4-uncounted-bytes-after-label",
        ("MQMQ-2.2.19.3-10", "MQMQ-2.2.19.3-31", "MQMQ-2.2.19.3-32", "MQMQ-2.2.19.3-33"),
        "The sender's UserMessage carries four extra bytes after the label, which no size field includes.",
        packets(UserMessagePacket, _insert_bytes_after_label, _is_last_header),
    ),
    (
        "sender-label-unterminated",
        ("MQMQ-2.2.19.3-11", "MQMQ-2.2.19.3-30"),
        "The sender's UserMessage carries a label without its terminating null.",
        _change_labelled_message(LabelTerminated=False),
    ),
    (
        "sender-label-with-null-inside",
        ("MQMQ-2.2.19.3-30",),
        "The sender's UserMessage carries a label with a null between its characters.",
        _change_labelled_message(Label=lambda old: f"{old}\0x"),
    ),
    (
        "sender-label-header-field-508-bytes-long",
        (
            "MQMQ-2.2.19.3-29",
            "MQDMPR-3.1.1.12-45",
        ),
        "The sender's UserMessage carries a label of 508 bytes.",
        _change_labelled_message(Label="x" * 253),
    ),
    (
        "sender-message-class-0x0200",
        ("MQMQ-2.2.19.3-12",),
        "The sender's UserMessage carries MessageClass 0x0200.",
        field_is(UserMessagePacket, "MessagePropertiesHeader.MessageClass", 0x0200),
    ),
    (
        "sender-body-type-0x77",
        ("MQMQ-2.2.19.3-15",),
        "The sender's UserMessage carries BodyType 0x77.",
        field_is(UserMessagePacket, "MessagePropertiesHeader.BodyType", 0x77),
    ),
    (
        "sender-message-size-one-too-large",
        ("MQMQ-2.2.19.3-17",),
        "The sender's UserMessage carries a MessageSize that is one too large.",
        size_wrong(UserMessagePacket, "MessagePropertiesHeader.MessageSize", 1),
    ),
    (
        "sender-message-size-beyond-packet",
        ("MQMQ-2.2.19.3-18",),
        "The sender's UserMessage carries a MessageSize above the size of the packet.",
        field_is(UserMessagePacket, "MessagePropertiesHeader.MessageSize", HUGE_SIZE),
    ),
    (
        "sender-allocation-body-size-zero",
        ("MQMQ-2.2.19.3-19",),
        "The sender's UserMessage carries AllocationBodySize 0.",
        field_is(UserMessagePacket, "MessagePropertiesHeader.AllocationBodySize", 0),
    ),
    (
        "sender-privacy-level-2",
        ("MQMQ-2.2.19.3-20",),
        "The sender's UserMessage carries PrivacyLevel 2.",
        field_is(UserMessagePacket, "MessagePropertiesHeader.PrivacyLevel", 2),
    ),
    (
        "sender-signed-message-hash-algorithm-sha1",
        ("MQMQ-2.2.19.3-23", "MQMQ-2.2.19.3-D02", "MQDMPR-3.1.7.1.32-D13"),
        "The sender's signed UserMessage carries HashAlgorithm SHA-1.",
        field_is(UserMessagePacket, "MessagePropertiesHeader.HashAlgorithm", SHA1, has_security_item("Signature")),
    ),
    (
        "sender-encryption-algorithm-0x1234",
        ("MQMQ-2.2.19.3-24",),
        "The sender's UserMessage carries EncryptionAlgorithm 0x1234.",
        field_is(UserMessagePacket, "MessagePropertiesHeader.EncryptionAlgorithm", 0x1234),
    ),
    (
        "sender-encrypted-message-algorithm-des",
        ("MQMQ-2.2.19.3-26",),
        "The sender's encrypted UserMessage carries EncryptionAlgorithm DES.",
        field_is(
            UserMessagePacket, "MessagePropertiesHeader.EncryptionAlgorithm", DES, has_security_item("EncryptionKey")
        ),
    ),
    (
        "sender-extension-size-4-too-large",
        ("MQMQ-2.2.19.3-27",),
        "The sender's UserMessage carries an ExtensionSize that is 4 too large.",
        size_wrong(UserMessagePacket, "MessagePropertiesHeader.ExtensionSize"),
    ),
    (
        "sender-extension-size-beyond-packet",
        ("MQMQ-2.2.19.3-28",),
        "The sender's UserMessage carries an ExtensionSize above the size of the packet.",
        field_is(UserMessagePacket, "MessagePropertiesHeader.ExtensionSize", HUGE_SIZE),
    ),
    (
        "sender-message-properties-header-unpadded",
        ("MQMQ-2.2.19.3-34",),
        "The sender's MessagePropertiesHeader has no padding.",
        packets(UserMessagePacket, _remove_properties_padding, _is_last_header),
    ),
):
    add(_name, _rules, _says, _install)


def _change_properties_bytes(change: Callable[[bytearray, int], None]) -> Install:
    """Change bytes of the MessagePropertiesHeader; `change` is called with the packet's bytes and the offset of the
    header.
    """

    def change_header_bytes(packet: UserMessagePacket) -> bytes:
        headers = (packet.BaseHeader, packet.UserHeader, packet.TransactionHeader, packet.SecurityHeader)
        data = bytearray(packet.build())
        change(data, sum(len(header.build()) for header in headers if header is not None))
        return bytes(data)

    return packets(UserMessagePacket, change_header_bytes)


def _swap_tag_and_body_type(data: bytearray, at: int) -> None:
    data[at + 24 : at + 28], data[at + 28 : at + 32] = data[at + 28 : at + 32], data[at + 24 : at + 28]


def _reverse_ack_bits(data: bytearray, at: int) -> None:
    flags = data[at]
    data[at] = flags & 0xF0 | int(f"{flags & 0x0F:04b}"[::-1], 2)


def _move_class_after_correlation_id(data: bytearray, at: int) -> None:
    data[at + 2 : at + 24] = data[at + 4 : at + 24] + data[at + 2 : at + 4]


for _name, _says, _change in (
    (
        "sender-message-class-after-correlation-id",
        "The sender's MessagePropertiesHeader has MessageClass after CorrelationID.",
        _move_class_after_correlation_id,
    ),
    (
        "sender-application-tag-before-body-type",
        "The sender's MessagePropertiesHeader has ApplicationTag before BodyType.",
        _swap_tag_and_body_type,
    ),
    (
        "sender-acknowledgment-bits-reversed",
        "The sender's MessagePropertiesHeader has PA, PR, NA and NR in the reverse order.",
        _reverse_ack_bits,
    ),
):
    add(
        _name,
        (
            "MQMQ-2.2.19.3-D01",
            "MQDMPR-3.1.7.1.32-06",
            "MQDMPR-3.1.7.1.32-03",
            "MQDMPR-3.1.7.1.32-02",
            "MQDMPR-3.1.7.1.32-D02",
        ),
        _says,
        _change_properties_bytes(_change),
    )

# -- received messages ----------------------------------------------------------------------------------------------


def _refuse_unused_flag(bit: int) -> Install:
    """Let the receiver refuse a message as malformed if an unused bit of MessagePropertiesHeader.Flags is set."""

    class RefusedBit(Identifying):
        def check_form(self, packet: Packet) -> None:
            if isinstance(packet, UserMessagePacket) and packet.MessagePropertiesHeader.Flags >> bit & 1:
                raise FormatError("MessagePropertiesHeader.Flags", 0, "a fault", f"bit {bit} is set")
            super().check_form(packet)

    return replace_part(RefusedBit)


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
    add(_name, _rule, _says, change_number(UserMessagePacket, "MessagePropertiesHeader.Flags", partial(or_, 1 << _bit)))


@fault("receiver-correlation-id-of-message-lost", breaks="MQMQ-2.2.19.3-13")
class ReceiverCorrelationIdOfMessageLost(Positions):
    """The receiver delivers a message without its CorrelationID."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, CorrelationIdentifier=bytes(20)))


@fault("receiver-application-tag-replaced-by-1", breaks="MQMQ-2.2.19.3-16")
class ReceiverApplicationTagReplacedBy1(Positions):
    """The receiver replaces the ApplicationTag of a delivered message with 1."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, AppSpecific=1))


def _accept_undefined_value(field: str, value: int) -> Install:
    """Let the receiver accept a message whose `field` has an undefined value."""

    class Known(SecurityOnReceipt):
        def check_security(
            self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
        ) -> UserMessagePacket | MessageClass:
            if getattr(packet.MessagePropertiesHeader, field) == value:
                return packet
            return super().check_security(session, packet, queue, now)

    return replace_part(Known)


for _name, _rule, _field, _value, _says in (
    (
        "receiver-privacy-level-4-accepted",
        "MQMQ-2.2.19.3-21",
        "PrivacyLevel",
        4,
        "The receiver accepts an encrypted message with PrivacyLevel 4.",
    ),
    (
        "receiver-hash-algorithm-0x8099-accepted",
        "MQMQ-2.2.19.3-22",
        "HashAlgorithm",
        0x8099,
        "The receiver accepts a signed message with HashAlgorithm 0x8099.",
    ),
    (
        "receiver-encryption-algorithm-0x6699-accepted",
        "MQMQ-2.2.19.3-25",
        "EncryptionAlgorithm",
        0x6699,
        "The receiver accepts an encrypted message with EncryptionAlgorithm 0x6699.",
    ),
):
    add(_name, _rule, _says, _accept_undefined_value(_field, _value))

# -- acknowledgments that the bits request ---------------------------------------------------------------------------


def _is_admin_ack(packet: UserMessagePacket) -> bool:
    properties = packet.MessagePropertiesHeader
    return properties.MessageClass > MessageClass.MQMSG_CLASS_REPORT and properties.Label != ORDER_ACK_LABEL


add(
    "receiver-ack-correlation-id-zero",
    "MQMQ-2.2.19.3-14",
    "The receiver sets CorrelationID of its acknowledgment to zero.",
    field_is(UserMessagePacket, "MessagePropertiesHeader.CorrelationID", bytes(20), _is_admin_ack),
)

# -- label, extension and body ---------------------------------------------------------------------------------------


@fault("receiver-extension-last-byte-moved-to-body", breaks="MQMQ-2.2.19.3-D05")
class ReceiverExtensionLastByteMovedToBody(Positions):
    """The receiver delivers the last byte of an extension as the first byte of the body."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        extension, body = message.Extension[:-1], message.Extension[-1:] + message.Body
        return super().insert_message(queue, replace(message, Extension=extension, Body=body))


@fault(
    "receiver-body-type-lost",
    breaks=(
        "MQMQ-2.2.19.3-D01",
        "MQDMPR-3.1.7.1.31-04",
        "MQDMPR-3.1.7.1.31-D02",
    ),
)
class ReceiverBodyTypeLost(Positions):
    """The receiver replaces the BodyType of a delivered message with 0."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, BodyType=0))


add(
    "sender-application-tag-always-1",
    "MQMQ-2.2.19.3-16",
    "The sender's UserMessage carries ApplicationTag 1.",
    field_is(UserMessagePacket, "MessagePropertiesHeader.ApplicationTag", 1),
)
add(
    "sender-extension-reversed",
    "MQMQ-2.2.19.3-D05",
    "The sender's UserMessage carries the bytes of the extension in reverse order.",
    wrong_fields(UserMessagePacket, {"MessagePropertiesHeader.ExtensionData": lambda old: old[::-1]}),
)


add(
    "sender-label-cut-at-124-characters",
    (
        "MQMQ-2.2.19.3-29",
        "MQDMPR-3.1.1.12-45",
    ),
    "The sender's UserMessage carries only the first 124 characters of the label.",
    change_construction(
        lambda packet, message: set_fields(packet, {"MessagePropertiesHeader.Label": message.Label[:124] or None})
    ),
    blind=True,
)


add(
    "sender-application-tag-without-highest-bit",
    ("MQMQ-2.2.19.3-16",),
    "The sender clears the highest bit of ApplicationTag in a UserMessage.",
    change_construction(
        lambda packet, message: set_fields(
            packet, {"MessagePropertiesHeader.ApplicationTag": message.AppSpecific & 0x7FFFFFFF}
        )
    ),
    blind=True,
)


add(
    "receiver-correlation-id-last-4-bytes-lost",
    ("MQMQ-2.2.19.3-13", "MQDMPR-3.1.1.12-34"),
    "The receiver sets the last four bytes of CorrelationID to zero in a message that it delivers.",
    change_insertion(
        lambda message: replace(message, CorrelationIdentifier=message.CorrelationIdentifier[:16] + bytes(4))
    ),
    blind=True,
)


add(
    "receiver-body-delivered-with-padding",
    ("MQMQ-2.2.19.3-17", "MQMQ-2.2.19.3-D05"),
    "The receiver delivers a body together with its padding.",
    change_insertion(lambda message: replace(message, Body=message.Body + bytes(-len(message.Body) % 4))),
    blind=True,
)


add(
    "receiver-body-without-trailing-zeros",
    ("MQMQ-2.2.19.3-17", "MQDMPR-3.1.1.12-32"),
    "The receiver delivers a body without its trailing zeros.",
    change_insertion(lambda message: replace(message, Body=message.Body.rstrip(b"\0"))),
    blind=True,
)


add(
    "receiver-label-without-trailing-blanks",
    ("MQMQ-2.2.19.3-09",),
    "The receiver delivers a label without its trailing blanks.",
    change_insertion(lambda message: replace(message, Label=message.Label.rstrip())),
    blind=True,
)


@fault("message-received-remotely-not-acknowledged", breaks="MQMQ-2.2.19.3-02")
class MessageReceivedRemotelyNotAcknowledged(TwoPhaseReading):
    """The receiver does not acknowledge a message with PR set that a remote reader receives."""

    def end_with_deletion(self, position: MessagePosition, ended: Callable[[Status], None]) -> None:
        message = position.MessageReference
        requested = message.AcknowledgementsRequested & ~MessagePropertiesHeader.flags(PR=1)
        position.MessageReference = replace(message, AcknowledgementsRequested=requested)
        super().end_with_deletion(position, ended)


@fault("arrival-of-message-taken-at-once-not-acknowledged", breaks="MQMQ-2.2.19.3-01")
class ArrivalOfMessageTakenAtOnceNotAcknowledged(Arrival):
    """The receiver does not acknowledge the arrival of a message with PA set if a waiting read receives it."""

    def report_arrival(self, position: MessagePosition, now: Now) -> None:
        if position.State is MessagePositionState.AVAILABLE:
            super().report_arrival(position, now)
