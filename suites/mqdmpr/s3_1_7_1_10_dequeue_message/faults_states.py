"""Faults that break rules of MS-MQDMPR 3.1.7.1.10. Each fault breaks one transition of a table of states. The author of
the faults knew the section, but not the checks.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status
from reference_qm.surface.commands import Result


@fault("purge-ends-pending-receive", breaks="MQDMPR-3.1.7.1.10-D01")
class PurgeEndsPendingReceive(QueueLifecycle):
    """A purge of the queue cancels a pending receive that uses no cursor."""

    def purge(
        self,
        queue: Queue,
        token: int | None,
        done: Callable[[int], Result],
        failed: Callable[[], None] | None = None,
    ) -> Result | None:
        for descriptor in queue.OpenQueueDescriptorCollection.values():
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                if reader.DestructiveRead and reader.CursorReference is None:
                    self.qm.waiting_reads.end_wait_without_message(reader, Status.MQ_ERROR_OPERATION_CANCELLED)
        return super().purge(queue, token, done, failed)
