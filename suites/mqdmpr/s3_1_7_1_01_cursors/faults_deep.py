"""Faults of MS-MQDMPR 3.1.7.1.1 and 3.1.7.1.2 that only special cases reveal: several cursors of one queue."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.errors import CommandError
from reference_qm.core.queueing.cursors import Cursors, Got
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.model.adm import Position
from reference_qm.model.elements import Cursor
from reference_qm.model.enums import CursorState, QueueShareMode
from reference_qm.model.statuses import CursorStatus, Status
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import OpenCursor, Result


@fault("queue-manager-receive-by-cursor-moves-other-cursors-on", breaks="MQDMPR-3.1.7.1.1-06")
class QueueManagerReceiveByCursorMovesOtherCursorsOn(Cursors):
    """A receive by a cursor moves other cursors that are at the same message to the next message."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        got = super().get_next_message_for_dequeue(cursor, no_wait)
        if got[0] is CursorStatus.SUCCEEDED and got[1] is not None:
            for descriptor in got[1].QueueReference.OpenQueueDescriptorCollection.values():
                for other in descriptor.CursorCollection.values():
                    if other is not cursor and other.MessagePositionReference is got[1]:
                        self.get_next_message_for_peek(other)
        return got


@fault("queue-manager-close-cursor-ends-reads-of-other-cursors", breaks="MQDMPR-3.1.7.1.2-05")
class QueueManagerCloseCursorEndsReadsOfOtherCursors(QueueOpening):
    """When a cursor is closed, the queue manager also ends the pending reads by all other cursors of the same
    OpenQueueDescriptor.
    """

    def close_cursor(self, cursor: Cursor) -> None:
        for reader in [*cursor.OpenQueueDescriptorReference.WaitingMessageReadOperationCollection]:
            if reader.CursorReference is not None and reader.CursorReference is not cursor:
                self.qm.waiting.stop_reader(reader, Status.MQ_ERROR_OPERATION_CANCELLED)
        super().close_cursor(cursor)


@fault("queue-manager-close-cursor-ends-reads-without-cursor", breaks="MQDMPR-3.1.7.1.2-05")
class QueueManagerCloseCursorEndsReadsWithoutCursor(QueueOpening):
    """When a cursor is closed, the queue manager also ends the pending reads of the same OpenQueueDescriptor that use
    no cursor.
    """

    def close_cursor(self, cursor: Cursor) -> None:
        for reader in [*cursor.OpenQueueDescriptorReference.WaitingMessageReadOperationCollection]:
            if reader.CursorReference is None:
                self.qm.waiting.stop_reader(reader, Status.MQ_ERROR_OPERATION_CANCELLED)
        super().close_cursor(cursor)


@fault("queue-manager-second-cursor-starts-at-position-of-first", breaks="MQDMPR-3.1.7.1.1-08")
class QueueManagerSecondCursorStartsAtPositionOfFirst(Cursors):
    """A new cursor starts at the position of the previous cursor that was opened with the same OpenQueueDescriptor."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        cursors = list(cursor.OpenQueueDescriptorReference.CursorCollection.values())
        at = cursors.index(cursor) if cursor in cursors else 0
        if at and cursor.CursorState is CursorState.UNREAD and cursors[at - 1].CursorState is CursorState.READ:
            position = cursors[at - 1].MessagePositionReference
            if isinstance(position, Position):
                position.QueueReference.MessagePositionList.hold(position)
                position.QueueReference.MessagePositionList.release(cursor.MessagePositionReference)
                cursor.MessagePositionReference = position
        return super().get_message_for_peek(cursor)


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
