"""Faults that break rules of MS-MQQB 3.1.6.2 Session Cleanup Timer Event."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import omit_step
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now

add(
    "any-idle-session-not-closed",
    ("MQQB-3.1.6.2-01", "MQQB-3.1.6.2-02"),
    "The queue manager does nothing when the Session Cleanup Timer expires.",
    omit_step(SessionClosing.on_session_cleanup_timer),
)


@fault("queue-manager-closes-used-session-as-idle", breaks=("MQQB-3.1.6.2-01", "MQQB-3.1.6.2-03"))
class QueueManagerClosesUsedSessionAsIdle(SessionClosing):
    """The queue manager closes a used session when the Session Cleanup Timer expires."""

    def on_session_cleanup_timer(self, session: Session, now: Now) -> None:
        session.SessionActive = False
        super().on_session_cleanup_timer(session, now)


@fault("queue-manager-session-active-never-reset", breaks=("MQQB-3.1.6.2-01", "MQQB-3.1.6.2-03"))
class QueueManagerSessionActiveNeverReset(SessionClosing):
    """The queue manager never resets SessionActive to FALSE when the Session Cleanup Timer expires."""

    def on_session_cleanup_timer(self, session: Session, now: Now) -> None:
        super().on_session_cleanup_timer(session, now)
        session.SessionActive = True


@fault(
    "queue-manager-session-used-before-first-expiry-never-closed",
    breaks=("MQQB-3.1.6.2-01", "MQQB-3.1.6.2-02"),
    blind=True,
)
class QueueManagerSessionUsedBeforeFirstExpiryNeverClosed(SessionClosing):
    """The queue manager never closes a session on which a message was transferred before the first expiry of the
    Session Cleanup Timer.
    """

    def on_session_cleanup_timer(self, session: Session, now: Now) -> None:
        active = session.SessionActive
        super().on_session_cleanup_timer(session, now)
        session.SessionActive = active or session.SessionActive


@fault("initiator-idle-session-stays-open", breaks=("MQQB-3.1.6.2-01", "MQQB-3.1.6.2-02"), blind=True)
class InitiatorIdleSessionStaysOpen(SessionClosing):
    """The queue manager closes an idle session only if it accepted the session, and not if it initiated the session."""

    def on_session_cleanup_timer(self, session: Session, now: Now) -> None:
        if not session.initiator:
            super().on_session_cleanup_timer(session, now)


@fault("queue-manager-closes-used-session-at-third-cleanup-expiry", breaks="MQQB-3.1.6.2-03", blind=True)
class QueueManagerClosesUsedSessionAtThirdCleanupExpiry(SessionClosing):
    """The queue manager closes a session at the third expiry of its Session Cleanup Timer, even if the
    session was active.
    """

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._looks: dict[int, int] = {}

    def on_session_cleanup_timer(self, session: Session, now: Now) -> None:
        looks = self._looks[session.number] = self._looks.get(session.number, 0) + 1
        session.SessionActive = session.SessionActive and looks < 3
        super().on_session_cleanup_timer(session, now)


@fault("queue-manager-only-first-sent-message-counts-as-activity", breaks="MQQB-3.1.6.2-03", blind=True)
class QueueManagerOnlyFirstSentMessageCountsAsActivity(MessageSending):
    """The queue manager counts only the first message that it sends on a session as activity."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        active, first = session.SessionActive, session.MessageSentCount == 0
        packet = super().update_user_message(session, position, now)
        if not first:
            session.SessionActive = active
        return packet


@fault("queue-manager-session-activity-noted-in-newest-session", breaks="MQQB-3.1.6.2-03", blind=True)
class QueueManagerSessionActivityNotedInNewestSession(MessageReceiving):
    """The queue manager notes a received message as activity of its newest session, not of the message's session."""

    def note_session_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        before = session.SessionActive
        super().note_session_activity(session, packet, now)
        session.SessionActive = before
        self.qm.sessions[max(self.qm.sessions)].SessionActive = True


@fault("queue-manager-sent-acknowledgment-not-counted-as-activity", breaks="MQQB-3.1.6.2-03", blind=True)
class QueueManagerSentAcknowledgmentNotCountedAsActivity(MessageSending):
    """When the queue manager sends an acknowledgment message, it does not count this message as activity of the
    session.
    """

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        before = session.SessionActive
        packet = super().update_user_message(session, position, now)
        if packet.MessagePropertiesHeader.MessageClass:
            session.SessionActive = before
        return packet


@fault("queue-manager-active-session-closed-at-third-expiry", breaks="MQQB-3.1.6.2-03", blind=True)
class QueueManagerActiveSessionClosedAtThirdExpiry(SessionClosing):
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


LONG_LABEL_CHARACTERS = 200
"""The length of a long label, in characters."""


@fault("receiver-message-with-long-label-leaves-session-active-false", breaks="MQQB-3.1.6.2-03")
class ReceiverMessageWithLongLabelLeavesSessionActiveFalse(MessageReceiving):
    """The receiver does not set SessionActive when it receives a message with a label of more than 200 characters."""

    def note_session_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        active = session.SessionActive
        super().note_session_activity(session, packet, now)
        if len(packet.MessagePropertiesHeader.Label or "") > LONG_LABEL_CHARACTERS:
            session.SessionActive = active
