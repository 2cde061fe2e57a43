"""Faults that break rules of MS-MQDMPR 3.1.7.1.18 Create Directory Object."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from reference_qm import directory
from reference_qm.core.queueing.publishing import OnStatus, Publishing
from reference_qm.core.store.directory_link import DirectoryLink
from reference_qm.directory import Change
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.interface import Create
from reference_qm.directory.state import ChangeOperation
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status
from reference_qm.surface.inputs import DirectoryAnswered


@fault("queue-manager-failed-queue-creation-not-notified", breaks="MQDMPR-3.1.7.1.18-02", blind=True)
class QueueManagerFailedQueueCreationNotNotified(DirectoryLink):
    """The queue manager generates Send Change Notification for the creation of a public queue only after the
    directory has created the object.
    """

    def write(self, change: Change, answered: Callable[[DirectoryAnswered], None]) -> None:
        state = self.qm.enterprise.state
        early = [one for one in state.notifications if one.iDirectoryObject is change.element]
        if not (early and isinstance(change, Create) and isinstance(change.element, directory.Queue)):
            super().write(change, answered)
            return
        state.notifications.remove(early[-1])

        def notify_of_success(answer: DirectoryAnswered) -> None:
            if answer.status is Result.SUCCESS:
                state.notify(ChangeOperation.QUEUE_CREATION, change.element)
            answered(answer)

        super().write(change, notify_of_success)


@fault("queue-manager-existing-directory-object-taken-as-created", breaks="MQDMPR-3.1.7.1.18-D04", blind=True)
class QueueManagerExistingDirectoryObjectTakenAsCreated(Publishing):
    """If the directory already has an object for a new public queue, the queue manager uses that object and reports
    success.
    """

    def publish(self, queue: Queue, published: OnStatus) -> None:
        def use_existing_object(status: Status) -> None:
            exists = status is Status.MQ_ERROR_QUEUE_EXISTS and self.use_published_identifier(queue)
            published(Status.MQ_OK if exists else status)

        super().publish(queue, use_existing_object)
