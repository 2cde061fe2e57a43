"""Faults of MS-MQQB 3.1.5.5.3 Delete Acknowledged Recoverable Messages, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import SessionHeader
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session


@fault("sender-recoverable-msg-ack-flags-read-as-16-bits", breaks="MQQB-3.1.5.5.3-02", blind=True)
class SenderRecoverableMsgAckFlagsReadAs16Bits(SessionAcks):
    """The sender reads only the low 16 bits of RecoverableMsgAckFlags."""

    def delete_acknowledged_recoverable(self, session: Session, header: SessionHeader) -> None:
        half = replace(header, RecoverableMsgAckFlags=header.RecoverableMsgAckFlags & 0xFFFF)
        super().delete_acknowledged_recoverable(session, half)
