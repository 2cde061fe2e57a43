"""Faults of MS-MQQB 2.2.6 SessionAck Packet."""

from __future__ import annotations

from harness.faults.fields import bit_clear, field_is
from harness.faults.primitives import wrong_bytes
from harness.faults.registry import add
from harness.faults.sent_messages import correct_packet_size
from reference_qm.codec import SessionAckPacket

SH = 1 << 4

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
add(
    "header-session-ack-without-session-header",
    "MQQB-2.2.6-D01",
    "A SessionAck ends with its InternalHeader, and says so.",
    wrong_bytes(SessionAckPacket, lambda data: correct_packet_size(data[:2] + bytes([data[2] & ~SH]) + data[3:20])),
)
