"""Faults of MS-MQMQ 2.2.18.1 Packet Data Types that only some values reveal."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.queues import Queues
from reference_qm.directory.enums import PrivacyLevel
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status


@fault("queue-manager-reuses-number-of-queue-without-privacy", breaks="MQMQ-2.2.18.1.5.1-02")
class QueueManagerReusesNumberOfQueueWithoutPrivacy(Queues):
    """If a queue has PrivacyLevel None, the queue manager assigns the queue's number also to the next new queue."""

    def create_here(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        made = super().create_here(queue, utc_s)
        if queue.PrivacyLevel is PrivacyLevel.NONE:
            self.qm.adm.last_private_queue_number -= 1
        return made
