"""Faults of MS-MQQB 3.1.1.5, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import at_restart
from harness.faults.registry import add
from reference_qm.codec import (
    TxSequenceID,
    UserMessagePacket,
)
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("router-user-message-previous-number-recomputed", breaks="MQQB-3.1.1.5-07", blind=True)
class RouterUserMessagePreviousNumberRecomputed(TransactionalSending):
    """A router sets PreviousTxSequenceNumber of a forwarded message to TxSequenceNumber - 1."""

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        packet = super().update_transaction_header(session, position, now)
        header = packet.TransactionHeader
        if header is None or packet.UserHeader.SourceQueueManager == self.qm.adm.Identifier:
            return packet
        header = replace(header, PreviousTxSequenceNumber=header.TxSequenceNumber - 1)
        return replace(packet, TransactionHeader=header)


def _forget_last_sequence(qm: QueueManager) -> None:
    for queue in qm.adm.OutgoingQueues.values():
        identifier = queue.session.OutgoingTxSequenceID
        if queue.session.OutgoingTxSequenceNumber == 1 and identifier.Ordinal > 1:
            queue.session.OutgoingTxSequenceID = TxSequenceID(identifier.Ordinal - 1, identifier.TimeStamp)


add(
    "sender-transactional-message-after-restart-in-finished-sequence",
    "MQQB-3.1.1.5-04",
    "After a restart the sender sends its next transactional message in the sequence that ended before the restart.",
    at_restart(_forget_last_sequence),
    blind=True,
)
