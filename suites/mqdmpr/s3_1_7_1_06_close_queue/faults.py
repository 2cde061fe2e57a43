"""Faults that break rules of MS-MQDMPR 3.1.7.1.6 Close Queue."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.queue_opening import DENY_RECEIVE, RECEIVE_ACCESS, SEND_ACCESS, QueueOpening
from reference_qm.core.remote.model import OpenQueueEntry
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import CursorState, QueueAccessType
from reference_qm.model.statuses import Status


@fault("closing-several-queues-leaves-single-descriptors-open", breaks="MQDMPR-3.1.7.1.6-07")
class ClosingSeveralQueuesLeavesSingleDescriptorsOpen(QueueOpening):
    """When the descriptor of several queues is closed, the queue manager leaves their single descriptors open."""

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        queue_desc.OpenQueueDescriptorCollection.clear()
        super().close_queue(queue_desc)


@fault("queue-manager-closed-handle-of-several-queues-closes-only-first-queue", breaks="MQDMPR-3.1.7.1.6-07")
class QueueManagerClosedHandleOfSeveralQueuesClosesOnlyFirstQueue(QueueOpening):
    """When an OpenQueueDescriptor for several queues is closed, the queue manager closes only the first of these
    queues.
    """

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        del queue_desc.OpenQueueDescriptorCollection[1:]
        super().close_queue(queue_desc)


@fault("closed-handle-ends-reads-of-other-handles", breaks="MQDMPR-3.1.7.1.6-10")
class ClosedHandleEndsReadsOfOtherHandles(RemoteQueueOpening):
    """When a remote reader closes a queue, the reads that wait with other handles of the queue end as well."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        queue = None if descriptor is None else descriptor.QueueReference
        super().close_open_queue_entry(entry)
        for other in list(queue.OpenQueueDescriptorCollection.values()) if queue is not None else ():
            for reader in list(other.WaitingMessageReadOperationCollection):
                if reader.number in self.qm.readers:
                    self.qm.waiting_reads.end_wait_without_message(reader, Status.MQ_ERROR_OPERATION_CANCELLED)


@fault("queue-manager-close-queue-ends-reads-of-other-handles", breaks="MQDMPR-3.1.7.1.6-10")
class QueueManagerCloseQueueEndsReadsOfOtherHandles(QueueOpening):
    """When an OpenQueueDescriptor is closed, the queue manager also ends the pending reads with the other handles of
    the queue.
    """

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        queue = queue_desc.QueueReference
        waiting = queue_desc.WaitingMessageReadOperationCollection
        if queue is not None and waiting:
            for other in list(queue.OpenQueueDescriptorCollection.values()):
                for reader in list(other.WaitingMessageReadOperationCollection) if other is not queue_desc else ():
                    self.qm.waiting_reads.end_wait_without_message(reader, Status.MQ_ERROR_OPERATION_CANCELLED)
        super().close_queue(queue_desc)


@fault("close-ends-pending-reads-of-other-handles", breaks="MQDMPR-3.1.7.1.6-10")
class CloseEndsPendingReadsOfOtherHandles(QueueOpening):
    """When a handle is closed, the queue manager also ends the pending reads of the other handles of the queue."""

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        queue = queue_desc.QueueReference
        super().close_queue(queue_desc)
        for other in list(queue.OpenQueueDescriptorCollection.values()) if queue is not None else []:
            for reader in list(other.WaitingMessageReadOperationCollection):
                self.qm.waiting_reads.end_wait_without_message(reader, Status.MQ_ERROR_OPERATION_CANCELLED)


@fault("closed-open-queue-descriptor-leaves-cursors-usable", breaks="MQDMPR-3.1.7.1.6-15")
class ClosedOpenQueueDescriptorLeavesCursorsUsable(QueueOpening):
    """The queue manager leaves the cursors of a closed OpenQueueDescriptor open."""

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        queue, cursors = queue_desc.QueueReference, dict(queue_desc.CursorCollection)
        queue_desc.CursorCollection.clear()
        super().close_queue(queue_desc)
        if cursors and queue is not None:
            queue_desc.CursorCollection.update(cursors)
            self.qm.descriptors[queue_desc.Handle] = queue_desc


@fault("queue-manager-closed-handle-restricts-readers-beside-open-handle", breaks="MQDMPR-3.1.7.1.6-17")
class QueueManagerClosedHandleRestrictsReadersBesideOpenHandle(QueueOpening):
    """A closed OpenQueueDescriptor still restricts other readers while another handle of the queue is open."""

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        queue = queue_desc.QueueReference
        others = queue is not None and len(queue.OpenQueueDescriptorCollection) > 1
        super().close_queue(queue_desc)
        if queue is not None and others:
            queue.OpenQueueDescriptorCollection[queue_desc.Handle] = queue_desc


@fault("closed-peek-handle-still-restricts-readers", breaks="MQDMPR-3.1.7.1.6-17")
class ClosedPeekHandleStillRestrictsReaders(QueueOpening):
    """A closed handle with PeekAccess and DenyReceive still prevents receivers from opening the queue."""

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        queue = queue_desc.QueueReference
        super().close_queue(queue_desc)
        if queue is not None and queue_desc.AccessType is not RECEIVE_ACCESS:
            queue.OpenQueueDescriptorCollection[queue_desc.Handle] = queue_desc


@fault("closed-peek-handle-restricts-readers-until-last-handle-is-closed", breaks="MQDMPR-3.1.7.1.6-17", blind=True)
class ClosedPeekHandleRestrictsReadersUntilLastHandleIsClosed(QueueOpening):
    """A closed handle with PeekAccess and DenyReceive still restricts the readers of its queue."""

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        queue = queue_desc.QueueReference
        super().close_queue(queue_desc)
        if queue is not None and queue_desc.ShareMode is DENY_RECEIVE and queue_desc.AccessType.name == "PEEK":
            queue.OpenQueueDescriptorCollection[queue_desc.Handle] = queue_desc


@fault("closed-send-handle-stays-in-descriptor-collection", breaks="MQDMPR-3.1.7.1.6-17", blind=True)
class ClosedSendHandleStaysInDescriptorCollection(QueueOpening):
    """A closed handle with SendAccess stays in the collection of its queue."""

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        queue = queue_desc.QueueReference
        super().close_queue(queue_desc)
        if queue is not None and queue_desc.AccessType is SEND_ACCESS:
            queue.OpenQueueDescriptorCollection[queue_desc.Handle] = queue_desc


@fault("lost-connection-of-remote-reader-leaves-descriptor-open", breaks="MQDMPR-3.1.7.1.6-17", blind=True)
class LostConnectionOfRemoteReaderLeavesDescriptorOpen(RemoteQueueOpening):
    """When the connection of a remote reader is lost, its OpenQueueDescriptor stays in the queue and restricts other
    readers.
    """

    def run_down_session(self, entry: OpenQueueEntry) -> None:
        self.cancel_remote_reads(entry)


@fault("closed-handle-of-several-queues-leaves-second-queue-open", breaks="MQDMPR-3.1.7.1.6-17", blind=True)
class ClosedHandleOfSeveralQueuesLeavesSecondQueueOpen(QueueOpening):
    """When the OpenQueueDescriptor of several queues is closed, the OpenQueueDescriptors of all queues except the first
    stay in their queues.
    """

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        if queue_desc.Multiple:
            del queue_desc.OpenQueueDescriptorCollection[1:]
        super().close_queue(queue_desc)


class _CursorOfClosedQueueKeeper(QueueOpening):
    """Leave some cursors of a closed OpenQueueDescriptor open; a subclass selects which."""

    def list_cursors_left_open(self, queue_desc: OpenQueueDescriptor) -> dict[int, Cursor]:
        """Return the cursors that stay open."""
        return {}

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        queue, left = queue_desc.QueueReference, self.list_cursors_left_open(queue_desc)
        for handle in left:
            del queue_desc.CursorCollection[handle]
        super().close_queue(queue_desc)
        if left and queue is not None:
            queue_desc.CursorCollection.update(left)
            self.qm.descriptors[queue_desc.Handle] = queue_desc


@fault("queue-manager-close-of-queue-closes-first-cursor-only", breaks="MQDMPR-3.1.7.1.6-15", blind=True)
class QueueManagerCloseOfQueueClosesFirstCursorOnly(_CursorOfClosedQueueKeeper):
    """When an OpenQueueDescriptor is closed, the queue manager closes only its first cursor."""

    def list_cursors_left_open(self, queue_desc: OpenQueueDescriptor) -> dict[int, Cursor]:
        return dict(list(queue_desc.CursorCollection.items())[1:])


@fault("queue-manager-leaves-moved-cursors-of-closed-handle-open", breaks="MQDMPR-3.1.7.1.6-15", blind=True)
class QueueManagerLeavesMovedCursorsOfClosedHandleOpen(_CursorOfClosedQueueKeeper):
    """When an OpenQueueDescriptor is closed, the queue manager leaves cursors that have read a message open."""

    def list_cursors_left_open(self, queue_desc: OpenQueueDescriptor) -> dict[int, Cursor]:
        cursors = queue_desc.CursorCollection
        return {handle: one for handle, one in cursors.items() if one.CursorState is CursorState.READ}


@fault("queue-manager-leaves-cursors-of-closed-peek-handle-open", breaks="MQDMPR-3.1.7.1.6-15", blind=True)
class QueueManagerLeavesCursorsOfClosedPeekHandleOpen(_CursorOfClosedQueueKeeper):
    """When an OpenQueueDescriptor with peek access is closed, the queue manager leaves its cursors open."""

    def list_cursors_left_open(self, queue_desc: OpenQueueDescriptor) -> dict[int, Cursor]:
        receives = queue_desc.AccessType is QueueAccessType.RECEIVE
        return {} if receives else dict(queue_desc.CursorCollection)
