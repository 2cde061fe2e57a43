"""Faults of round five that break rules of MS-MQDMPR 3.1.1.2 Queue."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.queueing.public_queue_publishing import PublicQueuePublishing, StatusCallback
from reference_qm.directory import events
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status


@fault("queue-manager-journal-of-journaled-public-queue-published", breaks="MQDMPR-3.1.1.2-18", blind=True)
class QueueManagerJournalOfJournaledPublicQueuePublished(PublicQueuePublishing):
    """When the queue manager publishes a public queue whose Journaling is True, it also creates a directory object for
    the journal of this queue.
    """

    def publish(self, queue: Queue, published: StatusCallback) -> None:
        def publish_journal(status: Status) -> None:
            if status is Status.MQ_OK and queue.Journaling:
                element = self._build_element(queue)
                journal = replace(element, Identifier=None, Pathname=f"{element.Pathname};journal")
                self.qm.directory_link.write(
                    events.create_directory_object(self.qm.enterprise.state, journal), lambda answer: None
                )
            published(status)

        super().publish(queue, publish_journal)
