"""Faults in the MessagePropertiesHeader of transactional messages and of the queue manager's own messages (MS-MQMQ
2.2.19.3).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import change_packets_of_kind
from harness.faults.registry import add
from harness.faults.sent_messages import correct_packet_size, has_header
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.commands.higher_layer_commands import HigherLayerCommands
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.model.adm import Message, Session
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result

_PROPERTIES_HEADER_FIXED_BYTES = 56
_MESSAGE_CLASSES_NEVER_ACKNOWLEDGED = (
    MessageClass.MQMSG_CLASS_NORMAL,
    MessageClass.MQMSG_CLASS_REPORT,
    MessageClass.MQMSG_CLASS_ORDER_ACK,
)
_AES_ALGORITHMS, _RC2_ALGORITHM = (0x660E, 0x660F, 0x6610), 0x6602

_is_transactional = has_header("TransactionHeader")


def _is_acknowledgment(packet: UserMessagePacket) -> bool:
    return packet.MessagePropertiesHeader.MessageClass not in _MESSAGE_CLASSES_NEVER_ACKNOWLEDGED


def _is_report(packet: UserMessagePacket) -> bool:
    return packet.MessagePropertiesHeader.MessageClass == MessageClass.MQMSG_CLASS_REPORT


def _insert_bytes_at_computed_offset(offset_of: Any) -> Any:
    """Return a function that inserts four bytes into the MessagePropertiesHeader at a computed offset."""

    def change_packet(packet: Any) -> bytes:
        data, properties = packet.build(), packet.MessagePropertiesHeader
        at = data.index(properties.build()) + _PROPERTIES_HEADER_FIXED_BYTES + offset_of(properties)
        return correct_packet_size(data[:at] + bytes(4) + data[at:])

    return change_packet


def _get_end_offset_of_label(properties: Any) -> int:
    return 2 * int(properties.LabelLength)


def _get_start_offset_of_body(properties: Any) -> int:
    return _get_end_offset_of_label(properties) + int(properties.ExtensionSize)


add(
    "sender-unlabelled-transactional-message-null-label",
    ("MQMQ-2.2.19.3-10", "MQMQ-2.2.19.3-31"),
    "The sender puts the nulls of an empty label into a transactional message with LabelLength 0.",
    change_packets_of_kind(
        UserMessagePacket,
        _insert_bytes_at_computed_offset(lambda properties: 0),
        lambda packet: _is_transactional(packet) and not packet.MessagePropertiesHeader.LabelLength,
    ),
    blind=True,
)
add(
    "receiver-acknowledgment-null-label",
    ("MQMQ-2.2.19.3-10", "MQMQ-2.2.19.3-31"),
    "The receiver puts the nulls of an empty label into administration acknowledgments with LabelLength 0.",
    change_packets_of_kind(
        UserMessagePacket,
        _insert_bytes_at_computed_offset(lambda properties: 0),
        lambda packet: _is_acknowledgment(packet) and not packet.MessagePropertiesHeader.LabelLength,
    ),
    blind=True,
)


@fault("sender-signs-encrypted-message-with-sha256-by-default", breaks="MQMQ-2.2.19.3-23", blind=True)
class SenderSignsEncryptedMessageWithSha256ByDefault(HigherLayerCommands):
    """The sender signs an encrypted message with SHA-256 when the application requested no hash algorithm."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        if request.hash_algorithm is None and request.privacy_level != "none":
            request = replace(request, hash_algorithm="sha256")
        return super().send_message(request, token, now)


@fault("sender-makes-msmq3-signature-with-sha1-by-default", breaks="MQMQ-2.2.19.3-23", blind=True)
class SenderMakesMsmq3SignatureWithSha1ByDefault(HigherLayerCommands):
    """The sender makes an MSMQ 3.0 signature with SHA-1 when the application requested no hash algorithm."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        if request.hash_algorithm is None and request.authentication_level == "sig30":
            request = replace(request, hash_algorithm="sha1")
        return super().send_message(request, token, now)


add(
    "sender-labelled-transactional-message-extension-with-size-0",
    "MQMQ-2.2.19.3-32",
    "The sender puts four bytes of an extension into a labelled transactional message with ExtensionSize 0.",
    change_packets_of_kind(
        UserMessagePacket,
        _insert_bytes_at_computed_offset(_get_end_offset_of_label),
        lambda packet: (
            _is_transactional(packet)
            and packet.MessagePropertiesHeader.LabelLength
            and not packet.MessagePropertiesHeader.ExtensionSize
        ),
    ),
    blind=True,
)
add(
    "queue-manager-report-extension-with-size-0",
    "MQMQ-2.2.19.3-32",
    "The queue manager puts four bytes of an extension into reports, whose ExtensionSize is 0.",
    change_packets_of_kind(UserMessagePacket, _insert_bytes_at_computed_offset(_get_end_offset_of_label), _is_report),
    blind=True,
)
add(
    "sender-transactional-message-with-extension-body-with-size-0",
    "MQMQ-2.2.19.3-33",
    "The sender puts four bytes of a body into a transactional message with an extension and MessageSize 0.",
    change_packets_of_kind(
        UserMessagePacket,
        _insert_bytes_at_computed_offset(_get_start_offset_of_body),
        lambda packet: (
            _is_transactional(packet)
            and packet.MessagePropertiesHeader.ExtensionSize
            and not packet.MessagePropertiesHeader.MessageSize
        ),
    ),
    blind=True,
)
add(
    "receiver-acknowledgment-body-with-size-0",
    "MQMQ-2.2.19.3-33",
    "The receiver puts four bytes of a body into administration acknowledgments with MessageSize 0.",
    change_packets_of_kind(
        UserMessagePacket,
        _insert_bytes_at_computed_offset(_get_start_offset_of_body),
        lambda packet: _is_acknowledgment(packet) and not packet.MessagePropertiesHeader.MessageSize,
    ),
    blind=True,
)


class _FullBlockPaddingOmitter(MessageSecuring):
    """The sender adds no padding to a body that fills its last block."""

    cipher_algorithms: tuple[int, ...]
    block_size: int

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        made = super().encrypt_body(session, message, packet, now)
        properties = made.MessagePropertiesHeader
        size = packet.MessagePropertiesHeader.MessageSize
        if (
            properties.EncryptionAlgorithm not in self.cipher_algorithms
            or size % self.block_size
            or not size
            or made is packet
        ):
            return made
        body = properties.MessageBody[:size]
        changed = replace(properties, MessageBody=body, AllocationBodySize=len(body), Padding=None)
        return replace(made, MessagePropertiesHeader=changed)


@fault("sender-aes-body-of-whole-blocks-without-padding", breaks="MQMQ-2.2.19.3-D04", blind=True)
class SenderAesBodyOfWholeBlocksWithoutPadding(_FullBlockPaddingOmitter):
    """The sender adds no padding to a body that fills its last block before it encrypts the body with AES."""

    cipher_algorithms = _AES_ALGORITHMS
    block_size = 16


@fault("sender-rc2-body-of-whole-blocks-without-padding", breaks="MQMQ-2.2.19.3-D04", blind=True)
class SenderRc2BodyOfWholeBlocksWithoutPadding(_FullBlockPaddingOmitter):
    """The sender adds no padding to a body that fills its last block before it encrypts the body with RC2."""

    cipher_algorithms = (_RC2_ALGORITHM,)
    block_size = 8
