"""Faults of round five that break rules of MS-MQQP 3.1.2 Timers."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


@fault("server-read-timer-restarted-by-later-read-of-handle", breaks="MQQP-3.1.2-03", blind=True)
class ServerReadTimerRestartedByLaterReadOfHandle(WaitingReads):
    """When another read with a time limit begins to wait through the same queue handle, the server restarts the timers
    of the reads that already wait there with the ulTimeout of the new read.
    """

    def wait_for_new_message(
        self,
        queue_desc: OpenQueueDescriptor,
        timeout_ms: int | None,
        destructive_read: bool,
        answered: OnReadAnswered,
        now: Now,
        tag: Hashable | None = None,
        cursor: Cursor | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        earlier = list(queue_desc.WaitingMessageReadOperationCollection)
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)
        if timeout_ms:
            for reader in earlier:
                key = TimerKey(TimerName.WAITING_MESSAGE_READ, reader.number)
                if self.qm.timers.is_running(key):
                    self.qm.timers.start(key, now.monotonic_ms, timeout_ms)
