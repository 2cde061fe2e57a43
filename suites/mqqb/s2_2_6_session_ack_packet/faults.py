"""Faults of MS-MQQB 2.2.6 SessionAck Packet."""

from __future__ import annotations

from harness.faults.fields import bit_clear, field_is
from harness.faults.registry import add
from reference_qm.codec import SessionAckPacket

add(
    "header-session-ack-sh-clear",
    "MQQB-2.2.6-01",
    "A SessionAck has SH clear.",
    bit_clear(SessionAckPacket, "BaseHeader.SH"),
)
add(
    "header-session-ack-packet-type",
    "MQQB-2.2.6-02",
    "A SessionAck has PT 3.",
    field_is(SessionAckPacket, "InternalHeader.PT", 3),
)
