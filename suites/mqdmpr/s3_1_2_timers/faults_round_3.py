"""Faults that break rules of MS-MQDMPR 3.1.2 Timers."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.elements import Answered, Cursor, OpenQueueDescriptor
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


@fault("queue-manager-next-read-restarts-timers-of-descriptor", breaks="MQDMPR-3.1.2.3-02", blind=True)
class QueueManagerNextReadRestartsTimersOfDescriptor(Waiting):
    """A read that begins to wait on a descriptor restarts the timers of the reads that already wait on it."""

    def wait_for_new_message(
        self,
        queue_desc: OpenQueueDescriptor,
        timeout_ms: int | None,
        destructive_read: bool,
        answered: Answered,
        now: Now,
        tag: Hashable | None = None,
        cursor: Cursor | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)
        for reader in queue_desc.WaitingMessageReadOperationCollection if timeout_ms else ():
            key = TimerKey(TimerName.WAITING_MESSAGE_READ, reader.number)
            if timeout_ms is not None and self.qm.timers.is_running(key):
                self.qm.timers.start(key, now.monotonic_ms, timeout_ms)
