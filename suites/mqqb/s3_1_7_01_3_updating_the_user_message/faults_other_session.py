"""Faults of MS-MQQB 3.1.7.1.3 Updating the UserMessage Packet that need two sessions."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.sending import Sending
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.model.message import Message
from reference_qm.surface.clock import Now
from suites.mqqb.steps.other_sessions import list_open_sessions


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

    def number_in_sequence(self, session: Session, message: Message) -> Message:
        sessions = [queue.session for queue in self.qm.adm.OutgoingQueues.values()]
        highest = max(one.OutgoingTxSequenceNumber for one in (session, *sessions))
        session.OutgoingTxSequenceNumber = highest
        return super().number_in_sequence(session, message)


@fault(
    "sender-sequence-identifier-of-newest-destination",
    breaks=("MQQB-3.1.7.1.3-02", "MQQB-3.1.1.5-D01", "MQQB-3.1.1.3.1-02"),
)
class SenderSequenceIdentifierOfNewestDestination(TransactionalSending):
    """TxSequenceID of a new transactional message is that of the newest destination instead of the message's own."""

    def number_in_sequence(self, session: Session, message: Message) -> Message:
        numbered = super().number_in_sequence(session, message)
        newest = list(self.qm.adm.OutgoingQueues.values())[-1].session
        return replace(numbered, TransactionalMessageSequenceIdentifier=newest.OutgoingTxSequenceID)


@fault("sender-message-count-of-all-sessions", breaks=("MQQB-3.1.7.1.3-11", "MQQB-3.1.1.4-01"))
class SenderMessageCountOfAllSessions(Sending):
    """The sender increments MessageSentCount of every open session for each message that it sends on one session."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        for other in list_open_sessions(self.qm, session):
            other.MessageSentCount = other.MessageSentCount + 1 & 0xFFFF
        return super().update_user_message(session, position, now)


@fault("sender-recoverable-message-count-of-all-sessions", breaks="MQQB-3.1.7.1.3-13")
class SenderRecoverableMessageCountOfAllSessions(Sending):
    """The sender increments RecoverableMessageSentCount of every open session for each recoverable message that it
    sends on one session.
    """

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        for other in list_open_sessions(self.qm, session) if position.recoverable else ():
            other.RecoverableMessageSentCount = other.RecoverableMessageSentCount + 1 & 0xFFFF
        return super().update_user_message(session, position, now)
