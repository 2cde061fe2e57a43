"""Faults of MS-MQQB 3.1.7.13, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import (
    ConnectionParametersPacket,
    SessionAckPacket,
)
from reference_qm.core.sessions.connecting import outgoing_queue
from reference_qm.core.sessions.session_opening import (
    SessionOpening,
)
from reference_qm.core.transfer.administering import Administering
from reference_qm.model.adm import Session
from reference_qm.model.states import OutgoingQueueState
from reference_qm.surface.clock import Now


@fault("sender-queue-paused-while-connecting-connected", breaks="MQQB-3.1.7.13-13", blind=True)
class SenderQueuePausedWhileConnectingConnected(SessionOpening):
    """When a session opens, the queue manager changes State of the queue from OnHold to another value if the queue was
    paused while the session was being established.
    """

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        if not packet.InternalHeader.CS:
            outgoing_queue(session).State = OutgoingQueueState.CONNECTED


@fault("pause-session-ack-of-empty-queue-has-normal-window-size", breaks="MQQB-3.1.7.13-08", blind=True)
class PauseSessionAckOfEmptyQueueHasNormalWindowSize(Administering):
    """The queue manager sends the SessionAck that pauses a queue without messages with the normal WindowSize."""

    def build_pause_ack(self, session: Session) -> SessionAckPacket:
        if len(session.OutgoingMessageTable):
            return super().build_pause_ack(session)
        return self.qm.session_acks.build(session)
