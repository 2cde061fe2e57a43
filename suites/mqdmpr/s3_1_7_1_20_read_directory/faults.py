"""Faults that break rules of MS-MQDMPR 3.1.7.1.20 Read Directory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from uuid import UUID
from weakref import WeakKeyDictionary

from harness.faults.made_up import UNUSED_ADDRESS
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import combine_installers
from harness.faults.registry import add
from reference_qm.codec import FormatName, PrivateName, PublicName, parse_format_name
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.names.destination_resolving import DestinationResolving
from reference_qm.core.names.next_hops import Destination, NextHops
from reference_qm.core.names.queue_names import QueueNames
from reference_qm.core.names.queue_paths import QueuePathResult, QueuePaths
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.directory import QueueManager as Machine
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered


@fault(
    "queue-manager-own-public-queue-not-found-while-directory-offline",
    breaks=("MQDMPR-3.1.7.1.20-09", "MQDMPR-3.1.7.1.20-13"),
)
class QueueManagerOwnPublicQueueNotFoundWhileDirectoryOffline(QueueNames):
    """While the directory is offline, the queue manager does not find its own public queues."""

    def find_queue_by_format_name(self, name: FormatName) -> Queue | None:
        public = isinstance(name, PublicName) and self.qm.enterprise.state.DirectoryOffline
        return None if public else super().find_queue_by_format_name(name)


RESULT_FOR_UNKNOWN_FORMAT_NAME = QueuePathResult(Status.MQ_ERROR_ILLEGAL_FORMATNAME)


@fault(
    "queue-manager-own-public-queue-lacks-path-while-directory-offline",
    breaks=("MQDMPR-3.1.7.1.20-09", "MQDMPR-3.1.7.1.20-13"),
    blind=True,
)
class QueueManagerOwnPublicQueueLacksPathWhileDirectoryOffline(QueuePaths):
    """While the directory is offline, the queue manager finds no path name of its own public queues."""

    def _find_path_of_public_queue(self, name: PublicName) -> QueuePathResult:
        return (
            RESULT_FOR_UNKNOWN_FORMAT_NAME
            if self.qm.enterprise.state.DirectoryOffline
            else super()._find_path_of_public_queue(name)
        )


@fault("own-transactional-public-queue-not-found-while-directory-offline", breaks="MQDMPR-3.1.7.1.20-09", blind=True)
class OwnTransactionalPublicQueueNotFoundWhileDirectoryOffline(QueueNames):
    """While the directory is offline, the queue manager does not find its own transactional public queues."""

    def find_queue_by_format_name(self, name: FormatName) -> Queue | None:
        found = super().find_queue_by_format_name(name)
        offline = self.qm.enterprise.state.DirectoryOffline
        hidden = offline and isinstance(name, PublicName) and found is not None and found.Transactional
        return None if hidden else found


@contextmanager
def _clear_directory_offline_temporarily(qm: QueueManager) -> Iterator[None]:
    state = qm.enterprise.state
    offline, state.DirectoryOffline = state.DirectoryOffline, False
    try:
        yield
    finally:
        state.DirectoryOffline = offline


class _DirectoryObjectCacheForOutages(DirectoryClient):
    """When the directory becomes unavailable, keep the objects that the queue manager has read from it."""

    def on_directory_answered(self, event: DirectoryAnswered, now: Now) -> None:
        before = self.qm.enterprise.directory
        super().on_directory_answered(event, now)
        if event.status is Result.DIRECTORY_NOT_CONNECTED:
            self.qm.enterprise.directory = before


class _QueueFinderInObjectsReadBeforeOutage(NextHops):
    """Find queues of other queue managers in the objects that were read earlier, even while the
    directory is offline.
    """

    def get_destination_info(self, format_name: str) -> Destination | None:
        with _clear_directory_offline_temporarily(self.qm):
            return super().get_destination_info(format_name)


class _QueueManagerFinderInObjectsReadBeforeOutage(NextHops):
    """Find queue managers in the objects that were read earlier, even while the directory is offline."""

    def get_next_hops(self, guid: UUID) -> tuple[Machine, ...]:
        with _clear_directory_offline_temporarily(self.qm):
            return super().get_next_hops(guid)


add(
    "offline-remote-objects-found",
    ("MQDMPR-3.1.7.1.20-11", "MQDMPR-3.1.7.1.20-27"),
    "While the directory is offline, the queue manager finds all queues and queue managers that it read earlier.",
    combine_installers(
        replace_part(_DirectoryObjectCacheForOutages),
        replace_part(_QueueFinderInObjectsReadBeforeOutage),
        replace_part(_QueueManagerFinderInObjectsReadBeforeOutage),
    ),
)


_KNOWN_PATHS_BY_QUEUE_MANAGER: WeakKeyDictionary[QueueManager, dict[UUID, QueuePathResult]] = WeakKeyDictionary()


@fault("offline-queue-manager-finds-remote-queue-read-before", breaks="MQDMPR-3.1.7.1.20-11", blind=True)
class OfflineQueueManagerFindsRemoteQueueReadBefore(QueuePaths):
    """While the directory is offline, the queue manager finds a remote queue whose directory object it read earlier."""

    def _find_path_of_public_queue(self, name: PublicName) -> QueuePathResult:
        seen = _KNOWN_PATHS_BY_QUEUE_MANAGER.setdefault(self.qm, {})
        found = super()._find_path_of_public_queue(name)
        if found.rStatus is Status.MQ_OK:
            seen[name.QueueGuid] = found
        elif self.qm.enterprise.state.DirectoryOffline:
            return seen.get(name.QueueGuid, found)
        return found


@fault("queue-manager-refuses-own-public-queue-while-directory-offline", breaks="MQDMPR-3.1.7.1.20-14")
class QueueManagerRefusesOwnPublicQueueWhileDirectoryOffline(DestinationResolving):
    """While the directory is offline, the queue manager refuses messages to its own public queues."""

    def find_local_queue(self, text: str) -> Queue | None:
        if isinstance(parse_format_name(text), PublicName) and self.qm.enterprise.state.DirectoryOffline:
            return None
        return super().find_local_queue(text)


@fault(
    "queue-manager-own-guid-in-name-unknown-while-directory-offline",
    breaks=("MQDMPR-3.1.7.1.20-17", "MQDMPR-3.1.7.1.20-18"),
)
class QueueManagerOwnGuidInNameUnknownWhileDirectoryOffline(DestinationResolving):
    """While the directory is offline, the queue manager does not recognize its own GUID in a format name."""

    def find_local_queue(self, text: str) -> Queue | None:
        if isinstance(parse_format_name(text), PrivateName) and self.qm.enterprise.state.DirectoryOffline:
            return None
        return super().find_local_queue(text)


@fault(
    "own-private-name-has-no-path-while-directory-offline",
    breaks=("MQDMPR-3.1.7.1.20-17", "MQDMPR-3.1.7.1.20-18"),
    blind=True,
)
class OwnPrivateNameHasNoPathWhileDirectoryOffline(QueuePaths):
    """While the directory is offline, the queue manager finds no path name for a private format name with its own
    GUID.
    """

    def _find_computer_of_private_queue(self, name: PrivateName) -> QueuePathResult:
        return (
            RESULT_FOR_UNKNOWN_FORMAT_NAME
            if self.qm.enterprise.state.DirectoryOffline
            else super()._find_computer_of_private_queue(name)
        )


add(
    "offline-remote-queue-manager-found",
    "MQDMPR-3.1.7.1.20-20",
    "While the directory is offline, the queue manager finds other queue managers that it read earlier.",
    combine_installers(
        replace_part(_DirectoryObjectCacheForOutages), replace_part(_QueueManagerFinderInObjectsReadBeforeOutage)
    ),
)


@fault("remote-private-name-has-path-while-directory-offline", breaks="MQDMPR-3.1.7.1.20-20", blind=True)
class RemotePrivateNameHasPathWhileDirectoryOffline(QueuePaths):
    """While the directory is offline, the queue manager returns MQ_OK for the path of a private queue of another queue
    manager.
    """

    def _find_computer_of_private_queue(self, name: PrivateName) -> QueuePathResult:
        found = super()._find_computer_of_private_queue(name)
        offline = self.qm.enterprise.state.DirectoryOffline
        return QueuePathResult(Status.MQ_OK) if offline and found.rStatus is not Status.MQ_OK else found


@fault("public-format-name-not-queried-in-directory", breaks=("MQDMPR-3.1.7.1.20-23", "MQDMPR-3.1.7.1.20-29"))
class PublicFormatNameNotQueriedInDirectory(NextHops):
    """The queue manager never queries the directory for a public format name."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        public = isinstance(parse_format_name(format_name), PublicName)
        return None if public else super().get_destination_info(format_name)


@fault("failed-read-leaves-directory-offline-false", breaks="MQDMPR-3.1.7.1.20-25")
class FailedReadLeavesDirectoryOfflineFalse(DirectoryClient):
    """When a read does not reach the directory, the queue manager leaves DirectoryOffline False."""

    def on_directory_answered(self, event: DirectoryAnswered, now: Now) -> None:
        if event.status is Result.DIRECTORY_NOT_CONNECTED:
            event = replace(event, status=Result.GENERIC_ERROR)
        super().on_directory_answered(event, now)


@fault(
    "failed-read-in-second-outage-leaves-directory-offline-false",
    breaks=("MQDMPR-3.1.7.1.20-25", "MQDMPR-3.1.7.1.20-26"),
)
class FailedReadInSecondOutageLeavesDirectoryOfflineFalse(DirectoryClient):
    """When a read does not reach the directory in a second outage, the queue manager leaves DirectoryOffline False."""

    def on_directory_answered(self, event: DirectoryAnswered, now: Now) -> None:
        state = self.qm.enterprise.state
        before = state.DirectoryOffline
        super().on_directory_answered(event, now)
        if event.status is Result.DIRECTORY_NOT_CONNECTED and not before:
            self.outages = getattr(self, "outages", 0) + 1
            state.DirectoryOffline = state.DirectoryOffline and self.outages < 2


DIRECTORY_FILTER_RULES = ("MQDMPR-3.1.7.1.20-02", "MQDMPR-3.1.7.1.20-05")


@fault("public-name-resolved-to-first-queue", breaks=(*DIRECTORY_FILTER_RULES, "MQDMPR-3.1.7.1.20-30"))
class PublicNameResolvedToFirstQueue(NextHops):
    """The queue manager resolves every public format name to the first queue of the directory, regardless of
    the GUID.
    """

    def get_destination_info(self, format_name: str) -> Destination | None:
        if not isinstance(parse_format_name(format_name), PublicName):
            return super().get_destination_info(format_name)
        enterprise = self.qm.enterprise
        machine = enterprise.find_queue_manager("Identifier", enterprise.state.LocalQueueManager.Identifier)
        return None if machine is None else super().get_destination_info(f"PRIVATE={machine.Identifier}\\00000001")


@fault("host-in-directory-object-of-queue-ignored", breaks="MQDMPR-3.1.7.1.20-30")
class HostInDirectoryObjectOfQueueIgnored(NextHops):
    """The queue manager does not use the host that the directory object of a queue contains."""

    def get_next_hops(self, guid: UUID) -> tuple[Machine, ...]:
        return tuple(replace(one, QualifiedComputerName=UNUSED_ADDRESS) for one in super().get_next_hops(guid))


@fault(
    "queue-manager-offline-finds-public-queue-it-read-before",
    breaks=("MQDMPR-3.1.7.1.20-09", "MQDMPR-3.1.7.1.20-11"),
    blind=True,
)
class QueueManagerOfflineFindsPublicQueueItReadBefore(QueuePaths):
    """While the directory is offline, the queue manager finds a public queue of another computer that it has read
    before.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.read_before: dict[UUID, QueuePathResult] = {}

    def _find_path_of_public_queue(self, name: PublicName) -> QueuePathResult:
        found = super()._find_path_of_public_queue(name)
        if found.rStatus is Status.MQ_OK:
            self.read_before[name.QueueGuid] = found
        elif self.qm.enterprise.state.DirectoryOffline:
            return self.read_before.get(name.QueueGuid, found)
        return found


@fault("queue-manager-offline-own-object-not-found-for-unknown-queue", breaks="MQDMPR-3.1.7.1.20-17", blind=True)
class QueueManagerOfflineOwnObjectNotFoundForUnknownQueue(QueuePaths):
    """When the queue manager resolves a private format name whose queue it does not have while the directory is
    offline, it does not find its own object.
    """

    def _find_computer_of_private_queue(self, name: PrivateName) -> QueuePathResult:
        known = self.qm.queue_names.find_queue_by_format_name(name) is not None
        if self.qm.enterprise.state.DirectoryOffline and not known:
            return QueuePathResult(Status.MQ_ERROR_ILLEGAL_FORMATNAME)
        return super()._find_computer_of_private_queue(name)
