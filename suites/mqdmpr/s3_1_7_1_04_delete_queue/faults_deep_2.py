"""Further faults of MS-MQDMPR 3.1.7.1.4 Delete Queue: several messages, handles and queues."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.queueing.queues import Queues
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.states import MessagePositionState
from reference_qm.surface.commands import Result


@fault("only-first-message-of-deleted-queue-is-reported", breaks="MQDMPR-3.1.7.1.4-05")
class OnlyFirstMessageOfDeletedQueueIsReported(Positions):
    """When a queue is deleted, the receiver sends a negative acknowledgment only for the first message."""

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        deleted = reason is MessageClass.MQMSG_CLASS_NACK_Q_DELETED
        positions = position.QueueReference.MessagePositionList
        if deleted and len(list(positions)) == 1 and position.State is not MessagePositionState.DELETED:
            positions.remove(position)
            position.State = MessagePositionState.DELETED
        else:
            super().delete_message(position, reason)


@fault("locked-message-of-deleted-queue-is-not-reported", breaks="MQDMPR-3.1.7.1.4-05")
class LockedMessageOfDeletedQueueIsNotReported(Positions):
    """A message that a reader holds when its queue is deleted causes no negative acknowledgment."""

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        deleted = reason is MessageClass.MQMSG_CLASS_NACK_Q_DELETED
        if deleted and position.State is MessagePositionState.LOCKED:
            position.QueueReference.MessagePositionList.remove(position)
            position.State = MessagePositionState.DELETED
        else:
            super().delete_message(position, reason)


@fault("second-handle-of-deleted-queue-still-reads", breaks="MQDMPR-3.1.7.1.4-10")
class SecondHandleOfDeletedQueueStillReads(Queues):
    """When a queue is deleted, the queue manager invalidates only the handle that was opened first."""

    def _close_descriptors(self, queue: Queue) -> None:
        later = dict(list(queue.OpenQueueDescriptorCollection.items())[1:])
        for handle in later:
            del queue.OpenQueueDescriptorCollection[handle]
        super()._close_descriptors(queue)
        queue.OpenQueueDescriptorCollection = later


@fault("deleted-queue-with-open-handle-keeps-name", breaks="MQDMPR-3.1.7.1.4-11")
class DeletedQueueWithOpenHandleKeepsName(Queues):
    """When an open queue is deleted, the queue manager keeps its name: the queue stays listed and receives messages."""

    def delete(self, queue: Queue, token: int | None, done: Callable[[], Result]) -> Result | None:
        self.opened = bool(queue.OpenQueueDescriptorCollection)
        return super().delete(queue, token, done)

    def forget(self, queue: Queue) -> None:
        if not self.opened:
            super().forget(queue)

    opened = False
