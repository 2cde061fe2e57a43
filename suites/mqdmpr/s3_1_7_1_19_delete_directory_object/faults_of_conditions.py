"""Faults that break the rule MQDMPR-3.1.7.1.19-13 only under certain conditions."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.queueing.public_queue_publishing import PublicQueuePublishing, StatusCallback
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status


@fault("queue-manager-failed-deletion-of-transactional-queue-succeeds", breaks="MQDMPR-3.1.7.1.19-13", blind=True)
class QueueManagerFailedDeletionOfTransactionalQueueSucceeds(PublicQueuePublishing):
    """The deletion of the directory object of a transactional queue succeeds even if the directory is unavailable."""

    def delete_published_queue(self, queue: Queue, withdrawn: StatusCallback) -> None:
        super().delete_published_queue(
            queue, (lambda status: withdrawn(Status.MQ_OK)) if queue.Transactional else withdrawn
        )


@fault("queue-manager-second-failed-deletion-succeeds", breaks="MQDMPR-3.1.7.1.19-13", blind=True)
class QueueManagerSecondFailedDeletionSucceeds(PublicQueuePublishing):
    """A second deletion of a directory object succeeds even if the directory is still unavailable."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.failed: set[str] = set()

    def delete_published_queue(self, queue: Queue, withdrawn: StatusCallback) -> None:
        again = queue.Pathname in self.failed

        def report_deletion(status: Status) -> None:
            if status is not Status.MQ_OK:
                self.failed.add(queue.Pathname)
            withdrawn(Status.MQ_OK if again else status)

        super().delete_published_queue(queue, report_deletion)


@fault("queue-manager-deletion-after-return-of-directory-fails", breaks="MQDMPR-3.1.7.1.19-13", blind=True)
class QueueManagerDeletionAfterReturnOfDirectoryFails(PublicQueuePublishing):
    """After a deletion that did not reach the directory, every later deletion fails, although the directory carries it
    out.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.has_failed = False

    def delete_published_queue(self, queue: Queue, withdrawn: StatusCallback) -> None:
        def report_deletion(status: Status) -> None:
            failed, self.has_failed = self.has_failed, self.has_failed or status is not Status.MQ_OK
            withdrawn(Status.MQ_ERROR_NO_DS if failed else status)

        super().delete_published_queue(queue, report_deletion)
