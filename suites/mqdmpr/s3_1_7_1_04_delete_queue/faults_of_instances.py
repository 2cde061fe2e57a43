"""Faults of MS-MQDMPR 3.1.7.1.4 Delete Queue with subqueues, journals, and queues of similar names."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.errors import CommandError
from reference_qm.core.queueing.queues import Queues
from reference_qm.model.adm import Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.surface.commands import Result


@fault("deleted-queue-handle-to-subqueue-stays", breaks="MQDMPR-3.1.7.1.4-10", blind=True)
class DeletedQueueHandleToSubqueueStays(Queues):
    """After the deletion of a queue, handles of its subqueues still refer to the subqueues."""

    def _close_descriptors(self, queue: Queue) -> None:
        if queue.parent is None:
            super()._close_descriptors(queue)


@fault("deleted-queue-handle-to-peek-stays", breaks="MQDMPR-3.1.7.1.4-10", blind=True)
class DeletedQueueHandleToPeekStays(Queues):
    """After the deletion of a queue, handles with PeekAccess still refer to the queue."""

    def _close_descriptors(self, queue: Queue) -> None:
        kept: dict[int, OpenQueueDescriptor] = {
            handle: one for handle, one in queue.OpenQueueDescriptorCollection.items() if one.AccessType.name == "PEEK"
        }
        for handle in kept:
            del queue.OpenQueueDescriptorCollection[handle]
        super()._close_descriptors(queue)


@fault("deleted-queue-takes-queue-with-longer-name", breaks="MQDMPR-3.1.7.1.4-11", blind=True)
class DeletedQueueTakesQueueWithLongerName(Queues):
    """When a queue is deleted, the queue manager also deletes the queues whose names begin with the name
    of this queue.
    """

    def forget(self, queue: Queue) -> None:
        super().forget(queue)
        for name in list(self.qm.adm.QueueCollection):
            if queue.parent is None and name.startswith(queue.Pathname.lower()):
                del self.qm.adm.QueueCollection[name]


@fault("deletion-of-queue-with-subqueue-refused", breaks="MQDMPR-3.1.7.1.4-17", blind=True)
class DeletionOfQueueWithSubqueueRefused(QueueCommands):
    """The queue manager refuses to delete a queue that has a subqueue."""

    def delete_queue(self, request: Any, token: int, now: Any) -> Result | None:
        if self.qm.queue_names.find_queue(request.name).SubqueueCollection:
            raise CommandError("the queue has subqueues: delete them first")
        return super().delete_queue(request, token, now)


@fault("deletion-of-queue-with-journaled-messages-refused", breaks="MQDMPR-3.1.7.1.4-17", blind=True)
class DeletionOfQueueWithJournaledMessagesRefused(QueueCommands):
    """The queue manager refuses to delete a queue whose journal contains messages."""

    def delete_queue(self, request: Any, token: int, now: Any) -> Result | None:
        journal = self.qm.queue_names.find_queue(request.name).JournalQueueReference
        if journal is not None and len(journal.MessagePositionList):
            raise CommandError("the journal of the queue contains messages: purge it first")
        return super().delete_queue(request, token, now)


@fault("deletion-of-subqueue-refused", breaks="MQDMPR-3.1.7.1.4-17", blind=True)
class DeletionOfSubqueueRefused(QueueCommands):
    """The queue manager refuses to delete a subqueue."""

    def delete_queue(self, request: Any, token: int, now: Any) -> Result | None:
        if self.qm.queue_names.find_queue(request.name).parent is not None:
            raise CommandError("a subqueue cannot be deleted")
        return super().delete_queue(request, token, now)
