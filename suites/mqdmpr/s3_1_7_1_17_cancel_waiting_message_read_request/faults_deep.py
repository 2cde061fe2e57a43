"""Faults of MS-MQDMPR 3.1.7.1.17 Cancel Waiting Message Read Request that only special cases reveal: similar tags, and
other kinds of reads.
"""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.statuses import Status


def _truncate_tag(tag: Hashable) -> tuple[int, ...]:
    numbers = tag if isinstance(tag, tuple) else (tag,)
    return tuple(one & 0xFFFF for one in numbers if isinstance(one, int))


@fault("queue-manager-cancel-compares-16-bits-of-tag", breaks="MQDMPR-3.1.7.1.17-05")
class QueueManagerCancelCompares16BitsOfTag(Waiting):
    """The queue manager cancels the first pending read whose tag has the same low 16 bits as the requested tag."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        for descriptor in list(queue.OpenQueueDescriptorCollection.values()):
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                if reader.Tag is not None and _truncate_tag(reader.Tag) == _truncate_tag(tag):
                    self.stop_reader(reader, status)
                    return Status.MQ_OK
        return Status.STATUS_NOT_FOUND


@fault("queue-manager-cancel-searches-first-open-descriptor-only", breaks="MQDMPR-3.1.7.1.17-10")
class QueueManagerCancelSearchesFirstOpenDescriptorOnly(Waiting):
    """The queue manager cancels a pending read only if the read uses the first OpenQueueDescriptor of the queue."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        first = next(iter(queue.OpenQueueDescriptorCollection.values()), None)
        for reader in list(first.WaitingMessageReadOperationCollection) if first is not None else ():
            if reader.Tag is not None and reader.Tag == tag:
                self.stop_reader(reader, status)
                return Status.MQ_OK
        return Status.STATUS_NOT_FOUND


@fault("queue-manager-cancelled-receive-takes-next-message", breaks="MQDMPR-3.1.7.1.17-06", blind=True)
class QueueManagerCancelledReceiveTakesNextMessage(Waiting):
    """A cancelled receive still removes the next message of its queue if a second read waits at the queue."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        readers = [
            (one, reader)
            for one in queue.OpenQueueDescriptorCollection.values()
            for reader in one.WaitingMessageReadOperationCollection
        ]
        found = super().cancel_waiting_read(queue, tag, status)
        for descriptor, reader in readers:
            if reader.number not in self.qm.readers and len(readers) > 1:
                reader.Tag, reader.answered = None, self.discard_message
                self.qm.readers[reader.number] = reader
                descriptor.WaitingMessageReadOperationCollection[reader] = None
        return found

    def discard_message(self, status: Status, position: MessagePosition | None) -> None:
        """Delete the message that completes the cancelled receive."""
        if position is not None:
            self.qm.positions.delete_message(position, MessageClass.MQMSG_CLASS_ACK_RECEIVE)


@fault("cancel-ends-oldest-read-of-descriptor", breaks="MQDMPR-3.1.7.1.17-05")
class CancelEndsOldestReadOfDescriptor(Waiting):
    """A cancellation with the tag of a pending read ends the oldest pending read with the same OpenQueueDescriptor."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        for descriptor in list(queue.OpenQueueDescriptorCollection.values()):
            readers = list(descriptor.WaitingMessageReadOperationCollection)
            if any(one.Tag == tag for one in readers):
                self.stop_reader(readers[0], status)
                return Status.MQ_OK
        return Status.STATUS_NOT_FOUND


@fault("cancel-of-peek-leaves-it-waiting", breaks="MQDMPR-3.1.7.1.17-05")
class CancelOfPeekLeavesItWaiting(Waiting):
    """A cancellation with the tag of a pending peek has no effect."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        for descriptor in list(queue.OpenQueueDescriptorCollection.values()):
            for reader in descriptor.WaitingMessageReadOperationCollection:
                if reader.Tag == tag and not reader.DestructiveRead:
                    return Status.MQ_OK
        return super().cancel_waiting_read(queue, tag, status)


@fault("cancelled-read-by-cursor-ends-with-time-out", breaks="MQDMPR-3.1.7.1.17-07")
class CancelledReadByCursorEndsWithTimeOut(Waiting):
    """The cancellation of a pending read by a cursor ends the read with MQ_ERROR_IO_TIMEOUT."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        for reader in self.qm.readers.values():
            if reader.Tag == tag and reader.CursorReference is not None:
                return super().cancel_waiting_read(queue, tag, Status.MQ_ERROR_IO_TIMEOUT)
        return super().cancel_waiting_read(queue, tag, status)
