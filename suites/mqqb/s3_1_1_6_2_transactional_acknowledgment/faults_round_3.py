"""Faults that break rules of MS-MQQB 3.1.1.6.2."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.store.messages import deserialize_message
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.surface.clock import Now


@fault("receiver-order-ack-after-repeated-message-names-its-number", breaks="MQQB-3.1.1.6.2-03", blind=True)
class ReceiverOrderAckAfterRepeatedMessageNamesItsNumber(InSequence):
    """The receiver sends an OrderAck with the TxSequenceNumber of a message that was repeated, although later messages
    of the sequence were already acknowledged.
    """

    def take_transactional(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        super().take_transactional(session, packet, receipt, now)
        header, queue = packet.TransactionHeader, self.qm.arrival.find_destination(packet)
        if header is None or queue is None:
            return
        name = deserialize_message(packet, self.qm.adm.Identifier, now.utc_s).DestinationQueueFormatName
        key = (packet.UserHeader.SourceQueueManager, name.lower())
        transfer = queue.IncomingTransactionalTransferInfoCollection.get(key)
        if transfer is not None and transfer.saved_identifier == header.TxSequenceID:
            transfer.saved_number = min(transfer.saved_number, header.TxSequenceNumber)
