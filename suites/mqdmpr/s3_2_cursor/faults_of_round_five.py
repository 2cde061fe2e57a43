"""Faults of the fifth round that break rules of MS-MQDMPR 3.2 Cursor."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.queueing.queue_cursors import QueueCursors
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import CursorState


@fault("cursor-second-completed-receive-leaves-state-wait-receive", breaks="MQDMPR-3.2.7.5-06", blind=True)
class CursorSecondCompletedReceiveLeavesStateWaitReceive(QueueCursors):
    """A cursor keeps the CursorState WAIT_RECEIVE after a message has completed its second pending receive."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.completed_handles: set[int] = set()

    def on_message_available(self, cursor: Cursor, message_position: MessagePosition) -> None:
        receives = cursor.CursorState is CursorState.WAIT_RECEIVE
        super().on_message_available(cursor, message_position)
        if receives and cursor.Handle in self.completed_handles:
            cursor.CursorState = CursorState.WAIT_RECEIVE
        elif receives:
            self.completed_handles.add(cursor.Handle)


@fault("cursor-handle-is-number-of-open-cursors", breaks="MQDMPR-3.2.1.2-02", blind=True)
class CursorHandleIsNumberOfOpenCursors(QueueCursors):
    """The queue manager uses the number of open cursors as the Handle of a new cursor, so that after a cursor was
    closed, two open cursors can have the same Handle.
    """

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        number = 1 + sum(len(one.CursorCollection) for one in self.qm.descriptors.values())
        cursor = super().open(queue_desc)
        if cursor is not None:
            del queue_desc.CursorCollection[cursor.Handle]
            cursor.Handle = number
            queue_desc.CursorCollection[number] = cursor
        return cursor


@fault("cursor-second-of-queue-handle-begins-in-state-wait-peek", breaks="MQDMPR-3.2.7.1-08", blind=True)
class CursorSecondOfQueueHandleBeginsInStateWaitPeek(QueueCursors):
    """The CursorState of a new cursor is WAIT_PEEK if the queue was already opened with another cursor of the same
    handle.
    """

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor = super().open(queue_desc)
        if cursor is not None and len(queue_desc.CursorCollection) > 1:
            cursor.CursorState = CursorState.WAIT_PEEK
        return cursor
