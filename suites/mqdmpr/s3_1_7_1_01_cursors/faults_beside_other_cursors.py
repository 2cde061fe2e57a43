"""Faults that break MQDMPR-3.1.7.1.1-04 and MQDMPR-3.1.7.1.1-06 when other cursors or queues exist."""

from __future__ import annotations

from harness.faults.neighbouring_reads import find_queue_of_same_name
from harness.faults.parts import fault, faulty_only_if
from reference_qm.core.queueing.queue_cursors import QueueCursors
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import CursorState


@fault("queue-manager-earlier-cursor-returned-for-deleted-queue", breaks="MQDMPR-3.1.7.1.1-04", blind=True)
class QueueManagerEarlierCursorReturnedForDeletedQueue(QueueCursors):
    """For a queue that was deleted after it was opened, the queue manager returns the cursor that was opened before the
    deletion.
    """

    @faulty_only_if(lambda self, queue_desc: queue_desc.QueueReference is None and bool(queue_desc.CursorCollection))
    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        return next(iter(queue_desc.CursorCollection.values()))


@fault("queue-manager-cursor-created-on-queue-with-name-of-deleted-queue", breaks="MQDMPR-3.1.7.1.1-04", blind=True)
class QueueManagerCursorCreatedOnQueueWithNameOfDeletedQueue(QueueCursors):
    """For a queue that was deleted and created again after it was opened, the queue manager creates a cursor of the
    new queue.
    """

    @faulty_only_if(lambda self, queue_desc: queue_desc.QueueReference is None)
    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        queue = find_queue_of_same_name(self.qm, queue_desc)
        if queue is None:
            return None
        queue_desc.QueueReference = queue
        return super().open(queue_desc)


@fault("queue-manager-closed-cursor-moves-other-cursors-of-handle", breaks="MQDMPR-3.1.7.1.1-06", blind=True)
class QueueManagerClosedCursorMovesOtherCursorsOfHandle(QueueOpening):
    """When a cursor is closed, the queue manager moves the other cursors of the handle to the start of the queue."""

    def close_cursor(self, cursor: Cursor) -> None:
        super().close_cursor(cursor)
        for one in cursor.OpenQueueDescriptorReference.CursorCollection.values():
            self.qm.queue_cursors.move_cursor_to_start(one)
            one.CursorState = CursorState.UNREAD


@fault("queue-manager-completed-cursor-receive-moves-waiting-cursors", breaks="MQDMPR-3.1.7.1.1-06", blind=True)
class QueueManagerCompletedCursorReceiveMovesWaitingCursors(QueueCursors):
    """When a pending receive by a cursor gets a message, the queue manager also moves the other waiting cursors of the
    queue to this message, as if they had read it.
    """

    def on_message_available(self, cursor: Cursor, message_position: MessagePosition) -> None:
        super().on_message_available(cursor, message_position)
        for descriptor in message_position.QueueReference.OpenQueueDescriptorCollection.values():
            for one in descriptor.CursorCollection.values():
                if one is not cursor and one.CursorState in (CursorState.WAIT_PEEK, CursorState.WAIT_RECEIVE):
                    super().on_message_available(one, message_position)
