"""Faults that break rules of MS-MQQB 3.1.5.5.4 Source Journaling, written without knowledge of the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import SessionAckPacket
from reference_qm.core.part import QM
from reference_qm.core.store.entries import build_removal_change
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("sender-message-acknowledged-by-user-message-not-journaled", breaks="MQQB-3.1.5.5.4-01", blind=True)
class SenderMessageAcknowledgedByUserMessageNotJournaled(SessionAcks):
    """The sender deletes a message with JP set without journaling it if the SessionHeader of a UserMessage acknowledges
    the message.
    """

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
            self.qm.disk.save(build_removal_change([position.MessagePosition]))
