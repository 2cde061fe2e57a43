"""Faults of MS-MQMQ 2.2.20.1, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.transfer.enqueueing import Enqueueing
from reference_qm.model.adm import Message, Queue
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


@fault("sender-list-local-destination-omitted", breaks="MQMQ-2.2.20.1-01", blind=True)
class SenderListLocalDestinationOmitted(Enqueueing):
    """In Destination of a MultiQueueFormatHeader, the sender lists only queues of other queue managers, and omits its
    own queues.
    """

    def _enqueue_message(
        self, queue: Queue | None, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        names = (message.DestinationMultiQueueFormatName or "").split(",")
        remote = [name for name in names if name and self.qm.destinations.find_local(name) is None]
        if remote:
            message = replace(message, DestinationMultiQueueFormatName=",".join(remote))
        return super()._enqueue_message(queue, message, now, transaction)
