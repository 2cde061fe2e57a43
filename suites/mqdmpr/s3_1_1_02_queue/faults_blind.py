"""Faults of MS-MQDMPR 3.1.1.2 Queue, by an author who had not seen the checks."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import at_restart
from harness.faults.registry import add
from reference_qm.core.commands.inspection import Inspection
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.quotas import Quotas
from reference_qm.model.adm import Message, Queue
from reference_qm.model.enums import QueueAccessType
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.surface.clock import Now


@fault("queue-manager-queue-quota-without-locked-messages", breaks="MQDMPR-3.1.1.2-D03", blind=True)
class QueueManagerQueueQuotaWithoutLockedMessages(Quotas):
    """The queue manager does not count messages that an open transaction has received against the queue's Quota."""

    def check(self, queue: Queue, message: Message) -> EnqueueStatus:
        messages = queue.MessagePositionList
        locked = sum(one.size for one in messages if one.State is MessagePositionState.LOCKED and not one.awaits_disk)
        messages.TotalBytes -= locked
        try:
            return super().check(queue, message)
        finally:
            messages.TotalBytes += locked


@fault("queue-manager-queue-active-false-while-open-to-peek", breaks="MQDMPR-3.1.1.2-D06", blind=True)
class QueueManagerQueueActiveFalseWhileOpenToPeek(Inspection):
    """The queue manager computes Active as False for a queue that is open only to peek."""

    def inspect(self, now: Now) -> dict[str, Any]:
        tree = super().inspect(now)
        for queue in tree["QueueManager"]["QueueCollection"]:
            opened = [one["AccessType"] for one in queue["OpenQueueDescriptorCollection"]]
            queue["Active"] = any(access != QueueAccessType.PEEK.value for access in opened)
        return tree


def _reset_modification(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        queue.ModifyTime = queue.CreateTime


add(
    "queue-manager-queue-modify-time-reset-at-restart",
    "MQDMPR-3.1.1.2-01",
    "At a restart, the queue manager sets ModifyTime of a queue to CreateTime.",
    at_restart(_reset_modification),
    blind=True,
)
