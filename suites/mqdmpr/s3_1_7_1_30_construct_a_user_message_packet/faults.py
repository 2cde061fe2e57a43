"""Faults of MS-MQDMPR 3.1.7.1.30 Construct a UserMessage Packet."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.fields import bit_clear
from harness.faults.primitives import packets
from harness.faults.registry import add
from reference_qm.codec import BaseHeader, DebugHeader, UserHeader, UserMessagePacket

PACKET_TYPE = UserMessagePacket


def _remove_transaction_header(packet: UserMessagePacket) -> bytes:
    flags = packet.UserHeader.Flags & ~UserHeader.flags(TH=1)
    base = replace(packet.BaseHeader, PacketSize=0)
    user = replace(packet.UserHeader, Flags=flags)
    return replace(packet, BaseHeader=base, UserHeader=user, TransactionHeader=None).build()


def _remove_debug_header(packet: UserMessagePacket) -> bytes:
    base = replace(packet.BaseHeader, Flags=packet.BaseHeader.Flags & ~BaseHeader.flags(DH=1), PacketSize=0)
    return replace(packet, BaseHeader=base, DebugHeader=None).build()


def _add_debug_header(packet: UserMessagePacket) -> bytes:
    base = replace(packet.BaseHeader, Flags=packet.BaseHeader.Flags | BaseHeader.flags(DH=1), PacketSize=0)
    return replace(packet, BaseHeader=base, DebugHeader=DebugHeader()).build()


def _remove_security_header(packet: UserMessagePacket) -> bytes:
    user = replace(packet.UserHeader, Flags=packet.UserHeader.Flags & ~UserHeader.flags(SH=1))
    base = replace(packet.BaseHeader, PacketSize=0)
    return replace(packet, BaseHeader=base, UserHeader=user, SecurityHeader=None).build()


add(
    "sender-transaction-header-missing",
    ("MQDMPR-3.1.7.1.30-05", "MQDMPR-3.1.7.1.30-06", "MQDMPR-3.1.7.1.30-D01"),
    "The sender sends a transactional message without a TransactionHeader and with TH 0.",
    packets(PACKET_TYPE, _remove_transaction_header, lambda packet: packet.TransactionHeader is not None),
)
add(
    "sender-debug-header-missing",
    ("MQDMPR-3.1.7.1.30-05", "MQDMPR-3.1.7.1.30-06", "MQDMPR-3.1.7.1.30-D04"),
    "The sender sends a traced message without a DebugHeader and with DH 0.",
    packets(PACKET_TYPE, _remove_debug_header, lambda packet: packet.DebugHeader is not None),
)
add(
    "sender-debug-header-in-untraced-message",
    ("MQDMPR-3.1.7.1.30-05", "MQDMPR-3.1.7.1.30-06", "MQDMPR-3.1.7.1.30-D04"),
    "The sender sends an untraced message with a DebugHeader that contains no queue.",
    packets(PACKET_TYPE, _add_debug_header, lambda packet: packet.DebugHeader is None and packet.SessionHeader is None),
)
add(
    "sender-security-header-missing",
    "MQDMPR-3.1.7.1.30-D02",
    "The sender sends a signed message without a SecurityHeader.",
    packets(PACKET_TYPE, _remove_security_header, lambda packet: packet.SecurityHeader is not None),
)
add(
    "sender-mp-clear-with-properties-header",
    "MQDMPR-3.1.7.1.30-D03",
    "The sender sends a message with a MessagePropertiesHeader but with MP 0.",
    bit_clear(PACKET_TYPE, "UserHeader.MP"),
)
