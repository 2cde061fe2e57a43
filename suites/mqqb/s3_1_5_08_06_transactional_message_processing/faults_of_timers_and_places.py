"""Faults of MS-MQQB 3.1.5.8.6: the Order Ack Send Timer, and the place of a sequence."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.model.adm import IncomingTransactionalTransferInfo, Session
from reference_qm.surface.clock import Now


@fault("receiver-sequence-number-above-16-bits-cut", breaks="MQQB-3.1.5.8.6-09", blind=True)
class ReceiverSequenceNumberAbove16BitsCut(InSequence):
    """The receiver keeps only the low 16 bits of TxSequenceNumber."""

    def accept_in_sequence(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        super().accept_in_sequence(session, transfer, packet, now)
        session.IncomingTxSequenceNumber = transfer.SequenceNumber = transfer.SequenceNumber & 0xFFFF


@fault("receiver-sequence-number-after-gap-counted", breaks="MQQB-3.1.5.8.6-09", blind=True)
class ReceiverSequenceNumberAfterGapCounted(InSequence):
    """After a message whose TxSequenceNumber is more than one above the last, the receiver keeps the last number plus
    one.
    """

    def accept_in_sequence(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        before = transfer.SequenceIdentifier, transfer.SequenceNumber
        super().accept_in_sequence(session, transfer, packet, now)
        if before[0] == transfer.SequenceIdentifier and transfer.SequenceNumber > before[1] + 1:
            session.IncomingTxSequenceNumber = transfer.SequenceNumber = before[1] + 1
