"""Faults in the SecurityHeader of encrypted, signed and transactional messages (MS-MQMQ 2.2.20.6)."""

from __future__ import annotations

from typing import Any

from harness.faults.primitives import change_packets_of_kind
from harness.faults.registry import add
from harness.faults.sent_messages import correct_packet_size
from reference_qm.codec import SecurityHeader, UserMessagePacket

_SECURITY_ITEMS = ("SecurityID", "EncryptionKey", "Signature", "SenderCert", "ProviderInfo")


def _write_4_bytes_for_each_empty_security_item(packet: Any) -> bytes:
    """Return a message in which each empty item before the last item of SecurityData takes four bytes."""
    header: SecurityHeader = packet.SecurityHeader
    data, wire = packet.build(), header.build()
    made = wire[:16]
    items = [getattr(header.SecurityData, name) for name in _SECURITY_ITEMS]
    for item in items:
        made += item + bytes(-len(item) % 4) if item else bytes(4)
    return correct_packet_size(data.replace(wire, made, 1))


def _align_security_items_to_8_bytes(packet: Any) -> bytes:
    header: SecurityHeader = packet.SecurityHeader
    data, wire = packet.build(), header.build()
    made = wire[:16]
    for name in _SECURITY_ITEMS:
        item = getattr(header.SecurityData, name)
        made += item + bytes(-len(item) % 8)
    return correct_packet_size(data.replace(wire, made, 1))


add(
    "sender-encrypted-message-empty-items-take-space",
    "MQMQ-2.2.20.6-D03",
    "The sender puts four bytes into SecurityData of an encrypted message for each item of size 0.",
    change_packets_of_kind(
        UserMessagePacket,
        _write_4_bytes_for_each_empty_security_item,
        lambda packet: packet.SecurityHeader is not None and packet.SecurityHeader.EB,
    ),
    blind=True,
)
add(
    "sender-signed-message-items-aligned-to-8",
    "MQMQ-2.2.20.6-D03",
    "The sender aligns the items in SecurityData of a signed message to 8 bytes.",
    change_packets_of_kind(
        UserMessagePacket,
        _align_security_items_to_8_bytes,
        lambda packet: packet.SecurityHeader is not None and packet.SecurityHeader.SecurityData.SenderCert,
    ),
    blind=True,
)
