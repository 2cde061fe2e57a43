"""Faults that break rules of MS-MQDMPR 3.1.7.1.1 Open Cursor and 3.1.7.1.2 Close Cursor."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import omit_step
from harness.faults.registry import add
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.errors import CommandError
from reference_qm.core.queueing.queue_cursors import CursorResult, QueueCursors
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.core.remote.qmcomm_methods import QmcommMethods
from reference_qm.core.remote.remote_read_starting import RemoteReadStarting
from reference_qm.model.adm import Position
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import CursorState, QueueAccessType, QueueShareMode
from reference_qm.model.statuses import CursorStatus, Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import OpenCursor, Result


@fault("open-cursor-of-deleted-queue-succeeds", breaks="MQDMPR-3.1.7.1.1-04")
class OpenCursorOfDeletedQueueSucceeds(QmcommMethods):
    """The queue manager creates a cursor for a deleted queue."""

    def r_qm_create_remote_cursor(self, call: Call, now: Now) -> None:
        descriptor = self.qm.descriptors.get(call.arguments["hQueue"])
        if descriptor is not None and descriptor.QueueReference is None:
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_OK, phCursor=self.qm.assign_handle()))
        else:
            super().r_qm_create_remote_cursor(call, now)


@fault("handle-of-deleted-queue-opens-cursor-of-recreated-queue", breaks="MQDMPR-3.1.7.1.1-04", blind=True)
class HandleOfDeletedQueueOpensCursorOfRecreatedQueue(QueueCursors):
    """A handle of a deleted queue opens a cursor of a new queue with the same path name."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        if queue_desc.QueueReference is None and queue_desc.FormatName.lower() in self.qm.adm.QueueCollection:
            queue_desc.QueueReference = self.qm.adm.QueueCollection[queue_desc.FormatName.lower()]
        return super().open(queue_desc)


@fault("queue-manager-opens-cursor-of-deleted-queue-on-recreated-queue", breaks="MQDMPR-3.1.7.1.1-04", blind=True)
class QueueManagerOpensCursorOfDeletedQueueOnRecreatedQueue(QueueCursors):
    """The queue manager opens a cursor for a deleted queue when a new queue has the same path name."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor: Cursor | None = super().open(queue_desc)
        if cursor is None:
            name = queue_desc.FormatName
            queue = self.qm.queue_names.find_queue_by_path(name[max(name.lower().find("private$"), 0) :])
            if queue is not None:
                cursor = Cursor(self.qm.assign_handle(), queue_desc, queue.MessagePositionList.Start)
                queue_desc.CursorCollection[cursor.Handle] = cursor
        return cursor


@fault("open-cursor-returns-shared-cursor", breaks="MQDMPR-3.1.7.1.1-06")
class OpenCursorReturnsSharedCursor(QueueCursors):
    """Each open queue has only one cursor, which the queue manager returns for every request."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        known = next(iter(queue_desc.CursorCollection.values()), None)
        return super().open(queue_desc) if known is None else known


@fault("closed-cursor-rewinds-other-cursors-of-handle", breaks="MQDMPR-3.1.7.1.1-06")
class ClosedCursorRewindsOtherCursorsOfHandle(QueueCursors):
    """When a cursor is closed, the queue manager moves the other cursors of the handle to the start of the queue."""

    def move_cursor_to_start(self, cursor: Cursor) -> None:
        super().move_cursor_to_start(cursor)
        for other in cursor.OpenQueueDescriptorReference.CursorCollection.values():
            super().move_cursor_to_start(other)
            other.CursorState = CursorState.UNREAD


@fault("queue-manager-cursor-receive-advances-other-cursors-of-message", breaks="MQDMPR-3.1.7.1.1-06")
class QueueManagerCursorReceiveAdvancesOtherCursorsOfMessage(QueueCursors):
    """A receive by a cursor moves other cursors that are at the same message to the next message."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        got = super().get_next_message_for_dequeue(cursor, no_wait)
        if got[0] is CursorStatus.SUCCEEDED and got[1] is not None:
            for descriptor in got[1].QueueReference.OpenQueueDescriptorCollection.values():
                for other in descriptor.CursorCollection.values():
                    if other is not cursor and other.MessagePositionReference is got[1]:
                        self.get_next_message_for_peek(other)
        return got


@fault("cursor-usable-by-other-descriptor", breaks="MQDMPR-3.1.7.1.1-07")
class CursorUsableByOtherDescriptor(RemoteReadStarting):
    """A cursor can be used with any OpenQueueDescriptor of its queue."""

    def find_remote_cursor(self, descriptor: OpenQueueDescriptor, handle: int) -> Cursor | None:
        queue = descriptor.QueueReference
        openings = [] if queue is None else queue.OpenQueueDescriptorCollection.values()
        found = (super(CursorUsableByOtherDescriptor, self).find_remote_cursor(one, handle) for one in openings)
        return next((cursor for cursor in found if cursor is not None), None)


@fault("new-cursor-can-peek-next", breaks="MQDMPR-3.1.7.1.1-08")
class NewCursorCanPeekNext(QueueCursors):
    """A new cursor can peek at the next message before it has read a message."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor = super().open(queue_desc)
        if cursor is not None:
            cursor.CursorState = CursorState.WAIT_PEEK
        return cursor


@fault("queue-manager-second-cursor-starts-at-position-of-first", breaks="MQDMPR-3.1.7.1.1-08")
class QueueManagerSecondCursorStartsAtPositionOfFirst(QueueCursors):
    """A new cursor starts at the position of the previous cursor that was opened with the same OpenQueueDescriptor."""

    def get_message_for_peek(self, cursor: Cursor) -> CursorResult:
        cursors = list(cursor.OpenQueueDescriptorReference.CursorCollection.values())
        at = cursors.index(cursor) if cursor in cursors else 0
        if at and cursor.CursorState is CursorState.UNREAD and cursors[at - 1].CursorState is CursorState.READ:
            position = cursors[at - 1].MessagePositionReference
            if isinstance(position, Position):
                position.QueueReference.MessagePositionList.hold(position)
                position.QueueReference.MessagePositionList.release(cursor.MessagePositionReference)
                cursor.MessagePositionReference = position
        return super().get_message_for_peek(cursor)


@fault("open-cursor-returns-unknown-handle", breaks="MQDMPR-3.1.7.1.1-10")
class OpenCursorReturnsUnknownHandle(QueueCursors):
    """The queue manager answers a request for a cursor with the handle of a cursor that does not exist."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor = super().open(queue_desc)
        if cursor is not None:
            del queue_desc.CursorCollection[cursor.Handle]
        return cursor


@fault("cursor-of-exclusive-handle-refused", breaks="MQDMPR-3.1.7.1.1-10", blind=True)
class CursorOfExclusiveHandleRefused(QueueCommands):
    """The queue manager refuses a cursor of a handle that was opened with DenyReceive."""

    def open_cursor(self, request: OpenCursor, token: int, now: Now) -> Result:
        descriptor = self.qm.descriptors.get(request.handle)
        if descriptor is not None and descriptor.ShareMode is QueueShareMode.DENY_RECEIVE:
            raise CommandError("the handle is exclusive")
        return super().open_cursor(request, token, now)


@fault("cursor-of-empty-queue-refused", breaks="MQDMPR-3.1.7.1.1-10", blind=True)
class CursorOfEmptyQueueRefused(QueueCommands):
    """The queue manager refuses a cursor of an empty queue."""

    def open_cursor(self, request: OpenCursor, token: int, now: Now) -> Result:
        descriptor = self.qm.descriptors.get(request.handle)
        queue = None if descriptor is None else descriptor.QueueReference
        if queue is not None and not list(queue.MessagePositionList):
            raise CommandError("the queue is empty")
        return super().open_cursor(request, token, now)


@fault("cursor-of-handle-with-peek-access-refused", breaks="MQDMPR-3.1.7.1.1-10", blind=True)
class CursorOfHandleWithPeekAccessRefused(QueueCommands):
    """The queue manager creates no cursor for a handle with PeekAccess."""

    def open_cursor(self, request: Any, token: int, now: Any) -> Any:
        if self._find_descriptor(request.handle).AccessType is QueueAccessType.PEEK:
            raise CommandError("the handle was opened only to peek: open the queue to receive")
        return super().open_cursor(request, token, now)


@fault("cursor-of-subqueue-refused", breaks="MQDMPR-3.1.7.1.1-10", blind=True)
class CursorOfSubqueueRefused(QueueCommands):
    """The queue manager creates no cursor for a subqueue or a journal."""

    def open_cursor(self, request: Any, token: int, now: Any) -> Any:
        queue = self._find_descriptor(request.handle).QueueReference
        if queue is not None and queue.parent is not None:
            raise CommandError("a subqueue has no cursors")
        return super().open_cursor(request, token, now)


@fault("third-cursor-of-handle-replaces-first", breaks="MQDMPR-3.1.7.1.1-10", blind=True)
class ThirdCursorOfHandleReplacesFirst(QueueCursors):
    """When a handle opens a third cursor, the queue manager closes the first cursor of the handle."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        if len(queue_desc.CursorCollection) == 2:
            del queue_desc.CursorCollection[next(iter(queue_desc.CursorCollection))]
        return super().open(queue_desc)


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
            self.qm.waiting_reads.end_wait_without_message(reader, Status.MQ_ERROR_OPERATION_CANCELLED)


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
                self.qm.waiting_reads.end_wait_without_message(reader, Status.MQ_ERROR_OPERATION_CANCELLED)


@fault("queue-manager-close-cursor-ends-reads-of-other-cursors", breaks="MQDMPR-3.1.7.1.2-05")
class QueueManagerCloseCursorEndsReadsOfOtherCursors(QueueOpening):
    """When a cursor is closed, the queue manager also ends the pending reads by all other cursors of the same
    OpenQueueDescriptor.
    """

    def close_cursor(self, cursor: Cursor) -> None:
        for reader in [*cursor.OpenQueueDescriptorReference.WaitingMessageReadOperationCollection]:
            if reader.CursorReference is not None and reader.CursorReference is not cursor:
                self.qm.waiting_reads.end_wait_without_message(reader, Status.MQ_ERROR_OPERATION_CANCELLED)
        super().close_cursor(cursor)


@fault("queue-manager-close-cursor-ends-reads-without-cursor", breaks="MQDMPR-3.1.7.1.2-05")
class QueueManagerCloseCursorEndsReadsWithoutCursor(QueueOpening):
    """When a cursor is closed, the queue manager also ends the pending reads of the same OpenQueueDescriptor that use
    no cursor.
    """

    def close_cursor(self, cursor: Cursor) -> None:
        for reader in [*cursor.OpenQueueDescriptorReference.WaitingMessageReadOperationCollection]:
            if reader.CursorReference is None:
                self.qm.waiting_reads.end_wait_without_message(reader, Status.MQ_ERROR_OPERATION_CANCELLED)
        super().close_cursor(cursor)


add(
    "closed-cursor-still-usable",
    "MQDMPR-3.1.7.1.2-06",
    "The queue manager still accepts a closed cursor in reads.",
    omit_step(QueueOpening.close_cursor),
)


@fault("closed-cursor-can-still-peek-next", breaks="MQDMPR-3.1.7.1.2-06", blind=True)
class ClosedCursorCanStillPeekNext(QueueOpening):
    """A cursor that has read a message is still usable after it was closed."""

    def close_cursor(self, cursor: Cursor) -> None:
        state, handle = cursor.CursorState, cursor.Handle
        super().close_cursor(cursor)
        if state.name == "READ":
            cursor.CursorState = CursorState.UNREAD
            cursor.OpenQueueDescriptorReference.CursorCollection[handle] = cursor


@fault("closed-cursor-closes-other-cursors-of-handle", breaks="MQDMPR-3.1.7.1.2-06", blind=True)
class ClosedCursorClosesOtherCursorsOfHandle(QueueOpening):
    """When one of several cursors of a handle is closed, the queue manager closes all of them."""

    def close_cursor(self, cursor: Cursor) -> None:
        super().close_cursor(cursor)
        cursor.OpenQueueDescriptorReference.CursorCollection.clear()


@fault("queue-manager-cursor-of-other-queue-usable", breaks="MQDMPR-3.1.7.1.1-07", blind=True)
class QueueManagerCursorOfOtherQueueUsable(RemoteReadStarting):
    """A read of a queue with the cursor of another queue that the same client has opened moves this cursor."""

    def find_remote_cursor(self, descriptor: OpenQueueDescriptor, handle: int) -> Cursor | None:
        found = super().find_remote_cursor(descriptor, handle)
        others = (one for one in self.qm.descriptors.values() if one.QueueReference is not descriptor.QueueReference)
        return found or next((one.CursorCollection[handle] for one in others if handle in one.CursorCollection), None)


@fault("queue-manager-new-cursor-also-belongs-to-newest-descriptor", breaks="MQDMPR-3.1.7.1.1-07", blind=True)
class QueueManagerNewCursorAlsoBelongsToNewestDescriptor(QueueCursors):
    """A new cursor also belongs to the OpenQueueDescriptor that was most recently opened for its queue."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor = super().open(queue_desc)
        queue = queue_desc.QueueReference
        if cursor is not None and queue is not None:
            latest = list(queue.OpenQueueDescriptorCollection.values())[-1:]
            for one in latest:
                one.CursorCollection[cursor.Handle] = cursor
        return cursor


@fault("queue-manager-second-cursor-usable-by-first-descriptor", breaks="MQDMPR-3.1.7.1.1-07", blind=True)
class QueueManagerSecondCursorUsableByFirstDescriptor(RemoteReadStarting):
    """The first OpenQueueDescriptor that was opened for a queue can use the second cursor of every descriptor of the
    queue.
    """

    def find_remote_cursor(self, descriptor: OpenQueueDescriptor, handle: int) -> Cursor | None:
        found = super().find_remote_cursor(descriptor, handle)
        queue = descriptor.QueueReference
        opened = [] if queue is None else list(queue.OpenQueueDescriptorCollection.values())
        if found is not None or not opened or opened[0] is not descriptor:
            return found
        seconds = (list(one.CursorCollection.values())[1:2] for one in opened[1:])
        return next((cursor for one in seconds for cursor in one if cursor.Handle == handle), None)
