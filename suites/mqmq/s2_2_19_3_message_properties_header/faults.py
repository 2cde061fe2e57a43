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
from harness.faults.sent_messages import change_construction, change_insertion, correct_packet_size, secured_with
from reference_qm.codec import FormatError, MessageClass, MessagePropertiesHeader, Packet, UserMessagePacket
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.order_acks import LABEL
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Message, MessagePosition, Queue, Session
from reference_qm.surface.clock import Now

MESSAGE = UserMessagePacket
PROPERTIES = "MessagePropertiesHeader"
FIXED_SIZE = len(MessagePropertiesHeader().build())
HUGE = 0x7FFF_FFFF
SHA1, DES = 0x8004, 0x6601


def _behind_label(packet: UserMessagePacket) -> bytes:
    """Put four bytes behind the label."""
    headers = (packet.BaseHeader, packet.UserHeader, packet.TransactionHeader, packet.SecurityHeader)
    before = sum(len(header.build()) for header in headers if header is not None)
    at = before + FIXED_SIZE + 2 * packet.MessagePropertiesHeader.LabelLength
    data = packet.build()
    return correct_packet_size(data[:at] + b"more" + data[at:])


def _unpadded(packet: UserMessagePacket) -> bytes:
    properties = packet.MessagePropertiesHeader
    used = FIXED_SIZE + 2 * properties.LabelLength + properties.ExtensionSize + properties.MessageSize
    data = packet.build()
    return correct_packet_size(data[: len(data) - -used % 4])


def _is_last(packet: UserMessagePacket) -> bool:
    others = (packet.DebugHeader, packet.SoapHeader, packet.MultiQueueFormatHeader, packet.SessionHeader)
    return all(header is None for header in others)


def _labelled(**changes: Any) -> Install:
    """Change fields of a message that has a label."""
    fields = {f"MessagePropertiesHeader.{name}": change for name, change in changes.items()}
    return wrong_fields(MESSAGE, fields, lambda packet: bool(packet.MessagePropertiesHeader.Label))


# -- what is sent --------------------------------------------------------------------------------------------------

for _name, _rules, _says, _install in (
    (
        "message-properties-label-length",
        ("MQMQ-2.2.19.3-09",),
        "LabelLength counts bytes.",
        change_number(MESSAGE, "MessagePropertiesHeader.LabelLength", lambda old: 2 * old),
    ),
    (
        "message-properties-more-than-sizes",
        ("MQMQ-2.2.19.3-10", "MQMQ-2.2.19.3-31", "MQMQ-2.2.19.3-32", "MQMQ-2.2.19.3-33"),
        "Four bytes that no size counts follow the label.",
        packets(MESSAGE, _behind_label, _is_last),
    ),
    (
        "message-properties-label-unterminated",
        ("MQMQ-2.2.19.3-11", "MQMQ-2.2.19.3-30"),
        "A label has no null.",
        _labelled(LabelTerminated=False),
    ),
    (
        "message-properties-label-two-nulls",
        ("MQMQ-2.2.19.3-30",),
        "A label has a null in it.",
        _labelled(Label=lambda old: f"{old}\0x"),
    ),
    (
        "message-properties-label-too-long",
        (
            "MQMQ-2.2.19.3-29",
            "MQDMPR-3.1.1.12-45",
        ),
        "A label has 508 bytes.",
        _labelled(Label="x" * 253),
    ),
    (
        "message-properties-class-unlisted",
        ("MQMQ-2.2.19.3-12",),
        "MessageClass is 0x0200.",
        field_is(MESSAGE, "MessagePropertiesHeader.MessageClass", 0x0200),
    ),
    (
        "message-properties-body-type",
        ("MQMQ-2.2.19.3-15",),
        "BodyType is 0x77.",
        field_is(MESSAGE, "MessagePropertiesHeader.BodyType", 0x77),
    ),
    (
        "message-properties-size-one-more",
        ("MQMQ-2.2.19.3-17",),
        "MessageSize is one more.",
        size_wrong(MESSAGE, "MessagePropertiesHeader.MessageSize", 1),
    ),
    (
        "message-properties-size-huge",
        ("MQMQ-2.2.19.3-18",),
        "MessageSize is beyond the packet.",
        field_is(MESSAGE, "MessagePropertiesHeader.MessageSize", HUGE),
    ),
    (
        "message-properties-allocation-size",
        ("MQMQ-2.2.19.3-19",),
        "AllocationBodySize is 0.",
        field_is(MESSAGE, "MessagePropertiesHeader.AllocationBodySize", 0),
    ),
    (
        "message-properties-privacy-level",
        ("MQMQ-2.2.19.3-20",),
        "PrivacyLevel is 2.",
        field_is(MESSAGE, "MessagePropertiesHeader.PrivacyLevel", 2),
    ),
    (
        "signature-hash-sha1",
        ("MQMQ-2.2.19.3-23", "MQMQ-2.2.19.3-D02", "MQDMPR-3.1.7.1.32-D13"),
        "HashAlgorithm of a signed message is SHA-1.",
        field_is(MESSAGE, "MessagePropertiesHeader.HashAlgorithm", SHA1, secured_with("Signature")),
    ),
    (
        "message-properties-encryption-algorithm",
        ("MQMQ-2.2.19.3-24",),
        "EncryptionAlgorithm is 0x1234.",
        field_is(MESSAGE, "MessagePropertiesHeader.EncryptionAlgorithm", 0x1234),
    ),
    (
        "algorithm-of-another-level",
        ("MQMQ-2.2.19.3-26",),
        "EncryptionAlgorithm is DES.",
        field_is(MESSAGE, "MessagePropertiesHeader.EncryptionAlgorithm", DES, secured_with("EncryptionKey")),
    ),
    (
        "message-properties-extension-size",
        ("MQMQ-2.2.19.3-27",),
        "ExtensionSize is 4 more.",
        size_wrong(MESSAGE, "MessagePropertiesHeader.ExtensionSize"),
    ),
    (
        "message-properties-extension-huge",
        ("MQMQ-2.2.19.3-28",),
        "ExtensionSize is beyond the packet.",
        field_is(MESSAGE, "MessagePropertiesHeader.ExtensionSize", HUGE),
    ),
    (
        "message-properties-unpadded",
        ("MQMQ-2.2.19.3-34",),
        "The header is not padded.",
        packets(MESSAGE, _unpadded, _is_last),
    ),
):
    add(_name, _rules, _says, _install)


def _in_properties(change: Callable[[bytearray, int], None]) -> Install:
    """Change bytes of the header; ``change`` gets the packet and where the header begins."""

    def changed(packet: UserMessagePacket) -> bytes:
        headers = (packet.BaseHeader, packet.UserHeader, packet.TransactionHeader, packet.SecurityHeader)
        data = bytearray(packet.build())
        change(data, sum(len(header.build()) for header in headers if header is not None))
        return bytes(data)

    return packets(MESSAGE, changed)


def _tag_before_type(data: bytearray, at: int) -> None:
    data[at + 24 : at + 28], data[at + 28 : at + 32] = data[at + 28 : at + 32], data[at + 24 : at + 28]


def _acks_reversed(data: bytearray, at: int) -> None:
    flags = data[at]
    data[at] = flags & 0xF0 | int(f"{flags & 0x0F:04b}"[::-1], 2)


def _class_behind_correlation(data: bytearray, at: int) -> None:
    data[at + 2 : at + 24] = data[at + 4 : at + 24] + data[at + 2 : at + 4]


for _name, _says, _change in (
    ("message-properties-class-later", "MessageClass stands behind CorrelationID.", _class_behind_correlation),
    ("message-properties-tag-before-type", "ApplicationTag stands before BodyType.", _tag_before_type),
    ("message-properties-acks-reversed", "PA, PR, NA and NR are in the reverse order.", _acks_reversed),
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
        _in_properties(_change),
    )

# -- what is received ----------------------------------------------------------------------------------------------


def _refused_bit(bit: int) -> Install:
    """Take messages for malformed in which an unused bit of Flags is set."""

    class RefusedBit(Identifying):
        def check_form(self, packet: Packet) -> None:
            if isinstance(packet, UserMessagePacket) and packet.MessagePropertiesHeader.Flags >> bit & 1:
                raise FormatError("MessagePropertiesHeader.Flags", 0, "a fault", f"bit {bit} is set")
            super().check_form(packet)

    return replace_part(RefusedBit)


for _name, _rule, _bit in (
    ("message-properties-bit-4-refused", "MQMQ-2.2.19.3-05", 4),
    ("message-properties-bit-5-refused", "MQMQ-2.2.19.3-06", 5),
    ("message-properties-bit-6-refused", "MQMQ-2.2.19.3-07", 6),
    ("message-properties-bit-7-refused", "MQMQ-2.2.19.3-08", 7),
):
    _says = f"A message with bit {_bit} of MessagePropertiesHeader.Flags set is refused."
    add(_name, _rule, _says, _refused_bit(_bit))


for _name, _rule, _bit in (
    ("message-properties-bit-4-sent", "MQMQ-2.2.19.3-05", 4),
    ("message-properties-bit-5-sent", "MQMQ-2.2.19.3-06", 5),
    ("message-properties-bit-6-sent", "MQMQ-2.2.19.3-07", 6),
    ("message-properties-bit-7-sent", "MQMQ-2.2.19.3-08", 7),
):
    _says = f"Bit {_bit} of MessagePropertiesHeader.Flags is set in a message that is sent."
    add(_name, _rule, _says, change_number(MESSAGE, "MessagePropertiesHeader.Flags", partial(or_, 1 << _bit)))


@fault("message-properties-correlation-lost", breaks="MQMQ-2.2.19.3-13")
class CorrelationLost(Positions):
    """CorrelationID is not handed on."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, CorrelationIdentifier=bytes(20)))


@fault("message-properties-tag-lost", breaks="MQMQ-2.2.19.3-16")
class TagLost(Positions):
    """ApplicationTag is not handed on."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, AppSpecific=1))


def _known(field: str, value: int) -> Install:
    """Take a value that is in no table for one that is: the message is accepted as it is."""

    class Known(SecurityOnReceipt):
        def check_security(
            self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
        ) -> UserMessagePacket | MessageClass:
            if getattr(packet.MessagePropertiesHeader, field) == value:
                return packet
            return super().check_security(session, packet, queue, now)

    return replace_part(Known)


for _name, _rule, _field, _value, _says in (
    ("handed-any-level", "MQMQ-2.2.19.3-21", "PrivacyLevel", 4, "PrivacyLevel 4 is no level, and taken."),
    ("handed-any-hash", "MQMQ-2.2.19.3-22", "HashAlgorithm", 0x8099, "HashAlgorithm 0x8099 is taken for a hash."),
    ("handed-any-cipher", "MQMQ-2.2.19.3-25", "EncryptionAlgorithm", 0x6699, "EncryptionAlgorithm 0x6699 is taken."),
):
    add(_name, _rule, _says, _known(_field, _value))

# -- acknowledgments that the bits ask for -------------------------------------------------------------------------


def _is_admin_ack(packet: UserMessagePacket) -> bool:
    properties = packet.MessagePropertiesHeader
    return properties.MessageClass > MessageClass.MQMSG_CLASS_REPORT and properties.Label != LABEL


add(
    "message-properties-ack-correlation",
    "MQMQ-2.2.19.3-14",
    "CorrelationID of an acknowledgment is zero.",
    field_is(MESSAGE, "MessagePropertiesHeader.CorrelationID", bytes(20), _is_admin_ack),
)

# -- what follows the fixed fields ---------------------------------------------------------------------------------


@fault("message-properties-extension-lost", breaks="MQMQ-2.2.19.3-D05")
class ExtensionLost(Positions):
    """The last byte of an extension is taken for the body's first."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        extension, body = message.Extension[:-1], message.Extension[-1:] + message.Body
        return super().insert_message(queue, replace(message, Extension=extension, Body=body))


@fault(
    "message-properties-body-type-lost",
    breaks=(
        "MQMQ-2.2.19.3-D01",
        "MQDMPR-3.1.7.1.31-04",
        "MQDMPR-3.1.7.1.31-D02",
    ),
)
class BodyTypeLost(Positions):
    """BodyType is not kept."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, BodyType=0))


add(
    "message-properties-tag-sent-as-1",
    "MQMQ-2.2.19.3-16",
    "ApplicationTag is sent as 1.",
    field_is(MESSAGE, "MessagePropertiesHeader.ApplicationTag", 1),
)
add(
    "handed-extension-turned",
    "MQMQ-2.2.19.3-D05",
    "An extension is sent with its bytes turned around.",
    wrong_fields(MESSAGE, {"MessagePropertiesHeader.ExtensionData": lambda old: old[::-1]}),
)


add(
    "label-cut-at-124-characters",
    (
        "MQMQ-2.2.19.3-29",
        "MQDMPR-3.1.1.12-45",
    ),
    "A label is cut after 124 characters.",
    change_construction(
        lambda packet, message: set_fields(packet, {"MessagePropertiesHeader.Label": message.Label[:124] or None})
    ),
    blind=True,
)


add(
    "application-tag-sent-as-signed",
    ("MQMQ-2.2.19.3-16",),
    "ApplicationTag is sent without its highest bit.",
    change_construction(
        lambda packet, message: set_fields(
            packet, {"MessagePropertiesHeader.ApplicationTag": message.AppSpecific & 0x7FFFFFFF}
        )
    ),
    blind=True,
)


add(
    "correlation-keeps-its-first-sixteen-bytes",
    ("MQMQ-2.2.19.3-13", "MQDMPR-3.1.1.12-34"),
    "Of CorrelationID the GUID is handed on, the number behind it is lost.",
    change_insertion(
        lambda message: replace(message, CorrelationIdentifier=message.CorrelationIdentifier[:16] + bytes(4))
    ),
    blind=True,
)


add(
    "body-filled-up-to-four-bytes",
    ("MQMQ-2.2.19.3-17", "MQMQ-2.2.19.3-D05"),
    "A body is handed on with the padding that follows it.",
    change_insertion(lambda message: replace(message, Body=message.Body + bytes(-len(message.Body) % 4))),
    blind=True,
)


add(
    "body-ends-at-its-trailing-zeros",
    ("MQMQ-2.2.19.3-17", "MQDMPR-3.1.1.12-32"),
    "A body is handed on without the zeros at its end.",
    change_insertion(lambda message: replace(message, Body=message.Body.rstrip(b"\0"))),
    blind=True,
)


add(
    "blanks-at-the-end-of-a-label-lost",
    ("MQMQ-2.2.19.3-09",),
    "A label is handed on without the blanks at its end.",
    change_insertion(lambda message: replace(message, Label=message.Label.rstrip())),
    blind=True,
)
