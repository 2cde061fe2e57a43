"""Faults of MS-MQDMPR 3.1.7.1.1 Open Cursor, 3.1.7.1.2 Close Cursor."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import skip
from harness.faults.registry import add
from reference_qm.core.queueing.cursors import Cursors
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.core.remote.qmcomm import Qmcomm
from reference_qm.core.remote.remote_starting import RemoteStarting
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import CursorState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("open-cursor-returns-shared-cursor", breaks="MQDMPR-3.1.7.1.1-06")
class OpenCursorReturnsSharedCursor(Cursors):
    """Each open queue has only one cursor, which the queue manager returns for every request."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        known = next(iter(queue_desc.CursorCollection.values()), None)
        return super().open(queue_desc) if known is None else known


@fault("cursor-usable-by-other-descriptor", breaks="MQDMPR-3.1.7.1.1-07")
class CursorUsableByOtherDescriptor(RemoteStarting):
    """A cursor can be used with any OpenQueueDescriptor of its queue."""

    def find_remote_cursor(self, descriptor: OpenQueueDescriptor, handle: int) -> Cursor | None:
        queue = descriptor.QueueReference
        openings = [] if queue is None else queue.OpenQueueDescriptorCollection.values()
        found = (super(CursorUsableByOtherDescriptor, self).find_remote_cursor(one, handle) for one in openings)
        return next((cursor for cursor in found if cursor is not None), None)


@fault("new-cursor-can-peek-next", breaks="MQDMPR-3.1.7.1.1-08")
class NewCursorCanPeekNext(Cursors):
    """A new cursor can peek at the next message before it has read a message."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor = super().open(queue_desc)
        if cursor is not None:
            cursor.CursorState = CursorState.WAIT_PEEK
        return cursor


@fault("open-cursor-returns-unknown-handle", breaks="MQDMPR-3.1.7.1.1-10")
class OpenCursorReturnsUnknownHandle(Cursors):
    """The queue manager answers a request for a cursor with the handle of a cursor that does not exist."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor = super().open(queue_desc)
        if cursor is not None:
            del queue_desc.CursorCollection[cursor.Handle]
        return cursor


@fault("open-cursor-of-deleted-queue-succeeds", breaks="MQDMPR-3.1.7.1.1-04")
class OpenCursorOfDeletedQueueSucceeds(Qmcomm):
    """The queue manager creates a cursor for a deleted queue."""

    def r_qm_create_remote_cursor(self, call: Call, now: Now) -> None:
        descriptor = self.qm.descriptors.get(call.arguments["hQueue"])
        if descriptor is not None and descriptor.QueueReference is None:
            self.qm.remote.note(call.respond(Return=Status.MQ_OK, phCursor=self.qm.next_handle()))
        else:
            super().r_qm_create_remote_cursor(call, now)


@fault("closed-cursor-read-stays-pending", breaks="MQDMPR-3.1.7.1.2-05")
class ClosedCursorReadStaysPending(QueueOpening):
    """A pending read with a cursor continues to wait after the cursor is closed."""

    def close_cursor(self, cursor: Cursor) -> None:
        waiting = cursor.OpenQueueDescriptorReference.WaitingMessageReadOperationCollection
        with_it = [reader for reader in waiting if reader.CursorReference is cursor]
        for reader in with_it:
            reader.CursorReference = None
        super().close_cursor(cursor)


@fault("closed-cursor-ends-all-pending-reads", breaks="MQDMPR-3.1.7.1.2-05")
class ClosedCursorEndsAllPendingReads(QueueOpening):
    """When a cursor is closed, the queue manager ends all pending reads of its queue."""

    def close_cursor(self, cursor: Cursor) -> None:
        waiting = cursor.OpenQueueDescriptorReference.WaitingMessageReadOperationCollection
        super().close_cursor(cursor)
        for reader in list(waiting):
            self.qm.waiting.stop_reader(reader, Status.MQ_ERROR_OPERATION_CANCELLED)


add(
    "closed-cursor-still-usable",
    "MQDMPR-3.1.7.1.2-06",
    "The queue manager still accepts a closed cursor in reads.",
    skip(QueueOpening.close_cursor),
)


@fault("closed-cursor-rewinds-others", breaks="MQDMPR-3.1.7.1.1-06")
class ClosedCursorRewindsOthers(Cursors):
    """When a cursor is closed, the queue manager moves the other cursors of the handle to the start of the queue."""

    def rewind(self, cursor: Cursor) -> None:
        super().rewind(cursor)
        for other in cursor.OpenQueueDescriptorReference.CursorCollection.values():
            super().rewind(other)
            other.CursorState = CursorState.UNREAD


@fault("closed-cursor-ends-reads-of-other-cursors", breaks="MQDMPR-3.1.7.1.2-05")
class ClosedCursorEndsReadsOfOtherCursors(QueueOpening):
    """When a cursor with a pending read is closed, the queue manager also ends the pending reads by other cursors of
    the same handle.
    """

    def close_cursor(self, cursor: Cursor) -> None:
        descriptor = cursor.OpenQueueDescriptorReference
        waits = any(reader.CursorReference is cursor for reader in descriptor.WaitingMessageReadOperationCollection)
        super().close_cursor(cursor)
        for reader in list(descriptor.WaitingMessageReadOperationCollection) if waits else ():
            if reader.CursorReference is not None:
                self.qm.waiting.stop_reader(reader, Status.MQ_ERROR_OPERATION_CANCELLED)
