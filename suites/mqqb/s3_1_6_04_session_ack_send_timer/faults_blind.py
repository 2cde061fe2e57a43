"""Faults of MS-MQQB 3.1.6.4, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import (
    SessionAckPacket,
)
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session


@fault("receiver-session-ack-flags-above-16-lost", breaks="MQQB-3.1.6.4-08", blind=True)
class ReceiverSessionAckFlagsAbove16Lost(SessionAcks):
    """The receiver sends a SessionAck with only the lower 16 bits of RecoverableMsgAckFlags."""

    def build(self, session: Session) -> SessionAckPacket:
        flags = {"SessionHeader.RecoverableMsgAckFlags": lambda flags: flags & 0xFFFF}
        return set_fields(super().build(session), flags)
