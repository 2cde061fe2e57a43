"""Faults in sizes, classes, algorithms and padding of messages of one kind, which break the rules of MS-MQMQ
2.2.19.3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.fields import set_field_value
from harness.faults.parts import fault
from harness.faults.primitives import change_packets_of_kind
from harness.faults.registry import Install, add
from harness.faults.sent_messages import correct_packet_size
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.model.adm import Message
from reference_qm.surface.clock import Now
from suites.mqmq.steps.kinds_of_messages import (
    is_admin_ack,
    is_final_ack,
    is_order_ack,
    is_report,
    is_transactional,
)

_LARGEST_SIGNED_32_BIT_SIZE = 0x7FFFFFFF
_RC2_ALGORITHM, _AES_128_ALGORITHM = 0x6602, 0x660E
_ENHANCED_PRIVACY_LEVEL, _ADVANCED_PRIVACY_LEVEL = 3, 5


def _make_encryption_condition(*levels: int) -> Callable[[Any], bool]:
    def is_encrypted(packet: Any) -> bool:
        security, level = packet.SecurityHeader, packet.MessagePropertiesHeader.PrivacyLevel
        return security is not None and bool(security.EB) and (not levels or level in levels)

    return is_encrypted


def _has_extension(packet: Any) -> bool:
    return bool(packet.MessagePropertiesHeader.ExtensionData)


def _is_encrypted_and_transactional(packet: Any) -> bool:
    return _make_encryption_condition()(packet) and is_transactional(packet)


def _has_empty_body(packet: Any) -> bool:
    return not packet.MessagePropertiesHeader.MessageBody


def _change_properties_header_bytes(change: Callable[[bytes], bytes], when: Callable[[Any], Any]) -> Install:
    def build_with_changed_header(packet: Any) -> bytes:
        header = packet.MessagePropertiesHeader.build()
        return correct_packet_size(packet.build().replace(header, change(header), 1))

    return change_packets_of_kind(
        UserMessagePacket, build_with_changed_header, lambda packet: packet.SessionHeader is None and bool(when(packet))
    )


def _set_properties_header_field(name: str, value: int, when: Callable[[Any], Any]) -> Install:
    return set_field_value(UserMessagePacket, f"MessagePropertiesHeader.{name}", value, when)


def _needs_properties_header_padding(packet: Any) -> bool:
    return bool(len(packet.MessagePropertiesHeader.MessageBody) % 4)


def _remove_properties_header_padding(header: bytes) -> bytes:
    return header.rstrip(b"\0") if header.endswith(b"\0") else header


for _name, _rule, _says, _install in (
    (
        "empty-message-message-size-beyond-packet",
        "MQMQ-2.2.19.3-18",
        "The sender sets MessageSize of a message without a body to 0x7FFFFFFF.",
        _set_properties_header_field("MessageSize", _LARGEST_SIGNED_32_BIT_SIZE, _has_empty_body),
    ),
    (
        "encrypted-message-message-size-beyond-packet",
        "MQMQ-2.2.19.3-18",
        "The sender sets MessageSize of an encrypted message to 0x7FFFFFFF.",
        _set_properties_header_field("MessageSize", _LARGEST_SIGNED_32_BIT_SIZE, _make_encryption_condition()),
    ),
    (
        "report-message-size-beyond-packet",
        "MQMQ-2.2.19.3-18",
        "The sender sets MessageSize of a report to 0x7FFFFFFF.",
        _set_properties_header_field("MessageSize", _LARGEST_SIGNED_32_BIT_SIZE, is_report),
    ),
    (
        "encryption-algorithm-of-privacy-level-3-aes",
        "MQMQ-2.2.19.3-26",
        "The sender sets EncryptionAlgorithm of a message with PrivacyLevel 3 to AES-128.",
        _set_properties_header_field(
            "EncryptionAlgorithm", _AES_128_ALGORITHM, _make_encryption_condition(_ENHANCED_PRIVACY_LEVEL)
        ),
    ),
    (
        "encryption-algorithm-of-privacy-level-5-rc2",
        "MQMQ-2.2.19.3-26",
        "The sender sets EncryptionAlgorithm of a message with PrivacyLevel 5 to RC2.",
        _set_properties_header_field(
            "EncryptionAlgorithm", _RC2_ALGORITHM, _make_encryption_condition(_ADVANCED_PRIVACY_LEVEL)
        ),
    ),
    (
        "encryption-algorithm-of-transactional-message-0",
        "MQMQ-2.2.19.3-26",
        "The sender sets EncryptionAlgorithm of an encrypted transactional message to 0.",
        _set_properties_header_field("EncryptionAlgorithm", 0, _is_encrypted_and_transactional),
    ),
    (
        "extension-size-of-message-with-extension-beyond-packet",
        "MQMQ-2.2.19.3-28",
        "The sender sets ExtensionSize of a message with an extension to 0x7FFFFFFF.",
        _set_properties_header_field("ExtensionSize", _LARGEST_SIGNED_32_BIT_SIZE, _has_extension),
    ),
    (
        "admin-ack-extension-size-beyond-packet",
        "MQMQ-2.2.19.3-28",
        "The sender sets ExtensionSize of an administration acknowledgment to 0x7FFFFFFF.",
        _set_properties_header_field("ExtensionSize", _LARGEST_SIGNED_32_BIT_SIZE, is_admin_ack),
    ),
    (
        "encrypted-message-extension-size-beyond-packet",
        "MQMQ-2.2.19.3-28",
        "The sender sets ExtensionSize of an encrypted message to 0x7FFFFFFF.",
        _set_properties_header_field("ExtensionSize", _LARGEST_SIGNED_32_BIT_SIZE, _make_encryption_condition()),
    ),
    (
        "final-ack-of-unlisted-class",
        "MQMQ-2.2.19.3-12",
        "The receiver sets MessageClass of a FinalAck to 0x4FFF.",
        _set_properties_header_field("MessageClass", 0x4FFF, is_final_ack),
    ),
    (
        "report-padded-with-2-bytes-more",
        "MQMQ-2.2.19.3-34",
        "The sender pads the MessagePropertiesHeader of a report with 2 extra bytes.",
        _change_properties_header_bytes(lambda header: header + bytes(2), is_report),
    ),
    (
        "message-with-extension-not-padded",
        "MQMQ-2.2.19.3-34",
        "The sender does not pad the MessagePropertiesHeader of a message with an extension.",
        _change_properties_header_bytes(
            _remove_properties_header_padding,
            lambda packet: _has_extension(packet) and _needs_properties_header_padding(packet),
        ),
    ),
    (
        "order-ack-padded-with-1-byte-more",
        "MQMQ-2.2.19.3-34",
        "The receiver pads the MessagePropertiesHeader of an OrderAck with 1 extra byte.",
        _change_properties_header_bytes(lambda header: header + bytes(1), is_order_ack),
    ),
):
    add(_name, _rule, _says, _install)


UNUSED_BIT_6_OF_PROPERTIES_FLAGS = 1 << 6


@fault("receiver-ack-correlation-id-copied-from-message", breaks="MQMQ-2.2.19.3-14", blind=True)
class ReceiverAckCorrelationIdCopiedFromMessage(AdminAcks):
    """If the acknowledged message has a CorrelationID, the receiver copies it to the administration acknowledgment."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        return (
            replace(ack, CorrelationIdentifier=message.CorrelationIdentifier)
            if any(message.CorrelationIdentifier)
            else ack
        )


@fault("receiver-omits-receive-ack-if-bit-6-of-properties-flags-is-set", breaks="MQMQ-2.2.19.3-07", blind=True)
class ReceiverOmitsReceiveAckIfBit6OfPropertiesFlagsIsSet(AdminAcks):
    """The receiver sends no acknowledgment that a message left its queue if bit 6 of its Flags is set."""

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        if not message.AcknowledgementsRequested & UNUSED_BIT_6_OF_PROPERTIES_FLAGS:
            super().acknowledge_receive(message, reason, now)
