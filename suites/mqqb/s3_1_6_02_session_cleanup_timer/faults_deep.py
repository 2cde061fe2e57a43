"""Faults of MS-MQQB 3.1.6.2 Session Cleanup Timer Event that only special cases reveal: second occurrences, other
causes, boundary values.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("queue-manager-sent-message-no-activity-of-second-period", breaks="MQQB-3.1.6.2-03", blind=True)
class QueueManagerSentMessageNoActivityOfSecondPeriod(Sending):
    """The queue manager counts only the first message that it sends on a session as activity."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        active, first = session.SessionActive, session.MessageSentCount == 0
        packet = super().update_user_message(session, position, now)
        if not first:
            session.SessionActive = active
        return packet


@fault("queue-manager-session-once-active-never-idle", breaks=("MQQB-3.1.6.2-01", "MQQB-3.1.6.2-02"), blind=True)
class QueueManagerSessionOnceActiveNeverIdle(Closing):
    """The queue manager never closes a session on which a message was transferred before the first expiry of the
    Session Cleanup Timer.
    """

    def on_session_cleanup_timer(self, session: Session, now: Now) -> None:
        active = session.SessionActive
        super().on_session_cleanup_timer(session, now)
        session.SessionActive = active or session.SessionActive


@fault("initiator-idle-session-stays-open", breaks=("MQQB-3.1.6.2-01", "MQQB-3.1.6.2-02"), blind=True)
class InitiatorIdleSessionStaysOpen(Closing):
    """The queue manager closes an idle session only if it accepted the session, and not if it initiated the session."""

    def on_session_cleanup_timer(self, session: Session, now: Now) -> None:
        if not session.initiator:
            super().on_session_cleanup_timer(session, now)
