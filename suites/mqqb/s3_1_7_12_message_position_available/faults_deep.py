"""Faults of MS-MQQB 3.1.7.12 Message Position Available Event that only special cases reveal: second occurrences, other
causes, boundary values.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.connecting import outgoing_queue
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault("initiator-second-destination-waits-for-first", breaks="MQQB-3.1.7.12-06", blind=True)
class InitiatorSecondDestinationWaitsForFirst(Sending):
    """The initiator establishes no session for a destination while it establishes a session for another destination."""

    def put_outgoing(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        others = [one for one in self.qm.sessions.values() if one.initiator and one is not session]
        settled = (SessionState.OPEN, SessionState.CLOSED, SessionState.WAITING_RECONNECT)
        busy = any(one.SessionState not in settled for one in others)
        if busy and session.SessionState is SessionState.CLOSED:
            session.OutgoingMessageTable.add(position)
            return
        super().put_outgoing(session, position, now)


@fault("initiator-second-session-after-idle-one-not-established", breaks="MQQB-3.1.7.12-06", blind=True)
class InitiatorSecondSessionAfterIdleOneNotEstablished(Sending):
    """The initiator establishes no session for a message if an earlier session to the same destination was closed."""

    def put_outgoing(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        if session.SessionState is SessionState.CLOSED and outgoing_queue(session).ConnectionHistory:
            session.OutgoingMessageTable.add(position)
            return
        super().put_outgoing(session, position, now)


@fault("sender-message-of-priority-0-dispatched-with-next", breaks="MQQB-3.1.7.12-14", blind=True)
class SenderMessageOfPriority0DispatchedWithNext(Sending):
    """The sender dispatches a message of priority 0 only together with the next message."""

    def put_outgoing(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        priority = position.MessagePosition.MessageReference.Priority
        if priority == 0 and session.SessionState is SessionState.OPEN and not position.TxSequenceNumber:
            session.OutgoingMessageTable.add(position)
            return
        for waiting in session.OutgoingMessageTable:
            if not waiting.AwaitingAck:
                self.qm.dispatch_collection.add(session, waiting)
        super().put_outgoing(session, position, now)
