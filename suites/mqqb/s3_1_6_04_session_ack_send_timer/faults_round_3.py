"""Faults that break rules of MS-MQQB 3.1.6.4."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.model.adm import Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


@fault("receiver-ack-send-timer-not-restarted-for-express-after-recoverable", breaks="MQQB-3.1.6.4-11", blind=True)
class ReceiverAckSendTimerNotRestartedForExpressAfterRecoverable(Receiving):
    """The receiver does not start the Session Ack Send Timer for an express message after a SessionAck that
    acknowledged recoverable messages.
    """

    def note_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        running = self.qm.timers.is_running(TimerKey(TimerName.SESSION_ACK_SEND, session.number))
        super().note_activity(session, packet, now)
        if not (running or packet.UserHeader.DM) and session.LastAckedRecoverableMsgSeqNumber:
            self.qm.session_timers.stop(session, TimerName.SESSION_ACK_SEND)
