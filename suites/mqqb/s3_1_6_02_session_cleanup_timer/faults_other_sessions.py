"""Faults of MS-MQQB 3.1.6.2 Session Cleanup Timer Event, with several sessions and at later expiries."""

from __future__ import annotations

from harness.faults.other_sessions import list_open_sessions
from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("queue-manager-cleanup-closes-every-session", breaks=("MQQB-3.1.6.2-01", "MQQB-3.1.6.2-03"))
class QueueManagerCleanupClosesEverySession(SessionClosing):
    """When the queue manager closes an idle session, it closes every other session of the same remote queue manager."""

    def on_session_cleanup_timer(self, session: Session, now: Now) -> None:
        idle = not session.SessionActive
        super().on_session_cleanup_timer(session, now)
        if idle:
            for one in list_open_sessions(self.qm, session):
                if one.RemoteQMGuid == session.RemoteQMGuid and one.SessionActive:
                    self.close(one, "another session was idle", now)


@fault("queue-manager-session-active-not-reset-after-second-expiry", breaks=("MQQB-3.1.6.2-02",))
class QueueManagerSessionActiveNotResetAfterSecondExpiry(SessionClosing):
    """The queue manager never closes a session that was active at two expiries of the Session Cleanup Timer."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._active: dict[int, int] = {}

    def on_session_cleanup_timer(self, session: Session, now: Now) -> None:
        if session.SessionActive:
            self._active[session.number] = self._active.get(session.number, 0) + 1
        elif self._active.get(session.number, 0) > 1:
            session.SessionActive = True
        super().on_session_cleanup_timer(session, now)


@fault("queue-manager-session-active-only-for-first-message", breaks="MQQB-3.1.6.2-03")
class QueueManagerSessionActiveOnlyForFirstMessage(MessageReceiving):
    """The queue manager sets SessionActive only for the first message of a session."""

    def note_session_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        before = session.SessionActive
        super().note_session_activity(session, packet, now)
        if session.MessageReceivedCount > 1:
            session.SessionActive = before


@fault("queue-manager-sent-session-ack-counts-as-activity", breaks="MQQB-3.1.6.2-02")
class QueueManagerSentSessionAckCountsAsActivity(SessionAcks):
    """The queue manager sets SessionActive when it sends a SessionAck."""

    def send(self, session: Session, now: Now) -> None:
        super().send(session, now)
        session.SessionActive = True
