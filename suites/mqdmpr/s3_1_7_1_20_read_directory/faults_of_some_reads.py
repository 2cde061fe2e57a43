"""Faults of the directory in some reads: reads after changes, in later outages, and of names that resemble others."""

from __future__ import annotations

from collections.abc import Iterable

from harness.faults.parts import fault
from reference_qm.codec import parse_format_name
from reference_qm.codec.format_names import PrivateName
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.names.queue_paths import QueuePathResult, QueuePaths
from reference_qm.directory import DirectoryObject, DirectoryReplica
from reference_qm.directory.enums import DirectoryOperationResult
from reference_qm.directory.interface import AttributeList, DirectoryReadResult, FilterExpressions
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered


class DirectoryContentChanger(DirectoryClient):
    """A part of the queue manager that changes the content of the directory as the queue manager sees it."""

    def build_changed_directory(self, elements: Iterable[DirectoryObject]) -> DirectoryReplica:
        raise NotImplementedError

    def on_directory_answered(self, event: DirectoryAnswered, now: Now) -> None:
        answered = self.qm.enterprise.awaited.get(event.token)
        if answered is not None and event.elements is not None:
            elements, go_on = event.elements, answered

            def change_content(answer: DirectoryAnswered, now: Now) -> None:
                self.qm.enterprise.directory = self.build_changed_directory(elements)
                go_on(answer, now)

            self.qm.enterprise.awaited[event.token] = change_content
        super().on_directory_answered(event, now)


@fault("queue-manager-directory-read-without-match-returns-last-object", breaks="MQDMPR-3.1.7.1.20-05")
class QueueManagerDirectoryReadWithoutMatchReturnsLastObject(DirectoryContentChanger):
    """If no object matches the filter, a directory read returns the object of this type that the last read
    returned.
    """

    def build_changed_directory(self, elements: Iterable[DirectoryObject]) -> DirectoryReplica:
        last: dict[str, DirectoryReadResult] = self.__dict__.setdefault("last", {})

        class Remembering(DirectoryReplica):
            def read(
                self, kind: str, filters: FilterExpressions = (), attributes: AttributeList = None
            ) -> DirectoryReadResult:
                found = super().read(kind, filters, attributes)
                if found.rStatus is DirectoryOperationResult.SUCCESS:
                    last[kind] = found
                return last.get(kind, found)

        return Remembering(elements)


@fault("queue-manager-deleted-directory-objects-still-found", breaks="MQDMPR-3.1.7.1.20-23")
class QueueManagerDeletedDirectoryObjectsStillFound(DirectoryContentChanger):
    """A directory read returns an object that was deleted from the directory after an earlier read."""

    def build_changed_directory(self, elements: Iterable[DirectoryObject]) -> DirectoryReplica:
        known = self.__dict__.setdefault("known", {})
        known.update({one.Identifier: one for one in elements})
        return DirectoryReplica(known.values())


@fault("queue-manager-second-read-of-own-object-offline-fails", breaks="MQDMPR-3.1.7.1.20-17", blind=True)
class QueueManagerSecondReadOfOwnObjectOfflineFails(QueuePaths):
    """While the directory is offline, the queue manager reads its own object from its model only once."""

    def get_queue_path(self, format_name: str) -> QueuePathResult:
        found = super().get_queue_path(format_name)
        offline = self.qm.enterprise.state.DirectoryOffline
        if not offline or not format_name.upper().startswith(f"PRIVATE={self.qm.adm.Identifier}".upper()):
            return found
        self.__dict__["count"] = self.__dict__.get("count", 0) + 1
        return found if self.__dict__["count"] < 2 else QueuePathResult(Status.MQ_ERROR_ILLEGAL_FORMATNAME)


@fault("own-directory-object-computer-name-is-dns-name-while-offline", breaks="MQDMPR-3.1.7.1.20-17", blind=True)
class OwnDirectoryObjectComputerNameIsDnsNameWhileOffline(QueuePaths):
    """While the directory is offline, the ComputerName of the queue manager's own object is its DNS name."""

    def get_queue_path(self, format_name: str) -> QueuePathResult:
        found = super().get_queue_path(format_name)
        state = self.qm.enterprise.state
        name = state.LocalQueueManager.ComputerName or ""
        if not state.DirectoryOffline or found.rMachineName.lower() != name.lower():
            return found
        whole = f"{name}.domain.example"
        return replace_computer_name_in_path_result(found, name, whole)


def replace_computer_name_in_path_result(found: QueuePathResult, name: str, whole: str) -> QueuePathResult:
    """Return the result of Get Queue Path with a different computer name."""
    path = whole + found.rPathName[len(name) :] if found.rPathName else ""
    return found._replace(rPathName=path, rMachineName=whole)


class DirectoryOutageIgnorer(DirectoryClient):
    """A part of the queue manager that does not set DirectoryOffline in some reads that find the directory unavailable;
    a subclass selects which.
    """

    def is_outage_ignored(self, token: int) -> bool:
        raise NotImplementedError

    def on_directory_answered(self, event: DirectoryAnswered, now: Now) -> None:
        state = self.qm.enterprise.state
        was_offline = state.DirectoryOffline
        lost = event.status is DirectoryOperationResult.DIRECTORY_NOT_CONNECTED and self.qm.begun
        unnoticed = lost and not was_offline and self.is_outage_ignored(event.token)
        super().on_directory_answered(event, now)
        if unnoticed:
            state.DirectoryOffline = False


@fault("queue-manager-failed-read-in-second-outage-leaves-state-online", breaks="MQDMPR-3.1.7.1.20-25", blind=True)
class QueueManagerFailedReadInSecondOutageLeavesStateOnline(DirectoryOutageIgnorer):
    """The queue manager sets DirectoryOffline only when the directory cannot be reached for the first time."""

    def is_outage_ignored(self, token: int) -> bool:
        self.__dict__["count"] = self.__dict__.get("count", 0) + 1
        return self.__dict__["count"] > 1


@fault("queue-manager-online-timer-not-started-in-second-outage", breaks="MQDMPR-3.1.7.1.20-26", blind=True)
class QueueManagerOnlineTimerNotStartedInSecondOutage(DirectoryClient):
    """When the directory cannot be reached for a read after an earlier outage, the queue manager does not start the
    Directory Online Timer.
    """

    def start_online_timer_if_offline(self, now: Now) -> None:
        if self.__dict__.get("outages", 0) < 1 or not self.qm.enterprise.state.DirectoryOffline:
            super().start_online_timer_if_offline(now)

    def synchronize_with_directory(self, now: Now) -> DirectoryOperationResult:
        if self.qm.begun:
            self.__dict__["outages"] = self.__dict__.get("outages", 0) + 1
        return super().synchronize_with_directory(now)


@fault("queue-manager-failed-read-of-queue-returns-earlier-object", breaks="MQDMPR-3.1.7.1.20-27", blind=True)
class QueueManagerFailedReadOfQueueReturnsEarlierObject(QueuePaths):
    """When the directory cannot be reached, the read of a public queue returns the object that an earlier read
    returned.
    """

    def get_queue_path(self, format_name: str) -> QueuePathResult:
        found = super().get_queue_path(format_name)
        known = self.__dict__.setdefault("known", {})
        if found.rStatus is Status.MQ_OK and format_name.upper().startswith("PUBLIC="):
            known[format_name.lower()] = found
        earlier: QueuePathResult = known.get(format_name.lower(), found)
        return earlier if self.qm.enterprise.state.DirectoryOffline else found


@fault("queue-manager-failed-read-of-computer-returns-earlier-object", breaks="MQDMPR-3.1.7.1.20-27", blind=True)
class QueueManagerFailedReadOfComputerReturnsEarlierObject(QueuePaths):
    """When the directory cannot be reached, the read of another queue manager returns the object that an earlier
    read returned.
    """

    def get_queue_path(self, format_name: str) -> QueuePathResult:
        found = super().get_queue_path(format_name)
        known = self.__dict__.setdefault("known", {})
        if found.rStatus is Status.MQ_OK and isinstance(parse_format_name(format_name), PrivateName):
            known[format_name.lower()] = found
        earlier: QueuePathResult = known.get(format_name.lower(), found)
        return earlier if self.qm.enterprise.state.DirectoryOffline else found
