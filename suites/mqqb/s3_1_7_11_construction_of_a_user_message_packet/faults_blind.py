"""Faults of MS-MQQB 3.1.7.11 Construction of a UserMessage Packet, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("sender-transactional-message-without-due-session-header", breaks="MQQB-3.1.7.11-03", blind=True)
class SenderTransactionalMessageWithoutDueSessionHeader(Sending):
    """The sender adds no SessionHeader to a transactional message when an acknowledgment is nearly due."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.is_transactional = False

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        self.is_transactional = position.UserMessage.TransactionHeader is not None
        return super().update_user_message(session, position, now)

    def is_acknowledgment_due(self, session: Session, now: Now) -> bool:
        return not self.is_transactional and super().is_acknowledgment_due(session, now)
