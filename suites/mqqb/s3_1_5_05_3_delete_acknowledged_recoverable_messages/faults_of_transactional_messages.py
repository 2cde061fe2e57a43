"""Faults in transactional messages without an OrderAck. MS-MQQB 3.1.5.5.3 Delete Acknowledged Recoverable Messages."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import SessionHeader
from reference_qm.core.transfer.session_acks import RECOVERABLE_ACK_FLAG_COUNT, SessionAcks
from reference_qm.model.adm import Session


class _EarlyDeletionFault(SessionAcks):
    """A base class of faults in which the sender deletes, without an OrderAck, those transactional messages that a
    subclass selects.
    """

    def delete_transactional_messages_with_flag(self, session: Session, header: SessionHeader, lowest: int) -> None:
        """Delete the sent transactional messages whose bit in RecoverableMsgAckFlags is set, except the messages whose
        bit is below the given bit.
        """
        for position in session.OutgoingMessageTable:
            bit = position.RecoverableSequenceNumber - header.RecoverableMsgAckSeqNumber & 0xFFFF
            flagged = lowest <= bit < RECOVERABLE_ACK_FLAG_COUNT and header.RecoverableMsgAckFlags >> bit & 1
            if position.TxSequenceNumber and position.Transmitted and flagged:
                session.OutgoingMessageTable.remove(position)


@fault("sender-deletes-transactional-message-by-flag-above-lowest-bit", breaks="MQQB-3.1.5.5.3-03", blind=True)
class SenderDeletesTransactionalMessageByFlagAboveLowestBit(_EarlyDeletionFault):
    """The sender deletes a transactional message without an OrderAck if its bit in RecoverableMsgAckFlags is set and is
    not the lowest bit.
    """

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        super().delete_acknowledged_recoverable_messages(session, header)
        self.delete_transactional_messages_with_flag(session, header, 1)


@fault("sender-repeated-transactional-message-deleted-without-order-ack", breaks="MQQB-3.1.5.5.3-03", blind=True)
class SenderRepeatedTransactionalMessageDeletedWithoutOrderAck(_EarlyDeletionFault):
    """The sender deletes a transactional message that it has sent more than once, although no OrderAck has arrived, if
    its bit in RecoverableMsgAckFlags is set.
    """

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        super().delete_acknowledged_recoverable_messages(session, header)
        sequence = session.TxOutgoingSequence
        if sequence is not None and sequence.ResendIntervalIndex:
            self.delete_transactional_messages_with_flag(session, header, 0)
