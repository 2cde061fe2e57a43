"""Faults that break rules of MS-MQDMPR 3.1.7.1.4 Delete Queue."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, MessagePropertiesHeader
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.errors import CommandError
from reference_qm.core.names.queue_names import list_queue_with_children
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.public_queue_publishing import PublicQueuePublishing, StatusCallback
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.core.store.disk import Change
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result

DeletionCallback = Callable[[], Result]


@fault("deleted-queue-messages-not-acknowledged", breaks="MQDMPR-3.1.7.1.4-05")
class DeletedQueueMessagesNotAcknowledged(QueueLifecycle):
    """When a queue is deleted, the queue manager deletes the queue's messages without an acknowledgment."""

    def delete(self, queue: Queue, token: int | None, done: DeletionCallback) -> Result | None:
        for one in list_queue_with_children(queue):
            for position in list(one.MessagePositionList):
                one.MessagePositionList.remove(position)
        return super().delete(queue, token, done)


@fault("message-locked-at-queue-deletion-not-acknowledged", breaks="MQDMPR-3.1.7.1.4-05")
class MessageLockedAtQueueDeletionNotAcknowledged(QueueLifecycle):
    """The deletion of a queue causes no negative acknowledgment of a message that a reader has locked."""

    def delete(self, queue: Queue, token: int | None, done: Callable[[], Result]) -> Result | None:
        for position in queue.MessagePositionList:
            if position.State is MessagePositionState.LOCKED:
                message = position.MessageReference
                requested = message.AcknowledgementsRequested & ~MessagePropertiesHeader.flags(NR=1)
                position.MessageReference = replace(message, AcknowledgementsRequested=requested)
        result: Result | None = super().delete(queue, token, done)
        return result


@fault("receiver-transactional-message-of-deleted-queue-acknowledged-as-purged", breaks="MQDMPR-3.1.7.1.4-05")
class ReceiverTransactionalMessageOfDeletedQueueAcknowledgedAsPurged(MessagePositions):
    """The receiver reports a transactional message of a deleted queue as purged."""

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        deleted = reason is MessageClass.MQMSG_CLASS_NACK_Q_DELETED
        if deleted and position.MessageReference.TransactionIdentifier is not None:
            reason = MessageClass.MQMSG_CLASS_NACK_Q_PURGED
        super().delete_message(position, reason)


@fault("receiver-later-messages-of-deleted-queue-not-acknowledged", breaks="MQDMPR-3.1.7.1.4-05")
class ReceiverLaterMessagesOfDeletedQueueNotAcknowledged(QueueLifecycle):
    """The receiver sends a negative acknowledgment for only the first message of a deleted queue."""

    def delete(self, queue: Queue, token: int | None, done: Callable[[], Result]) -> Result | None:
        for position in list(queue.MessagePositionList)[1:]:
            queue.MessagePositionList.remove(position)
        return super().delete(queue, token, done)


@fault("only-first-message-of-deleted-queue-is-reported", breaks="MQDMPR-3.1.7.1.4-05")
class OnlyFirstMessageOfDeletedQueueIsReported(MessagePositions):
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
class LockedMessageOfDeletedQueueIsNotReported(MessagePositions):
    """A message that a reader has locked when its queue is deleted causes no negative acknowledgment."""

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        deleted = reason is MessageClass.MQMSG_CLASS_NACK_Q_DELETED
        if deleted and position.State is MessagePositionState.LOCKED:
            position.QueueReference.MessagePositionList.remove(position)
            position.State = MessagePositionState.DELETED
        else:
            super().delete_message(position, reason)


@fault("deleted-queue-handles-refer-to-new-queue-of-same-name", breaks="MQDMPR-3.1.7.1.4-10")
class DeletedQueueHandlesReferToNewQueueOfSameName(QueueLifecycle):
    """An open handle of a deleted queue refers to a new queue with the same name."""

    def delete(self, queue: Queue, token: int | None, done: DeletionCallback) -> Result | None:
        openings = dict(queue.OpenQueueDescriptorCollection)

        def restore_queue_references() -> Result:
            for one in openings.values():
                one.QueueReference = queue
            return done()

        return super().delete(queue, token, restore_queue_references)

    def add(self, queue: Queue) -> None:
        super().add(queue)
        for one in self.qm.descriptors.values():
            if one.QueueReference is not None and one.QueueReference.Pathname == queue.Pathname:
                one.QueueReference = queue


@fault("queue-manager-delete-queue-invalidates-first-handle-only", breaks="MQDMPR-3.1.7.1.4-10")
class QueueManagerDeleteQueueInvalidatesFirstHandleOnly(QueueLifecycle):
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


@fault("deleted-queue-invalidates-only-handle-opened-first", breaks="MQDMPR-3.1.7.1.4-10")
class DeletedQueueInvalidatesOnlyHandleOpenedFirst(QueueLifecycle):
    """When a queue is deleted, the queue manager invalidates only the handle that was opened first."""

    def _close_descriptors(self, queue: Queue) -> None:
        later = dict(list(queue.OpenQueueDescriptorCollection.items())[1:])
        for handle in later:
            del queue.OpenQueueDescriptorCollection[handle]
        super()._close_descriptors(queue)
        queue.OpenQueueDescriptorCollection = later


@fault("deleted-queue-handle-of-subqueue-stays-valid", breaks="MQDMPR-3.1.7.1.4-10", blind=True)
class DeletedQueueHandleOfSubqueueStaysValid(QueueLifecycle):
    """After the deletion of a queue, handles of its subqueues still refer to the subqueues."""

    def _close_descriptors(self, queue: Queue) -> None:
        if queue.parent is None:
            super()._close_descriptors(queue)


@fault("deleted-queue-handle-with-peek-access-stays-valid", breaks="MQDMPR-3.1.7.1.4-10", blind=True)
class DeletedQueueHandleWithPeekAccessStaysValid(QueueLifecycle):
    """After the deletion of a queue, handles with PeekAccess still refer to the queue."""

    def _close_descriptors(self, queue: Queue) -> None:
        kept: dict[int, OpenQueueDescriptor] = {
            handle: one for handle, one in queue.OpenQueueDescriptorCollection.items() if one.AccessType.name == "PEEK"
        }
        for handle in kept:
            del queue.OpenQueueDescriptorCollection[handle]
        super()._close_descriptors(queue)


@fault("deleted-queue-only-emptied", breaks="MQDMPR-3.1.7.1.4-11")
class DeletedQueueOnlyEmptied(QueueLifecycle):
    """When a queue is deleted, the queue manager deletes the queue's messages, but keeps the queue."""

    def forget(self, queue: Queue) -> None:
        """Keep the queue instead of removing it."""


@fault("queue-manager-deleted-queue-listed-after-restart", breaks="MQDMPR-3.1.7.1.4-11")
class QueueManagerDeletedQueueListedAfterRestart(QueueLifecycle):
    """After a restart, the queue manager restores a deleted queue."""

    def _build_deletion(self, queue: Queue) -> Change:
        change = super()._build_deletion(queue)
        return {name: value for name, value in change.items() if not name.startswith("queue:")}


@fault("deleted-queue-with-open-handle-keeps-name", breaks="MQDMPR-3.1.7.1.4-11")
class DeletedQueueWithOpenHandleKeepsName(QueueLifecycle):
    """When an open queue is deleted, the queue manager keeps its name: the queue stays listed and receives messages."""

    def delete(self, queue: Queue, token: int | None, done: Callable[[], Result]) -> Result | None:
        self.was_open_at_deletion = bool(queue.OpenQueueDescriptorCollection)
        return super().delete(queue, token, done)

    def forget(self, queue: Queue) -> None:
        if not self.was_open_at_deletion:
            super().forget(queue)

    was_open_at_deletion = False


@fault("deletion-of-queue-also-deletes-queues-with-longer-names", breaks="MQDMPR-3.1.7.1.4-11", blind=True)
class DeletionOfQueueAlsoDeletesQueuesWithLongerNames(QueueLifecycle):
    """When a queue is deleted, the queue manager also deletes the queues whose names begin with the name
    of this queue.
    """

    def forget(self, queue: Queue) -> None:
        super().forget(queue)
        for name in list(self.qm.adm.QueueCollection):
            if queue.parent is None and name.startswith(queue.Pathname.lower()):
                del self.qm.adm.QueueCollection[name]


@fault("deleted-public-queue-directory-object-stays", breaks="MQDMPR-3.1.7.1.4-13")
class DeletedPublicQueueDirectoryObjectStays(PublicQueuePublishing):
    """When a public queue is deleted, the queue manager leaves the queue's directory object."""

    def delete_published_queue(self, queue: Queue, withdrawn: StatusCallback) -> None:
        withdrawn(Status.MQ_OK)


@fault("deletion-of-public-queue-deletes-other-directory-objects", breaks="MQDMPR-3.1.7.1.4-14")
class DeletionOfPublicQueueDeletesOtherDirectoryObjects(PublicQueuePublishing):
    """When a public queue is deleted, the queue manager also deletes the directory objects of all public queues that
    are listed before it.
    """

    def delete_published_queue(self, queue: Queue, withdrawn: StatusCallback) -> None:
        others = [one for one in self._list_public_queues() if one.Pathname < queue.Pathname]

        def delete_another_object(status: Status) -> None:
            if others:
                super(DeletionOfPublicQueueDeletesOtherDirectoryObjects, self).delete_published_queue(
                    others.pop(), delete_another_object
                )
            else:
                withdrawn(status)

        super().delete_published_queue(queue, delete_another_object)


@fault("public-queue-deleted-while-directory-offline", breaks="MQDMPR-3.1.7.1.4-16")
class PublicQueueDeletedWhileDirectoryOffline(PublicQueuePublishing):
    """The queue manager deletes a public queue and returns success although the directory does not answer."""

    def delete_published_queue(self, queue: Queue, withdrawn: StatusCallback) -> None:
        super().delete_published_queue(queue, lambda status: withdrawn(Status.MQ_OK))


@fault("public-queue-emptied-by-refused-deletion", breaks="MQDMPR-3.1.7.1.4-16", blind=True)
class PublicQueueEmptiedByRefusedDeletion(PublicQueuePublishing):
    """When the directory does not delete the object of a public queue, the queue loses its messages."""

    def delete_published_queue(self, queue: Queue, withdrawn: StatusCallback) -> None:
        def remove_messages_after_refusal(status: Status) -> None:
            for position in list(queue.MessagePositionList) if status is not Status.MQ_OK else ():
                queue.MessagePositionList.remove(position)
            withdrawn(status)

        super().delete_published_queue(queue, remove_messages_after_refusal)


@fault("public-queue-handles-closed-by-refused-deletion", breaks="MQDMPR-3.1.7.1.4-16", blind=True)
class PublicQueueHandlesClosedByRefusedDeletion(PublicQueuePublishing):
    """When the directory does not delete the object of a public queue, the open handles of the queue become invalid."""

    def delete_published_queue(self, queue: Queue, withdrawn: StatusCallback) -> None:
        def close_handles_after_refusal(status: Status) -> None:
            for descriptor in list(queue.OpenQueueDescriptorCollection.values()) if status is not Status.MQ_OK else ():
                self.qm.queue_opening.close_queue(descriptor)
            withdrawn(status)

        super().delete_published_queue(queue, close_handles_after_refusal)


@fault("delete-of-open-queue-returns-error", breaks="MQDMPR-3.1.7.1.4-17")
class DeleteOfOpenQueueReturnsError(QueueLifecycle):
    """The queue manager deletes an open queue, but returns an error."""

    def delete(self, queue: Queue, token: int | None, done: DeletionCallback) -> Result | None:
        if not queue.Active:
            return super().delete(queue, token, done)
        super().delete(queue, None, done)
        raise CommandError(f"{queue.Pathname!a} was open")


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


@fault("receiver-locked-message-of-deleted-queue-reported-as-purged", breaks="MQDMPR-3.1.7.1.4-05", blind=True)
class ReceiverLockedMessageOfDeletedQueueReportedAsPurged(MessagePositions):
    """The acknowledgment for a message that a reader had locked when its queue was deleted has the class
    NACK_Q_PURGED.
    """

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        locked = position.State is MessagePositionState.LOCKED and not position.is_disk_write_pending
        if locked and reason is MessageClass.MQMSG_CLASS_NACK_Q_DELETED:
            reason = MessageClass.MQMSG_CLASS_NACK_Q_PURGED
        super().delete_message(position, reason)


@fault("queue-manager-keeps-directory-object-of-deleted-nonempty-queue", breaks="MQDMPR-3.1.7.1.4-13", blind=True)
class QueueManagerKeepsDirectoryObjectOfDeletedNonemptyQueue(PublicQueuePublishing):
    """When a public queue that contains messages is deleted, the queue manager leaves the queue's directory object."""

    def delete_published_queue(self, queue: Queue, withdrawn: StatusCallback) -> None:
        if len(queue.MessagePositionList):
            withdrawn(Status.MQ_OK)
        else:
            super().delete_published_queue(queue, withdrawn)


@fault("queue-manager-keeps-directory-object-of-second-deleted-queue", breaks="MQDMPR-3.1.7.1.4-13", blind=True)
class QueueManagerKeepsDirectoryObjectOfSecondDeletedQueue(PublicQueuePublishing):
    """The queue manager deletes the directory object of only the first public queue that is deleted."""

    def delete_published_queue(self, queue: Queue, withdrawn: StatusCallback) -> None:
        if self.__dict__.get("deleted"):
            withdrawn(Status.MQ_OK)
            return
        self.__dict__["deleted"] = True
        super().delete_published_queue(queue, withdrawn)


@fault("queue-manager-keeps-directory-object-of-deleted-labeled-queue", breaks="MQDMPR-3.1.7.1.4-13", blind=True)
class QueueManagerKeepsDirectoryObjectOfDeletedLabeledQueue(PublicQueuePublishing):
    """When a transactional public queue with a label is deleted, the queue manager leaves its directory object."""

    def delete_published_queue(self, queue: Queue, withdrawn: StatusCallback) -> None:
        if queue.Transactional and queue.Label:
            withdrawn(Status.MQ_OK)
        else:
            super().delete_published_queue(queue, withdrawn)


def _delete_directory_object_first(queue: Queue | None, done: Callable[[], None], delete: Any) -> None:
    """Delete the directory object of another queue before the deletion that an administrator requested."""
    if queue is None:
        done()
    else:
        delete(queue, lambda status: done())


@fault("queue-manager-deletion-removes-directory-object-of-next-queue", breaks="MQDMPR-3.1.7.1.4-14", blind=True)
class QueueManagerDeletionRemovesDirectoryObjectOfNextQueue(PublicQueuePublishing):
    """When a public queue is deleted, the queue manager also deletes the directory object of the public queue that was
    created after the deleted queue.
    """

    def delete_published_queue(self, queue: Queue, withdrawn: StatusCallback) -> None:
        queues = self._list_public_queues()
        later = queues[queues.index(queue) + 1 :] if queue in queues else []
        delete = super().delete_published_queue
        _delete_directory_object_first(later[0] if later else None, lambda: delete(queue, withdrawn), delete)


@fault("queue-manager-deletion-removes-directory-object-of-equal-label", breaks="MQDMPR-3.1.7.1.4-14", blind=True)
class QueueManagerDeletionRemovesDirectoryObjectOfEqualLabel(PublicQueuePublishing):
    """When a public queue is deleted, the queue manager also deletes the directory object of a public queue with the
    same label.
    """

    def delete_published_queue(self, queue: Queue, withdrawn: StatusCallback) -> None:
        same = [one for one in self._list_public_queues() if one is not queue and one.Label == queue.Label]
        delete = super().delete_published_queue
        _delete_directory_object_first(same[0] if same else None, lambda: delete(queue, withdrawn), delete)


@fault("queue-manager-private-queue-deletion-removes-directory-object", breaks="MQDMPR-3.1.7.1.4-14", blind=True)
class QueueManagerPrivateQueueDeletionRemovesDirectoryObject(QueueLifecycle):
    """When a private queue is deleted, the queue manager deletes the directory object of the public queue that was
    created last.
    """

    def delete(self, queue: Queue, token: int | None, done: Callable[[], Result]) -> Result | None:
        public = [one for one in self.qm.adm.QueueCollection.values() if one.QueueType is QueueType.PUBLIC]
        if queue.QueueType is QueueType.PRIVATE and queue.parent is None and public:
            self.qm.public_queue_publishing.delete_published_queue(public[-1], lambda status: None)
        return super().delete(queue, token, done)
