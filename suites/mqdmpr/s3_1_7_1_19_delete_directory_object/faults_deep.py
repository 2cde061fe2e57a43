"""Faults of MS-MQDMPR 3.1.7.1.19 Delete Directory Object that only special cases reveal: several queues, and other
kinds of queues.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.queueing.publishing import OnStatus, Publishing
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status


@fault("directory-object-of-transactional-queue-stays", breaks="MQDMPR-3.1.7.1.19-07", blind=True)
class DirectoryObjectOfTransactionalQueueStays(Publishing):
    """When a transactional public queue is deleted, the queue manager leaves the queue's directory object."""

    def withdraw(self, queue: Queue, withdrawn: OnStatus) -> None:
        if queue.Transactional:
            withdrawn(Status.MQ_OK)
            return
        super().withdraw(queue, withdrawn)


@fault("queue-manager-deletion-of-queue-deletes-object-of-other-queue", breaks="MQDMPR-3.1.7.1.19-07", blind=True)
class QueueManagerDeletionOfQueueDeletesObjectOfOtherQueue(Publishing):
    """When a public queue is deleted, the queue manager deletes the directory object of the public queue that was
    created first.
    """

    def withdraw(self, queue: Queue, withdrawn: OnStatus) -> None:
        super().withdraw(self._list_public_queues()[0], withdrawn)


@fault("queue-manager-deletion-without-directory-purges-queue", breaks="MQDMPR-3.1.7.1.19-11", blind=True)
class QueueManagerDeletionWithoutDirectoryPurgesQueue(Publishing):
    """While the directory is unavailable, the queue manager refuses to delete a public queue, but deletes the messages
    of the queue.
    """

    def withdraw(self, queue: Queue, withdrawn: OnStatus) -> None:
        def purge_after_failure(status: Status) -> None:
            if status is not Status.MQ_OK:
                for position in list(queue.MessagePositionList):
                    self.qm.positions.delete_message(position, MessageClass.MQMSG_CLASS_NACK_Q_DELETED)
            withdrawn(status)

        super().withdraw(queue, purge_after_failure)


@fault("deleted-transactional-public-queue-not-notified", breaks="MQDMPR-3.1.7.1.19-03")
class DeletedTransactionalPublicQueueNotNotified(Publishing):
    """The queue manager raises no change notification when it deletes a transactional public queue."""

    def withdraw(self, queue: Queue, withdrawn: OnStatus) -> None:
        state = self.qm.enterprise.state
        notifies = state.notifies
        state.notifies = notifies and not queue.Transactional
        super().withdraw(queue, withdrawn)
        state.notifies = notifies


@fault("failed-deletion-of-second-queue-reported-as-done", breaks=("MQDMPR-3.1.7.1.19-11", "MQDMPR-3.1.7.1.19-13"))
class FailedDeletionOfSecondQueueReportedAsDone(Publishing):
    """When a second deletion does not reach the directory, the queue manager reports success."""

    def withdraw(self, queue: Queue, withdrawn: OnStatus) -> None:
        def report(status: Status) -> None:
            failed_before, self.failed = getattr(self, "failed", False), status is not Status.MQ_OK
            withdrawn(Status.MQ_OK if failed_before else status)

        super().withdraw(queue, report)
