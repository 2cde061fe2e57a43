"""Faults of round five that break rules of MS-MQDMPR 3.1.7.1.17 Cancel Waiting Message Read Request."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.core.remote.model import ReadTag
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status


@fault("queue-manager-tag-of-read-to-cancel-compared-in-low-word", breaks="MQDMPR-3.1.7.1.17-05", blind=True)
class QueueManagerTagOfReadToCancelComparedInLowWord(Waiting):
    """The queue manager compares only the low 16 bits of dwRequestID when it looks for the pending read to cancel."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        if isinstance(tag, ReadTag):
            for descriptor in list(queue.OpenQueueDescriptorCollection.values()):
                for reader in list(descriptor.WaitingMessageReadOperationCollection):
                    found = reader.Tag
                    if (
                        isinstance(found, ReadTag)
                        and found.OpenQueueDescriptorHandle == tag.OpenQueueDescriptorHandle
                        and found.RequestId & 0xFFFF == tag.RequestId & 0xFFFF
                    ):
                        self.end_wait_without_message(reader, status)
                        return Status.MQ_OK
        return super().cancel_waiting_read(queue, tag, status)
