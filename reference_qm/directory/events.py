"""The directory events of a queue manager. Spec: MS-MQDMPR 3.1.7.1.18 to 3.1.7.1.25.

Each takes the directory to delegate to and what the queue manager keeps for it, then the printed arguments:
``element`` iDirectoryObject, ``kind`` iDirectoryObjectType, ``filters`` iFilter, ``attributes`` iAttributeList,
``orders`` iAttributeSortOrder, ``handle`` iQueryHandle, ``force`` iForceDirectoryRead.
"""

from __future__ import annotations

from collections.abc import Sequence

from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.enums import QueueType
from reference_qm.directory.filters import AttributeSortOrder, FilterError, check_filter, equals, matching
from reference_qm.directory.interface import AttributeList, Begun, Created, Directory, Filter, Found
from reference_qm.directory.objects import DirectoryObject, Queue, QueueManager, updated
from reference_qm.directory.state import ChangeOperation, DirectoryState


def create_directory_object(
    directory: Directory,
    state: DirectoryState,
    element: DirectoryObject,
    attributes: AttributeList = None,
) -> Created:
    """Create Directory Object. The notification comes first, whatever the result. Spec: MS-MQDMPR 3.1.7.1.18."""
    if _is_public(element):
        state.notify(ChangeOperation.QUEUE_CREATION, element)
    created = directory.create(element, attributes)
    _note(state, created.rStatus)
    return created


def delete_directory_object(
    directory: Directory,
    state: DirectoryState,
    element: DirectoryObject,
) -> Result:
    """Delete Directory Object. The notification comes first, whatever the result. Spec: MS-MQDMPR 3.1.7.1.19."""
    if _is_public(element):
        state.notify(ChangeOperation.QUEUE_DELETION, element)
    return _note(state, directory.delete(element))


def read_directory(
    directory: Directory,
    state: DirectoryState,
    kind: str,
    filters: Filter = (),
    attributes: AttributeList = None,
    *,
    force: bool = False,
) -> Found:
    """Read Directory: while it is offline, only what the queue manager itself has. Spec: MS-MQDMPR 3.1.7.1.20."""
    if state.DirectoryOffline and not force:
        return _read_offline(state, kind, filters)
    found = directory.read(kind, filters, attributes)
    if not force:
        _note(state, found.rStatus)
    return found


def read_directory_begin(
    directory: Directory,
    kind: str,
    filters: Filter = (),
    attributes: AttributeList = None,
    orders: Sequence[AttributeSortOrder] | None = None,
) -> Begun:
    """Read Directory Begin: delegated, offline or not. Spec: MS-MQDMPR 3.1.7.1.21."""
    return directory.read_begin(kind, filters, attributes, orders)


def read_directory_next(directory: Directory, handle: int) -> Found:
    """Read Directory Next: delegated. Spec: MS-MQDMPR 3.1.7.1.22."""
    return directory.read_next(handle)


def read_directory_end(directory: Directory, handle: int) -> Result:
    """Read Directory End: delegated. Spec: MS-MQDMPR 3.1.7.1.23."""
    return directory.read_end(handle)


def write_directory(
    directory: Directory,
    state: DirectoryState,
    element: DirectoryObject,
    attributes: AttributeList = None,
) -> Result:
    """Write Directory. What was written is notified. Spec: MS-MQDMPR 3.1.7.1.24."""
    status = _note(state, directory.write(element, attributes))
    if status is Result.SUCCESS:
        if _is_public(element):
            state.notify(ChangeOperation.QUEUE_UPDATE, element)
        elif isinstance(element, QueueManager):
            state.notify(ChangeOperation.QUEUE_MANAGER_UPDATE, element)
    return status


def check_directory_online(directory: Directory, state: DirectoryState) -> None:
    """Check Directory Online, and take over what the directory says of what is local. Spec: MS-MQDMPR 3.1.7.1.25."""
    own = equals("Identifier", state.LocalQueueManager.Identifier)
    published = read_directory(directory, state, "QueueManager", own, force=True).rDirectoryObject
    if not isinstance(published, QueueManager):
        return
    state.LocalQueueManager = updated(state.LocalQueueManager, published)
    state.DirectoryOffline = False
    state.QueueCollection = tuple(
        _refreshed(directory, state, queue) if _is_public(queue) else queue for queue in state.QueueCollection
    )


def _refreshed(directory: Directory, state: DirectoryState, queue: Queue) -> Queue:
    found = read_directory(directory, state, "Queue", equals("Identifier", queue.Identifier)).rDirectoryObject
    return updated(queue, found) if isinstance(found, Queue) else queue


def _read_offline(state: DirectoryState, kind: str, filters: Filter) -> Found:
    local: dict[str, tuple[Sequence[DirectoryObject], type[DirectoryObject], Result]] = {
        "Queue": (state.QueueCollection, Queue, Result.OBJECT_NOT_FOUND),
        "QueueManager": ((state.LocalQueueManager,), QueueManager, Result.DIRECTORY_NOT_CONNECTED),
    }
    if kind not in local:
        return Found(Result.DIRECTORY_NOT_CONNECTED)
    elements, of_kind, otherwise = local[kind]
    try:
        check_filter(of_kind, filters)
    except FilterError:
        return Found(Result.GENERIC_ERROR)
    found = matching(elements, filters)
    return Found(Result.SUCCESS, found[0]) if found else Found(otherwise)


def _is_public(element: DirectoryObject) -> bool:
    return isinstance(element, Queue) and element.QueueType is QueueType.PUBLIC


def _note(state: DirectoryState, status: Result) -> Result:
    if status is Result.DIRECTORY_NOT_CONNECTED:
        state.go_offline()
    return status
