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

QUEUE_UPDATE_RULES = ("MQDMPR-3.1.7.1.25-12", "MQDMPR-3.1.7.1.25-18")


@fault("directory-online-check-uses-local-copy", breaks="MQDMPR-3.1.7.1.25-03")
class DirectoryOnlineCheckUsesLocalCopy(DirectoryClient):
    """When the queue manager checks whether the directory is available again, it does not query the directory, and so
    stays offline.
    """

    def _check_online(self, answer: DirectoryAnswered, now: Now) -> None:
        self.watch(now)


@fault("directory-online-check-reads-unknown-object", breaks="MQDMPR-3.1.7.1.25-06")
class DirectoryOnlineCheckReadsUnknownObject(DirectoryClient):
    """The queue manager reads an object with an unknown identifier to find out whether the directory is available
    again.
    """

    def _check_online(self, answer: DirectoryAnswered, now: Now) -> None:
        state = self.qm.enterprise.state
        own = state.LocalQueueManager
        state.LocalQueueManager = replace(own, Identifier=OTHER_GUID)
        super()._check_online(answer, now)
        state.LocalQueueManager = own


@fault("directory-online-check-ignores-own-attributes", breaks="MQDMPR-3.1.7.1.25-10")
class DirectoryOnlineCheckIgnoresOwnAttributes(DirectoryClient):
    """When the directory is available again, the queue manager keeps its old attributes."""

    def _take_over_attributes(self) -> None:
        """Do nothing."""


add(
    "directory-online-check-ignores-queues",
    QUEUE_UPDATE_RULES,
    "When the directory is available again, the queue manager keeps the old attributes of its public queues.",
    skip(Publishing.update_public_queues),
)


@fault("directory-online-check-reads-first-queue-for-all", breaks="MQDMPR-3.1.7.1.25-15")
class DirectoryOnlineCheckReadsFirstQueueForAll(Publishing):
    """The queue manager copies the attributes of the first public queue's object to all its public queues."""

    def update_public_queues(self) -> None:
        super().update_public_queues()
        queues = self._list_public_queues()
        for queue in queues:
            queue.Label = queues[0].Label


@fault("directory-online-check-ignores-queue-labels", breaks="MQDMPR-3.1.7.1.25-18")
class DirectoryOnlineCheckIgnoresQueueLabels(Publishing):
    """When the directory is available again, the queue manager keeps the old labels of its public queues."""

    def update_public_queues(self) -> None:
        labels = {queue.Pathname: queue.Label for queue in self._list_public_queues()}
        super().update_public_queues()
        for queue in self._list_public_queues():
            queue.Label = labels[queue.Pathname]


@fault("directory-offline-stays-true", breaks="MQDMPR-3.1.7.1.25-11")
class DirectoryOfflineStaysTrue(DirectoryClient):
    """The queue manager leaves DirectoryOffline True after the directory has answered."""

    def _check_online(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._check_online(answer, now)
        self.qm.enterprise.state.DirectoryOffline = True


@fault("directory-online-timer-not-restarted", breaks="MQDMPR-3.1.7.1.25-20")
class DirectoryOnlineTimerNotRestarted(DirectoryClient):
    """The queue manager does not restart the Directory Online Timer if the directory is still unavailable when the
    timer expires.
    """

    expired = False

    def on_directory_online_timer(self, now: Now) -> None:
        self.expired = True
        super().on_directory_online_timer(now)

    def watch(self, now: Now) -> None:
        if not self.expired:
            super().watch(now)
