from __future__ import annotations

from operator import attrgetter

from reference_qm.core.part import QueueManagerPart
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import Message, Queue
from reference_qm.model.attributes import UNLIMITED_QUOTA_KB
from reference_qm.model.position_list import compute_storage_size
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import ResourcesChanged

BYTES_PER_KILOBYTE = 1024
_GET_TOTAL_BYTES = attrgetter("MessagePositionList.TotalBytes")


class QueueQuotas(QueueManagerPart):
    """Checks the quotas of queues. Spec: MS-MQDMPR 3.1.1.1, 3.1.1.2, 3.1.7.1.9."""

    __slots__ = ()

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        """Return NO_ERROR if a queue and the queue manager have room for a message; otherwise return the status for
        the exceeded quota. Spec: MS-MQDMPR 3.1.7.1.9.

        A subqueue shares the quota of its queue. The JournalQuota of a queue limits its journal, and the
        JournalQuota of the queue manager limits the dead-letter queues.
        """
        size = compute_storage_size(message)
        storage = queue.MessagePositionList.storage
        total = self.qm.adm.JournalQuota if storage is self.qm.adm.journal_storage else self.qm.adm.QueueManagerQuota
        if self.qm.adm.Throttled or _exceeds_quota(storage.used_bytes + size, total):
            return EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED
        if _exceeds_quota(*_get_storage_usage_and_quota(queue, size)):
            return EnqueueStatus.QUEUE_QUOTA_EXCEEDED
        return EnqueueStatus.NO_ERROR

    def begin_flow_control(self) -> None:
        """Refuse new messages until ``end_flow_control`` is called. Spec: MS-MQDMPR 3.1.7.2.5, 3.1.1.1 (Throttled).

        Flow control is used when resources run short and messages arrive faster than they can be stored (MS-MQSO
        5.1.1.1).
        """
        self.qm.adm.Throttled = True

    def end_flow_control(self) -> None:
        """Stop refusing messages. Spec: MS-MQDMPR 3.1.7.2.6."""
        self.qm.adm.Throttled = False

    def on_resources_changed(self, event: ResourcesChanged, now: Now) -> None:
        """Begin flow control when resources run short, and end flow control when resources are sufficient again.
        Spec: MS-MQSO 5.1.1.1 (Throttled).
        """
        if event.low:
            self.begin_flow_control()
        else:
            self.end_flow_control()


def _get_storage_usage_and_quota(queue: Queue, size: int) -> tuple[int, int]:
    if queue.parent is None:
        shared, quota = queue, queue.Quota
    elif queue.QueueType is QueueType.SYSTEM:
        return queue.MessagePositionList.TotalBytes + size, queue.parent.JournalQuota
    else:
        shared, quota = queue.parent, queue.parent.Quota
    subqueues = sum(map(_GET_TOTAL_BYTES, shared.SubqueueCollection.values()))
    return shared.MessagePositionList.TotalBytes + subqueues + size, quota


def _exceeds_quota(used: int, quota: int) -> bool:
    """Return whether a size in bytes exceeds a quota in KB."""
    return quota != UNLIMITED_QUOTA_KB and used > quota * BYTES_PER_KILOBYTE
