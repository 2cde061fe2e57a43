"""Faults of MS-MQQB 3.1.5.5.3 Delete Acknowledged Recoverable Messages that need two sessions."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import SessionHeader
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from suites.mqqb.steps.other_sessions import list_open_sessions


@fault(
    "sender-session-ack-deletes-recoverable-messages-of-all-sessions",
    breaks=("MQQB-3.1.5.5.3-01", "MQQB-3.1.5.5.3-02"),
)
class SenderSessionAckDeletesRecoverableMessagesOfAllSessions(SessionAcks):
    """A SessionAck deletes the recoverable messages with the acknowledged numbers on all sessions."""

    def delete_acknowledged_recoverable(self, session: Session, header: SessionHeader) -> None:
        super().delete_acknowledged_recoverable(session, header)
        for other in list_open_sessions(self.qm, session):
            super().delete_acknowledged_recoverable(other, header)
