"""Faults of MS-MQQB 3.1.5.5 Receiving a SessionAck Packet, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import SessionAckPacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("sender-session-header-of-user-message-without-source-journaling", breaks="MQQB-3.1.5.5-06", blind=True)
class SenderSessionHeaderOfUserMessageWithoutSourceJournaling(SessionAcks):
    """The sender does not journal a message that the SessionHeader of a UserMessage acknowledges."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.in_session_ack = False

    def receive(self, session: Session, packet: SessionAckPacket, now: Now) -> None:
        self.in_session_ack = True
        super().receive(session, packet, now)
        self.in_session_ack = False

    def delete_position(self, session: Session, position: OutgoingMessagePosition) -> None:
        if self.in_session_ack:
            super().delete_position(session, position)
        else:
            session.OutgoingMessageTable.remove(position)
