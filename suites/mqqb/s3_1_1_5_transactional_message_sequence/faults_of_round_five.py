"""Faults of the fifth round that break rules of MS-MQQB 3.1.1.5 Transactional Message Sequence."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.transactional_sending import TransactionalSending, get_outgoing_sequence
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("sender-only-first-message-of-transaction-in-unacked-sequence", breaks="MQQB-3.1.1.5-02", blind=True)
class SenderOnlyFirstMessageOfTransactionInUnackedSequence(TransactionalSending):
    """The sender adds only the first message of each transaction to UnackedSequence."""

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        packet = super().update_transaction_header(session, position, now)
        header = packet.TransactionHeader
        if header is not None and not header.FM and session.TxOutgoingSequence is not None:
            unacked = get_outgoing_sequence(session).UnackedSequence
            unacked[:] = [one for one in unacked if one.SeqNo != position.TxSequenceNumber]
        return packet
