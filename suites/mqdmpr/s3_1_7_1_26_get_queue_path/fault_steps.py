"""Steps that several fault files of this section share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

from harness.faults.parts import change_step
from harness.faults.registry import Install
from reference_qm.codec import FormatError, PrivateName, PublicName, parse_format_name
from reference_qm.codec.format_names import DirectName, FormatName
from reference_qm.core.names.queue_paths import QueuePathResult, QueuePaths
from reference_qm.core.queue_manager import QueueManager
from reference_qm.directory import Queue as DirectoryQueue
from reference_qm.directory import QueueManager as DirectoryQueueManager
from reference_qm.model.statuses import Status

OK_STATUS, ILLEGAL_NAME_STATUS = Status.MQ_OK, Status.MQ_ERROR_ILLEGAL_FORMATNAME
ILLEGAL_NAME_RESULT = QueuePathResult(ILLEGAL_NAME_STATUS)
KNOWN_PATHS_BY_QUEUE_MANAGER: WeakKeyDictionary[QueueManager, dict[UUID, QueuePathResult]] = WeakKeyDictionary()
"""The paths that a queue manager found, by the GUID in the format name."""


def replace_path_by_status(status: Status, found: QueuePathResult) -> QueuePathResult:
    """Return a status instead of a path that was found."""
    return QueuePathResult(status) if found.rStatus is OK_STATUS else found


class RequestedName:
    """A format name for which the event Get Queue Path is requested."""

    def __init__(self, part: Any, text: str) -> None:
        self.part, self.text = part, text
        self.qm: QueueManager = part.qm
        try:
            self.name: FormatName | None = parse_format_name(text)
        except FormatError:
            self.name = None

    @property
    def is_public_format_name(self) -> bool:
        return isinstance(self.name, PublicName)

    @property
    def is_private_format_name(self) -> bool:
        return isinstance(self.name, PrivateName)

    @property
    def is_direct_format_name(self) -> bool:
        return isinstance(self.name, DirectName)

    @property
    def protocol(self) -> str:
        """The protocol of a direct format name, or an empty string."""
        return self.name.Protocol if isinstance(self.name, DirectName) else ""

    @property
    def is_private_name_of_own_computer(self) -> bool:
        """Whether a private format name contains the identifier of this queue manager."""
        return isinstance(self.name, PrivateName) and self.name.ComputerGuid == self.qm.adm.Identifier

    @property
    def guid(self) -> UUID:
        """The GUID in a public or private format name."""
        assert isinstance(self.name, PrivateName | PublicName)
        return self.name.QueueGuid if isinstance(self.name, PublicName) else self.name.ComputerGuid

    @property
    def number(self) -> int:
        """The number in a private format name."""
        assert isinstance(self.name, PrivateName)
        return self.name.QueueIdentifier

    @property
    def is_journal_format_name(self) -> bool:
        """Whether the format name is the name of a journal."""
        return bool(getattr(self.name, "Journal", False))

    @property
    def is_own_address(self) -> bool:
        """Whether a direct format name contains an address or name of this computer."""
        return isinstance(self.name, DirectName) and self.qm.queue_names.is_direct_name_of_own_host(self.name)

    @property
    def has_local_private_queue_number(self) -> bool:
        """Whether this queue manager has a private queue with the number in a private format name."""
        return self.is_private_format_name and self.qm.adm.QueueCollection.find_private_queue(self.number) is not None

    @property
    def is_local_public_queue(self) -> bool:
        """Whether a public format name is the name of a queue in this queue manager's own collection."""
        return self.is_public_format_name and self.qm.adm.QueueCollection.find_public_queue(self.guid) is not None

    @property
    def build_path_name_of_local_queue(self) -> str:
        """The path name of a public queue of this queue manager, from its own collection."""
        queue = self.qm.adm.QueueCollection.find_public_queue(self.guid)
        assert queue is not None
        return f"{self.qm.config.host_name}\\{queue.Pathname}"

    def list_identifiers_of_directory_objects(
        self, kind: type[DirectoryQueue] | type[DirectoryQueueManager]
    ) -> list[UUID]:
        """Return the Identifiers of the objects of a kind in the directory."""
        objects = self.qm.enterprise.directory.contents()[1] or ()
        return [one.Identifier for one in objects if isinstance(one, kind) and one.Identifier is not None]

    def list_queue_managers_in_directory(self) -> list[DirectoryQueueManager]:
        """Return the queue managers in the directory."""
        objects = self.qm.enterprise.directory.contents()[1] or ()
        return [one for one in objects if isinstance(one, DirectoryQueueManager)]

    def list_public_queues(self) -> list[DirectoryQueue]:
        """Return the public queues in the directory."""
        objects = self.qm.enterprise.directory.contents()[1] or ()
        return [one for one in objects if isinstance(one, DirectoryQueue)]

    def count_path_requests(self) -> int:
        """Return the number of requests for the paths of format names of this kind, including the present request."""
        counts = self.part.__dict__.setdefault("counts", {})
        kind = type(self.name)
        counts[kind] = counts.get(kind, 0) + 1
        return int(counts[kind])


PathResultChange = Callable[[RequestedName, QueuePathResult], QueuePathResult]


def change_queue_path_results(when: Callable[[RequestedName], bool], change: PathResultChange) -> Install:
    """Return an installer of a fault that changes the path and the computer of some format names."""

    def get_changed_queue_path(
        part: QueuePaths, original: Callable[[str], QueuePathResult], format_name: str
    ) -> QueuePathResult:
        found, asked = original(format_name), RequestedName(part, format_name)
        return change(asked, found) if when(asked) else found

    return change_step(QueuePaths.get_queue_path, get_changed_queue_path)


def change_requested_names(when: Callable[[RequestedName], bool], change: Callable[[RequestedName], str]) -> Install:
    """Return an installer of a fault that answers some requests for a queue path with the path of a different format
    name.
    """

    def get_path_of_changed_name(
        part: QueuePaths, original: Callable[[str], QueuePathResult], format_name: str
    ) -> QueuePathResult:
        asked = RequestedName(part, format_name)
        return original(change(asked) if when(asked) else format_name)

    return change_step(QueuePaths.get_queue_path, get_path_of_changed_name)


def repeat_first_successful_result(same: Callable[[RequestedName], Any]) -> Install:
    """Return an installer of a fault that repeats the first successful answer for each later format name for which
    ``same`` returns the same value. If this value is None, the answer is not stored.
    """

    def get_first_successful_path(
        part: QueuePaths, original: Callable[[str], QueuePathResult], format_name: str
    ) -> QueuePathResult:
        found, key = original(format_name), same(RequestedName(part, format_name))
        if key is None:
            return found
        answers = part.__dict__.setdefault("answers", {})
        if key not in answers and found.rStatus is Status.MQ_OK:
            answers[key] = found
        kept: QueuePathResult = answers.get(key, found)
        return kept

    return change_step(QueuePaths.get_queue_path, get_first_successful_path)


def return_ok_for_names_no_longer_found() -> Install:
    """Return an installer of a fault that answers a public format name with MQ_OK and empty names if the name was found
    before and is no longer found.
    """

    def get_path_or_ok_for_known_name(
        part: QueuePaths, original: Callable[[str], QueuePathResult], format_name: str
    ) -> QueuePathResult:
        found, asked = original(format_name), RequestedName(part, format_name)
        known = part.__dict__.setdefault("known", set())
        if asked.is_public_format_name and found.rStatus is OK_STATUS:
            known.add(asked.name)
        return (
            QueuePathResult(OK_STATUS)
            if asked.is_public_format_name and asked.name in known and found.rStatus is not OK_STATUS
            else found
        )

    return change_step(QueuePaths.get_queue_path, get_path_or_ok_for_known_name)


def find_identifier_by_first_bytes(identifiers: list[UUID], wanted: UUID, length: int) -> UUID:
    """Return the first identifier that begins with the same ``length`` bytes as ``wanted``, or ``wanted`` if no
    identifier does.
    """
    return next((one for one in identifiers if one.bytes[:length] == wanted.bytes[:length]), wanted)
