"""Faults of MS-MQDMPR 3.1.7.3.4 Waiting Message Read Timer Start."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.elements import Answered, Cursor, OpenQueueDescriptor
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


@fault("time-out-runs-half", breaks="MQDMPR-3.1.7.3.4-04")
class RunsHalf(Waiting):
    """A read that waits waits half as long as it was to."""

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
        half_ms = timeout_ms // 2 if timeout_ms else timeout_ms
        super().wait_for_new_message(queue_desc, half_ms, destructive_read, answered, now, tag, cursor, transaction)
