"""Faults of MS-MQSO 3.3.4.3, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.transfer.enqueueing import Enqueueing
from reference_qm.model.adm import Message
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


@fault("send-to-several-queues-reports-success-for-full-queue", breaks="MQSO-3.3.4.3-D01", blind=True)
class SendToSeveralQueuesReportsSuccessForFullQueue(Enqueueing):
    """A send to several queues reports success although one of the queues is full and gets no copy."""

    def enqueue_to_open_queue(
        self,
        descriptor: OpenQueueDescriptor,
        message: Message,
        now: Now,
        transaction: Transaction | None = None,
    ) -> EnqueueStatus:
        status = super().enqueue_to_open_queue(descriptor, message, now, transaction)
        return EnqueueStatus.NO_ERROR if descriptor.Multiple else status
