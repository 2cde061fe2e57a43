"""Faults of MS-MQQB 3.1.5.5.2 Delete Acknowledged Express Messages."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import SessionHeader
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session


@fault("sender-all-express-messages-deleted-by-acknowledgment", breaks="MQQB-3.1.5.5.2-01", blind=True)
class SenderAllExpressMessagesDeletedByAcknowledgment(SessionAcks):
    """The sender deletes all express messages when it receives an acknowledgment, even those with numbers above
    AckSequenceNumber.
    """

    def delete_acknowledged_express(self, session: Session, header: SessionHeader) -> None:
        all_of_them = replace(header, AckSequenceNumber=session.MessageSentCount)
        super().delete_acknowledged_express(session, all_of_them if header.AckSequenceNumber else header)
