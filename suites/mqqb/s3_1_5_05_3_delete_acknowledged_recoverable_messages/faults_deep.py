"""Faults of MS-MQQB 3.1.5.5.3 Delete Acknowledged Recoverable Messages, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import set_fields, skip_during
from harness.faults.registry import add
from reference_qm.codec import SessionHeader, UserMessagePacket
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now

add(
    "sender-recoverable-messages-not-deleted-by-header-in-user-message",
    "MQQB-3.1.5.5.3-01",
    "The sender deletes no recoverable message if the SessionHeader is in a UserMessage.",
    skip_during(Receiving.receive_user_message, SessionAcks.delete_acknowledged_recoverable),
    blind=True,
)


@fault("sender-flags-counted-among-all-messages", breaks="MQQB-3.1.5.5.3-02", blind=True)
class SenderFlagsCountedAmongAllMessages(SessionAcks):
    """The sender treats the bits of RecoverableMsgAckFlags as numbers of all messages, not only of the recoverable
    messages.
    """

    def delete_acknowledged_recoverable(self, session: Session, header: SessionHeader) -> None:
        first = header.RecoverableMsgAckSeqNumber
        for position in session.OutgoingMessageTable.awaiting_ack:
            bit = position.SequenceNumber - first
            flagged = 0 <= bit < 32 and header.RecoverableMsgAckFlags >> bit & 1
            if position.recoverable and not position.TxSequenceNumber and flagged:
                self.delete_position(session, position)


@fault("sender-flags-above-16-ignored", breaks="MQQB-3.1.5.5.3-02", blind=True)
class SenderFlagsAbove16Ignored(SessionAcks):
    """The sender uses only the lower 16 bits of RecoverableMsgAckFlags."""

    def delete_acknowledged_recoverable(self, session: Session, header: SessionHeader) -> None:
        lower = replace(header, RecoverableMsgAckFlags=header.RecoverableMsgAckFlags & 0xFFFF)
        super().delete_acknowledged_recoverable(session, lower)


@fault("sender-last-flag-ignored", breaks="MQQB-3.1.5.5.3-02", blind=True)
class SenderLastFlagIgnored(SessionAcks):
    """The sender ignores bit 31 of RecoverableMsgAckFlags."""

    def delete_acknowledged_recoverable(self, session: Session, header: SessionHeader) -> None:
        lower = replace(header, RecoverableMsgAckFlags=header.RecoverableMsgAckFlags & 0x7FFFFFFF)
        super().delete_acknowledged_recoverable(session, lower)


@fault("sender-transactional-message-beside-recoverable-ones-deleted-by-flag", breaks="MQQB-3.1.5.5.3-03", blind=True)
class SenderTransactionalMessageBesideRecoverableOnesDeletedByFlag(SessionAcks):
    """The sender deletes a transactional message without an OrderAck if its flag is set and other recoverable messages
    wait.
    """

    def delete_acknowledged_recoverable(self, session: Session, header: SessionHeader) -> None:
        sent = session.OutgoingMessageTable.awaiting_ack
        super().delete_acknowledged_recoverable(session, header)
        if any(one.recoverable and not one.TxSequenceNumber for one in sent):
            for one in session.OutgoingMessageTable:
                bit = one.RecoverableSequenceNumber - header.RecoverableMsgAckSeqNumber
                if one.TxSequenceNumber and 0 <= bit < 32 and header.RecoverableMsgAckFlags >> bit & 1:
                    self.delete_position(session, one)


@fault("sender-recoverable-flags-above-bit-15-ignored", breaks="MQQB-3.1.5.5.3-02", blind=True)
class SenderRecoverableFlagsAboveBit15Ignored(SessionAcks):
    """The sender ignores bits 16 to 31 of RecoverableMsgAckFlags."""

    def delete_acknowledged_recoverable(self, session: Session, header: SessionHeader) -> None:
        header = set_fields(header, {"RecoverableMsgAckFlags": lambda old: old & 0xFFFF})
        super().delete_acknowledged_recoverable(session, header)


@fault("sender-highest-recoverable-flag-ignored", breaks="MQQB-3.1.5.5.3-02", blind=True)
class SenderHighestRecoverableFlagIgnored(SessionAcks):
    """The sender ignores bit 31 of RecoverableMsgAckFlags."""

    def delete_acknowledged_recoverable(self, session: Session, header: SessionHeader) -> None:
        header = set_fields(header, {"RecoverableMsgAckFlags": lambda old: old & 0x7FFFFFFF})
        super().delete_acknowledged_recoverable(session, header)


@fault(
    "sender-recoverable-messages-numbered-with-express", breaks=("MQQB-3.1.5.5.3-01", "MQQB-3.1.5.5.3-02"), blind=True
)
class SenderRecoverableMessagesNumberedWithExpress(SessionAcks):
    """The sender compares the recoverable acknowledgment with SequenceNumber, which also counts express messages."""

    def delete_acknowledged_recoverable(self, session: Session, header: SessionHeader) -> None:
        waiting = list(session.OutgoingMessageTable.awaiting_ack)
        old = [one.RecoverableSequenceNumber for one in waiting]
        for one in waiting:
            if one.recoverable:
                one.RecoverableSequenceNumber = one.SequenceNumber
        super().delete_acknowledged_recoverable(session, header)
        for one, number in zip(waiting, old, strict=True):
            one.RecoverableSequenceNumber = number


@fault("sender-recoverable-ack-in-message-ignored", breaks=("MQQB-3.1.5.5.3-01", "MQQB-3.1.5.5.3-02"), blind=True)
class SenderRecoverableAckInMessageIgnored(Receiving):
    """The sender ignores the recoverable acknowledgment in the SessionHeader of a user message."""

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if packet.SessionHeader is not None:
            cleared = {"SessionHeader.RecoverableMsgAckFlags": 0, "SessionHeader.RecoverableMsgAckSeqNumber": 0}
            packet = set_fields(packet, cleared)
        super().receive_user_message(session, packet, now)


@fault(
    "sender-acknowledged-recoverable-message-of-other-session-deleted",
    breaks=("MQQB-3.1.5.5.3-01", "MQQB-3.1.5.5.3-02"),
    blind=True,
)
class SenderAcknowledgedRecoverableMessageOfOtherSessionDeleted(SessionAcks):
    """When the sender receives a recoverable acknowledgment, it also deletes the messages with the same numbers on its
    other sessions.
    """

    def delete_acknowledged_recoverable(self, session: Session, header: SessionHeader) -> None:
        for other in self.qm.sessions.values():
            super().delete_acknowledged_recoverable(other, header)


@fault("sender-second-transactional-message-deleted-without-order-ack", breaks="MQQB-3.1.5.5.3-03", blind=True)
class SenderSecondTransactionalMessageDeletedWithoutOrderAck(TransactionalSending):
    """The sender deletes every transactional message except the first of its sequence when it receives a session
    acknowledgment.
    """

    def retain(self, session: Session, position: OutgoingMessagePosition) -> None:
        if position.TxSequenceNumber > 1:
            position.ReceivedOrderAck = True
        super().retain(session, position)
