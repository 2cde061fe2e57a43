"""Faults of MS-MQQB 3.1.7.1.3 Updating the UserMessage Packet, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.order_acks import is_final_ack
from reference_qm.core.transfer.sending import Sending
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


@fault("sender-final-ack-not-counted-as-recoverable-message", breaks="MQQB-3.1.7.1.3-13", blind=True)
class SenderFinalAckNotCountedAsRecoverableMessage(Sending):
    """The sender does not increment RecoverableMessageSentCount for a FinalAck, which is recoverable."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        before = session.RecoverableMessageSentCount
        packet = super().update_user_message(session, position, now)
        if is_final_ack(packet):
            session.RecoverableMessageSentCount = before
        return packet


@fault("sender-express-message-starts-no-session-ack-wait-timer", breaks="MQQB-3.1.7.1.3-27", blind=True)
class SenderExpressMessageStartsNoSessionAckWaitTimer(Sending):
    """The sender starts the Session Ack Wait Timer when it sends a recoverable message, but not when it sends an
    express message.
    """

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        running = self.qm.timers.is_running(TimerKey(TimerName.SESSION_ACK_WAIT, session.number))
        packet = super().update_user_message(session, position, now)
        if not running and not position.recoverable:
            self.qm.session_timers.stop(session, TimerName.SESSION_ACK_WAIT)
        return packet


@fault("sender-later-sequence-starts-no-transactional-ack-wait-timer", breaks="MQQB-3.1.7.1.3-09", blind=True)
class SenderLaterSequenceStartsNoTransactionalAckWaitTimer(TransactionalSending):
    """The sender starts the Transactional Ack Wait Timer for its first sequence, but not for later sequences."""

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        running = self.qm.timers.is_running(TimerKey(TimerName.TRANSACTIONAL_ACK_WAIT, session.number))
        packet = super().update_transaction_header(session, position, now)
        if not running and session.OutgoingTxSequenceID.Ordinal > 1:
            self.qm.session_timers.stop(session, TimerName.TRANSACTIONAL_ACK_WAIT)
        return packet
