from __future__ import annotations

from dataclasses import replace

from reference_qm.codec import SessionAckPacket
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.sessions.session_connecting import OFFLINE_REFUSAL_REASON
from reference_qm.model.adm import OutgoingQueue, Session
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.surface.clock import Now

PAUSED_WINDOW_SIZE = 1
"""The WindowSize in the SessionAck that is sent when a queue is paused. Spec: MS-MQQB 3.1.7.13."""


class TransferAdministering(QueueManagerPart):
    """Carries out an administrator's commands that affect the transfer of messages: pauses and resumes queues, takes
    the queue manager off the network, and brings it back.

    Spec: MS-MQDMPR 3.1.4.12 to 3.1.4.15, 3.1.7.2.3, 3.1.7.2.4, MS-MQQB 3.1.7.13, 3.1.7.14, MS-MQSO 5.1.1.1.
    """

    __slots__ = ()

    def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
        """Stop the sending of messages from an outgoing queue. Spec: MS-MQDMPR 3.1.4.14, 3.1.7.2.3, MS-MQQB
        3.1.7.13.

        If no session is open, no SessionAck is sent.
        """
        session = queue.session
        if session.SessionState is SessionState.OPEN:
            self.qm.session_connecting.send(session, self.build_pause_ack(session).build())
            self.qm.session_acks.reset_unacknowledged_counts(session, now)
        session.SessionActive = False
        queue.State = OutgoingQueueState.ON_HOLD
        self.qm.dispatch_collection.remove_queue(queue)

    def build_pause_ack(self, session: Session) -> SessionAckPacket:
        """Build the SessionAck that reduces the window when a queue is paused. Spec: MS-MQQB 3.1.7.13."""
        packet = self.qm.session_acks.build(session)
        return replace(packet, SessionHeader=replace(packet.SessionHeader, WindowSize=PAUSED_WINDOW_SIZE))

    def resume_queue(self, queue: OutgoingQueue, now: Now) -> None:
        """Resume the sending of messages from an outgoing queue. Spec: MS-MQDMPR 3.1.4.15, 3.1.7.2.4, MS-MQQB
        3.1.7.14.

        3.1.7.2.4 sets State to Inactive. If a session is open or is being established, State follows this session
        instead, because a queue with the State Inactive would send no messages, and no second session can be
        established. Messages that were sent on the session before the pause are not sent again (``get_next_unsent``).
        """
        if queue.State is not OutgoingQueueState.ON_HOLD:
            return
        session = queue.session
        queue.State = _QUEUE_STATE_BY_SESSION_STATE.get(session.SessionState, OutgoingQueueState.WAITING)
        if len(session.OutgoingMessageTable):
            if queue.State is OutgoingQueueState.INACTIVE:
                self.qm.session_establishing.establish(session, now)
            session.SessionActive = True
            self.qm.dispatch_collection.remove_queue(queue)
            for position in session.OutgoingMessageTable:
                self.qm.dispatch_collection.add(session, position)
            self.qm.message_sending.dispatch_messages(session, now)

    def take_offline(self, now: Now) -> None:
        """Take the queue manager off the network. Spec: MS-MQDMPR 3.1.4.12, MS-MQSO 5.1.1.1.

        The document says that the queue manager "restricts its network activities and does not receive". Here this
        means that there are no sessions: open sessions are closed, new sessions are not established, and requests
        for sessions are refused.
        """
        self.qm.adm.ConnectionActive = False
        for session in list(self.qm.sessions.values()):
            self.qm.session_closing.close(session, OFFLINE_REFUSAL_REASON, now)

    def bring_online(self, now: Now) -> None:
        """Bring the queue manager back to the network, and send the messages that wait.

        Spec: MS-MQDMPR 3.1.4.13, MS-MQSO 5.1.1.1.
        """
        self.qm.adm.ConnectionActive = True
        self.establish_waiting(now)

    def establish_waiting(self, now: Now) -> None:
        """Establish a session for each queue with messages to send. Spec: MS-MQQB 3.1.4.1, 3.1.5.2."""
        for queue in self.qm.adm.OutgoingQueues.values():
            idle = queue.session.SessionState in (SessionState.CLOSED, SessionState.WAITING_RECONNECT)
            if idle and len(queue.session.OutgoingMessageTable) and queue.State is not OutgoingQueueState.ON_HOLD:
                self.qm.session_establishing.establish(queue.session, now)


_QUEUE_STATE_BY_SESSION_STATE = {
    SessionState.OPEN: OutgoingQueueState.CONNECTED,
    SessionState.CLOSED: OutgoingQueueState.INACTIVE,
    SessionState.WAITING_RECONNECT: OutgoingQueueState.INACTIVE,
}
"""For states of a queue's session: the value of OutgoingQueue.State after a paused queue is resumed. If the session is
in a state that is not listed, the value is Waiting.
"""
