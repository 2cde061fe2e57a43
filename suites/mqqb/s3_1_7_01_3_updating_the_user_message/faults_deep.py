"""Faults of MS-MQQB 3.1.7.1.3 Updating the UserMessage Packet that only special cases reveal: second occurrences, other
causes, boundary values.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import SessionAckPacket, SessionHeader, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.sending import Sending
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import Message, OutgoingMessagePosition, Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


@fault("sender-transactional-message-not-counted-as-recoverable", breaks="MQQB-3.1.7.1.3-13", blind=True)
class SenderTransactionalMessageNotCountedAsRecoverable(Sending):
    """The sender does not count a transactional message in RecoverableMessageSentCount."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        count = session.RecoverableMessageSentCount
        packet = super().update_user_message(session, position, now)
        if position.TxSequenceNumber:
            session.RecoverableMessageSentCount = count
        return packet


@fault("sender-sequences-of-queues-numbered-together", breaks="MQQB-3.1.7.1.3-04", blind=True)
class SenderSequencesOfQueuesNumberedTogether(TransactionalSending):
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
class SenderAckWaitTimerStartedByFirstMessageOnly(Sending):
    """The sender starts the Session Ack Wait Timer only for the first message of a session."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        key = TimerKey(TimerName.SESSION_ACK_WAIT, session.number)
        running = self.qm.timers.is_running(key)
        packet = super().update_user_message(session, position, now)
        if session.MessageSentCount > 1 and not running:
            self.qm.timers.stop(key)
        return packet


@fault("sender-transactional-ack-wait-timer-of-second-sequence-not-started", breaks="MQQB-3.1.7.1.3-09", blind=True)
class SenderTransactionalAckWaitTimerOfSecondSequenceNotStarted(TransactionalSending):
    """The sender starts the Transactional Ack Wait Timer only for the messages of the first sequence to a queue."""

    def start_ack_wait_timer(self, session: Session, now: Now) -> None:
        if session.OutgoingTxSequenceID.Ordinal == 1:
            super().start_ack_wait_timer(session, now)


class _ChangingLaterSessionHeaders(SessionAcks):
    """Change the second and each later SessionHeader of a session, if the SessionHeader is in a user message."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: dict[int, SessionHeader] = {}

    def build(self, session: Session) -> SessionAckPacket:
        packet = super().build(session)
        return replace(packet, SessionHeader=SessionAcks.build_header(self, session))

    def build_header(self, session: Session) -> SessionHeader:
        header = super().build_header(session)
        first = self.first.setdefault(session.number, header)
        return header if first is header else self.change(header, first)

    def change(self, header: SessionHeader, first: SessionHeader) -> SessionHeader:
        return header


@fault(
    "sender-second-session-header-with-sent-counts-of-first",
    breaks=("MQQB-3.1.7.1.3-18", "MQQB-3.1.7.1.3-19"),
    blind=True,
)
class SenderSecondSessionHeaderWithSentCountsOfFirst(_ChangingLaterSessionHeaders):
    """In the second and each later SessionHeader of a session, the sender repeats the counts of sent messages of the
    first SessionHeader.
    """

    def change(self, header: SessionHeader, first: SessionHeader) -> SessionHeader:
        return replace(
            header,
            UserMsgSequenceNumber=first.UserMsgSequenceNumber,
            RecoverableMsgSeqNumber=first.RecoverableMsgSeqNumber,
        )


@fault(
    "sender-second-session-header-acknowledges-as-first",
    breaks=("MQQB-3.1.7.1.3-16", "MQQB-3.1.7.1.3-17"),
    blind=True,
)
class SenderSecondSessionHeaderAcknowledgesAsFirst(_ChangingLaterSessionHeaders):
    """In the second and each later SessionHeader of a session, the sender repeats the acknowledged numbers of the first
    SessionHeader.
    """

    def change(self, header: SessionHeader, first: SessionHeader) -> SessionHeader:
        return replace(
            header,
            AckSequenceNumber=first.AckSequenceNumber,
            RecoverableMsgAckSeqNumber=first.RecoverableMsgAckSeqNumber,
        )


@fault("sender-session-header-flags-of-8-bits", breaks="MQQB-3.1.7.1.3-20", blind=True)
class SenderSessionHeaderFlagsOf8Bits(SessionAcks):
    """The sender puts only the lower 8 bits of RecoverableMsgAckFlags into the SessionHeader of a user message."""

    def build(self, session: Session) -> SessionAckPacket:
        packet = super().build(session)
        return replace(packet, SessionHeader=SessionAcks.build_header(self, session))

    def build_header(self, session: Session) -> SessionHeader:
        header = super().build_header(session)
        return replace(header, RecoverableMsgAckFlags=header.RecoverableMsgAckFlags & 0xFF)


@fault("sender-first-message-of-later-sequence-names-predecessor", breaks="MQQB-3.1.7.1.3-03", blind=True)
class SenderFirstMessageOfLaterSequenceNamesPredecessor(TransactionalSending):
    """The sender sets PreviousTxSequenceNumber of the first message of a later sequence to the last
    number of the sequence before.
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
