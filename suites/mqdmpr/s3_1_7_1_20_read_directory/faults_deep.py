"""Faults of MS-MQDMPR 3.1.7.1.20 Read Directory that only special cases reveal: paths of queues without
the directory.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from harness.faults.parts import fault
from reference_qm.codec import FormatName, PrivateName, PublicName
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.names.next_hops import Destination
from reference_qm.core.names.queue_names import QueueNames
from reference_qm.core.names.queue_paths import QueuePathOf, QueuePaths
from reference_qm.core.queue_manager import QueueManager
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered

NOT_FOUND = QueuePathOf(Status.MQ_ERROR_ILLEGAL_FORMATNAME)


@fault("offline-own-public-queue-has-no-path", breaks=("MQDMPR-3.1.7.1.20-09", "MQDMPR-3.1.7.1.20-13"), blind=True)
class OfflineOwnPublicQueueHasNoPath(QueuePaths):
    """While the directory is offline, the queue manager finds no path name of its own public queues."""

    def _path_of_public(self, name: PublicName) -> QueuePathOf:
        return NOT_FOUND if self.qm.enterprise.state.DirectoryOffline else super()._path_of_public(name)


@fault("offline-own-guid-has-no-path", breaks=("MQDMPR-3.1.7.1.20-17", "MQDMPR-3.1.7.1.20-18"), blind=True)
class OfflineOwnGuidHasNoPath(QueuePaths):
    """While the directory is offline, the queue manager finds no path name for a private format name with its own
    GUID.
    """

    def _path_of_private(self, name: PrivateName) -> QueuePathOf:
        return NOT_FOUND if self.qm.enterprise.state.DirectoryOffline else super()._path_of_private(name)


@fault("offline-own-public-transactional-queue-not-found", breaks="MQDMPR-3.1.7.1.20-09", blind=True)
class OfflineOwnPublicTransactionalQueueNotFound(QueueNames):
    """While the directory is offline, the queue manager does not find its own transactional public queues."""

    def find_by_format_name(self, name: FormatName) -> Queue | None:
        found = super().find_by_format_name(name)
        offline = self.qm.enterprise.state.DirectoryOffline
        hidden = offline and isinstance(name, PublicName) and found is not None and found.Transactional
        return None if hidden else found


@fault("offline-remote-private-name-has-path", breaks="MQDMPR-3.1.7.1.20-20", blind=True)
class OfflineRemotePrivateNameHasPath(QueuePaths):
    """While the directory is offline, the queue manager returns MQ_OK for the path of a private queue of another queue
    manager.
    """

    def _path_of_private(self, name: PrivateName) -> QueuePathOf:
        found = super()._path_of_private(name)
        offline = self.qm.enterprise.state.DirectoryOffline
        return QueuePathOf(Status.MQ_OK) if offline and found.rStatus is not Status.MQ_OK else found


_KNOWN_DESTINATIONS: WeakKeyDictionary[QueueManager, dict[str, Destination]] = WeakKeyDictionary()


@fault("second-outage-at-read-not-noticed", breaks=("MQDMPR-3.1.7.1.20-25", "MQDMPR-3.1.7.1.20-26"))
class SecondOutageAtReadNotNoticed(DirectoryClient):
    """When a read does not reach the directory in a second outage, the queue manager leaves DirectoryOffline False."""

    def on_answered(self, event: DirectoryAnswered, now: Now) -> None:
        state = self.qm.enterprise.state
        before = state.DirectoryOffline
        super().on_answered(event, now)
        if event.status is Result.DIRECTORY_NOT_CONNECTED and not before:
            self.outages = getattr(self, "outages", 0) + 1
            state.DirectoryOffline = state.DirectoryOffline and self.outages < 2
