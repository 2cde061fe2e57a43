from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from reference_qm import directory
from reference_qm.core.part import QueueManagerPart
from reference_qm.directory import DirectoryOperationResult, build_equality_filter, events
from reference_qm.directory.enums import QueueType
from reference_qm.directory.interface import DirectoryWriteRequest
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status
from reference_qm.surface.inputs import DirectoryAnswered

StatusCallback: TypeAlias = Callable[[Status], None]

ATTRIBUTES_SHARED_WITH_DIRECTORY = (
    "Label",
    "Type",
    "Journaling",
    "Quota",
    "JournalQuota",
    "Authentication",
    "PrivacyLevel",
    "BasePriority",
)
"""The attributes of a queue that can be changed and are also stored in the directory."""

_STATUS_BY_DIRECTORY_RESULT = {
    DirectoryOperationResult.SUCCESS: Status.MQ_OK,
    DirectoryOperationResult.OBJECT_ALREADY_EXISTS: Status.MQ_ERROR_QUEUE_EXISTS,
    DirectoryOperationResult.OBJECT_NOT_FOUND: Status.MQ_ERROR_QUEUE_NOT_FOUND,
}


def _convert_directory_result(result: DirectoryOperationResult) -> Status:
    """Return the status that corresponds to a result from the directory. A result without a corresponding status is
    treated as if the directory were unavailable.
    """
    return _STATUS_BY_DIRECTORY_RESULT.get(result, Status.MQ_ERROR_NO_DS)


class PublicQueuePublishing(QueueManagerPart):
    """Publishes the public queues of this queue manager in the directory.

    Each change is completed when the directory answers. Spec: MS-MQDMPR 3.1.7.1.3, 3.1.7.1.4, 3.1.7.1.18,
    3.1.7.1.19, 3.1.7.1.24, 3.1.7.1.25.
    """

    __slots__ = ()

    def publish(self, queue: Queue, published: StatusCallback) -> None:
        """Create the directory object of a public queue, and set the queue's Identifier to the Identifier of the
        object. Spec: MS-MQDMPR 3.1.7.1.3.

        In workgroup mode, there is neither a directory nor a public queue. A configured queue may already be
        published, by an administrator or before the last restart (see ``use_published_identifier``).
        """
        state = self.qm.enterprise.state
        if not state.DirectoryIntegrated:
            published(Status.MQ_ERROR_UNSUPPORTED_OPERATION)
            return

        def take_over_object(answer: DirectoryAnswered) -> None:
            if answer.identifier is None:
                published(_convert_directory_result(answer.status))
                return
            queue.Identifier = answer.identifier
            element = self.qm.enterprise.find_queue(queue.Identifier)
            if element is not None:
                queue.FullPath, queue.DirectoryPath = element.FullPath or "", element.DirectoryPath or ""
            published(Status.MQ_OK)
            self.store_public_queue_attributes()

        self.qm.directory_link.write(
            events.create_directory_object(state, self._build_element(queue)), take_over_object
        )

    def use_published_identifier(self, queue: Queue) -> bool:
        """Use the Identifier of a queue that is already published. Return False if the queue is not published."""
        found = events.read_directory(
            self.qm.enterprise.directory,
            self.qm.enterprise.state,
            "Queue",
            build_equality_filter("Pathname", self._build_element(queue).Pathname),
        ).rDirectoryObject
        if not isinstance(found, directory.Queue) or found.Identifier is None:
            return False
        queue.Identifier = found.Identifier
        for name in ATTRIBUTES_SHARED_WITH_DIRECTORY:
            setattr(queue, name, getattr(found, name))
        return True

    def delete_published_queue(self, queue: Queue, withdrawn: StatusCallback) -> None:
        """Delete the directory object of a public queue. It is not an error if the object does not exist. Spec:
        MS-MQDMPR 3.1.7.1.4.
        """
        change = events.delete_directory_object(self.qm.enterprise.state, self._build_element(queue))

        def report_deletion(answer: DirectoryAnswered) -> None:
            is_gone = answer.status is DirectoryOperationResult.OBJECT_NOT_FOUND
            withdrawn(Status.MQ_OK if is_gone else _convert_directory_result(answer.status))

        self.qm.directory_link.write(change, report_deletion)

    def write(self, queue: Queue, values: Mapping[str, Any], written: StatusCallback) -> None:
        """Write changed attributes of a public queue to the directory. Spec: MS-MQDMPR 3.1.7.1.24."""
        element = replace(
            self._build_element(queue),
            **{name: values[name] for name in ATTRIBUTES_SHARED_WITH_DIRECTORY if name in values},
        )
        self.qm.directory_link.write(
            DirectoryWriteRequest(element, ATTRIBUTES_SHARED_WITH_DIRECTORY),
            lambda answer: written(_convert_directory_result(answer.status)),
        )

    def store_public_queue_attributes(self) -> None:
        """Store the attributes of the local public queues. While the directory is offline, reads of these queues are
        answered with the stored attributes.

        Spec: MS-MQDMPR 3.1.7.1.20.
        """
        self.qm.enterprise.state.QueueCollection = tuple(
            self._build_element(queue) for queue in self._list_public_queues()
        )

    def update_public_queues(self) -> None:
        """Set the attributes of the local public queues to the values that the event Check Directory Online has read
        from the directory. Spec: MS-MQDMPR 3.1.7.1.25.
        """
        published = {element.Identifier: element for element in self.qm.enterprise.state.QueueCollection}
        for queue in self._list_public_queues():
            element = published.get(queue.Identifier)
            for name in ATTRIBUTES_SHARED_WITH_DIRECTORY if element is not None else ():
                setattr(queue, name, getattr(element, name))

    def _list_public_queues(self) -> list[Queue]:
        return [queue for queue in self.qm.adm.QueueCollection.values() if queue.QueueType is QueueType.PUBLIC]

    def _build_element(self, queue: Queue) -> directory.Queue:
        """Build the directory object for a queue."""
        element = directory.Queue(
            Identifier=queue.Identifier if queue.Identifier.int else None,
            Pathname=f"{self.qm.enterprise.state.LocalQueueManager.ComputerName}\\{queue.Pathname}",
            Transactional=queue.Transactional,
            MulticastAddress=queue.MulticastAddress,
        )
        return replace(element, **{name: getattr(queue, name) for name in ATTRIBUTES_SHARED_WITH_DIRECTORY})
