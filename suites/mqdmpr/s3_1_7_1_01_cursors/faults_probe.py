"""Faults of MS-MQDMPR 3.1.7.1.1 Open Cursor, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.cursors import Cursors
from reference_qm.model.elements import Cursor, OpenQueueDescriptor


@fault("queue-manager-cursor-of-recreated-queue", breaks="MQDMPR-3.1.7.1.1-04", blind=True)
class QueueManagerCursorOfRecreatedQueue(Cursors):
    """The queue manager opens a cursor for a deleted queue when a new queue has the same path name."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor: Cursor | None = super().open(queue_desc)
        if cursor is None:
            name = queue_desc.FormatName
            queue = self.qm.queue_names.find_by_path(name[max(name.lower().find("private$"), 0) :])
            if queue is not None:
                cursor = Cursor(self.qm.next_handle(), queue_desc, queue.MessagePositionList.Start)
                queue_desc.CursorCollection[cursor.Handle] = cursor
        return cursor
