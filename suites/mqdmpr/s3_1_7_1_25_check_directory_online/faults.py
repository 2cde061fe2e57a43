"""Faults of MS-MQDMPR 3.1.7.1.25 Check Directory Online."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.made_up import OTHER_GUID
from harness.faults.parts import fault
from harness.faults.primitives import skip
from harness.faults.registry import add
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.queueing.publishing import Publishing
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered

QUEUES_READ = ("MQDMPR-3.1.7.1.25-12", "MQDMPR-3.1.7.1.25-18")


@fault("directory-not-asked-while-offline", breaks="MQDMPR-3.1.7.1.25-03")
class NotAskedWhileOffline(DirectoryClient):
    """Whether the directory is back is looked up without asking it: what is offline stays offline."""

    def _check_online(self, answer: DirectoryAnswered, now: Now) -> None:
        self.watch(now)


@fault("asks-for-another-queue-manager", breaks="MQDMPR-3.1.7.1.25-06")
class AsksForAnother(DirectoryClient):
    """To see whether the directory is back, an object with another GUID is asked for, which it does not have."""

    def _check_online(self, answer: DirectoryAnswered, now: Now) -> None:
        state = self.qm.enterprise.state
        own = state.LocalQueueManager
        state.LocalQueueManager = replace(own, Identifier=OTHER_GUID)
        super()._check_online(answer, now)
        state.LocalQueueManager = own


@fault("own-attributes-not-taken-over", breaks="MQDMPR-3.1.7.1.25-10")
class OwnAttributesNotTakenOver(DirectoryClient):
    """When the directory is back, the queue manager stays as it was."""

    def _take_over_attributes(self) -> None:
        """Leave it out."""


add(
    "queues-not-read-when-the-directory-is-back",
    QUEUES_READ,
    "When the directory is back, the public queues stay as they were.",
    skip(Publishing.take_over_published),
)


@fault("all-queues-read-by-one-identifier", breaks="MQDMPR-3.1.7.1.25-15")
class ReadByOneIdentifier(Publishing):
    """Every public queue takes over the attributes of the object of the first one."""

    def take_over_published(self) -> None:
        super().take_over_published()
        queues = self._list_public_queues()
        for queue in queues:
            queue.Label = queues[0].Label


@fault("only-quotas-taken-over", breaks="MQDMPR-3.1.7.1.25-18")
class OnlyQuotasTakenOver(Publishing):
    """When the directory is back, the labels of the public queues stay as they were."""

    def take_over_published(self) -> None:
        labels = {queue.Pathname: queue.Label for queue in self._list_public_queues()}
        super().take_over_published()
        for queue in self._list_public_queues():
            queue.Label = labels[queue.Pathname]


@fault("offline-for-ever", breaks="MQDMPR-3.1.7.1.25-11")
class OfflineForEver(DirectoryClient):
    """DirectoryOffline stays True when the directory has answered."""

    def _check_online(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._check_online(answer, now)
        self.qm.enterprise.state.DirectoryOffline = True


@fault("directory-online-timer-runs-once", breaks="MQDMPR-3.1.7.1.25-20")
class TimerRunsOnce(DirectoryClient):
    """The Directory Online Timer is not started again when it expired and the directory was not back."""

    expired = False

    def on_directory_online_timer(self, now: Now) -> None:
        self.expired = True
        super().on_directory_online_timer(now)

    def watch(self, now: Now) -> None:
        if not self.expired:
            super().watch(now)
