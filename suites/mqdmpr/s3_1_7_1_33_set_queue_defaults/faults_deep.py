"""Faults of MS-MQDMPR 3.1.7.1.33 Set Queue Defaults that only special cases reveal: a second queue, and
public queues.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.queueing.queues import OnCreated, Queues
from reference_qm.directory.enums import PrivacyLevel
from reference_qm.model.adm import Queue
from reference_qm.model.attributes import UNLIMITED
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import CreateQueue

DEFAULT_RULES = ("MQDMPR-3.1.7.1.33-03", "MQDMPR-3.1.7.1.33-D01")


@fault("queue-manager-default-of-public-queue-journaling", breaks=DEFAULT_RULES, blind=True)
class QueueManagerDefaultOfPublicQueueJournaling(QueueCommands):
    """The queue manager sets Journaling of a public queue to True if the creator does not supply Journaling."""

    def create_queue(self, request: CreateQueue, token: int, now: Now) -> None:
        public = "private$" not in request.name.lower() and ";" not in request.name
        bare = request == CreateQueue(request.name)
        super().create_queue(replace(request, journaling=True) if public and bare else request, token, now)


@fault("queue-manager-default-journal-quota-is-quota", breaks=DEFAULT_RULES, blind=True)
class QueueManagerDefaultJournalQuotaIsQuota(QueueCommands):
    """If the creator of a queue supplies a Quota but no JournalQuota, the queue manager uses the Quota
    as JournalQuota.
    """

    def create_queue(self, request: CreateQueue, token: int, now: Now) -> None:
        if request.journal_quota_kb == CreateQueue(request.name).journal_quota_kb:
            request = replace(request, journal_quota_kb=request.quota_kb)
        super().create_queue(request, token, now)


@fault("queue-manager-default-journaling-of-transactional-queue", breaks=DEFAULT_RULES, blind=True)
class QueueManagerDefaultJournalingOfTransactionalQueue(QueueCommands):
    """The queue manager sets Journaling of a transactional queue to True if the creator does not supply Journaling."""

    def create_queue(self, request: CreateQueue, token: int, now: Now) -> None:
        bare = request == CreateQueue(request.name, transactional=True)
        super().create_queue(replace(request, journaling=True) if bare else request, token, now)


@fault("queue-without-label-gets-label-of-queue-created-before", breaks="MQDMPR-3.1.7.1.33-03")
class QueueWithoutLabelGetsLabelOfQueueCreatedBefore(Queues):
    """A queue that is created without a label gets the label of the previously created queue."""

    def create(self, queue: Queue, utc_s: int, created: OnCreated, skip_directory: bool = False) -> None:
        queue.Label = queue.Label or getattr(self, "label", "")
        self.label = queue.Label
        super().create(queue, utc_s, created, skip_directory)


@fault("transactional-queue-has-journal-quota-zero-by-default", breaks="MQDMPR-3.1.7.1.33-D01")
class TransactionalQueueHasJournalQuotaZeroByDefault(Queues):
    """The JournalQuota of a transactional queue is 0 by default."""

    def create(self, queue: Queue, utc_s: int, created: OnCreated, skip_directory: bool = False) -> None:
        if queue.Transactional and queue.JournalQuota == UNLIMITED:
            queue.JournalQuota = 0
        super().create(queue, utc_s, created, skip_directory)


@fault("public-queue-has-privacy-none-by-default", breaks="MQDMPR-3.1.7.1.33-D01")
class PublicQueueHasPrivacyNoneByDefault(Queues):
    """The PrivacyLevel of a public queue is None by default."""

    def create(self, queue: Queue, utc_s: int, created: OnCreated, skip_directory: bool = False) -> None:
        if "\\" not in queue.Pathname and queue.PrivacyLevel is PrivacyLevel.OPTIONAL:
            queue.PrivacyLevel = PrivacyLevel.NONE
        super().create(queue, utc_s, created, skip_directory)
