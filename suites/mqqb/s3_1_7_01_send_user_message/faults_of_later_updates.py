"""Faults that break rules of MS-MQQB 3.1.7.1 about the update of the packet of a later or resent message."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("sender-tx-sequence-number-repeated-for-third-message", breaks="MQQB-3.1.7.1-09", blind=True)
class SenderTxSequenceNumberRepeatedForThirdMessage(TransactionalSending):
    """The packet of the third message of a sequence has the TxSequenceNumber of the second message."""

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        packet = super().update_transaction_header(session, position, now)
        if packet.TransactionHeader is None or position.TxSequenceNumber != 3:
            return packet
        return replace(packet, TransactionHeader=replace(packet.TransactionHeader, TxSequenceNumber=2))


@fault("sender-transaction-header-of-resent-message-not-updated", breaks="MQQB-3.1.7.1-09", blind=True)
class SenderTransactionHeaderOfResentMessageNotUpdated(TransactionalSending):
    """The sender does not update the TransactionHeader of a message that it sends again."""

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        packet = super().update_transaction_header(session, position, now)
        sent = self.__dict__.setdefault("sent_headers", {})
        header = sent.setdefault((session.OutgoingTxSequenceID, position.TxSequenceNumber), packet.TransactionHeader)
        return replace(packet, TransactionHeader=header)


@fault("sender-resent-message-without-predecessor", breaks="MQQB-3.1.7.1-09", blind=True)
class SenderResentMessageWithoutPredecessor(TransactionalSending):
    """When the sender sends a message again, it sets PreviousTxSequenceNumber of the message to 0."""

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        packet = super().update_transaction_header(session, position, now)
        sent = self.__dict__.setdefault("sent_numbers", set())
        again = (session.OutgoingTxSequenceID, position.TxSequenceNumber) in sent
        sent.add((session.OutgoingTxSequenceID, position.TxSequenceNumber))
        if packet.TransactionHeader is None or not again:
            return packet
        return replace(packet, TransactionHeader=replace(packet.TransactionHeader, PreviousTxSequenceNumber=0))
