"""Faults of round five that break rules of MS-MQDMPR 3.1.7.1.1 Open Cursor and 3.1.7.1.2 Close Cursor."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.cursors import Cursors
from reference_qm.model.elements import Cursor, OpenQueueDescriptor


@fault("queue-manager-cursor-of-deleted-queue-created-in-successor", breaks="MQDMPR-3.1.7.1.1-04", blind=True)
class QueueManagerCursorOfDeletedQueueCreatedInSuccessor(Cursors):
    """The queue manager creates a cursor with a handle of a deleted queue if a new queue has the same path name."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        if queue_desc.QueueReference is not None:
            return super().open(queue_desc)
        name = queue_desc.FormatName.lower()
        for queue in self.qm.adm.QueueCollection.values():
            if name.endswith(queue.Pathname.lower()):
                cursor = Cursor(self.qm.assign_handle(), queue_desc, queue.MessagePositionList.Start)
                queue_desc.CursorCollection[cursor.Handle] = cursor
                return cursor
        return None
