"""Faults that break the rules MQQB-3.1.7.1.3-01 to MQQB-3.1.7.1.3-14."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.other_sessions import list_open_sessions
from harness.faults.parts import fault, override_method, replace_part
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.order_acks import is_final_ack
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import Message, OutgoingMessagePosition, Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now
from suites.mqqb.s3_1_7_01_3_updating_the_user_message.fault_steps import change_session_after_message_update


@fault(
    "sender-sequence-numbers-shared-by-destinations",
    breaks=(
        "MQQB-3.1.7.1.3-01",
        "MQQB-3.1.7.1.3-03",
        "MQQB-3.1.7.1.3-04",
        "MQQB-3.1.7.1.3-08",
        "MQQB-3.1.1.5-D02",
        "MQQB-3.1.1.5-D03",
    ),
)
class SenderSequenceNumbersSharedByDestinations(TransactionalSending):
    """The sender numbers the transactional messages to all destinations consecutively, as if they were one sequence."""

    def number_message_in_sequence(self, session: Session, message: Message) -> Message:
        sessions = [queue.session for queue in self.qm.adm.OutgoingQueues.values()]
        highest = max(one.OutgoingTxSequenceNumber for one in (session, *sessions))
        session.OutgoingTxSequenceNumber = highest
        return super().number_message_in_sequence(session, message)


@fault(
    "sender-tx-sequence-id-taken-from-newest-destination",
    breaks=("MQQB-3.1.7.1.3-02", "MQQB-3.1.1.5-D01", "MQQB-3.1.1.3.1-02"),
)
class SenderTxSequenceIdTakenFromNewestDestination(TransactionalSending):
    """TxSequenceID of a new transactional message is that of the newest destination instead of the message's own."""

    def number_message_in_sequence(self, session: Session, message: Message) -> Message:
        numbered = super().number_message_in_sequence(session, message)
        newest = list(self.qm.adm.OutgoingQueues.values())[-1].session
        return replace(numbered, TransactionalMessageSequenceIdentifier=newest.OutgoingTxSequenceID)


@fault("sender-previous-number-not-0-in-first-message-of-later-sequence", breaks="MQQB-3.1.7.1.3-03", blind=True)
class SenderPreviousNumberNot0InFirstMessageOfLaterSequence(TransactionalSending):
    """The sender sets PreviousTxSequenceNumber of the first message of a later sequence to the last
    number of the previous sequence.
    """

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        packet = super().update_transaction_header(session, position, now)
        last = session.TxOutgoingSequence.LastAck if session.TxOutgoingSequence is not None else None
        header = packet.TransactionHeader
        if header is None or last is None or header.TxSequenceNumber != 1 or not last.SeqNo:
            return packet
        return replace(packet, TransactionHeader=replace(header, PreviousTxSequenceNumber=last.SeqNo))


@fault("sender-sequences-of-queues-numbered-together", breaks="MQQB-3.1.7.1.3-04", blind=True)
class SenderSequencesOfQueuesNumberedTogether(TransactionalSending):
    """The sender uses one series of numbers for the transactional messages to all queues."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.number = 0

    def number_message_in_sequence(self, session: Session, message: Message) -> Message:
        session.OutgoingTxSequenceNumber = max(session.OutgoingTxSequenceNumber, self.number + 1)
        numbered = super().number_message_in_sequence(session, message)
        self.number = numbered.TransactionSequenceNumber
        return numbered


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


@fault("sender-transactional-ack-wait-timer-of-second-sequence-not-started", breaks="MQQB-3.1.7.1.3-09", blind=True)
class SenderTransactionalAckWaitTimerOfSecondSequenceNotStarted(TransactionalSending):
    """The sender starts the Transactional Ack Wait Timer only for the messages of the first sequence to a queue."""

    def start_ack_wait_timer(self, session: Session, now: Now) -> None:
        if session.OutgoingTxSequenceID.Ordinal == 1:
            super().start_ack_wait_timer(session, now)


@fault("sender-resent-message-names-missing-predecessor", breaks="MQQB-3.1.7.1.3-10", blind=True)
class SenderResentMessageNamesMissingPredecessor(TransactionalSending):
    """The sender resends a message whose PreviousTxSequenceNumber is the number of the preceding message, although that
    message was deleted.
    """

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        packet = super().update_transaction_header(session, position, now)
        header = packet.TransactionHeader
        if header is None or not position.Transmitted:
            return packet
        return replace(packet, TransactionHeader=replace(header, PreviousTxSequenceNumber=header.TxSequenceNumber - 1))


def _count_sent_message_twice(session: Session, position: OutgoingMessagePosition) -> None:
    session.MessageSentCount += 1


add(
    "sender-message-sent-count-grows-by-2",
    ("MQQB-3.1.7.1.3-11", "MQQB-3.1.7.1.3-18"),
    "The sender increments MessageSentCount by two for each message.",
    change_session_after_message_update(_count_sent_message_twice),
)


@fault("sender-message-sent-count-incremented-on-all-sessions", breaks=("MQQB-3.1.7.1.3-11", "MQQB-3.1.1.4-01"))
class SenderMessageSentCountIncrementedOnAllSessions(MessageSending):
    """The sender increments MessageSentCount of every open session for each message that it sends on one session."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        for other in list_open_sessions(self.qm, session):
            other.MessageSentCount = other.MessageSentCount + 1 & 0xFFFF
        return super().update_user_message(session, position, now)


def _clear_position_sequence_number(session: Session, position: OutgoingMessagePosition) -> None:
    position.SequenceNumber = 0


add(
    "sender-outgoing-entry-sequence-number-0-after-sending",
    "MQQB-3.1.7.1.3-12",
    "The sender leaves SequenceNumber of a sent OutgoingMessagePosition at 0.",
    change_session_after_message_update(_clear_position_sequence_number),
)


def _count_express_as_recoverable(session: Session, position: OutgoingMessagePosition) -> None:
    if not position.recoverable:
        session.RecoverableMessageSentCount += 1


add(
    "sender-recoverable-sent-count-includes-express",
    ("MQQB-3.1.7.1.3-13", "MQQB-3.1.7.1.3-19"),
    "The sender also increments RecoverableMessageSentCount for express messages.",
    change_session_after_message_update(_count_express_as_recoverable),
)


@fault("sender-final-ack-not-counted-as-recoverable-message", breaks="MQQB-3.1.7.1.3-13", blind=True)
class SenderFinalAckNotCountedAsRecoverableMessage(MessageSending):
    """The sender does not increment RecoverableMessageSentCount for a FinalAck, which is recoverable."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        before = session.RecoverableMessageSentCount
        packet = super().update_user_message(session, position, now)
        if is_final_ack(packet):
            session.RecoverableMessageSentCount = before
        return packet


@fault("sender-transactional-message-not-counted-as-recoverable", breaks="MQQB-3.1.7.1.3-13", blind=True)
class SenderTransactionalMessageNotCountedAsRecoverable(MessageSending):
    """The sender does not count a transactional message in RecoverableMessageSentCount."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        count = session.RecoverableMessageSentCount
        packet = super().update_user_message(session, position, now)
        if position.TxSequenceNumber:
            session.RecoverableMessageSentCount = count
        return packet


@fault("sender-recoverable-sent-count-incremented-on-all-sessions", breaks="MQQB-3.1.7.1.3-13")
class SenderRecoverableSentCountIncrementedOnAllSessions(MessageSending):
    """The sender increments RecoverableMessageSentCount of every open session for each recoverable message that it
    sends on one session.
    """

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        for other in list_open_sessions(self.qm, session) if position.recoverable else ():
            other.RecoverableMessageSentCount = other.RecoverableMessageSentCount + 1 & 0xFFFF
        return super().update_user_message(session, position, now)


def _decrement_unacked_message_count(session: Session, position: OutgoingMessagePosition) -> None:
    session.UnAckedMessageCount = max(0, session.UnAckedMessageCount - 1)


add(
    "sender-unacked-message-count-always-0",
    "MQQB-3.1.7.1.3-14",
    "The sender leaves UnAckedMessageCount at 0.",
    change_session_after_message_update(_decrement_unacked_message_count),
)


add(
    "sender-window-ignores-express-messages",
    "MQQB-3.1.7.1.3-14",
    "The sender does not count express messages in UnAckedMessageCount.",
    replace_part(
        override_method(
            MessageSending.is_window_open,
            lambda original: (
                lambda qm, session: (
                    sum(one.recoverable for one in session.OutgoingMessageTable.awaiting_ack) < session.WindowSize
                )
            ),
        )
    ),
    blind=True,
)


@fault("sender-recoverable-message-sent-count-without-resent-messages", breaks="MQQB-3.1.7.1.3-13", blind=True)
class SenderRecoverableMessageSentCountWithoutResentMessages(MessageSending):
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
