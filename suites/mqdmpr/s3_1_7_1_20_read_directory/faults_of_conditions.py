"""Faults that break the rules MQDMPR-3.1.7.1.20-11 to MQDMPR-3.1.7.1.20-30 only under certain conditions: for one
cause, in one state, or for one of several objects.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec.format_names import PrivateName, PublicName
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.names.next_hops import NextHops
from reference_qm.core.names.queue_paths import QueuePathResult, QueuePaths
from reference_qm.core.part import QM
from reference_qm.core.queueing.public_queue_publishing import PublicQueuePublishing
from reference_qm.directory import Queue, QueueManager
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered


@fault("queue-manager-caches-all-public-queues-for-offline-reads", breaks="MQDMPR-3.1.7.1.20-11", blind=True)
class QueueManagerCachesAllPublicQueuesForOfflineReads(PublicQueuePublishing):
    """While the directory is offline, the queue manager finds all public queues that the directory had when the queue
    manager last created a public queue or synchronized.
    """

    def store_public_queue_attributes(self) -> None:
        super().store_public_queue_attributes()
        state = self.qm.enterprise.state
        elements = self.qm.enterprise.directory.contents()[1] or ()
        own = {queue.Identifier for queue in state.QueueCollection}
        others = tuple(one for one in elements if isinstance(one, Queue) and one.Identifier not in own)
        state.QueueCollection = (*state.QueueCollection, *others)


@fault("queue-manager-offline-finds-first-public-queue-only", breaks="MQDMPR-3.1.7.1.20-13", blind=True)
class QueueManagerOfflineFindsFirstPublicQueueOnly(DirectoryClient):
    """While the directory is offline, the queue manager finds only the first of its public queues."""

    def start_online_timer_if_offline(self, now: Now) -> None:
        super().start_online_timer_if_offline(now)
        state = self.qm.enterprise.state
        if state.DirectoryOffline:
            state.QueueCollection = state.QueueCollection[:1]


@fault("queue-manager-offline-finds-no-public-queue-created-after-start", breaks="MQDMPR-3.1.7.1.20-13", blind=True)
class QueueManagerOfflineFindsNoPublicQueueCreatedAfterStart(PublicQueuePublishing):
    """While the directory is offline, the queue manager finds only the public queues that it had when it started."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: set[object] = set()

    def store_public_queue_attributes(self) -> None:
        super().store_public_queue_attributes()
        state = self.qm.enterprise.state
        self.first = self.first or {queue.Identifier for queue in state.QueueCollection}
        state.QueueCollection = tuple(queue for queue in state.QueueCollection if queue.Identifier in self.first)


@fault("queue-manager-offline-finds-no-transactional-queue", breaks="MQDMPR-3.1.7.1.20-13", blind=True)
class QueueManagerOfflineFindsNoTransactionalQueue(PublicQueuePublishing):
    """While the directory is offline, the queue manager does not find its transactional public queues."""

    def store_public_queue_attributes(self) -> None:
        super().store_public_queue_attributes()
        state = self.qm.enterprise.state
        state.QueueCollection = tuple(queue for queue in state.QueueCollection if not queue.Transactional)


@fault("queue-manager-offline-finds-no-own-object-for-private-journal-name", breaks="MQDMPR-3.1.7.1.20-18", blind=True)
class QueueManagerOfflineFindsNoOwnObjectForPrivateJournalName(QueuePaths):
    """While the directory is offline, the queue manager does not find its own object for the name of a private
    journal.
    """

    def _find_computer_of_private_queue(self, name: PrivateName) -> QueuePathResult:
        if name.Journal and self.qm.enterprise.state.DirectoryOffline:
            return QueuePathResult(Status.MQ_ERROR_ILLEGAL_FORMATNAME)
        return super()._find_computer_of_private_queue(name)


@fault("own-directory-object-lacks-computer-name-while-offline", breaks="MQDMPR-3.1.7.1.20-18", blind=True)
class OwnDirectoryObjectLacksComputerNameWhileOffline(QueuePaths):
    """While the directory is offline, the computer name in the queue manager's own object is empty."""

    def _find_computer_of_private_queue(self, name: PrivateName) -> QueuePathResult:
        found = super()._find_computer_of_private_queue(name)
        if name.ComputerGuid != self.qm.adm.Identifier or not self.qm.enterprise.state.DirectoryOffline:
            return found
        return found._replace(rMachineName="")


@fault("queue-manager-offline-does-not-find-own-object-at-second-read", breaks="MQDMPR-3.1.7.1.20-18", blind=True)
class QueueManagerOfflineDoesNotFindOwnObjectAtSecondRead(QueuePaths):
    """The queue manager finds its own object while the directory is offline, until the queue manager has read this
    object once.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.read = False

    def _find_computer_of_private_queue(self, name: PrivateName) -> QueuePathResult:
        own, offline = name.ComputerGuid == self.qm.adm.Identifier, self.qm.enterprise.state.DirectoryOffline
        if own and offline and self.read:
            return QueuePathResult(Status.MQ_ERROR_ILLEGAL_FORMATNAME)
        self.read = self.read or (own and offline)
        return super()._find_computer_of_private_queue(name)


@fault("queue-manager-offline-finds-other-queue-manager-found-before", breaks="MQDMPR-3.1.7.1.20-20", blind=True)
class QueueManagerOfflineFindsOtherQueueManagerFoundBefore(QueuePaths):
    """While the directory is offline, the queue manager finds the object of another queue manager that it found
    before.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.known: dict[PrivateName, QueuePathResult] = {}

    def _find_computer_of_private_queue(self, name: PrivateName) -> QueuePathResult:
        found = super()._find_computer_of_private_queue(name)
        if found.rStatus is Status.MQ_OK:
            self.known[name] = found
        return self.known.get(name, found) if self.qm.enterprise.state.DirectoryOffline else found


@fault("offline-read-of-other-queue-manager-returns-own-directory-object", breaks="MQDMPR-3.1.7.1.20-20", blind=True)
class OfflineReadOfOtherQueueManagerReturnsOwnDirectoryObject(QueuePaths):
    """While the directory is offline, a read of the object of another queue manager returns the queue manager's own
    object.
    """

    def _find_computer_of_private_queue(self, name: PrivateName) -> QueuePathResult:
        state = self.qm.enterprise.state
        found = super()._find_computer_of_private_queue(name)
        if found.rStatus is Status.MQ_OK or not state.DirectoryOffline:
            return found
        return QueuePathResult(Status.MQ_OK, "", state.LocalQueueManager.ComputerName or "")


@fault("queue-manager-second-outage-leaves-directory-offline-false", breaks="MQDMPR-3.1.7.1.20-25", blind=True)
class QueueManagerSecondOutageLeavesDirectoryOfflineFalse(DirectoryClient):
    """The queue manager sets DirectoryOffline only when the directory becomes unavailable for the first time."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.returned = False

    def on_directory_answered(self, event: DirectoryAnswered, now: Now) -> None:
        state = self.qm.enterprise.state
        was_offline = state.DirectoryOffline
        super().on_directory_answered(event, now)
        if self.returned and not was_offline:
            state.DirectoryOffline = False
        self.returned = self.returned or (was_offline and not state.DirectoryOffline)


@fault("queue-manager-second-outage-starts-no-directory-online-timer", breaks="MQDMPR-3.1.7.1.20-26", blind=True)
class QueueManagerSecondOutageStartsNoDirectoryOnlineTimer(DirectoryClient):
    """The queue manager starts the Directory Online Timer only when the directory becomes unavailable for the first
    time.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.returned = False

    def on_directory_answered(self, event: DirectoryAnswered, now: Now) -> None:
        was_offline = self.qm.enterprise.state.DirectoryOffline
        super().on_directory_answered(event, now)
        self.returned = self.returned or (was_offline and not self.qm.enterprise.state.DirectoryOffline)

    def start_online_timer_if_offline(self, now: Now) -> None:
        if not self.returned:
            super().start_online_timer_if_offline(now)


@fault("queue-manager-returns-old-path-name-of-queue-that-left-directory", breaks="MQDMPR-3.1.7.1.20-30", blind=True)
class QueueManagerReturnsOldPathNameOfQueueThatLeftDirectory(QueuePaths):
    """After a public queue has left the directory, the queue manager still returns the Pathname that it first read for
    this queue.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: dict[PublicName, QueuePathResult] = {}

    def _find_path_of_public_queue(self, name: PublicName) -> QueuePathResult:
        if name in self.first and not self.qm.enterprise.state.DirectoryOffline:
            return self.first[name]
        found = super()._find_path_of_public_queue(name)
        if found.rStatus is Status.MQ_OK:
            self.first[name] = found
        return found


@fault("queue-manager-host-of-second-queue-is-host-of-first", breaks="MQDMPR-3.1.7.1.20-30", blind=True)
class QueueManagerHostOfSecondQueueIsHostOfFirst(NextHops):
    """The queue manager returns the first queue manager that it read as the host of every later public queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.hosts: list[QueueManager] = []

    def _find_host(self, queue: Queue | None) -> QueueManager | None:
        found = super()._find_host(queue)
        if found is None or found.Identifier == self.qm.adm.Identifier:
            return found
        self.hosts.append(found)
        return self.hosts[0]
