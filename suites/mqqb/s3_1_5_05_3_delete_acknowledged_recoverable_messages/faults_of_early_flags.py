"""Faults in flags of messages that AckSequenceNumber does not acknowledge: MQQB-3.1.5.5.3-03."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import SessionHeader
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session


@fault("sender-deletes-transactional-message-by-flag-without-ack-number", breaks="MQQB-3.1.5.5.3-03")
class SenderDeletesTransactionalMessageByFlagWithoutAckNumber(SessionAcks):
    """The sender deletes a transactional message whose bit in RecoverableMsgAckFlags is set, if no AckSequenceNumber
    has acknowledged the message yet.
    """

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        super().delete_acknowledged_recoverable_messages(session, header)
        for position in session.OutgoingMessageTable.awaiting_ack:
            bit = position.RecoverableSequenceNumber - header.RecoverableMsgAckSeqNumber
            if position.TxSequenceNumber and 0 <= bit < 32 and header.RecoverableMsgAckFlags >> bit & 1:
                self.delete_position(session, position)
