"""Faults of MS-MQDMPR 3.1.7.1.4 Delete Queue that only special cases reveal: several handles, other kinds of messages,
and a restart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.errors import CommandError
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.queueing.publishing import OnStatus, Publishing
from reference_qm.core.queueing.queues import Queues
from reference_qm.core.store.disk import Change
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("receiver-transactional-message-of-deleted-queue-reported-as-purged", breaks="MQDMPR-3.1.7.1.4-05")
class ReceiverTransactionalMessageOfDeletedQueueReportedAsPurged(Positions):
    """The receiver reports a transactional message of a deleted queue as purged."""

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        deleted = reason is MessageClass.MQMSG_CLASS_NACK_Q_DELETED
        if deleted and position.MessageReference.TransactionIdentifier is not None:
            reason = MessageClass.MQMSG_CLASS_NACK_Q_PURGED
        super().delete_message(position, reason)


@fault("receiver-second-message-of-deleted-queue-not-reported", breaks="MQDMPR-3.1.7.1.4-05")
class ReceiverSecondMessageOfDeletedQueueNotReported(Queues):
    """The receiver sends a negative acknowledgment for only the first message of a deleted queue."""

    def delete(self, queue: Queue, token: int | None, done: Callable[[], Result]) -> Result | None:
        for position in list(queue.MessagePositionList)[1:]:
            queue.MessagePositionList.remove(position)
        return super().delete(queue, token, done)


@fault("queue-manager-delete-queue-detaches-first-handle-only", breaks="MQDMPR-3.1.7.1.4-10")
class QueueManagerDeleteQueueDetachesFirstHandleOnly(Queues):
    """When a queue is deleted, only its first open handle becomes invalid; reads with the other handles wait for
    messages.
    """

    def _close_descriptors(self, queue: Queue) -> None:
        first = next(iter(queue.OpenQueueDescriptorCollection), None)
        others = {key: one for key, one in queue.OpenQueueDescriptorCollection.items() if key != first}
        for key in others:
            del queue.OpenQueueDescriptorCollection[key]
        super()._close_descriptors(queue)
        queue.OpenQueueDescriptorCollection |= others


@fault("queue-manager-deleted-queue-listed-after-restart", breaks="MQDMPR-3.1.7.1.4-11")
class QueueManagerDeletedQueueListedAfterRestart(Queues):
    """After a restart, the queue manager restores a deleted queue."""

    def _build_deletion(self, queue: Queue) -> Change:
        change = super()._build_deletion(queue)
        return {name: value for name, value in change.items() if not name.startswith("queue:")}


@fault("queue-manager-delete-queue-refused-while-open", breaks="MQDMPR-3.1.7.1.4-17")
class QueueManagerDeleteQueueRefusedWhileOpen(QueueCommands):
    """The queue manager refuses to delete a queue that an application has open."""

    def delete_queue(self, request: Any, token: int, now: Now) -> Result | None:
        if self.qm.queue_names.find_queue(request.name).OpenQueueDescriptorCollection:
            raise CommandError("the queue is open: close it first")
        return super().delete_queue(request, token, now)


@fault("queue-manager-delete-queue-refused-while-not-empty", breaks="MQDMPR-3.1.7.1.4-17")
class QueueManagerDeleteQueueRefusedWhileNotEmpty(QueueCommands):
    """The queue manager refuses to delete a queue that contains a message which a transaction has locked."""

    def delete_queue(self, request: Any, token: int, now: Now) -> Result | None:
        if any(one.State.name == "LOCKED" for one in self.qm.queue_names.find_queue(request.name).MessagePositionList):
            raise CommandError("a message of the queue is locked: end its transaction first")
        return super().delete_queue(request, token, now)


@fault("public-queue-emptied-by-refused-deletion", breaks="MQDMPR-3.1.7.1.4-16", blind=True)
class PublicQueueEmptiedByRefusedDeletion(Publishing):
    """When the directory does not delete the object of a public queue, the queue loses its messages."""

    def withdraw(self, queue: Queue, withdrawn: OnStatus) -> None:
        def report(status: Status) -> None:
            for position in list(queue.MessagePositionList) if status is not Status.MQ_OK else ():
                queue.MessagePositionList.remove(position)
            withdrawn(status)

        super().withdraw(queue, report)


@fault("public-queue-handles-closed-by-refused-deletion", breaks="MQDMPR-3.1.7.1.4-16", blind=True)
class PublicQueueHandlesClosedByRefusedDeletion(Publishing):
    """When the directory does not delete the object of a public queue, the open handles of the queue become invalid."""

    def withdraw(self, queue: Queue, withdrawn: OnStatus) -> None:
        def report(status: Status) -> None:
            for descriptor in list(queue.OpenQueueDescriptorCollection.values()) if status is not Status.MQ_OK else ():
                self.qm.queue_opening.close_queue(descriptor)
            withdrawn(status)

        super().withdraw(queue, report)
