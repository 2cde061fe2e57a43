"""Faults of MS-MQQB 3.1.5.5.1 Mark Acknowledged Messages that need two sessions."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import SessionHeader
from reference_qm.core.events import SessionMaySend
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from suites.mqqb.steps.other_sessions import list_open_sessions


@fault("sender-session-ack-marks-messages-of-all-sessions", breaks="MQQB-3.1.5.5.1-01")
class SenderSessionAckMarksMessagesOfAllSessions(SessionAcks):
    """A SessionAck acknowledges and deletes all messages that wait for an acknowledgment on any session."""

    def mark_acknowledged(self, session: Session, header: SessionHeader) -> None:
        super().mark_acknowledged(session, header)
        for other in list_open_sessions(self.qm, session):
            for position in other.OutgoingMessageTable.awaiting_ack:
                if not position.TxSequenceNumber:
                    other.UnAckedMessageCount -= 1
                    self.delete_position(other, position)


@fault("sender-session-ack-opens-windows-of-all-sessions", breaks=("MQQB-3.1.5.5.1-02", "MQQB-3.1.5.5.1-03"))
class SenderSessionAckOpensWindowsOfAllSessions(SessionAcks):
    """A SessionAck makes room for as many messages in the windows of all sessions as it acknowledges on one session."""

    def mark_acknowledged(self, session: Session, header: SessionHeader) -> None:
        before = session.UnAckedMessageCount
        super().mark_acknowledged(session, header)
        for other in list_open_sessions(self.qm, session):
            other.UnAckedMessageCount = max(0, other.UnAckedMessageCount - before + session.UnAckedMessageCount)
            self.qm.post(SessionMaySend(other))
