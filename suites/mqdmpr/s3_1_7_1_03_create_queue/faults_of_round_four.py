"""Faults that break rules of MS-MQDMPR 3.1.7.1.3 Create Queue, written without knowledge of the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import change_core_after_every_input, combine_installers
from harness.faults.registry import add
from reference_qm.core.names.queue_names import JOURNAL_SUFFIX
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.public_queue_publishing import PublicQueuePublishing, StatusCallback
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import Queue
from reference_qm.model.position_list import MessagePositionList
from reference_qm.model.statuses import Status
from reference_qm.security import SecurityDescriptor, Sid


class _JournalOmitterForQueuesWithoutJournaling(QueueLifecycle):
    def add(self, queue: Queue) -> None:
        super().add(queue)
        if not queue.Journaling:
            queue.JournalQueueReference = None


def _create_missing_journals_of_journaling_queues(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        if queue.Journaling and queue.JournalQueueReference is None:
            queue.JournalQueueReference = Queue(
                Pathname=f"{queue.Pathname};{JOURNAL_SUFFIX}",
                QueueType=QueueType.SYSTEM,
                MessagePositionList=MessagePositionList(qm.adm.journal_storage),
                parent=queue,
            )


add(
    "queue-manager-new-queue-without-journaling-journal-missing",
    "MQDMPR-3.1.7.1.3-09",
    "The queue manager creates the journal of a new queue only when journaling is enabled for the queue.",
    combine_installers(
        replace_part(_JournalOmitterForQueuesWithoutJournaling),
        change_core_after_every_input(_create_missing_journals_of_journaling_queues),
    ),
    blind=True,
)


@fault("queue-manager-new-queue-with-capitalized-private-prefix-is-public", breaks="MQDMPR-3.1.7.1.3-D03", blind=True)
class QueueManagerNewQueueWithCapitalizedPrivatePrefixIsPublic(QueueLifecycle):
    """The queue manager gives a new queue the QueueType Public if the prefix private$ of its path name has capital
    letters.
    """

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        status, created = super().create_without_directory(queue, utc_s)
        if created is not None and created.parent is None and not created.Pathname.startswith("private$\\"):
            created.QueueType = QueueType.PUBLIC
        return status, created


@fault("queue-manager-new-public-queue-directory-path-equals-full-path", breaks="MQDMPR-3.1.7.1.3-D05", blind=True)
class QueueManagerNewPublicQueueDirectoryPathEqualsFullPath(PublicQueuePublishing):
    """The queue manager sets the DirectoryPath of a new public queue to the FullPath of its directory object."""

    def publish(self, queue: Queue, published: StatusCallback) -> None:
        def copy_full_path(status: Status) -> None:
            if status is Status.MQ_OK:
                queue.DirectoryPath = queue.FullPath
            published(status)

        super().publish(queue, copy_full_path)


@fault("queue-manager-new-queue-supplied-empty-dacl-replaced-by-default", breaks="MQDMPR-3.1.7.1.3.1-08", blind=True)
class QueueManagerNewQueueSuppliedEmptyDaclReplacedByDefault(QueueLifecycle):
    """The queue manager replaces a supplied DACL that has no entries with the default DACL."""

    def build_security_of_new_queue(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        if supplied is not None and supplied.Dacl is not None and not supplied.Dacl.Aces:
            supplied = replace(supplied, Dacl=None)
        return super().build_security_of_new_queue(supplied, user)
