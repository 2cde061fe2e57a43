"""Faults of MS-MQDMPR 3.1.7.1.1 Open Cursor and 3.1.7.1.2 Close Cursor with several handles, queues and cursors."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.errors import CommandError
from reference_qm.core.queueing.cursors import Cursors
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import CursorState, QueueAccessType


@fault("cursor-of-recreated-queue-opened", breaks="MQDMPR-3.1.7.1.1-04", blind=True)
class CursorOfRecreatedQueueOpened(Cursors):
    """A handle of a deleted queue opens a cursor of a new queue with the same path name."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        if queue_desc.QueueReference is None and queue_desc.FormatName.lower() in self.qm.adm.QueueCollection:
            queue_desc.QueueReference = self.qm.adm.QueueCollection[queue_desc.FormatName.lower()]
        return super().open(queue_desc)


@fault("cursor-of-handle-to-peek-refused", breaks="MQDMPR-3.1.7.1.1-10", blind=True)
class CursorOfHandleToPeekRefused(QueueCommands):
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
class ThirdCursorOfHandleReplacesFirst(Cursors):
    """When a handle opens a third cursor, the queue manager closes the first cursor of the handle."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        if len(queue_desc.CursorCollection) == 2:
            del queue_desc.CursorCollection[next(iter(queue_desc.CursorCollection))]
        return super().open(queue_desc)


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
