"""Faults in transactional messages that await their OrderAck. MS-MQQB 3.1.5.5.5 Validate Message Counts."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.store.entries import build_removal_change
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import OutgoingMessagePosition, Session


@fault("sender-retained-message-not-kept-on-disk", breaks="MQQB-3.1.5.5.5-03", blind=True)
class SenderRetainedMessageNotKeptOnDisk(TransactionalSending):
    """The sender removes a transactional message from its disk when a session acknowledgment covers the message."""

    def keep_message_until_order_ack(self, session: Session, position: OutgoingMessagePosition) -> None:
        super().keep_message_until_order_ack(session, position)
        if position in session.OutgoingMessageTable:
            self.qm.disk.save(build_removal_change([position.MessagePosition]))
