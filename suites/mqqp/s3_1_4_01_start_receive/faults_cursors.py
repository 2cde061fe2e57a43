"""Faults of MS-MQQP 3.1.4.1, 3.1.4.10: cursors, and reads that wait."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Answered, Cursor, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


@fault(
    "waiting-cursor-looks-behind-it",
    breaks=("MQQP-3.1.4.1-D15", "MQQP-3.1.4.1-D17", "MQQP-3.1.4.10-31", "MQQP-3.1.4.10-40"),
)
class LooksBehindIt(Waiting):
    """A read that waits by a cursor waits for a message behind that."""

    def _find_for(self, reader: WaitingMessageReadOperation, new: MessagePosition) -> MessagePosition | None:
        cursor = reader.CursorReference
        if cursor is None:
            return super()._find_for(reader, new)
        return self.qm.seeking.seek_available(cursor.MessagePositionReference, not reader.DestructiveRead)


@fault("waiting-receive-without-identifier", breaks=("MQQP-3.1.4.1-D15", "MQQP-3.1.4.10-31"))
class WithoutIdentifier(Waiting):
    """A receive that waits does not have its dwRequestID."""

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
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, None, cursor, transaction)
