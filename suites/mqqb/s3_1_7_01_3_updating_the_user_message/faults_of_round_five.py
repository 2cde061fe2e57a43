"""Blind violations of round five: MS-MQQB 3.1.7.1.3 Updating the UserMessage Packet."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("sender-previoustxsequencenumber-same-for-all-messages-of-transaction", breaks="MQQB-3.1.7.1.3-03", blind=True)
class SenderPrevioustxsequencenumberSameForAllMessagesOfTransaction(TransactionalSending):
    """In every message of a transaction, the sender sets PreviousTxSequenceNumber to one less than the TxSequenceNumber
    of the first message of the transaction.
    """

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        packet = super().update_transaction_header(session, position, now)
        header = packet.TransactionHeader
        if header is None or packet.UserHeader.SourceQueueManager != self.qm.adm.Identifier:
            return packet
        key = (session.number, header.TxSequenceID, header.ID)
        previous = self.__dict__.setdefault("previous_numbers", {}).setdefault(key, header.PreviousTxSequenceNumber)
        return replace(packet, TransactionHeader=replace(header, PreviousTxSequenceNumber=previous))
