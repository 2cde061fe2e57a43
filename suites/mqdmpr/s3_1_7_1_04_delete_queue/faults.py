"""Faults of MS-MQDMPR 3.1.7.1.4 Delete Queue."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import MessagePropertiesHeader
from reference_qm.core.errors import CommandError
from reference_qm.core.names.queue_names import queue_with_children
from reference_qm.core.queueing.publishing import OnStatus, Publishing
from reference_qm.core.queueing.queues import Queues
from reference_qm.model.adm import Queue
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.surface.commands import Result

Done = Callable[[], Result]


@fault("deleted-queue-messages-not-acknowledged", breaks="MQDMPR-3.1.7.1.4-05")
class DeletedQueueMessagesNotAcknowledged(Queues):
    """When a queue is deleted, the queue manager deletes the queue's messages without an acknowledgment."""

    def delete(self, queue: Queue, token: int | None, done: Done) -> Result | None:
        for one in queue_with_children(queue):
            for position in list(one.MessagePositionList):
                one.MessagePositionList.remove(position)
        return super().delete(queue, token, done)


@fault("deleted-queue-handles-open-namesake", breaks="MQDMPR-3.1.7.1.4-10")
class DeletedQueueHandlesOpenNamesake(Queues):
    """An open handle of a deleted queue refers to a new queue with the same name."""

    def delete(self, queue: Queue, token: int | None, done: Done) -> Result | None:
        openings = dict(queue.OpenQueueDescriptorCollection)

        def keep_openings() -> Result:
            for one in openings.values():
                one.QueueReference = queue
            return done()

        return super().delete(queue, token, keep_openings)

    def add(self, queue: Queue) -> None:
        super().add(queue)
        for one in self.qm.descriptors.values():
            if one.QueueReference is not None and one.QueueReference.Pathname == queue.Pathname:
                one.QueueReference = queue


@fault("deleted-queue-only-emptied", breaks="MQDMPR-3.1.7.1.4-11")
class DeletedQueueOnlyEmptied(Queues):
    """When a queue is deleted, the queue manager deletes the queue's messages, but keeps the queue."""

    def forget(self, queue: Queue) -> None:
        """Keep the queue instead of removing it."""


@fault("delete-of-open-queue-returns-error", breaks="MQDMPR-3.1.7.1.4-17")
class DeleteOfOpenQueueReturnsError(Queues):
    """The queue manager deletes an open queue, but returns an error."""

    def delete(self, queue: Queue, token: int | None, done: Done) -> Result | None:
        if not queue.Active:
            return super().delete(queue, token, done)
        super().delete(queue, None, done)
        raise CommandError(f"{queue.Pathname!a} was open")


@fault("deleted-public-queue-object-stays", breaks="MQDMPR-3.1.7.1.4-13")
class DeletedPublicQueueObjectStays(Publishing):
    """When a public queue is deleted, the queue manager leaves the queue's directory object."""

    def withdraw(self, queue: Queue, withdrawn: OnStatus) -> None:
        withdrawn(Status.MQ_OK)


@fault("delete-removes-other-directory-objects", breaks="MQDMPR-3.1.7.1.4-14")
class DeleteRemovesOtherDirectoryObjects(Publishing):
    """When a public queue is deleted, the queue manager also deletes the directory objects of all public queues that
    are listed before it.
    """

    def withdraw(self, queue: Queue, withdrawn: OnStatus) -> None:
        others = [one for one in self._list_public_queues() if one.Pathname < queue.Pathname]

        def delete_another_object(status: Status) -> None:
            if others:
                super(DeleteRemovesOtherDirectoryObjects, self).withdraw(others.pop(), delete_another_object)
            else:
                withdrawn(status)

        super().withdraw(queue, delete_another_object)


@fault("public-queue-deleted-offline", breaks="MQDMPR-3.1.7.1.4-16")
class PublicQueueDeletedOffline(Publishing):
    """The queue manager deletes a public queue and returns success although the directory does not answer."""

    def withdraw(self, queue: Queue, withdrawn: OnStatus) -> None:
        super().withdraw(queue, lambda status: withdrawn(Status.MQ_OK))


@fault("message-locked-at-queue-deletion-not-acknowledged", breaks="MQDMPR-3.1.7.1.4-05")
class MessageLockedAtQueueDeletionNotAcknowledged(Queues):
    """The deletion of a queue causes no negative acknowledgment of a message that a reader has locked."""

    def delete(self, queue: Queue, token: int | None, done: Callable[[], Result]) -> Result | None:
        for position in queue.MessagePositionList:
            if position.State is MessagePositionState.LOCKED:
                message = position.MessageReference
                requested = message.AcknowledgementsRequested & ~MessagePropertiesHeader.flags(NR=1)
                position.MessageReference = replace(message, AcknowledgementsRequested=requested)
        result: Result | None = super().delete(queue, token, done)
        return result
