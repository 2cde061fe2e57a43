"""Faults that break rules of MS-MQQB 3.1.1.5, written without knowledge of the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.message_routing import MessageRouting
from reference_qm.core.transfer.transactional_sending import TransactionalSending, get_outgoing_sequence
from reference_qm.model.adm import OutgoingMessagePosition, RecoverableReceipt, Session
from reference_qm.surface.clock import Now


@fault("intermediate-message-after-gap-in-sequence-not-forwarded", breaks="MQQB-3.1.1.5-07", blind=True)
class IntermediateMessageAfterGapInSequenceNotForwarded(MessageRouting):
    """A queue manager between source and destination discards a transactional message if it has not forwarded the
    message with the number PreviousTxSequenceNumber.
    """

    def route_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        header = packet.TransactionHeader
        if header is not None:
            numbers = self.__dict__.setdefault("last_numbers", {})
            key = (packet.UserHeader.SourceQueueManager, header.TxSequenceID)
            if header.PreviousTxSequenceNumber > numbers.get(key, 0):
                receipt.is_on_disk = True
                return
            numbers[key] = header.TxSequenceNumber
        super().route_message(session, packet, receipt, now)


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
