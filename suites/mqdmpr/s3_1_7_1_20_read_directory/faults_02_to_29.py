"""Faults that break the rules MQDMPR-3.1.7.1.20-02 to MQDMPR-3.1.7.1.20-29 for one object or in one state."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from reference_qm.codec import parse_format_name
from reference_qm.codec.format_names import PrivateName, PublicName
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.names.destination_resolving import DestinationResolving
from reference_qm.core.names.next_hops import Destination, NextHops
from reference_qm.core.names.queue_paths import QueuePathResult, QueuePaths
from reference_qm.core.part import QM
from reference_qm.directory.enums import DirectoryOperationResult
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered, DirectoryChanged


@fault(
    "queue-manager-second-public-name-has-path-of-first",
    breaks=("MQDMPR-3.1.7.1.20-02", "MQDMPR-3.1.7.1.20-05"),
    blind=True,
)
class QueueManagerSecondPublicNameHasPathOfFirst(QueuePaths):
    """The queue manager returns the path name of the first public queue that it found for every later public name."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: QueuePathResult | None = None

    def _find_path_of_public_queue(self, name: PublicName) -> QueuePathResult:
        found = super()._find_path_of_public_queue(name)
        if found.rStatus is Status.MQ_OK and not self.qm.enterprise.state.DirectoryOffline:
            self.first = self.first or found
            return self.first
        return found


@fault(
    "queue-manager-takes-unknown-computer-guid-for-its-own-guid",
    breaks=("MQDMPR-3.1.7.1.20-02", "MQDMPR-3.1.7.1.20-05", "MQDMPR-3.1.7.1.20-29"),
    blind=True,
)
class QueueManagerTakesUnknownComputerGuidForItsOwnGuid(QueuePaths):
    """For a private name with an unknown GUID, the queue manager returns the name of its own computer."""

    def _find_computer_of_private_queue(self, name: PrivateName) -> QueuePathResult:
        found = super()._find_computer_of_private_queue(name)
        state = self.qm.enterprise.state
        if found.rStatus is not Status.MQ_OK and not state.DirectoryOffline:
            return QueuePathResult(Status.MQ_OK, "", state.LocalQueueManager.ComputerName or "")
        return found


@fault("queue-manager-offline-refuses-messages-to-second-own-public-queue", breaks="MQDMPR-3.1.7.1.20-14", blind=True)
class QueueManagerOfflineRefusesMessagesToSecondOwnPublicQueue(DestinationResolving):
    """While the directory is offline, the queue manager refuses messages to all of its own public queues except the
    first.
    """

    def find_local_queue(self, text: str) -> Queue | None:
        found = super().find_local_queue(text)
        if isinstance(parse_format_name(text), PublicName) and self.qm.enterprise.state.DirectoryOffline:
            own = self.qm.enterprise.state.QueueCollection
            return found if found is not None and own and own[0].Identifier == found.Identifier else None
        return found


@fault("queue-manager-offline-accepts-one-message-for-each-own-public-queue", breaks="MQDMPR-3.1.7.1.20-14", blind=True)
class QueueManagerOfflineAcceptsOneMessageForEachOwnPublicQueue(DestinationResolving):
    """While the directory is offline, the queue manager accepts only one message for each of its own public queues."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.found_offline: set[str] = set()

    def find_local_queue(self, text: str) -> Queue | None:
        if isinstance(parse_format_name(text), PublicName) and self.qm.enterprise.state.DirectoryOffline:
            if text in self.found_offline:
                return None
            self.found_offline.add(text)
        return super().find_local_queue(text)


@fault("queue-manager-offline-refuses-messages-to-own-transactional-queue", breaks="MQDMPR-3.1.7.1.20-14", blind=True)
class QueueManagerOfflineRefusesMessagesToOwnTransactionalQueue(DestinationResolving):
    """While the directory is offline, the queue manager refuses messages to its own transactional public queues."""

    def find_local_queue(self, text: str) -> Queue | None:
        found = super().find_local_queue(text)
        offline = isinstance(parse_format_name(text), PublicName) and self.qm.enterprise.state.DirectoryOffline
        return None if offline and found is not None and found.Transactional else found


@fault("queue-manager-does-not-read-directory-objects-of-other-programs", breaks="MQDMPR-3.1.7.1.20-23", blind=True)
class QueueManagerDoesNotReadDirectoryObjectsOfOtherPrograms(DirectoryClient):
    """The queue manager does not read an object that another program created or changed in the directory."""

    def on_directory_changed(self, event: DirectoryChanged, now: Now) -> None:
        """Keep the directory objects that the queue manager has read before."""


@fault("queue-manager-directory-not-queried-after-outage", breaks="MQDMPR-3.1.7.1.20-23", blind=True)
class QueueManagerDirectoryNotQueriedAfterOutage(NextHops):
    """After an outage of the directory, the queue manager finds no queue of another queue manager in the directory."""

    had_outage = False

    def get_destination_info(self, format_name: str) -> Destination | None:
        self.had_outage |= self.qm.enterprise.state.DirectoryOffline
        if self.had_outage and isinstance(parse_format_name(format_name), PublicName):
            return None
        return super().get_destination_info(format_name)


def _keep_objects_during_outage(part: DirectoryClient, event: DirectoryAnswered, now: Now, answer: Any) -> None:
    """Keep the objects of the directory, and stay online, when the directory is unavailable."""
    before = part.qm.enterprise.directory
    answer(event, now)
    if event.status is DirectoryOperationResult.DIRECTORY_NOT_CONNECTED:
        part.qm.enterprise.directory = before
        part.qm.enterprise.state.DirectoryOffline = False


@fault("queue-manager-answers-directory-reads-in-second-outage-from-cache", breaks="MQDMPR-3.1.7.1.20-27", blind=True)
class QueueManagerAnswersDirectoryReadsInSecondOutageFromCache(DirectoryClient):
    """In a second outage of the directory, the queue manager answers reads from the objects that it read earlier."""

    outage_count = 0

    def on_directory_answered(self, event: DirectoryAnswered, now: Now) -> None:
        lost = event.status is DirectoryOperationResult.DIRECTORY_NOT_CONNECTED
        self.outage_count += lost and not self.qm.enterprise.state.DirectoryOffline
        if self.outage_count > 1:
            _keep_objects_during_outage(self, event, now, super().on_directory_answered)
        else:
            super().on_directory_answered(event, now)


@fault("queue-manager-offline-returns-cached-path-of-remote-private-queue", breaks="MQDMPR-3.1.7.1.20-27", blind=True)
class QueueManagerOfflineReturnsCachedPathOfRemotePrivateQueue(QueuePaths):
    """When the directory cannot be reached, the queue manager returns the path name of a private queue of another queue
    manager whose object it read earlier.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.read_before: dict[PrivateName, QueuePathResult] = {}

    def _find_computer_of_private_queue(self, name: PrivateName) -> QueuePathResult:
        found = super()._find_computer_of_private_queue(name)
        if found.rStatus is Status.MQ_OK:
            self.read_before[name] = found
        return self.read_before.get(name, found) if self.qm.enterprise.state.DirectoryOffline else found


@fault("queue-manager-unknown-public-name-has-empty-path", breaks="MQDMPR-3.1.7.1.20-29", blind=True)
class QueueManagerUnknownPublicNameHasEmptyPath(QueuePaths):
    """The queue manager returns MQ_OK and an empty path for a public format name whose queue the directory does not
    contain.
    """

    def _find_path_of_public_queue(self, name: PublicName) -> QueuePathResult:
        found = super()._find_path_of_public_queue(name)
        offline = self.qm.enterprise.state.DirectoryOffline
        return found if offline or found.rStatus is Status.MQ_OK else QueuePathResult(Status.MQ_OK)


@fault("queue-manager-second-read-of-object-reported-as-not-found", breaks="MQDMPR-3.1.7.1.20-29", blind=True)
class QueueManagerSecondReadOfObjectReportedAsNotFound(QueuePaths):
    """When the queue manager reads the object of a public queue of another queue manager again, it reports that the
    directory does not know the object.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.read_before: set[UUID] = set()

    def _find_path_of_public_queue(self, name: PublicName) -> QueuePathResult:
        found = super()._find_path_of_public_queue(name)
        if name.QueueGuid in self.read_before:
            return QueuePathResult(Status.MQ_ERROR_ILLEGAL_FORMATNAME)
        self.read_before.add(name.QueueGuid)
        return found
