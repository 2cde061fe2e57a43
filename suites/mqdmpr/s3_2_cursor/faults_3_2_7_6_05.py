"""Faults that break the rule MQDMPR-3.2.7.6-05."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.queueing.cursors import Cursors
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import Queue
from reference_qm.model.elements import Cursor
from reference_qm.model.statuses import Status


@fault(
    "cursor-stays-waiting-after-timeout",
    breaks=("MQQP-3.1.4.1-D17", "MQQP-3.1.4.10-40", "MQDMPR-3.1.7.1.10-34", "MQDMPR-3.2.7.6-05"),
)
class CursorStaysWaitingAfterTimeout(Cursors):
    """A cursor remains in its waiting state after its pending read has timed out."""

    def wait_expired(self, cursor: Cursor) -> None:
        pass


@fault("cursor-of-cancelled-receive-waits", breaks="MQDMPR-3.2.7.6-05")
class CursorOfCancelledReceiveWaits(Waiting):
    """When a receive by a cursor is cancelled, the cursor keeps its waiting state."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        for descriptor in queue.OpenQueueDescriptorCollection.values():
            for reader in descriptor.WaitingMessageReadOperationCollection:
                if reader.Tag is not None and reader.Tag == tag:
                    reader.CursorReference = None
        result: Status = super().cancel_waiting_read(queue, tag, status)
        return result
