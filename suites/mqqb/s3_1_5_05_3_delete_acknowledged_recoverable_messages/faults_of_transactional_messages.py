"""Faults in transactional messages without an OrderAck. MS-MQQB 3.1.5.5.3 Delete Acknowledged Recoverable Messages."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import SessionHeader
from reference_qm.core.transfer.session_acks import RECOVERABLE_ACK_FLAG_COUNT, SessionAcks
from reference_qm.model.adm import Session


class _EarlyDeletionFault(SessionAcks):
    """A base class of faults that delete some transactional messages without their OrderAcks; a subclass selects
    which.
    """

    def delete_transactional_messages_with_flag(self, session: Session, header: SessionHeader, lowest: int) -> None:
        """Delete the sent transactional messages whose bits are set from a given bit on."""
        for position in session.OutgoingMessageTable:
            bit = position.RecoverableSequenceNumber - header.RecoverableMsgAckSeqNumber & 0xFFFF
            flagged = lowest <= bit < RECOVERABLE_ACK_FLAG_COUNT and header.RecoverableMsgAckFlags >> bit & 1
            if position.TxSequenceNumber and position.Transmitted and flagged:
                session.OutgoingMessageTable.remove(position)


@fault("sender-deletes-transactional-message-by-flag-above-lowest-bit", breaks="MQQB-3.1.5.5.3-03", blind=True)
class SenderDeletesTransactionalMessageByFlagAboveLowestBit(_EarlyDeletionFault):
    """The sender deletes a transactional message whose bit is not the lowest one without its OrderAck."""

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        super().delete_acknowledged_recoverable_messages(session, header)
        self.delete_transactional_messages_with_flag(session, header, 1)


@fault("sender-repeated-transactional-message-deleted-without-order-ack", breaks="MQQB-3.1.5.5.3-03", blind=True)
class SenderRepeatedTransactionalMessageDeletedWithoutOrderAck(_EarlyDeletionFault):
    """The sender deletes a transactional message that it sent again without an OrderAck when its bit is set."""

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        super().delete_acknowledged_recoverable_messages(session, header)
        sequence = session.TxOutgoingSequence
        if sequence is not None and sequence.ResendIntervalIndex:
            self.delete_transactional_messages_with_flag(session, header, 0)
