"""Faults of MS-MQQB 3.1.7.1.3 Updating the UserMessage Packet that only special cases show: second occurrences, other
causes, boundary values.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.sending import Sending
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import Message, OutgoingMessagePosition, Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


@fault("sender-transactional-message-not-counted-as-recoverable", breaks="MQQB-3.1.7.1.3-13", blind=True)
class TransactionalNotCounted(Sending):
    """The sender does not count a transactional message in RecoverableMessageSentCount."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        count = session.RecoverableMessageSentCount
        packet = super().update_user_message(session, position, now)
        if position.TxSequenceNumber:
            session.RecoverableMessageSentCount = count
        return packet


@fault("sender-sequences-of-queues-numbered-together", breaks="MQQB-3.1.7.1.3-04", blind=True)
class NumberedTogether(TransactionalSending):
    """The sender uses one series of numbers for the transactional messages to all queues."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.number = 0

    def number_in_sequence(self, session: Session, message: Message) -> Message:
        session.OutgoingTxSequenceNumber = max(session.OutgoingTxSequenceNumber, self.number + 1)
        numbered = super().number_in_sequence(session, message)
        self.number = numbered.TransactionSequenceNumber
        return numbered


@fault("sender-ack-wait-timer-started-by-first-message-only", breaks="MQQB-3.1.7.1.3-27", blind=True)
class StartedOnce(Sending):
    """The sender starts the Session Ack Wait Timer only for the first message of a session."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        key = TimerKey(TimerName.SESSION_ACK_WAIT, session.number)
        running = self.qm.timers.is_running(key)
        packet = super().update_user_message(session, position, now)
        if session.MessageSentCount > 1 and not running:
            self.qm.timers.stop(key)
        return packet


@fault("sender-transactional-ack-wait-timer-of-second-sequence-not-started", breaks="MQQB-3.1.7.1.3-09", blind=True)
class FirstSequenceOnly(TransactionalSending):
    """The sender starts the Transactional Ack Wait Timer only for the messages of the first sequence to a queue."""

    def start_ack_wait_timer(self, session: Session, now: Now) -> None:
        if session.OutgoingTxSequenceID.Ordinal == 1:
            super().start_ack_wait_timer(session, now)
