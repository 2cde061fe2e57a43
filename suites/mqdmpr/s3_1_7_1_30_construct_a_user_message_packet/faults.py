"""Faults of MS-MQDMPR 3.1.7.1.30 Construct a UserMessage Packet."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.fields import bit_clear
from harness.faults.primitives import packets
from harness.faults.registry import add
from reference_qm.codec import BaseHeader, DebugHeader, UserHeader, UserMessagePacket

MESSAGE = UserMessagePacket


def _without_transaction(packet: UserMessagePacket) -> bytes:
    flags = packet.UserHeader.Flags & ~UserHeader.flags(TH=1)
    base = replace(packet.BaseHeader, PacketSize=0)
    user = replace(packet.UserHeader, Flags=flags)
    return replace(packet, BaseHeader=base, UserHeader=user, TransactionHeader=None).build()


def _without_debug(packet: UserMessagePacket) -> bytes:
    base = replace(packet.BaseHeader, Flags=packet.BaseHeader.Flags & ~BaseHeader.flags(DH=1), PacketSize=0)
    return replace(packet, BaseHeader=base, DebugHeader=None).build()


def _with_debug(packet: UserMessagePacket) -> bytes:
    base = replace(packet.BaseHeader, Flags=packet.BaseHeader.Flags | BaseHeader.flags(DH=1), PacketSize=0)
    return replace(packet, BaseHeader=base, DebugHeader=DebugHeader()).build()


def _without_security(packet: UserMessagePacket) -> bytes:
    user = replace(packet.UserHeader, Flags=packet.UserHeader.Flags & ~UserHeader.flags(SH=1))
    base = replace(packet.BaseHeader, PacketSize=0)
    return replace(packet, BaseHeader=base, UserHeader=user, SecurityHeader=None).build()


add(
    "transaction-header-left-out",
    ("MQDMPR-3.1.7.1.30-05", "MQDMPR-3.1.7.1.30-06", "MQDMPR-3.1.7.1.30-D01"),
    "A transactional message has neither TH nor a TransactionHeader.",
    packets(MESSAGE, _without_transaction, lambda packet: packet.TransactionHeader is not None),
)
add(
    "debug-header-left-out",
    ("MQDMPR-3.1.7.1.30-05", "MQDMPR-3.1.7.1.30-06", "MQDMPR-3.1.7.1.30-D04"),
    "A message that is to be traced has neither DH nor a DebugHeader.",
    packets(MESSAGE, _without_debug, lambda packet: packet.DebugHeader is not None),
)
add(
    "debug-header-always",
    ("MQDMPR-3.1.7.1.30-05", "MQDMPR-3.1.7.1.30-06", "MQDMPR-3.1.7.1.30-D04"),
    "A message that is not to be traced has a DebugHeader that names no queue.",
    packets(MESSAGE, _with_debug, lambda packet: packet.DebugHeader is None and packet.SessionHeader is None),
)
add(
    "security-header-left-out",
    "MQDMPR-3.1.7.1.30-D02",
    "A signed message has no SecurityHeader.",
    packets(MESSAGE, _without_security, lambda packet: packet.SecurityHeader is not None),
)
add(
    "properties-not-announced",
    "MQDMPR-3.1.7.1.30-D03",
    "MP is clear in messages, whose MessagePropertiesHeader is there.",
    bit_clear(MESSAGE, "UserHeader.MP"),
)
