"""Faults of MS-MQDMPR 3.1.7.1.32, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.transfer.enqueueing import Enqueueing
from reference_qm.model.adm import Message, Queue
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


@fault("sender-second-copy-positive-journaling-cleared", breaks="MQDMPR-3.1.7.1.32-D10", blind=True)
class SenderSecondCopyPositiveJournalingCleared(Enqueueing):
    """When a message to several queues requests positive journaling, the sender sets JP only in the first copy."""

    def _enqueue_message(
        self, queue: Queue | None, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        listed = (message.DestinationMultiQueueFormatName or "").split(",")
        if len(listed) > 1 and message.DestinationQueueFormatName.lower() != listed[0].lower():
            message = replace(message, PositiveJournalingRequested=False)
        return super()._enqueue_message(queue, message, now, transaction)
