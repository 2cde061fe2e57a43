"""Faults of MS-MQQB 3.1.1.6.1 Session Acknowledgment."""

from __future__ import annotations

from harness.faults.fields import field_is
from harness.faults.primitives import skip
from harness.faults.registry import add
from reference_qm.codec import SessionAckPacket
from reference_qm.core.transfer.session_acks import SessionAcks


def _unflagged(packet: SessionAckPacket) -> bool:
    return not packet.SessionHeader.RecoverableMsgAckFlags


add(
    "session-express-kept",
    "MQQB-3.1.1.6.1-01",
    "Express messages that were acknowledged are sent again.",
    skip(SessionAcks.delete_acknowledged_express),
)
add(
    "session-recoverable-kept",
    "MQQB-3.1.1.6.1-02",
    "Recoverable messages that were stored are sent again.",
    skip(SessionAcks.delete_acknowledged_recoverable),
)
add(
    "session-number-of-nothing",
    "MQQB-3.1.1.6.1-03",
    "RecoverableMsgAckSeqNumber is 1 with nothing to acknowledge.",
    field_is(SessionAckPacket, "SessionHeader.RecoverableMsgAckSeqNumber", 1, _unflagged),
)
add(
    "session-flags-of-nothing",
    "MQQB-3.1.1.6.1-04",
    "RecoverableMsgAckFlags is 1 with nothing to acknowledge.",
    field_is(SessionAckPacket, "SessionHeader.RecoverableMsgAckFlags", 1, _unflagged),
)
add(
    "session-ack-timer-without-effect",
    ("MQQB-3.1.1.6.1-D01", "MQQB-3.1.6.4-01", "MQQB-3.1.3.2-10"),
    "Nothing is sent when the Session Ack Send Timer expires.",
    skip(SessionAcks.on_send_timer),
)
