"""Faults that break the rules MQDMPR-3.1.7.1.25-06 to MQDMPR-3.1.7.1.25-15 only under certain conditions: after one
cause, at the second time, or for one of several objects.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.part import QM
from reference_qm.core.queueing.public_queue_publishing import ATTRIBUTES_SHARED_WITH_DIRECTORY, PublicQueuePublishing
from reference_qm.directory import Queue as QueueObject
from reference_qm.directory import build_equality_filter
from reference_qm.model.adm import Queue
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered


@fault("queue-manager-goes-online-although-directory-lacks-its-object", breaks="MQDMPR-3.1.7.1.25-06", blind=True)
class QueueManagerGoesOnlineAlthoughDirectoryLacksItsObject(DirectoryClient):
    """The queue manager regards the directory as available again as soon as the directory answers, even if it has no
    object of the queue manager.
    """

    def _check_directory_online(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._check_directory_online(answer, now)
        enterprise = self.qm.enterprise
        if enterprise.directory.connected:
            enterprise.state.DirectoryOffline = False


@fault("queue-manager-online-check-reads-own-object-by-computer-name", breaks="MQDMPR-3.1.7.1.25-06", blind=True)
class QueueManagerOnlineCheckReadsOwnObjectByComputerName(DirectoryClient):
    """The queue manager reads the object with its own ComputerName to find out whether the directory is available
    again.
    """

    def _check_directory_online(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._check_directory_online(answer, now)
        enterprise = self.qm.enterprise
        name = enterprise.state.LocalQueueManager.ComputerName
        if (
            enterprise.directory.connected
            and enterprise.directory.read("QueueManager", build_equality_filter("ComputerName", name)).rDirectoryObject
        ):
            enterprise.state.DirectoryOffline = False


@fault("queue-manager-stays-offline-while-directory-lacks-its-public-queues", breaks="MQDMPR-3.1.7.1.25-06", blind=True)
class QueueManagerStaysOfflineWhileDirectoryLacksItsPublicQueues(DirectoryClient):
    """The queue manager regards the directory as unavailable as long as the directory contains none of the queue
    manager's public queues.
    """

    def _check_directory_online(self, answer: DirectoryAnswered, now: Now) -> None:
        enterprise = self.qm.enterprise
        published = {one.Identifier for one in enterprise.directory.contents()[1] or () if isinstance(one, QueueObject)}
        own = {queue.Identifier for queue in self.qm.public_queue_publishing._list_public_queues()}
        if not own or own & published:
            super()._check_directory_online(answer, now)


class _DirectoryReturnCounter(DirectoryClient):
    """Count how often the directory becomes available again."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.returns = 0

    def _check_directory_online(self, answer: DirectoryAnswered, now: Now) -> None:
        was_offline = self.qm.enterprise.state.DirectoryOffline
        super()._check_directory_online(answer, now)
        self.returns += was_offline and not self.qm.enterprise.state.DirectoryOffline


@fault("queue-manager-does-not-read-own-attributes-after-second-outage", breaks="MQDMPR-3.1.7.1.25-10", blind=True)
class QueueManagerDoesNotReadOwnAttributesAfterSecondOutage(_DirectoryReturnCounter):
    """When the directory is available again for the second time, the queue manager keeps the old attributes of its own
    object.
    """

    def _check_directory_online(self, answer: DirectoryAnswered, now: Now) -> None:
        state = self.qm.enterprise.state
        kept, again = state.LocalQueueManager, self.returns > 0
        super()._check_directory_online(answer, now)
        if again:
            state.LocalQueueManager = kept

    def _copy_attributes_of_own_object(self) -> None:
        if not self.returns:
            super()._copy_attributes_of_own_object()


@fault("queue-manager-does-not-read-own-quota-after-directory-outage", breaks="MQDMPR-3.1.7.1.25-10", blind=True)
class QueueManagerDoesNotReadOwnQuotaAfterDirectoryOutage(DirectoryClient):
    """When the directory is available again, the queue manager keeps its old QueueManagerQuota."""

    def _check_directory_online(self, answer: DirectoryAnswered, now: Now) -> None:
        state = self.qm.enterprise.state
        kept, local = state.LocalQueueManager.QueueManagerQuota, self.qm.adm.QueueManagerQuota
        super()._check_directory_online(answer, now)
        state.LocalQueueManager = replace(state.LocalQueueManager, QueueManagerQuota=kept)
        self.qm.adm.QueueManagerQuota = local


@fault("queue-manager-stays-offline-after-second-outage", breaks="MQDMPR-3.1.7.1.25-11", blind=True)
class QueueManagerStaysOfflineAfterSecondOutage(_DirectoryReturnCounter):
    """The queue manager sets DirectoryOffline to False only when the directory is available again for the first
    time.
    """

    def _check_directory_online(self, answer: DirectoryAnswered, now: Now) -> None:
        if not self.returns:
            super()._check_directory_online(answer, now)


@fault("queue-manager-stays-offline-if-public-queue-left-directory", breaks="MQDMPR-3.1.7.1.25-11", blind=True)
class QueueManagerStaysOfflineIfPublicQueueLeftDirectory(DirectoryClient):
    """The queue manager does not set DirectoryOffline to False if one of its public queues has left the directory."""

    def _check_directory_online(self, answer: DirectoryAnswered, now: Now) -> None:
        enterprise = self.qm.enterprise
        published = {one.Identifier for one in enterprise.directory.contents()[1] or () if isinstance(one, QueueObject)}
        if all(queue.Identifier in published for queue in self.qm.public_queue_publishing._list_public_queues()):
            super()._check_directory_online(answer, now)


@fault("queue-manager-stays-offline-after-failed-directory-check", breaks="MQDMPR-3.1.7.1.25-11", blind=True)
class QueueManagerStaysOfflineAfterFailedDirectoryCheck(DirectoryClient):
    """The queue manager does not set DirectoryOffline to False if a check has failed before."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.failed = False

    def _check_directory_online(self, answer: DirectoryAnswered, now: Now) -> None:
        if not self.failed:
            super()._check_directory_online(answer, now)
        self.failed = self.failed or self.qm.enterprise.state.DirectoryOffline


class _PublicQueueReadOmitter(PublicQueuePublishing):
    """Keep the old attributes of some public queues when the directory is available again; a subclass selects which."""

    def is_queue_read_again(self, number: int, queue: Queue) -> bool:
        """Return whether the queue manager reads the object of a public queue."""
        return True

    def update_public_queues(self) -> None:
        queues = self._list_public_queues()
        kept = {
            queue.Identifier: {name: getattr(queue, name) for name in ATTRIBUTES_SHARED_WITH_DIRECTORY}
            for number, queue in enumerate(queues)
            if not self.is_queue_read_again(number, queue)
        }
        super().update_public_queues()
        for queue in queues:
            for name, value in kept.get(queue.Identifier, {}).items():
                setattr(queue, name, value)


@fault("queue-manager-reads-only-first-public-queue-after-directory-outage", breaks="MQDMPR-3.1.7.1.25-15", blind=True)
class QueueManagerReadsOnlyFirstPublicQueueAfterDirectoryOutage(_PublicQueueReadOmitter):
    """When the directory is available again, the queue manager reads only the object of its first public queue."""

    def is_queue_read_again(self, number: int, queue: Queue) -> bool:
        return number == 0


@fault("queue-manager-reads-no-transactional-queue-after-directory-outage", breaks="MQDMPR-3.1.7.1.25-15", blind=True)
class QueueManagerReadsNoTransactionalQueueAfterDirectoryOutage(_PublicQueueReadOmitter):
    """When the directory is available again, the queue manager does not read the objects of its transactional public
    queues.
    """

    def is_queue_read_again(self, number: int, queue: Queue) -> bool:
        return not queue.Transactional


@fault("queue-manager-reads-public-queues-only-after-first-directory-outage", breaks="MQDMPR-3.1.7.1.25-15", blind=True)
class QueueManagerReadsPublicQueuesOnlyAfterFirstDirectoryOutage(PublicQueuePublishing):
    """The queue manager reads the objects of its public queues only when the directory is available again for the
    first time.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.read = False

    def update_public_queues(self) -> None:
        if not self.read:
            super().update_public_queues()
        self.read = True
