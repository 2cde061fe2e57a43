"""Faults of MS-MQQB 3.1.1.6.2, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.store.entries import build_removal_change
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import OutgoingMessagePosition, Session


@fault("sender-message-with-jn-only-not-retained", breaks="MQQB-3.1.1.6.2-11", blind=True)
class SenderMessageWithJnOnlyNotRetained(TransactionalSending):
    """When an OrderAck arrives for a message with JN but without JP, the sender deletes the message without waiting for
    the FinalAck.
    """

    def delete_ordered(self, session: Session, position: OutgoingMessagePosition) -> None:
        header = position.UserMessage.UserHeader
        if header.JN and not header.JP:
            session.OutgoingMessageTable.remove(position)
            self.qm.disk.save(build_removal_change([position.MessagePosition]))
        else:
            super().delete_ordered(session, position)
