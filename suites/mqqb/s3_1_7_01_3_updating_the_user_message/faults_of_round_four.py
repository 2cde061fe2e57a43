"""Faults of MS-MQQB 3.1.7.1.3 Updating the UserMessage Packet: the acknowledgment of recoverable messages."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, SessionAckPacket, SessionHeader, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("sender-recoverable-ack-number-grows-only-by-one-per-session-header", breaks="MQQB-3.1.7.1.3-25", blind=True)
class SenderRecoverableAckNumberGrowsOnlyByOnePerSessionHeader(SessionAcks):
    """After a SessionHeader that has acknowledged several recoverable messages, RecoverableMsgAckSeqNumber of the next
    acknowledgment is the number of the second of these messages.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.builds_session_ack = False
        self.next_numbers: dict[int, int] = {}

    def build(self, session: Session) -> SessionAckPacket:
        self.builds_session_ack = True
        try:
            return super().build(session)
        finally:
            self.builds_session_ack = False

    def build_session_header(self, session: Session) -> SessionHeader:
        header = super().build_session_header(session)
        flags, first = header.RecoverableMsgAckFlags, header.RecoverableMsgAckSeqNumber
        if not flags:
            return header
        number = self.next_numbers.pop(session.number, None)
        if number is not None and session.LastAckedRecoverableMsgSeqNumber >= number:
            header = replace(header, RecoverableMsgAckSeqNumber=number)
        if not self.builds_session_ack and flags & (flags - 1):
            self.next_numbers[session.number] = first + 1
        return header


@fault("sender-recoverable-ack-flags-kept-after-header-in-own-message", breaks="MQQB-3.1.7.1.3-21", blind=True)
class SenderRecoverableAckFlagsKeptAfterHeaderInOwnMessage(MessageSending):
    """The sender keeps RecoverableMsgAckFlags after a SessionHeader in a message that the queue manager itself created,
    such as an administration acknowledgment.
    """

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        flags = session.RecoverableMsgAckFlags
        packet = super().update_user_message(session, position, now)
        normal = packet.MessagePropertiesHeader.MessageClass == MessageClass.MQMSG_CLASS_NORMAL
        if packet.SessionHeader is not None and not normal:
            session.RecoverableMsgAckFlags = flags
        return packet
