"""Faults of MS-MQQB 3.1.5.5.2 Delete Acknowledged Express Messages that need two sessions."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import SessionHeader
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from suites.mqqb.steps.other_sessions import list_open_sessions


@fault("sender-session-ack-deletes-express-messages-of-all-sessions", breaks="MQQB-3.1.5.5.2-01")
class SenderSessionAckDeletesExpressMessagesOfAllSessions(SessionAcks):
    """A SessionAck deletes the express messages with the acknowledged numbers on all sessions."""

    def delete_acknowledged_express(self, session: Session, header: SessionHeader) -> None:
        super().delete_acknowledged_express(session, header)
        for other in list_open_sessions(self.qm, session):
            super().delete_acknowledged_express(other, header)
