"""Faults of MS-MQDMPR 3.1.7.1.11 Dequeue Message Begin that only special cases reveal: cursors of a deleted queue."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.model.elements import Answered, Cursor, OpenQueueDescriptor
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


@fault("queue-manager-receive-by-cursor-of-deleted-queue-finds-no-message", breaks="MQDMPR-3.1.7.1.11-04")
class CursorOfDeletedQueue(TwoPhaseReading):
    """A two-phase receive by a cursor returns MQ_ERROR_MESSAGE_ALREADY_RECEIVED if the queue of the
    cursor was deleted.
    """

    def dequeue_message_begin(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        if queue_desc.QueueReference is None and cursor is not None:
            answered(Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED, None)
            return
        super().dequeue_message_begin(queue_desc, answered, now, timeout_ms, cursor, tag, transaction)
