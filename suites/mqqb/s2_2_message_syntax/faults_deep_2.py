"""Faults of MS-MQQB 2.2 Message Syntax: further fields have the wrong byte order."""

from __future__ import annotations

from harness.faults.fields import change_number
from harness.faults.registry import add
from reference_qm.codec import SessionAckPacket


def reverse_u32(value: int) -> int:
    """Return a u32 with its bytes in reverse order."""
    return int.from_bytes(value.to_bytes(4, "big"), "little")


add(
    "acceptor-session-ack-flags-big-endian",
    "MQQB-2.2-D01",
    "The acceptor sends RecoverableMsgAckFlags of a SessionAck in big-endian order.",
    change_number(SessionAckPacket, "SessionHeader.RecoverableMsgAckFlags", reverse_u32),
)
