"""Faults of MS-MQQB 3.1.7.1 Send User Message Event, with 3.1.7.1.1, 3.1.7.1.6, 3.1.7.1.7 that need two sessions."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.model.states import OutgoingQueueState
from reference_qm.surface.clock import Now
from suites.mqqb.steps.other_sessions import get_newest_session, list_open_sessions


@fault("sender-message-sent-on-newest-session", breaks=("MQQB-3.1.7.1.6-01", "MQQB-3.1.7.1-10"))
class SenderMessageSentOnNewestSession(Sending):
    """The sender sends every message on the session that opened last, not on the session with its destination."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        super().transmit(get_newest_session(self.qm, session), position, packet)


@fault("sender-window-shared-by-sessions", breaks="MQQB-3.1.7.1-03")
class SenderWindowSharedBySessions(Sending):
    """The sender's window limits the number of unacknowledged messages on all sessions together."""

    def is_window_open(self, session: Session) -> bool:
        others = sum(one.UnAckedMessageCount for one in list_open_sessions(self.qm, session))
        return session.UnAckedMessageCount + others < session.WindowSize


@fault(
    "lost-connection-sets-state-of-all-outgoing-queues",
    breaks=("MQQB-3.1.7.1.6-03", "MQQB-3.1.5.9-03"),
)
class LostConnectionSetsStateOfAllOutgoingQueues(Closing):
    """When the connection of one session is lost, the sender sets State of all outgoing queues to Disconnected."""

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        super().on_transport_lost(session, reason, now)
        for queue in self.qm.adm.OutgoingQueues.values():
            if queue.State is OutgoingQueueState.CONNECTED:
                queue.State = OutgoingQueueState.DISCONNECTED
