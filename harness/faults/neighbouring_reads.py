"""Find the messages, pending reads and queues that a faulty queue manager returns or changes by mistake in a read."""

from __future__ import annotations

from reference_qm.codec import FormatError, parse_format_name
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import Cursor, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.position_list import Boundary, Entry
from reference_qm.model.states import MessagePositionState


def find_locked_message(queue: Queue) -> MessagePosition | None:
    """Return the first locked message of a queue, or None."""
    locked = MessagePositionState.LOCKED
    return next(
        (one for one in queue.MessagePositionList if one.State is locked and not one.is_disk_write_pending), None
    )


def has_locked_message(queue_desc: OpenQueueDescriptor) -> bool:
    """Return whether the queue of a descriptor has a locked message."""
    queue = queue_desc.QueueReference
    return queue is not None and find_locked_message(queue) is not None


def is_followed_by_locked_message(cursor: Cursor) -> bool:
    """Return whether a locked message follows the position of a cursor."""
    entry: Entry | None = cursor.MessagePositionReference.Next
    while entry is not None and not isinstance(entry, Boundary):
        if entry.State is MessagePositionState.LOCKED:
            return True
        entry = entry.Next
    return False


def list_waiting_reads(queue: Queue) -> list[WaitingMessageReadOperation]:
    """Return the pending reads of a queue, in the order in which the queue manager serves them."""
    descriptors = queue.OpenQueueDescriptorCollection.values()
    return [read for one in descriptors for read in one.WaitingMessageReadOperationCollection]


def find_queue_of_same_name(qm: QueueManager, queue_desc: OpenQueueDescriptor) -> Queue | None:
    """Return the queue whose name is now the name with which a descriptor was opened, or None if there is no such
    queue.
    """
    found = qm.queue_names.find_queue_by_path(queue_desc.FormatName)
    if found is not None:
        return found
    try:
        return qm.queue_names.find_queue_by_format_name(parse_format_name(queue_desc.FormatName))
    except FormatError:
        return None
