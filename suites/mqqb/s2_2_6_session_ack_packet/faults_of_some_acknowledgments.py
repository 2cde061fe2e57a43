"""Faults in the flags and the size of some SessionAck packets of MS-MQQB 2.2.6."""

from __future__ import annotations

from harness.faults.fields import clear_bits
from harness.faults.registry import add
from reference_qm.codec import SessionAckPacket

add(
    "receiver-session-ack-of-express-messages-sh-cleared",
    "MQQB-2.2.6-01",
    "The receiver clears BaseHeader.Flags.SH in a SessionAck that acknowledges no recoverable message.",
    clear_bits(SessionAckPacket, "BaseHeader.SH", lambda packet: not packet.SessionHeader.RecoverableMsgAckFlags),
    blind=True,
)
