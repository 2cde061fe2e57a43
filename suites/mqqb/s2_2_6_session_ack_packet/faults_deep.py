"""Faults of MS-MQQB 2.2.6 SessionAck Packet that depend on the role of the sender or on the cause of the
acknowledgment.
"""

from __future__ import annotations

from harness.faults.fields import bit_clear, field_is, sent_as
from harness.faults.registry import add
from reference_qm.codec import SessionAckPacket

add(
    "acceptor-session-ack-of-many-messages-sh-clear",
    "MQQB-2.2.6-01",
    "The acceptor clears SH in a SessionAck with more than one flag in RecoverableMsgAckFlags.",
    sent_as(
        "acceptor",
        bit_clear(
            SessionAckPacket,
            "BaseHeader.SH",
            lambda one: one.SessionHeader.RecoverableMsgAckFlags.bit_count() > 1,
        ),
    ),
)
add(
    "initiator-session-ack-pt-4",
    "MQQB-2.2.6-02",
    "The initiator sends PT 4 in a SessionAck.",
    sent_as("initiator", field_is(SessionAckPacket, "InternalHeader.PT", 4)),
)
add(
    "initiator-session-ack-sh-clear",
    "MQQB-2.2.6-01",
    "The initiator clears SH in a SessionAck.",
    sent_as("initiator", bit_clear(SessionAckPacket, "BaseHeader.SH")),
)
