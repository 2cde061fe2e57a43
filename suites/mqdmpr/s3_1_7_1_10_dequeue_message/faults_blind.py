"""Faults of MS-MQDMPR 3.1.7.1.10 Dequeue Message, by an author who had not seen the checks."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.calls import with_arguments
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.core.queueing.cursors import Cursors, Got
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import Cursor
from reference_qm.model.enums import CursorState
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus, Status

HOUR_MS = 3_600_000


@fault("queue-manager-cursor-receive-of-locked-message-not-found", breaks="MQDMPR-3.1.7.1.10-17", blind=True)
class QueueManagerCursorReceiveOfLockedMessageNotFound(Cursors):
    """A receive by a cursor returns MQ_ERROR_MESSAGE_NOT_FOUND if an open transaction has received the cursor's
    message.
    """

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        at = cursor.MessagePositionReference
        locked = isinstance(at, MessagePosition) and at.State is MessagePositionState.LOCKED
        if cursor.CursorState is CursorState.READ and isinstance(at, MessagePosition) and locked:
            return CursorStatus.NOT_FOUND, None
        return super().get_next_message_for_dequeue(cursor, no_wait)


@fault("queue-manager-cancel-ends-first-pending-receive", breaks="MQDMPR-3.1.7.1.10-27", blind=True)
class QueueManagerCancelEndsFirstPendingReceive(Waiting):
    """A cancellation by tag ends the read that has waited longest in the queue, even if its tag is different."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        tagged = [
            reader
            for descriptor in queue.OpenQueueDescriptorCollection.values()
            for reader in descriptor.WaitingMessageReadOperationCollection
            if reader.Tag is not None
        ]
        if not any(reader.Tag == tag for reader in tagged):
            return Status.STATUS_NOT_FOUND
        self.stop_reader(min(tagged, key=lambda reader: reader.number), status)
        return Status.MQ_OK


add(
    "queue-manager-receive-without-timeout-ends-after-an-hour",
    "MQDMPR-3.1.7.1.10-08",
    "A receive without a timeout ends after an hour.",
    with_arguments(
        Waiting.wait_for_new_message,
        timeout_ms=lambda given: HOUR_MS if given.timeout_ms is None and given.destructive_read else given.timeout_ms,
    ),
    blind=True,
)
