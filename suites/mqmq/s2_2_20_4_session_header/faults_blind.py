"""Faults of MS-MQMQ 2.2.20.4 SessionHeader, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import BaseHeader, SessionHeader, UserMessagePacket
from reference_qm.core.transfer.order_acks import is_final_ack
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.core.transfer.sending import Sending
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("receiver-session-header-flag-of-thirty-second-message-clear", breaks="MQMQ-2.2.20.4-08", blind=True)
class ReceiverSessionHeaderFlagOfThirtySecondMessageClear(SessionAcks):
    """The receiver never sets bit 31 of RecoverableMsgAckFlags, even if the corresponding message is on disk."""

    def build_header(self, session: Session) -> SessionHeader:
        header = super().build_header(session)
        return replace(header, RecoverableMsgAckFlags=header.RecoverableMsgAckFlags & 0x7FFFFFFF)


@fault("receiver-user-message-session-header-with-reserved-not-processed", breaks="MQMQ-2.2.20.4-13", blind=True)
class ReceiverUserMessageSessionHeaderWithReservedNotProcessed(Receiving):
    """The receiver ignores the acknowledgment in a UserMessage when Reserved of its SessionHeader is not zero."""

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if packet.SessionHeader is not None and packet.SessionHeader.Reserved:
            flags = packet.BaseHeader.Flags & ~BaseHeader.flags(SH=1)
            packet = replace(packet, BaseHeader=replace(packet.BaseHeader, Flags=flags), SessionHeader=None)
        super().receive_user_message(session, packet, now)


@fault("sender-session-header-recoverable-count-without-final-acks", breaks="MQMQ-2.2.20.4-10", blind=True)
class SenderSessionHeaderRecoverableCountWithoutFinalAcks(Sending):
    """The sender does not count its FinalAcks, which are recoverable messages, in RecoverableMsgSeqNumber."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        packet = super().update_user_message(session, position, now)
        if is_final_ack(packet):
            session.RecoverableMessageSentCount = session.RecoverableMessageSentCount - 1 & 0xFFFF
        return packet
