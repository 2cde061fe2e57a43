"""Faults that break rules of MS-MQDMPR 3.1.7.1.25 Check Directory Online."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.made_up import MADE_UP_GUID
from harness.faults.parts import fault
from harness.faults.primitives import omit_step
from harness.faults.registry import add
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.queueing.public_queue_publishing import ATTRIBUTES_SHARED_WITH_DIRECTORY, PublicQueuePublishing
from reference_qm.model.adm import Queue
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered


@fault("directory-online-check-uses-local-copy", breaks="MQDMPR-3.1.7.1.25-03")
class DirectoryOnlineCheckUsesLocalCopy(DirectoryClient):
    """When the queue manager checks whether the directory is available again, it does not query the directory, and so
    stays offline.
    """

    def _check_directory_online(self, answer: DirectoryAnswered, now: Now) -> None:
        self.start_online_timer_if_offline(now)


@fault("directory-online-check-reads-unknown-object", breaks="MQDMPR-3.1.7.1.25-06")
class DirectoryOnlineCheckReadsUnknownObject(DirectoryClient):
    """The queue manager reads an object with an unknown identifier to find out whether the directory is available
    again.
    """

    def _check_directory_online(self, answer: DirectoryAnswered, now: Now) -> None:
        state = self.qm.enterprise.state
        own = state.LocalQueueManager
        state.LocalQueueManager = replace(own, Identifier=MADE_UP_GUID)
        super()._check_directory_online(answer, now)
        state.LocalQueueManager = own


@fault("directory-online-check-ignores-own-attributes", breaks="MQDMPR-3.1.7.1.25-10")
class DirectoryOnlineCheckIgnoresOwnAttributes(DirectoryClient):
    """When the directory is available again, the queue manager keeps its old attributes."""

    def _copy_attributes_of_own_object(self) -> None:
        """Leave the attributes of the queue manager unchanged."""


@fault("directory-online-check-updates-quota-to-lower-value-only", breaks="MQDMPR-3.1.7.1.25-10", blind=True)
class DirectoryOnlineCheckUpdatesQuotaToLowerValueOnly(DirectoryClient):
    """When the directory is available again, the queue manager ignores its new QueueManagerQuota if it is higher."""

    def _copy_attributes_of_own_object(self) -> None:
        before = self.qm.adm.QueueManagerQuota
        super()._copy_attributes_of_own_object()
        self.qm.adm.QueueManagerQuota = min(before, self.qm.adm.QueueManagerQuota)


@fault("directory-offline-stays-true-after-answer-of-directory", breaks="MQDMPR-3.1.7.1.25-11")
class DirectoryOfflineStaysTrueAfterAnswerOfDirectory(DirectoryClient):
    """The queue manager leaves DirectoryOffline True after the directory has answered."""

    def _check_directory_online(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._check_directory_online(answer, now)
        self.qm.enterprise.state.DirectoryOffline = True


@fault("directory-offline-stays-true-after-second-outage", breaks="MQDMPR-3.1.7.1.25-11")
class DirectoryOfflineStaysTrueAfterSecondOutage(DirectoryClient):
    """When the directory is available again after a second outage, the queue manager leaves DirectoryOffline True."""

    def _check_directory_online(self, answer: DirectoryAnswered, now: Now) -> None:
        state = self.qm.enterprise.state
        super()._check_directory_online(answer, now)
        if not state.DirectoryOffline:
            self.outages = getattr(self, "outages", 0) + 1
            state.DirectoryOffline = self.outages > 1


QUEUE_UPDATE_RULES = ("MQDMPR-3.1.7.1.25-12", "MQDMPR-3.1.7.1.25-18")


add(
    "directory-online-check-ignores-queues",
    QUEUE_UPDATE_RULES,
    "When the directory is available again, the queue manager keeps the old attributes of its public queues.",
    omit_step(PublicQueuePublishing.update_public_queues),
)


@fault("directory-online-check-updates-first-queue-only", breaks="MQDMPR-3.1.7.1.25-12")
class DirectoryOnlineCheckUpdatesFirstQueueOnly(PublicQueuePublishing):
    """When the directory is available again, the queue manager reads the object of only its first public queue."""

    def update_public_queues(self) -> None:
        others = self._list_public_queues()[1:]
        kept = [(queue, queue.Label, queue.Quota, queue.Journaling) for queue in others]
        super().update_public_queues()
        for queue, label, quota, journaling in kept:
            queue.Label, queue.Quota, queue.Journaling = label, quota, journaling


@fault(
    "public-queue-objects-not-read-after-second-directory-outage",
    breaks=("MQDMPR-3.1.7.1.25-12", "MQDMPR-3.1.7.1.25-18"),
)
class PublicQueueObjectsNotReadAfterSecondDirectoryOutage(PublicQueuePublishing):
    """The queue manager reads the objects of its public queues only after the first outage of the directory."""

    def update_public_queues(self) -> None:
        if not getattr(self, "updated", False):
            super().update_public_queues()
        self.updated = True


@fault(
    "only-two-public-queue-objects-read-after-directory-outage", breaks=("MQDMPR-3.1.7.1.25-12", "MQDMPR-3.1.7.1.25-15")
)
class OnlyTwoPublicQueueObjectsReadAfterDirectoryOutage(PublicQueuePublishing):
    """When the directory is available again, the queue manager reads the objects of at most two public queues."""

    def update_public_queues(self) -> None:
        self.limited = True
        super().update_public_queues()
        self.limited = False

    def _list_public_queues(self) -> list[Queue]:
        queues = super()._list_public_queues()
        return queues[:2] if getattr(self, "limited", False) else queues


@fault("directory-online-check-copies-first-queue-object-to-all-queues", breaks="MQDMPR-3.1.7.1.25-15")
class DirectoryOnlineCheckCopiesFirstQueueObjectToAllQueues(PublicQueuePublishing):
    """The queue manager copies the attributes of the first public queue's object to all its public queues."""

    def update_public_queues(self) -> None:
        super().update_public_queues()
        queues = self._list_public_queues()
        for queue in queues:
            queue.Label = queues[0].Label


@fault("directory-online-check-ignores-queue-labels", breaks="MQDMPR-3.1.7.1.25-18")
class DirectoryOnlineCheckIgnoresQueueLabels(PublicQueuePublishing):
    """When the directory is available again, the queue manager keeps the old labels of its public queues."""

    def update_public_queues(self) -> None:
        labels = {queue.Pathname: queue.Label for queue in self._list_public_queues()}
        super().update_public_queues()
        for queue in self._list_public_queues():
            queue.Label = labels[queue.Pathname]


@fault("directory-online-check-updates-label-only", breaks="MQDMPR-3.1.7.1.25-18")
class DirectoryOnlineCheckUpdatesLabelOnly(PublicQueuePublishing):
    """When the directory is available again, the queue manager stores only the Label of its public queues."""

    def update_public_queues(self) -> None:
        kept = [(queue, queue.Quota, queue.JournalQuota, queue.BasePriority) for queue in self._list_public_queues()]
        super().update_public_queues()
        for queue, quota, journal_quota, priority in kept:
            queue.Quota, queue.JournalQuota, queue.BasePriority = quota, journal_quota, priority


@fault("directory-online-check-keeps-label-of-transactional-queue", breaks="MQDMPR-3.1.7.1.25-18", blind=True)
class DirectoryOnlineCheckKeepsLabelOfTransactionalQueue(PublicQueuePublishing):
    """When the directory is available again, the queue manager keeps the old attributes of transactional queues."""

    def update_public_queues(self) -> None:
        kept = [(one, one.Label, one.Quota) for one in self._list_public_queues() if one.Transactional]
        super().update_public_queues()
        for queue, label, quota in kept:
            queue.Label, queue.Quota = label, quota


@fault("directory-online-timer-not-restarted", breaks="MQDMPR-3.1.7.1.25-20")
class DirectoryOnlineTimerNotRestarted(DirectoryClient):
    """The queue manager does not restart the Directory Online Timer if the directory is still unavailable when the
    timer expires.
    """

    has_timer_expired = False

    def on_directory_online_timer(self, now: Now) -> None:
        self.has_timer_expired = True
        super().on_directory_online_timer(now)

    def start_online_timer_if_offline(self, now: Now) -> None:
        if not self.has_timer_expired:
            super().start_online_timer_if_offline(now)


@fault("directory-online-timer-restarted-once", breaks="MQDMPR-3.1.7.1.25-20")
class DirectoryOnlineTimerRestartedOnce(DirectoryClient):
    """After the second failed attempt, the queue manager does not restart the Directory Online Timer."""

    def on_directory_online_timer(self, now: Now) -> None:
        self.attempts = getattr(self, "attempts", 0) + 1
        super().on_directory_online_timer(now)

    def start_online_timer_if_offline(self, now: Now) -> None:
        if getattr(self, "attempts", 0) < 2:
            super().start_online_timer_if_offline(now)


@fault("queue-manager-does-not-read-object-of-open-queue-after-outage", breaks="MQDMPR-3.1.7.1.25-12", blind=True)
class QueueManagerDoesNotReadObjectOfOpenQueueAfterOutage(PublicQueuePublishing):
    """When the directory is available again, the queue manager does not read the object of a public queue that is
    open.
    """

    def update_public_queues(self) -> None:
        opened = [queue for queue in self._list_public_queues() if queue.OpenQueueDescriptorCollection]
        before = [{name: getattr(queue, name) for name in ATTRIBUTES_SHARED_WITH_DIRECTORY} for queue in opened]
        super().update_public_queues()
        for queue, values in zip(opened, before, strict=True):
            for name, value in values.items():
                setattr(queue, name, value)
