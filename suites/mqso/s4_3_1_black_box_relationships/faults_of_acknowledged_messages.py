"""Faults in the messages of an outgoing queue that the destination has acknowledged."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import OutgoingMessagePosition, Session


@fault("sender-acknowledged-message-back-after-restart", breaks="MQSO-4.3.1.2-D05", blind=True)
class SenderAcknowledgedMessageBackAfterRestart(TransactionalSending):
    """The sender deletes an acknowledged message from its outgoing queue, but not from the disk."""

    def delete_ordered(self, session: Session, position: OutgoingMessagePosition) -> None:
        header = position.UserMessage.UserHeader
        if header.JN or header.JP:
            super().delete_ordered(session, position)
        else:
            session.OutgoingMessageTable.remove(position)
