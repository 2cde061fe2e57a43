"""Faults that break the rule MQDMPR-3.1.7.1.27-13 only under certain conditions."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.transfer.message_enqueueing import MessageEnqueueing
from reference_qm.model.adm import Message, OutgoingQueue, Queue
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


class _CopyDestinationReplacer(MessageEnqueueing):
    """Replace the destination of some copies of a message to several queues by that of the first copy; a subclass
    selects which.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.names: list[str] = []

    def is_destination_replaced(self, queue: Queue | None, transaction: Transaction | None) -> bool:
        """Return whether the copy for a queue gets the destination of the first copy."""
        return False

    def _enqueue_message(
        self, queue: Queue | None, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        if message.DestinationMultiQueueFormatName is not None:
            self.names.append(message.DestinationQueueFormatName)
            if self.is_destination_replaced(queue, transaction):
                message = replace(message, DestinationQueueFormatName=self.names[0])
        return super()._enqueue_message(queue, message, now, transaction)


@fault("queue-manager-local-copy-has-destination-of-first-copy", breaks="MQDMPR-3.1.7.1.27-13", blind=True)
class QueueManagerLocalCopyHasDestinationOfFirstCopy(_CopyDestinationReplacer):
    """The destination of a copy for a local queue is the format name of the queue that gets the first copy."""

    def is_destination_replaced(self, queue: Queue | None, transaction: Transaction | None) -> bool:
        return not isinstance(queue, OutgoingQueue)


@fault("queue-manager-transactional-copies-have-destination-of-first-copy", breaks="MQDMPR-3.1.7.1.27-13", blind=True)
class QueueManagerTransactionalCopiesHaveDestinationOfFirstCopy(_CopyDestinationReplacer):
    """In a transaction, the destination of each copy is the format name of the queue that gets the first copy."""

    def is_destination_replaced(self, queue: Queue | None, transaction: Transaction | None) -> bool:
        return transaction is not None


@fault("queue-manager-third-copy-has-destination-of-first-copy", breaks="MQDMPR-3.1.7.1.27-13", blind=True)
class QueueManagerThirdCopyHasDestinationOfFirstCopy(_CopyDestinationReplacer):
    """The destination of the third copy is the format name of the queue that gets the first copy."""

    def is_destination_replaced(self, queue: Queue | None, transaction: Transaction | None) -> bool:
        return len(self.names) == 3
