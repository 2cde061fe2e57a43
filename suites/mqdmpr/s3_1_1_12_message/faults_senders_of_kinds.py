"""Faults that break rules of MS-MQDMPR 3.1.1.12 Message about signatures and senders of some messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.made_up import MADE_UP_GUID
from harness.faults.parts import replace_part
from harness.faults.primitives import send_wrong_field_values
from harness.faults.registry import Install, add
from harness.faults.sent_messages import change_constructed_packet
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.model.adm import Message
from reference_qm.security import SENDER_TYPE_NONE, SENDER_TYPE_QUEUE_MANAGER, SENDER_TYPE_SID, SignatureType

PacketCondition = Callable[[Any], bool]


def _is_transactional(packet: UserMessagePacket) -> bool:
    return packet.TransactionHeader is not None


def _leave_messages_unsigned(condition: Callable[[Message], bool], level: SignatureType) -> Install:
    """Return an installer of a fault that does not sign messages of one AuthenticationLevel, if a condition is true."""

    class LeftUnsigned(MessageSecuring):
        def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
            wanted = message.security is not None and message.security.AuthenticationLevel == level
            return packet if wanted and condition(message) else super().sign_packet(message, packet)

    return replace_part(LeftUnsigned)


for _name, _says, _unsigned in (
    (
        "sender-sig30-missing-in-transactional-message",
        "The sender adds no MSMQ 3.0 signature to a transactional message with AuthenticationLevel Sig30.",
        lambda message: message.TransactionIdentifier is not None,
    ),
    (
        "sender-sig30-missing-in-message-without-body",
        "The sender adds no MSMQ 3.0 signature to a message without a body with AuthenticationLevel Sig30.",
        lambda message: not message.Body,
    ),
    (
        "sender-sig30-missing-in-encrypted-message",
        "The sender adds no MSMQ 3.0 signature to an encrypted message with AuthenticationLevel Sig30.",
        lambda message: bool(message.security.PrivacyLevel),
    ),
):
    add(
        _name,
        "MQDMPR-3.1.1.12-13",
        _says,
        _leave_messages_unsigned(_unsigned, SignatureType.SIG30),
        blind=True,
    )


def _change_sender_type(value: int, when: PacketCondition) -> Install:
    def change_flags(packet: UserMessagePacket, message: Message) -> UserMessagePacket:
        header = packet.SecurityHeader
        if header is None or not when(packet):
            return packet
        return replace(packet, SecurityHeader=replace(header, Flags=header.Flags & ~0xF | value))

    return change_constructed_packet(change_flags)


for _name, _says, _value, _when in (
    (
        "sender-st-3-for-queue-manager",
        "The sender writes 3 into SecurityHeader.Flags.ST of a message whose sender is the queue manager.",
        3,
        lambda packet: packet.SecurityHeader.ST == SENDER_TYPE_QUEUE_MANAGER,
    ),
    (
        "sender-st-4-without-sender",
        "The sender writes 4 into SecurityHeader.Flags.ST of a message without a sender.",
        4,
        lambda packet: packet.SecurityHeader.ST == SENDER_TYPE_NONE,
    ),
    (
        "sender-st-5-in-transactional-message",
        "The sender writes 5 into SecurityHeader.Flags.ST of a transactional message whose sender is a user.",
        5,
        lambda packet: packet.SecurityHeader.ST == SENDER_TYPE_SID and _is_transactional(packet),
    ),
):
    add(_name, "MQDMPR-3.1.1.12-56", _says, _change_sender_type(_value, _when), blind=True)


def _change_sender_identifier(change: Callable[[bytes], bytes], when: PacketCondition) -> Install:
    def change_identifier(packet: UserMessagePacket, message: Message) -> UserMessagePacket:
        header = packet.SecurityHeader
        if header is None or not when(packet):
            return packet
        data = replace(header.SecurityData, SecurityID=change(header.SecurityData.SecurityID))
        return replace(packet, SecurityHeader=replace(header, SecurityData=data))

    return change_constructed_packet(change_identifier)


def _invert_last_byte_of_sender_identifier(identifier: bytes) -> bytes:
    return identifier[:-1] + bytes([identifier[-1] ^ 0xFF])


def _make_sender_type_condition(kind: int, condition: PacketCondition) -> PacketCondition:
    return lambda packet: kind == packet.SecurityHeader.ST and condition(packet)


def _is_encrypted(packet: UserMessagePacket) -> bool:
    return bool(packet.MessagePropertiesHeader.PrivacyLevel)


for _kind, _condition in (("encrypted", _is_encrypted), ("transactional", _is_transactional)):
    add(
        f"sender-sid-of-{_kind}-message-of-other-user",
        "MQDMPR-3.1.1.12-D62",
        f"The SenderIdentifier of an {_kind} message is the SID of another user."
        if _kind == "encrypted"
        else "The SenderIdentifier of a transactional message is the SID of another user.",
        _change_sender_identifier(
            _invert_last_byte_of_sender_identifier, _make_sender_type_condition(SENDER_TYPE_SID, _condition)
        ),
        blind=True,
    )
    add(
        f"sender-queue-manager-of-{_kind}-message-other",
        "MQDMPR-3.1.1.12-D63",
        f"The SenderIdentifier of an {_kind} message is the GUID of another queue manager."
        if _kind == "encrypted"
        else "The SenderIdentifier of a transactional message is the GUID of another queue manager.",
        _change_sender_identifier(
            lambda identifier: MADE_UP_GUID.bytes_le,
            _make_sender_type_condition(SENDER_TYPE_QUEUE_MANAGER, _condition),
        ),
        blind=True,
    )
add(
    "sender-sid-without-last-number",
    "MQDMPR-3.1.1.12-D62",
    "The SenderIdentifier of a message does not contain the last sub-authority of the SID.",
    _change_sender_identifier(
        lambda sid: sid[:1] + bytes([sid[1] - 1]) + sid[2:-4],
        lambda packet: packet.SecurityHeader.ST == SENDER_TYPE_SID,
    ),
    blind=True,
)
add(
    "sender-queue-manager-identifier-big-endian",
    "MQDMPR-3.1.1.12-D63",
    "The SenderIdentifier contains the GUID of the source queue manager with its first bytes in reverse order.",
    _change_sender_identifier(
        lambda guid: guid[3::-1] + guid[4:], lambda packet: packet.SecurityHeader.ST == SENDER_TYPE_QUEUE_MANAGER
    ),
    blind=True,
)


def _make_signed_packet_condition(condition: PacketCondition) -> PacketCondition:
    def is_signed(packet: Any) -> bool:
        listed = packet.MultiQueueFormatHeader is not None
        header = packet.SecurityHeader
        signed = header is not None and (listed or bool(header.SecurityData.Signature))
        return signed and condition(packet)

    return is_signed


for _name, _says, _when_sent in (
    (
        "sender-certificate-missing-in-encrypted-signed-message",
        "A message that is signed and encrypted has no SenderCertificate.",
        _is_encrypted,
    ),
    (
        "sender-certificate-missing-in-transactional-signed-message",
        "A signed transactional message has no SenderCertificate.",
        _is_transactional,
    ),
    (
        "sender-certificate-missing-in-message-signed-for-queue-manager",
        "A signed message whose sender is the queue manager has no SenderCertificate.",
        lambda packet: packet.SecurityHeader.ST == SENDER_TYPE_QUEUE_MANAGER,
    ),
):
    add(
        _name,
        "MQDMPR-3.1.1.12-D64",
        _says,
        send_wrong_field_values(
            UserMessagePacket,
            {"SecurityHeader.SecurityData.SenderCert": b""},
            _make_signed_packet_condition(_when_sent),
        ),
        blind=True,
    )
