"""Faults that break rules of MS-MQQB 3.1.7.1.3 Updating the UserMessage Packet."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.sending import Sending
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


@fault("sender-transactional-ack-wait-timer-started-once-per-session", breaks="MQQB-3.1.7.1.3-09", blind=True)
class SenderTransactionalAckWaitTimerStartedOncePerSession(TransactionalSending):
    """The sender does not start the Transactional Ack Wait Timer for a transactional message that it sends after all
    earlier messages of the session have their OrderAcks.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.started: set[tuple[int, str | None]] = set()

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        key = TimerKey(TimerName.TRANSACTIONAL_ACK_WAIT, session.number)
        ran = self.qm.timers.is_running(key)
        packet = super().update_transaction_header(session, position, now)
        connection = (session.number, session.transport)
        if not ran and self.qm.timers.is_running(key):
            if connection in self.started:
                self.qm.timers.stop(key)
            self.started.add(connection)
        return packet


@fault("sender-recoverable-message-sent-count-without-resent-messages", breaks="MQQB-3.1.7.1.3-13", blind=True)
class SenderRecoverableMessageSentCountWithoutResentMessages(Sending):
    """The sender does not increment RecoverableMessageSentCount when it sends a transactional message again on the same
    session because its OrderAck is missing.
    """

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        number = position.RecoverableSequenceNumber
        again = position.recoverable and position.Transmitted
        if again:
            session.RecoverableMessageSentCount = session.RecoverableMessageSentCount - 1 & 0xFFFF
        packet = super().update_user_message(session, position, now)
        if again:
            position.RecoverableSequenceNumber = number
        return packet
