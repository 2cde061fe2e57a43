"""Implements the directory events of a queue manager. Spec: MS-MQDMPR 3.1.7.1.18 to 3.1.7.1.25.

A function that reads takes the content of the directory at the last read, the queue manager's own state, and the
printed arguments: ``element`` is iDirectoryObject, ``kind`` is iDirectoryObjectType, ``filters`` is iFilter,
``attributes`` is iAttributeList, ``orders`` is iAttributeSortOrder, ``handle`` is iQueryHandle, and ``force`` is
iForceDirectoryRead. A change needs two functions, because the directory answers later: the first function makes the
request, and ``process_directory_change_result`` handles the result.
"""

from __future__ import annotations

from collections.abc import Sequence

from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.enums import QueueType
from reference_qm.directory.filters import (
    AttributeSortOrder,
    FilterError,
    build_equality_filter,
    check_filter_expressions,
    select_matching_elements,
)
from reference_qm.directory.interface import (
    AttributeList,
    Change,
    DirectoryCreateRequest,
    DirectoryDeleteRequest,
    DirectoryReadBeginResult,
    DirectoryReadResult,
    DirectoryWriteRequest,
    FilterExpressions,
)
from reference_qm.directory.objects import DirectoryObject, Queue, QueueManager, copy_with_published_attributes
from reference_qm.directory.replica import DirectoryReplica
from reference_qm.directory.state import ChangeOperation, DirectoryState


def create_directory_object(
    state: DirectoryState, element: DirectoryObject, attributes: AttributeList = None
) -> Change:
    """Raise the event Create Directory Object. The change notification is sent before the result is known. Spec:
    MS-MQDMPR 3.1.7.1.18.
    """
    if _is_public_queue(element):
        state.send_change_notification(ChangeOperation.QUEUE_CREATION, element)
    return DirectoryCreateRequest(element, attributes)


def delete_directory_object(state: DirectoryState, element: DirectoryObject) -> Change:
    """Raise the event Delete Directory Object. The change notification is sent before the result is known. Spec:
    MS-MQDMPR 3.1.7.1.19.
    """
    if _is_public_queue(element):
        state.send_change_notification(ChangeOperation.QUEUE_DELETION, element)
    return DirectoryDeleteRequest(element)


def process_directory_change_result(state: DirectoryState, change: Change, status: Result) -> None:
    """Handle the result of a change, and send the change notification of a successful write. Spec: MS-MQDMPR
    3.1.7.1.18, 3.1.7.1.19, 3.1.7.1.24.
    """
    _note_directory_status(state, status)
    if status is not Result.SUCCESS or not isinstance(change, DirectoryWriteRequest):
        return
    if _is_public_queue(change.element):
        state.send_change_notification(ChangeOperation.QUEUE_UPDATE, change.element)
    elif isinstance(change.element, QueueManager):
        state.send_change_notification(ChangeOperation.QUEUE_MANAGER_UPDATE, change.element)


def read_directory(
    directory: DirectoryReplica,
    state: DirectoryState,
    kind: str,
    filters: FilterExpressions = (),
    attributes: AttributeList = None,
    *,
    force: bool = False,
) -> DirectoryReadResult:
    """Raise the event Read Directory. While the directory is offline, the event finds only the queue manager's own
    elements. Spec: MS-MQDMPR 3.1.7.1.20.
    """
    if state.DirectoryOffline and not force:
        return _read_while_offline(state, kind, filters)
    found = directory.read(kind, filters, attributes)
    if not force:
        _note_directory_status(state, found.rStatus)
    return found


def read_directory_begin(
    directory: DirectoryReplica,
    kind: str,
    filters: FilterExpressions = (),
    attributes: AttributeList = None,
    orders: Sequence[AttributeSortOrder] | None = None,
) -> DirectoryReadBeginResult:
    """Raise the event Read Directory Begin, and pass it to the directory. Spec: MS-MQDMPR 3.1.7.1.21."""
    return directory.read_begin(kind, filters, attributes, orders)


def read_directory_next(directory: DirectoryReplica, handle: int) -> DirectoryReadResult:
    """Raise the event Read Directory Next, and pass it to the directory. Spec: MS-MQDMPR 3.1.7.1.22."""
    return directory.read_next(handle)


def read_directory_end(directory: DirectoryReplica, handle: int) -> Result:
    """Raise the event Read Directory End, and pass it to the directory. Spec: MS-MQDMPR 3.1.7.1.23."""
    return directory.read_end(handle)


def check_directory_online(directory: DirectoryReplica, state: DirectoryState) -> None:
    """Raise the event Check Directory Online, and copy the attributes of local elements from the directory.

    Spec: MS-MQDMPR 3.1.7.1.25.
    """
    own = build_equality_filter("Identifier", state.LocalQueueManager.Identifier)
    published = read_directory(directory, state, "QueueManager", own, force=True).rDirectoryObject
    if not isinstance(published, QueueManager):
        return
    state.LocalQueueManager = copy_with_published_attributes(state.LocalQueueManager, published)
    state.DirectoryOffline = False
    state.QueueCollection = tuple(
        _refresh_queue(directory, state, queue) if _is_public_queue(queue) else queue for queue in state.QueueCollection
    )


def _refresh_queue(directory: DirectoryReplica, state: DirectoryState, queue: Queue) -> Queue:
    found = read_directory(
        directory, state, "Queue", build_equality_filter("Identifier", queue.Identifier)
    ).rDirectoryObject
    return copy_with_published_attributes(queue, found) if isinstance(found, Queue) else queue


def _read_while_offline(state: DirectoryState, kind: str, filters: FilterExpressions) -> DirectoryReadResult:
    local: dict[str, tuple[Sequence[DirectoryObject], type[DirectoryObject], Result]] = {
        "Queue": (state.QueueCollection, Queue, Result.OBJECT_NOT_FOUND),
        "QueueManager": ((state.LocalQueueManager,), QueueManager, Result.DIRECTORY_NOT_CONNECTED),
    }
    if kind not in local:
        return DirectoryReadResult(Result.DIRECTORY_NOT_CONNECTED)
    elements, of_kind, otherwise = local[kind]
    try:
        check_filter_expressions(of_kind, filters)
    except FilterError:
        return DirectoryReadResult(Result.GENERIC_ERROR)
    found = select_matching_elements(elements, filters)
    return DirectoryReadResult(Result.SUCCESS, found[0]) if found else DirectoryReadResult(otherwise)


def _is_public_queue(element: DirectoryObject) -> bool:
    return isinstance(element, Queue) and element.QueueType is QueueType.PUBLIC


def _note_directory_status(state: DirectoryState, status: Result) -> None:
    """Set DirectoryOffline if the status shows that the directory is unavailable. Spec: MS-MQDMPR 3.1.7.1.18,
    3.1.7.1.19, 3.1.7.1.20, .24.
    """
    if status is Result.DIRECTORY_NOT_CONNECTED:
        state.go_offline()
