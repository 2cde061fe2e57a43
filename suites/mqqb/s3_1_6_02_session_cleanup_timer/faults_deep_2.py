"""Faults of MS-MQQB 3.1.6.2 Session Cleanup Timer Event that occur only in a second session, in a later period or for
one kind of message.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("queue-manager-session-activity-noted-in-newest-session", breaks="MQQB-3.1.6.2-03", blind=True)
class QueueManagerSessionActivityNotedInNewestSession(Receiving):
    """The queue manager notes a received message as activity of its newest session, not of the message's session."""

    def note_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        before = session.SessionActive
        super().note_activity(session, packet, now)
        session.SessionActive = before
        self.qm.sessions[max(self.qm.sessions)].SessionActive = True


@fault("queue-manager-session-with-sent-own-messages-idle", breaks="MQQB-3.1.6.2-03", blind=True)
class QueueManagerSessionWithSentOwnMessagesIdle(Sending):
    """The queue manager does not count an acknowledgment message that it sends as activity of the session."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        before = session.SessionActive
        packet = super().update_user_message(session, position, now)
        if packet.MessagePropertiesHeader.MessageClass:
            session.SessionActive = before
        return packet


@fault("queue-manager-active-session-closed-at-third-expiry", breaks="MQQB-3.1.6.2-03", blind=True)
class QueueManagerActiveSessionClosedAtThirdExpiry(Closing):
    """The queue manager closes a session at the third expiry of the Session Cleanup Timer, even if the
    session is active.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.expired: dict[int, int] = {}

    def on_session_cleanup_timer(self, session: Session, now: Now) -> None:
        self.expired[session.number] = self.expired.get(session.number, 0) + 1
        if self.expired[session.number] >= 3:
            session.SessionActive = False
        super().on_session_cleanup_timer(session, now)
