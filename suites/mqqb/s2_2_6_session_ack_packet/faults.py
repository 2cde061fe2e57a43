"""Faults that break rules of MS-MQQB 2.2.6 SessionAck Packet."""

from __future__ import annotations

from harness.faults.fields import clear_bits, limit_to_sender_role, set_field_value
from harness.faults.primitives import send_wrong_bytes
from harness.faults.registry import add
from harness.faults.sent_messages import correct_packet_size
from reference_qm.codec import SessionAckPacket

add(
    "any-session-ack-sh-clear",
    "MQQB-2.2.6-01",
    "The receiver sends a SessionAck with SH clear.",
    clear_bits(SessionAckPacket, "BaseHeader.SH"),
)


add(
    "acceptor-session-ack-of-many-messages-sh-clear",
    "MQQB-2.2.6-01",
    "The acceptor clears SH in a SessionAck with more than one flag in RecoverableMsgAckFlags.",
    limit_to_sender_role(
        "acceptor",
        clear_bits(
            SessionAckPacket,
            "BaseHeader.SH",
            lambda one: one.SessionHeader.RecoverableMsgAckFlags.bit_count() > 1,
        ),
    ),
)


add(
    "initiator-session-ack-sh-clear",
    "MQQB-2.2.6-01",
    "The initiator clears SH in a SessionAck.",
    limit_to_sender_role("initiator", clear_bits(SessionAckPacket, "BaseHeader.SH")),
)


add(
    "receiver-session-ack-pt-3",
    "MQQB-2.2.6-02",
    "The receiver sends a SessionAck with PT 3.",
    set_field_value(SessionAckPacket, "InternalHeader.PT", 3),
)


add(
    "initiator-session-ack-pt-4",
    "MQQB-2.2.6-02",
    "The initiator sends PT 4 in a SessionAck.",
    limit_to_sender_role("initiator", set_field_value(SessionAckPacket, "InternalHeader.PT", 4)),
)


SESSION_HEADER_BIT_SH_OF_BASE_FLAGS = 1 << 4


add(
    "receiver-session-ack-session-header-missing",
    "MQQB-2.2.6-D01",
    "The receiver sends a SessionAck with SH clear that ends after its InternalHeader.",
    send_wrong_bytes(
        SessionAckPacket,
        lambda data: correct_packet_size(
            data[:2] + bytes([data[2] & ~SESSION_HEADER_BIT_SH_OF_BASE_FLAGS]) + data[3:20]
        ),
    ),
)
