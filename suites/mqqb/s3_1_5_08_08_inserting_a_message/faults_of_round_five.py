"""Blind violations of round five: MS-MQQB 3.1.5.8.8 Inserting a Message into a Local Queue."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.core.transfer.routing import Routing
from reference_qm.model.adm import IncomingTransactionalTransferInfo, MessagePosition, OutgoingQueue, Session
from reference_qm.surface.clock import Now


@fault("receiver-sequenceidentifier-of-second-queue-copied-from-first-queue", breaks="MQQB-3.1.5.8.8-24", blind=True)
class ReceiverSequenceidentifierOfSecondQueueCopiedFromFirstQueue(InSequence):
    """The receiver sets SequenceIdentifier of a new IncomingTransactionalTransferInfo to the SequenceIdentifier of the
    same sender's sequence to another queue.
    """

    def accept_in_sequence(
        self,
        session: Session,
        transfer: IncomingTransactionalTransferInfo,
        packet: UserMessagePacket,
        now: Now,
    ) -> None:
        is_new = transfer.SequenceNumber == 0
        super().accept_in_sequence(session, transfer, packet, now)
        earlier = [
            one
            for queue in self.qm.adm.QueueCollection.values()
            for one in queue.IncomingTransactionalTransferInfoCollection.values()
            if one is not transfer and one.SenderIdentifier == transfer.SenderIdentifier and one.SequenceNumber
        ]
        if is_new and earlier:
            transfer.SequenceIdentifier = earlier[0].SequenceIdentifier


@fault("intermediate-eodnextseq-seqno-one-after-own-messages", breaks="MQQB-3.1.5.8.8-38", blind=True)
class IntermediateEodnextseqSeqnoOneAfterOwnMessages(Routing):
    """The queue manager that forwards a transactional message sets SeqNo of EodNextSeq to 1, even if it has itself sent
    transactional messages to the same destination.
    """

    def forward_message(self, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
        super().forward_message(position, packet, now)
        queue = position.QueueReference
        if packet.UserHeader.TH and isinstance(queue, OutgoingQueue):
            info = queue.OutgoingTransferInfoReference
            queue.OutgoingTransferInfoReference = replace(info, EodNextSeq=replace(info.EodNextSeq, SeqNo=1))


@fault("receiver-transfer-info-found-by-ordinal-of-txsequenceid", breaks="MQQB-3.1.5.8.8-18", blind=True)
class ReceiverTransferInfoFoundByOrdinalOfTxsequenceid(InSequence):
    """The receiver finds the IncomingTransactionalTransferInfo of a transactional message by the Ordinal of
    TxSequenceID, and ignores the TimeStamp of TxSequenceID.
    """

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header, known = packet.TransactionHeader, session.IncomingTxSequenceID
        assert header is not None
        if session.IncomingTxSequenceNumber and header.TxSequenceID.Ordinal == known.Ordinal:
            header = replace(header, TxSequenceID=known)
            packet = replace(packet, TransactionHeader=header)
        return super().is_in_sequence(session, packet)
