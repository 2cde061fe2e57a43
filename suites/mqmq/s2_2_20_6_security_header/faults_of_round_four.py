"""Faults that break rules of MS-MQMQ 2.2.20.6 SecurityHeader, written without knowledge of the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.primitives import change_packets_of_kind
from harness.faults.registry import add
from harness.faults.sent_messages import change_constructed_packet, correct_packet_size
from reference_qm.codec import SecurityHeader, UserHeader, UserMessagePacket
from reference_qm.model.adm import Message

BASE_HEADER_BYTES = 16
FIXED_SECURITY_HEADER_BYTES = 16
ABSENT_SECURITY_ITEM_BYTES = bytes(4)


def _add_empty_security_header(packet: UserMessagePacket, message: Message) -> UserMessagePacket:
    if message.security is None or packet.SecurityHeader is not None:
        return packet
    return replace(
        packet,
        UserHeader=replace(packet.UserHeader, Flags=packet.UserHeader.Flags | UserHeader.flags(SH=1)),
        SecurityHeader=SecurityHeader(),
    )


add(
    "sender-message-without-security-items-security-header-empty",
    "MQMQ-2.2.20.6-19",
    "The sender adds a SecurityHeader whose five sizes are zero to a message for which the application requests that"
    " no sender is named.",
    change_constructed_packet(_add_empty_security_header),
    blind=True,
)


def _is_signed_and_not_encrypted(packet: UserMessagePacket) -> bool:
    header = packet.SecurityHeader
    return header is not None and header.SignatureSize > 0 and header.EncryptionKeySize == 0


def _insert_absent_encryption_key(packet: UserMessagePacket) -> bytes:
    assert packet.SecurityHeader is not None
    transaction = b"" if packet.TransactionHeader is None else packet.TransactionHeader.build()
    start = BASE_HEADER_BYTES + len(packet.UserHeader.build()) + len(transaction) + FIXED_SECURITY_HEADER_BYTES
    at = start + packet.SecurityHeader.SenderIdSize + -packet.SecurityHeader.SenderIdSize % 4
    data = packet.build()
    return correct_packet_size(data[:at] + ABSENT_SECURITY_ITEM_BYTES + data[at:])


add(
    "sender-signed-message-absent-encryption-key-takes-4-bytes",
    "MQMQ-2.2.20.6-D03",
    "The sender inserts 4 bytes for the absent EncryptionKey into SecurityData of a signed message that is not "
    "encrypted.",
    change_packets_of_kind(UserMessagePacket, _insert_absent_encryption_key, _is_signed_and_not_encrypted),
    blind=True,
)
