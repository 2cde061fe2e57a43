"""Faults that break rules of MS-MQDMPR 3.1.1 Abstract Data Model for some reads, packets or starts."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.made_up import MADE_UP_GUID
from harness.faults.parts import fault
from harness.faults.primitives import send_wrong_field_values
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


class _PendingReadCursorChanger(WaitingReads):
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
        chosen = self.choose_cursor_of_pending_read(queue_desc, cursor, destructive_read)
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, chosen, transaction)

    def choose_cursor_of_pending_read(
        self, queue_desc: OpenQueueDescriptor, cursor: Cursor | None, receives: bool
    ) -> Cursor | None:
        """Return the CursorReference of the pending read."""
        raise NotImplementedError


@fault("pending-read-without-cursor-refers-to-first-cursor", breaks="MQDMPR-3.1.1.10-02", blind=True)
class PendingReadWithoutCursorRefersToFirstCursor(_PendingReadCursorChanger):
    """A pending read without a cursor refers to the first cursor of its descriptor."""

    def choose_cursor_of_pending_read(
        self, queue_desc: OpenQueueDescriptor, cursor: Cursor | None, receives: bool
    ) -> Cursor | None:
        return cursor or next(iter(queue_desc.CursorCollection.values()), None)


@fault("pending-receive-by-cursor-without-cursor-reference", breaks="MQDMPR-3.1.1.10-02", blind=True)
class PendingReceiveByCursorWithoutCursorReference(_PendingReadCursorChanger):
    """A pending receive by a cursor has no CursorReference."""

    def choose_cursor_of_pending_read(
        self, queue_desc: OpenQueueDescriptor, cursor: Cursor | None, receives: bool
    ) -> Cursor | None:
        return None if receives else cursor


@fault("second-pending-read-refers-to-cursor-of-first", breaks="MQDMPR-3.1.1.10-02", blind=True)
class SecondPendingReadRefersToCursorOfFirst(_PendingReadCursorChanger):
    """A second pending read of a descriptor refers to the cursor of the first pending read."""

    def choose_cursor_of_pending_read(
        self, queue_desc: OpenQueueDescriptor, cursor: Cursor | None, receives: bool
    ) -> Cursor | None:
        waiting = [one.CursorReference for one in queue_desc.WaitingMessageReadOperationCollection]
        return next((one for one in waiting if one is not None), cursor)


add(
    "queue-manager-identifier-in-recoverable-messages-other",
    "MQDMPR-3.1.1-06",
    "The queue manager sends its recoverable messages with the GUID of another queue manager.",
    send_wrong_field_values(
        UserMessagePacket,
        {"UserHeader.SourceQueueManager": MADE_UP_GUID},
        lambda packet: bool(packet.UserHeader.DM),
    ),
    blind=True,
)
