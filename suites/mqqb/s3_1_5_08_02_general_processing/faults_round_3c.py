"""Faults that break rules of MS-MQQB 3.1.5.8.2."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.surface.clock import Now


@fault(
    "receiver-later-message-of-sequence-for-nontransactional-queue-dropped-silently",
    breaks="MQQB-3.1.5.8.2-25",
    blind=True,
)
class ReceiverLaterMessageOfSequenceForNontransactionalQueueDroppedSilently(InSequence):
    """The receiver discards a transactional message for a nontransactional queue without any acknowledgment if
    PreviousTxSequenceNumber of the message is not 0.
    """

    def take_transactional(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        header, queue = packet.TransactionHeader, self.qm.arrival.find_destination(packet)
        if header is not None and header.PreviousTxSequenceNumber and queue is not None and not queue.Transactional:
            receipt.done = True
            self.qm.history.remember_message(packet, now)
        else:
            super().take_transactional(session, packet, receipt, now)
