"""Faults of MS-MQQB 3.1.1.6.1 Session Acknowledgment."""

from __future__ import annotations

from harness.faults.fields import field_is
from harness.faults.primitives import skip
from harness.faults.registry import add
from reference_qm.codec import SessionAckPacket
from reference_qm.core.transfer.session_acks import SessionAcks


def _has_no_flags(packet: SessionAckPacket) -> bool:
    return not packet.SessionHeader.RecoverableMsgAckFlags


add(
    "sender-acknowledged-express-message-kept",
    "MQQB-3.1.1.6.1-01",
    "The sender keeps express messages that a SessionAck acknowledges, and sends them again.",
    skip(SessionAcks.delete_acknowledged_express),
)
add(
    "sender-acknowledged-recoverable-message-kept",
    "MQQB-3.1.1.6.1-02",
    "The sender keeps recoverable messages that a SessionAck acknowledges as stored, and sends them again.",
    skip(SessionAcks.delete_acknowledged_recoverable),
)
add(
    "any-session-header-recoverable-number-1-for-none",
    "MQQB-3.1.1.6.1-03",
    "The receiver sends RecoverableMsgAckSeqNumber 1 when it has no recoverable message to acknowledge.",
    field_is(SessionAckPacket, "SessionHeader.RecoverableMsgAckSeqNumber", 1, _has_no_flags),
)
add(
    "any-session-header-recoverable-flags-1-for-none",
    "MQQB-3.1.1.6.1-04",
    "The receiver sends RecoverableMsgAckFlags 1 when it has no recoverable message to acknowledge.",
    field_is(SessionAckPacket, "SessionHeader.RecoverableMsgAckFlags", 1, _has_no_flags),
)
add(
    "receiver-session-ack-send-timer-ignored",
    ("MQQB-3.1.1.6.1-D01", "MQQB-3.1.6.4-01", "MQQB-3.1.3.2-10"),
    "The receiver sends nothing when its Session Ack Send Timer expires.",
    skip(SessionAcks.on_send_timer),
)
