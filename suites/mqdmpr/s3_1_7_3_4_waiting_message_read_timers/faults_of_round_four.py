"""Faults that break rules of MS-MQDMPR 3.1.7.3.4 Waiting Message Read Timer Start, written without knowledge of the
checks.
"""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


@fault("queue-manager-second-pending-read-of-descriptor-timer-missing", breaks="MQDMPR-3.1.7.3.4-03", blind=True)
class QueueManagerSecondPendingReadOfDescriptorTimerMissing(WaitingReads):
    """The queue manager starts no timer for a pending read while another read waits on the same OpenQueueDescriptor."""

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
        waiting_before = list(queue_desc.WaitingMessageReadOperationCollection)
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)
        for reader in queue_desc.WaitingMessageReadOperationCollection:
            if waiting_before and reader not in waiting_before:
                self.qm.timers.stop(TimerKey(TimerName.WAITING_MESSAGE_READ, reader.number))
