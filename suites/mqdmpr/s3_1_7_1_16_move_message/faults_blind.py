"""Faults of MS-MQDMPR 3.1.7.1.16, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import skip_during
from harness.faults.registry import add
from reference_qm.core.queueing.seeking import Seeking
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.transactions import OperationType

add(
    "committed-move-does-not-complete-waiting-read",
    "MQDMPR-3.1.7.1.16-D01",
    "When a transaction commits a move, the queue manager does not complete the reads that wait at the target queue.",
    skip_during(TransactionEvents.commit_move, Waiting.release_readers),
    blind=True,
)


@fault("message-moved-in-transaction-peeked-in-source", breaks="MQDMPR-3.1.7.1.16-D02", blind=True)
class MessageMovedInTransactionPeekedInSource(Seeking):
    """A reader can peek a message in its source queue although an open transaction moves the message."""

    def is_readable(self, position: MessagePosition, peek_operation: bool) -> bool:
        moving = (
            operation.MessagePositionReference
            for transaction in self.qm.adm.TransactionCollection.values()
            for operation in transaction.TransactionalOperationCollection
            if operation.OperationType is OperationType.MOVE
        )
        return super().is_readable(position, peek_operation) or (peek_operation and position in moving)
