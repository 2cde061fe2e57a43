"""Faults of MS-MQQB 3.1.1.4 Session Message Sequence."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import SessionHeader, UserMessagePacket
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.core.transfer.sending import Sending
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


def _numbered(first: int, step: int) -> Install:
    """Number the messages of a session otherwise than 1, 2, 3."""

    class Numbered(Sending):
        def update_user_message(
            self, session: Session, position: OutgoingMessagePosition, now: Now
        ) -> UserMessagePacket:
            packet = super().update_user_message(session, position, now)
            position.SequenceNumber = first + (position.SequenceNumber - 1) * step
            return packet

    return replace_part(Numbered)


add("session-numbered-from-zero", "MQQB-3.1.1.4-01", "Messages are numbered from 0.", _numbered(first=0, step=1))
add("session-numbered-by-two", "MQQB-3.1.1.4-01", "Messages have every other number.", _numbered(first=1, step=2))


@fault("session-transactional-not-recoverable", breaks="MQQB-3.1.1.4-D01")
class TransactionalNotRecoverable(Receiving):
    """A transactional message that came does not count as a recoverable one."""

    def count_received(self, session: Session, packet: UserMessagePacket) -> None:
        before = session.RecoverableMessageReceivedCount
        super().count_received(session, packet)
        if packet.TransactionHeader is not None:
            session.RecoverableMessageReceivedCount = before


@fault("session-transactional-sent-not-recoverable", breaks="MQQB-3.1.1.4-D01")
class TransactionalSentNotRecoverable(SessionAcks):
    """A SessionAck does not count the transactional messages that were sent."""

    def build_header(self, session: Session) -> SessionHeader:
        header = super().build_header(session)
        transactional = sum(bool(position.TxSequenceNumber) for position in session.OutgoingMessageTable)
        return replace(header, RecoverableMsgSeqNumber=max(0, header.RecoverableMsgSeqNumber - transactional))


@fault("transactional-not-counted-as-recoverable-when-sent", breaks="MQQB-3.1.1.4-D01", blind=True)
class TransactionalNotCountedAsRecoverableWhenSent(Sending):
    """RecoverableMessageSentCount does not count transactional messages."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        packet = super().update_user_message(session, position, now)
        if packet.UserHeader.TH:
            session.RecoverableMessageSentCount = session.RecoverableMessageSentCount - 1 & 0xFFFF
        return packet
