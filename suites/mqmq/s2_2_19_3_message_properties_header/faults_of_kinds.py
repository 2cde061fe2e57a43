"""Faults of the MessagePropertiesHeader that occur only in messages of one kind. Spec: MS-MQMQ 2.2.19.3."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.admin_acks import ALL_ACK_CLASSES, QUEUE_REMOVAL_ACK_CLASSES, REFUSAL_ACK_CLASSES, change_admin_acks
from harness.faults.fields import add_to_field, set_field_value
from harness.faults.parts import replace_part
from harness.faults.primitives import change_packets_of_kind, send_wrong_field_values, set_fields
from harness.faults.registry import Install, add
from harness.faults.sent_messages import has_security_item
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.model.adm import Message
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now
from suites.mqmq.steps.faulty_messages import change_sent_packets_starting_with_number, drop_messages, misread_messages
from suites.mqmq.steps.kinds_of_messages import (
    has_large_body,
    is_express,
    is_final_ack,
    is_report,
    is_transactional,
)

_PROPERTIES_HEADER_PREFIX = "MessagePropertiesHeader."


def _is_transactional_message(message: Message) -> bool:
    return message.TransactionIdentifier is not None


def _is_large_message(message: Message) -> bool:
    return len(message.Body) > 4096


def _is_recoverable_message(message: Message) -> bool:
    return message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE and not _is_transactional_message(message)


def _has_label_without_body(message: Message) -> bool:
    return not message.Body


def _requests_all_acknowledgments(message: Message) -> bool:
    return message.AcknowledgementsRequested & 0xF == 0xF


def _omit_acks_of_classes(classes: Any, when: Callable[[Message], Any]) -> Install:
    class AckOmitter(AdminAcks):
        def send(self, message: Message, message_class: MessageClass, now: Now) -> None:
            if message_class not in classes or not when(message):
                super().send(message, message_class, now)

    return replace_part(AckOmitter)


_ARRIVAL_ACK_CLASSES, _RECEIVE_ACK_CLASSES = (
    (MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE,),
    (MessageClass.MQMSG_CLASS_ACK_RECEIVE,),
)
_REMOVAL_NACK_CLASSES = tuple(one for one in QUEUE_REMOVAL_ACK_CLASSES if one not in _RECEIVE_ACK_CLASSES)
for _rule, _event, _classes in (
    ("MQMQ-2.2.19.3-01", "arrival", _ARRIVAL_ACK_CLASSES),
    ("MQMQ-2.2.19.3-02", "receipt", _RECEIVE_ACK_CLASSES),
    ("MQMQ-2.2.19.3-03", "refusal", REFUSAL_ACK_CLASSES),
    ("MQMQ-2.2.19.3-04", "removal", _REMOVAL_NACK_CLASSES),
):
    for _name, _says, _when in (
        ("transactional", "a transactional message", _is_transactional_message),
        ("large", "a message with a body of more than 4 KiB", _is_large_message),
        ("recoverable", "a recoverable message that is not transactional", _is_recoverable_message),
        ("empty", "a message with an empty body", _has_label_without_body),
        ("demanding", "a message that requests every acknowledgment", _requests_all_acknowledgments),
    ):
        add(
            f"receiver-acknowledgment-of-{_event}-of-{_name}-message-omitted",
            _rule,
            f"The receiver does not acknowledge the {_event} of {_says}.",
            _omit_acks_of_classes(_classes, _when),
            blind=True,
        )
    add(
        f"receiver-acknowledgment-of-{_event}-of-odd-message-omitted",
        _rule,
        f"The receiver does not acknowledge the {_event} of messages with an odd MessageID.",
        _omit_acks_of_classes(_classes, lambda message: message.Identifier.Ordinal % 2),
        blind=True,
    )
for _reason in _REMOVAL_NACK_CLASSES:
    add(
        f"receiver-acknowledgment-of-class-0x{_reason:04x}-of-recoverable-message-omitted",
        "MQMQ-2.2.19.3-04",
        f"The receiver sends no acknowledgment of class 0x{_reason:04X} for a recoverable message.",
        _omit_acks_of_classes((_reason,), _is_recoverable_message),
        blind=True,
    )

for _rule, _bit in (
    ("MQMQ-2.2.19.3-05", 4),
    ("MQMQ-2.2.19.3-06", 5),
    ("MQMQ-2.2.19.3-07", 6),
    ("MQMQ-2.2.19.3-08", 7),
):
    add(
        f"receiver-properties-bit-{_bit}-of-transactional-message-dropped",
        _rule,
        f"The receiver drops a transactional message with bit {_bit} set in MessagePropertiesHeader.Flags.",
        drop_messages(
            lambda packet, bit=_bit: packet.MessagePropertiesHeader.Flags >> bit & 1 and is_transactional(packet)  # type: ignore[misc]
        ),
        blind=True,
    )
    add(
        f"receiver-properties-bit-{_bit}-ends-acknowledgments",
        _rule,
        f"The receiver sends no acknowledgments for a message with bit {_bit} set in MessagePropertiesHeader.Flags.",
        misread_messages(
            lambda packet: set_fields(packet, {f"{_PROPERTIES_HEADER_PREFIX}Flags": 0}),
            lambda packet, bit=_bit: packet.MessagePropertiesHeader.Flags >> bit & 1,  # type: ignore[misc]
        ),
        blind=True,
    )


def _is_signed(packet: Any) -> bool:
    return has_security_item("Signature")(packet)


def _is_encrypted(packet: Any) -> bool:
    return packet.SecurityHeader is not None and bool(packet.SecurityHeader.EB)


def _make_properties_field_changer(name: str, change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda packet: set_fields(packet, {f"{_PROPERTIES_HEADER_PREFIX}{name}": change})


def _shorten_label(label: Any) -> Any:
    return label and label[:240]


_broken_rules: str | tuple[str, ...]
for _name, _broken_rules, _says, _install in (
    (
        "receiver-privacy-level-of-16-bits",
        "MQMQ-2.2.19.3-21",
        "The receiver reads only the lowest 16 bits of PrivacyLevel.",
        misread_messages(
            _make_properties_field_changer("PrivacyLevel", lambda level: level & 0xFFFF), lambda packet: True
        ),
    ),
    (
        "receiver-privacy-level-7-read-as-5",
        "MQMQ-2.2.19.3-21",
        "The receiver reads a PrivacyLevel above 5 as 5.",
        misread_messages(_make_properties_field_changer("PrivacyLevel", lambda level: min(level, 5)), _is_encrypted),
    ),
    (
        "receiver-privacy-level-2-read-as-3",
        "MQMQ-2.2.19.3-21",
        "The receiver reads PrivacyLevel 2 as 3.",
        misread_messages(
            _make_properties_field_changer("PrivacyLevel", lambda level: 3),
            lambda packet: packet.MessagePropertiesHeader.PrivacyLevel == 2,
        ),
    ),
    (
        "receiver-hash-algorithm-of-16-bits",
        "MQMQ-2.2.19.3-22",
        "The receiver reads only the lowest 16 bits of HashAlgorithm of a signed message.",
        misread_messages(_make_properties_field_changer("HashAlgorithm", lambda value: value & 0xFFFF), _is_signed),
    ),
    (
        "receiver-hash-algorithm-0-read-as-sha-512",
        "MQMQ-2.2.19.3-22",
        "The receiver reads HashAlgorithm 0 of a signed message as SHA-512.",
        misread_messages(_make_properties_field_changer("HashAlgorithm", lambda value: value or 0x800E), _is_signed),
    ),
    (
        "receiver-encryption-algorithm-of-16-bits",
        "MQMQ-2.2.19.3-25",
        "The receiver reads only the lowest 16 bits of EncryptionAlgorithm of an encrypted message.",
        misread_messages(
            _make_properties_field_changer("EncryptionAlgorithm", lambda value: value & 0xFFFF), _is_encrypted
        ),
    ),
    (
        "receiver-encryption-algorithm-0-read-as-aes-256",
        "MQMQ-2.2.19.3-25",
        "The receiver reads EncryptionAlgorithm 0 of an encrypted message as AES-256.",
        misread_messages(
            _make_properties_field_changer("EncryptionAlgorithm", lambda value: value or 0x6610), _is_encrypted
        ),
    ),
    (
        "receiver-encryption-algorithm-of-final-ack-0",
        "MQMQ-2.2.19.3-24",
        "The receiver sends a FinalAck with EncryptionAlgorithm 0.",
        set_field_value(UserMessagePacket, f"{_PROPERTIES_HEADER_PREFIX}EncryptionAlgorithm", 0, is_final_ack),
    ),
    (
        "sender-encryption-algorithm-of-transactional-message-0",
        "MQMQ-2.2.19.3-24",
        "The sender sends a transactional message with EncryptionAlgorithm 0.",
        set_field_value(UserMessagePacket, f"{_PROPERTIES_HEADER_PREFIX}EncryptionAlgorithm", 0, is_transactional),
    ),
    (
        "receiver-privacy-level-of-report-2",
        "MQMQ-2.2.19.3-20",
        "The receiver sends a report with PrivacyLevel 2.",
        set_field_value(UserMessagePacket, f"{_PROPERTIES_HEADER_PREFIX}PrivacyLevel", 2, is_report),
    ),
    (
        "sender-privacy-level-of-large-message-4",
        "MQMQ-2.2.19.3-20",
        "The sender sets PrivacyLevel to 4 in a message with a body of more than 4 KiB.",
        set_field_value(UserMessagePacket, f"{_PROPERTIES_HEADER_PREFIX}PrivacyLevel", 4, has_large_body),
    ),
    (
        "receiver-correlation-id-of-transactional-message-zero",
        "MQMQ-2.2.19.3-13",
        "The receiver passes a CorrelationID of zeros to the application for a transactional message.",
        misread_messages(_make_properties_field_changer("CorrelationID", lambda value: bytes(20)), is_transactional),
    ),
    (
        "receiver-correlation-id-of-traced-message-zero",
        "MQMQ-2.2.19.3-13",
        "The receiver passes a CorrelationID of zeros to the application for a traced message.",
        misread_messages(
            _make_properties_field_changer("CorrelationID", lambda value: bytes(20)),
            lambda packet: packet.DebugHeader is not None,
        ),
    ),
    (
        "receiver-correlation-id-of-express-message-zero",
        "MQMQ-2.2.19.3-13",
        "The receiver passes a CorrelationID of zeros to the application for an express message.",
        misread_messages(_make_properties_field_changer("CorrelationID", lambda value: bytes(20)), is_express),
    ),
    (
        "receiver-correlation-id-of-refusal-zero",
        "MQMQ-2.2.19.3-14",
        "The receiver sets CorrelationID to zeros in its negative acknowledgment of a refused message.",
        change_admin_acks(REFUSAL_ACK_CLASSES, lambda ack, message: replace(ack, CorrelationIdentifier=bytes(20))),
    ),
    (
        "receiver-correlation-id-of-removal-without-number",
        "MQMQ-2.2.19.3-14",
        "The receiver omits the MessageID from CorrelationID in the acknowledgment of a removed message.",
        change_admin_acks(
            QUEUE_REMOVAL_ACK_CLASSES,
            lambda ack, message: replace(ack, CorrelationIdentifier=ack.CorrelationIdentifier[:16] + bytes(4)),
        ),
    ),
    (
        "receiver-correlation-id-of-transactional-acknowledgment-reversed",
        "MQMQ-2.2.19.3-14",
        "The receiver reverses the bytes of the MessageID in CorrelationID when it acknowledges a transactional "
        "message.",
        change_admin_acks(
            ALL_ACK_CLASSES,
            lambda ack, message: (
                replace(
                    ack, CorrelationIdentifier=ack.CorrelationIdentifier[:16] + ack.CorrelationIdentifier[16:][::-1]
                )
                if message.TransactionIdentifier is not None
                else ack
            ),
        ),
    ),
    (
        "receiver-application-tag-of-transactional-message-0",
        "MQMQ-2.2.19.3-16",
        "The receiver passes ApplicationTag 0 to the application for a transactional message.",
        misread_messages(_make_properties_field_changer("ApplicationTag", lambda tag: 0), is_transactional),
    ),
    (
        "sender-application-tag-of-large-message-0",
        "MQMQ-2.2.19.3-16",
        "The sender sets ApplicationTag to 0 in a message with a body of more than 4 KiB.",
        set_field_value(UserMessagePacket, f"{_PROPERTIES_HEADER_PREFIX}ApplicationTag", 0, has_large_body),
    ),
    (
        "sender-application-tag-of-transactional-message-of-24-bits",
        "MQMQ-2.2.19.3-16",
        "The sender sends a transactional message with only the lowest 24 bits of ApplicationTag.",
        send_wrong_field_values(
            UserMessagePacket,
            {f"{_PROPERTIES_HEADER_PREFIX}ApplicationTag": lambda tag: tag & 0xFF_FFFF},
            is_transactional,
        ),
    ),
    (
        "sender-label-of-transactional-message-without-null",
        "MQMQ-2.2.19.3-11",
        "The sender omits the terminating null of the label of a transactional message.",
        send_wrong_field_values(
            UserMessagePacket, {f"{_PROPERTIES_HEADER_PREFIX}LabelTerminated": False}, is_transactional
        ),
    ),
    (
        "receiver-label-of-final-ack-without-null",
        ("MQMQ-2.2.19.3-11", "MQMQ-2.2.19.3-30"),
        "The receiver omits the terminating null of the label of a FinalAck.",
        send_wrong_field_values(
            UserMessagePacket, {f"{_PROPERTIES_HEADER_PREFIX}LabelTerminated": False}, is_final_ack
        ),
    ),
    (
        "sender-label-of-240-characters-if-body-large",
        "MQMQ-2.2.19.3-29",
        "The sender shortens the label of a transactional message to 240 characters.",
        send_wrong_field_values(
            UserMessagePacket, {f"{_PROPERTIES_HEADER_PREFIX}Label": _shorten_label}, is_transactional
        ),
    ),
    (
        "sender-empty-label-as-null",
        ("MQMQ-2.2.19.3-10", "MQMQ-2.2.19.3-31"),
        "The sender of a transactional message without a label sends two null bytes after the extension size.",
        change_packets_of_kind(
            UserMessagePacket,
            lambda packet: _insert_after_properties(packet, bytes(4)),
            lambda packet: is_transactional(packet) and not packet.MessagePropertiesHeader.Label,
        ),
    ),
    (
        "receiver-body-type-of-final-ack-undefined",
        "MQMQ-2.2.19.3-15",
        "The receiver sends a FinalAck with BodyType 0x0A.",
        set_field_value(UserMessagePacket, f"{_PROPERTIES_HEADER_PREFIX}BodyType", 0x0A, is_final_ack),
    ),
    (
        "receiver-body-type-of-report-undefined",
        "MQMQ-2.2.19.3-15",
        "The receiver sends a report with BodyType 0x20.",
        set_field_value(UserMessagePacket, f"{_PROPERTIES_HEADER_PREFIX}BodyType", 0x20, is_report),
    ),
    (
        "sender-allocation-size-of-large-message-4096",
        "MQMQ-2.2.19.3-19",
        "The sender sets AllocationBodySize to 4096 in a message with a body of more than 4 KiB.",
        set_field_value(UserMessagePacket, f"{_PROPERTIES_HEADER_PREFIX}AllocationBodySize", 4096, has_large_body),
    ),
    (
        "sender-allocation-size-of-transactional-message-0",
        "MQMQ-2.2.19.3-19",
        "The sender sends a transactional message with AllocationBodySize 0.",
        set_field_value(UserMessagePacket, f"{_PROPERTIES_HEADER_PREFIX}AllocationBodySize", 0, is_transactional),
    ),
    (
        "sender-message-size-of-large-message-one-less",
        "MQMQ-2.2.19.3-17",
        "The sender sets MessageSize to one byte too few in a message with a body of more than 4 KiB.",
        add_to_field(UserMessagePacket, f"{_PROPERTIES_HEADER_PREFIX}MessageSize", -1, has_large_body),
    ),
    (
        "receiver-extension-of-transactional-message-omitted",
        "MQMQ-2.2.19.3-D05",
        "The receiver omits the extension of a transactional message.",
        misread_messages(_make_properties_field_changer("ExtensionData", lambda data: b""), is_transactional),
    ),
    (
        "receiver-body-with-odd-label-shifted",
        "MQMQ-2.2.19.3-D01",
        "The receiver drops a message that has an extension and a label with an even number of characters.",
        drop_messages(
            lambda packet: (
                packet.MessagePropertiesHeader.ExtensionData
                and len(packet.MessagePropertiesHeader.Label or "") % 2 == 0
            )
        ),
    ),
    (
        "receiver-nr-read-as-na-in-transactional-message",
        "MQMQ-2.2.19.3-D01",
        "The receiver reads NA and NR of a transactional message interchanged.",
        misread_messages(
            _make_properties_field_changer("Flags", lambda flags: flags & ~12 | (flags & 4) << 1 | (flags & 8) >> 1),
            is_transactional,
        ),
    ),
    (
        "sender-acknowledgment-bits-of-transactional-message-omitted",
        "MQMQ-2.2.19.3-D01",
        "The sender sends a transactional message with clear acknowledgment bits.",
        set_field_value(UserMessagePacket, f"{_PROPERTIES_HEADER_PREFIX}Flags", 0, is_transactional),
    ),
    (
        "sender-hash-algorithm-of-transactional-message-sha-1",
        "MQMQ-2.2.19.3-D02",
        "The sender states SHA-1 in HashAlgorithm of a signed transactional message.",
        set_field_value(
            UserMessagePacket,
            f"{_PROPERTIES_HEADER_PREFIX}HashAlgorithm",
            0x8004,
            lambda packet: is_transactional(packet) and _is_signed(packet),
        ),
    ),
    (
        "sender-hash-algorithm-from-second-signed-message-on-md5",
        "MQMQ-2.2.19.3-D02",
        "The sender states MD5 in HashAlgorithm of the second and every later signed message.",
        change_sent_packets_starting_with_number(
            UserMessagePacket,
            2,
            lambda packet: set_fields(packet, {f"{_PROPERTIES_HEADER_PREFIX}HashAlgorithm": 0x8003}).build(),
            lambda packet: 0 if _is_signed(packet) else None,
        ),
    ),
):
    add(_name, _broken_rules, _says, _install, blind=True)


def _insert_after_properties(packet: UserMessagePacket, inserted: bytes) -> bytes:
    """Return a packet with bytes between the fixed fields and the extension of the MessagePropertiesHeader."""
    properties = packet.MessagePropertiesHeader
    data = packet.build()
    at = data.index(properties.build()) + 56
    size = int.from_bytes(data[8:12], "little") + len(inserted)
    data = data[:at] + inserted + data[at:]
    return data[:8] + size.to_bytes(4, "little") + data[12:]
