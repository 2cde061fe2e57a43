"""Faults of MS-MQQB 3.1.7.1 Send User Message Event that need two destinations."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import SessionHeader, UserMessagePacket
from reference_qm.core.transfer.sending import Sending
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.model.message import Message
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now
from suites.mqqb.steps.other_sessions import get_newest_session, list_open_sessions


@fault("sender-message-sent-on-newest-session", breaks=("MQQB-3.1.7.1.6-01", "MQQB-3.1.7.1-10"))
class SentOnNewestSession(Sending):
    """The sender sends every message on the session that opened last, whatever the destination of the message."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        super().transmit(get_newest_session(self.qm, session), position, packet)


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
class NumbersShared(TransactionalSending):
    """The sender numbers the transactional messages to all destinations consecutively, as if they were one sequence."""

    def number_in_sequence(self, session: Session, message: Message) -> Message:
        sessions = [queue.session for queue in self.qm.adm.OutgoingQueues.values()]
        highest = max(one.OutgoingTxSequenceNumber for one in (session, *sessions))
        session.OutgoingTxSequenceNumber = highest
        return super().number_in_sequence(session, message)


@fault(
    "sender-sequence-identifier-of-newest-destination",
    breaks=("MQQB-3.1.7.1.3-02", "MQQB-3.1.1.5-D01", "MQQB-3.1.1.3.1-02"),
)
class IdentifierOfNewest(TransactionalSending):
    """TxSequenceID of a new transactional message is that of the newest destination, whatever its own destination."""

    def number_in_sequence(self, session: Session, message: Message) -> Message:
        numbered = super().number_in_sequence(session, message)
        newest = list(self.qm.adm.OutgoingQueues.values())[-1].session
        return replace(numbered, TransactionalMessageSequenceIdentifier=newest.OutgoingTxSequenceID)


@fault("sender-message-count-of-all-sessions", breaks=("MQQB-3.1.7.1.3-11", "MQQB-3.1.1.4-01"))
class MessagesOfAllCounted(Sending):
    """The sender increments MessageSentCount of every open session for each message that it sends on one session."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        for other in list_open_sessions(self.qm, session):
            other.MessageSentCount = other.MessageSentCount + 1 & 0xFFFF
        return super().update_user_message(session, position, now)


@fault("sender-recoverable-message-count-of-all-sessions", breaks="MQQB-3.1.7.1.3-13")
class RecoverableMessagesOfAllCounted(Sending):
    """The sender increments RecoverableMessageSentCount of every open session for each recoverable message that it
    sends on one session.
    """

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        for other in list_open_sessions(self.qm, session) if position.recoverable else ():
            other.RecoverableMessageSentCount = other.RecoverableMessageSentCount + 1 & 0xFFFF
        return super().update_user_message(session, position, now)


class _HeaderOfAllSessions(SessionAcks):
    """Put a value of all open sessions into the acknowledgments of each session."""

    def build_header(self, session: Session) -> SessionHeader:
        header = super().build_header(session)
        if session.SessionState is not SessionState.OPEN:
            return header
        return self.change_header(header, list_open_sessions(self.qm, session))

    def change_header(self, header: SessionHeader, others: list[Session]) -> SessionHeader:
        """Return the changed header; ``others``: the other open sessions."""
        raise NotImplementedError


@fault("receiver-session-ack-ack-sequence-number-of-all-sessions", breaks="MQQB-3.1.6.4-04")
class ReceivedOfAllAcknowledged(_HeaderOfAllSessions):
    """AckSequenceNumber of a SessionAck is the number of messages that the receiver has received on all sessions."""

    def change_header(self, header: SessionHeader, others: list[Session]) -> SessionHeader:
        count = header.AckSequenceNumber + sum(one.MessageReceivedCount for one in others)
        return replace(header, AckSequenceNumber=count & 0xFFFF)


@fault("receiver-session-ack-user-msg-sequence-number-of-all-sessions", breaks="MQQB-3.1.6.4-06")
class SentOfAllNamed(_HeaderOfAllSessions):
    """UserMsgSequenceNumber of a SessionAck is the number of messages that were sent on all sessions."""

    def change_header(self, header: SessionHeader, others: list[Session]) -> SessionHeader:
        count = header.UserMsgSequenceNumber + sum(one.MessageSentCount for one in others)
        return replace(header, UserMsgSequenceNumber=count & 0xFFFF)


@fault("receiver-session-ack-recoverable-number-of-all-sessions", breaks="MQQB-3.1.6.4-07")
class RecoverableOfAllNamed(_HeaderOfAllSessions):
    """RecoverableMsgSeqNumber of a SessionAck is the number of recoverable messages that were sent on all sessions."""

    def change_header(self, header: SessionHeader, others: list[Session]) -> SessionHeader:
        count = header.RecoverableMsgSeqNumber + sum(one.RecoverableMessageSentCount for one in others)
        return replace(header, RecoverableMsgSeqNumber=count & 0xFFFF)


@fault("receiver-session-ack-flags-of-all-sessions", breaks="MQQB-3.1.6.4-08")
class FlagsOfAllSet(_HeaderOfAllSessions):
    """RecoverableMsgAckFlags of a SessionAck has the bits of all sessions with unacknowledged messages."""

    def change_header(self, header: SessionHeader, others: list[Session]) -> SessionHeader:
        flags = header.RecoverableMsgAckFlags
        for one in others:
            flags |= one.RecoverableMsgAckFlags
        return replace(header, RecoverableMsgAckFlags=flags)
