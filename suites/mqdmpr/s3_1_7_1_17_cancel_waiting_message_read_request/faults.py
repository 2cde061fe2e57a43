"""Faults that break rules of MS-MQDMPR 3.1.7.1.17 Cancel Waiting Message Read Request."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.statuses import Status
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("cancel-ends-longest-pending-read", breaks="MQDMPR-3.1.7.1.17-05")
class CancelEndsLongestPendingRead(WaitingReads):
    """The queue manager ignores the tag of a cancellation and ends the oldest pending read."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        waiting = (
            reader
            for descriptor in queue.OpenQueueDescriptorCollection.values()
            for reader in descriptor.WaitingMessageReadOperationCollection
        )
        first = next(waiting, None)
        return super().cancel_waiting_read(queue, tag if first is None else first.Tag or tag, status)


def _truncate_read_tag(tag: Hashable) -> tuple[int, ...]:
    numbers = tag if isinstance(tag, tuple) else (tag,)
    return tuple(one & 0xFFFF for one in numbers if isinstance(one, int))


@fault("queue-manager-cancel-compares-low-16-bits-of-request-tag", breaks="MQDMPR-3.1.7.1.17-05")
class QueueManagerCancelComparesLow16BitsOfRequestTag(WaitingReads):
    """The queue manager cancels the first pending read whose tag has the same low 16 bits as the requested tag."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        for descriptor in list(queue.OpenQueueDescriptorCollection.values()):
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                if reader.Tag is not None and _truncate_read_tag(reader.Tag) == _truncate_read_tag(tag):
                    self.end_wait_without_message(reader, status)
                    return Status.MQ_OK
        return Status.STATUS_NOT_FOUND


@fault("cancel-ends-oldest-read-of-descriptor", breaks="MQDMPR-3.1.7.1.17-05")
class CancelEndsOldestReadOfDescriptor(WaitingReads):
    """A cancellation with the tag of a pending read ends the oldest pending read with the same OpenQueueDescriptor."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        for descriptor in list(queue.OpenQueueDescriptorCollection.values()):
            readers = list(descriptor.WaitingMessageReadOperationCollection)
            if any(one.Tag == tag for one in readers):
                self.end_wait_without_message(readers[0], status)
                return Status.MQ_OK
        return Status.STATUS_NOT_FOUND


@fault("cancellation-of-pending-peek-has-no-effect", breaks="MQDMPR-3.1.7.1.17-05")
class CancellationOfPendingPeekHasNoEffect(WaitingReads):
    """A cancellation with the tag of a pending peek has no effect."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        for descriptor in list(queue.OpenQueueDescriptorCollection.values()):
            for reader in descriptor.WaitingMessageReadOperationCollection:
                if reader.Tag == tag and not reader.DestructiveRead:
                    return Status.MQ_OK
        return super().cancel_waiting_read(queue, tag, status)


@fault("cancelled-read-stays-pending", breaks=("MQDMPR-3.1.7.1.17-06", "MQDMPR-3.1.7.1.17-07"))
class CancelledReadStaysPending(WaitingReads):
    """When a read is cancelled, the queue manager lets the read continue to wait."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        return Status.MQ_OK


@fault("queue-manager-cancelled-receive-takes-next-message", breaks="MQDMPR-3.1.7.1.17-06", blind=True)
class QueueManagerCancelledReceiveTakesNextMessage(WaitingReads):
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
                reader.Tag, reader.answered = None, self.discard_found_message
                self.qm.readers[reader.number] = reader
                descriptor.WaitingMessageReadOperationCollection[reader] = None
        return found

    def discard_found_message(self, status: Status, position: MessagePosition | None) -> None:
        """Delete the message that completes the cancelled receive."""
        if position is not None:
            self.qm.message_positions.delete_message(position, MessageClass.MQMSG_CLASS_ACK_RECEIVE)


@fault("cancelled-read-by-cursor-ends-with-time-out", breaks="MQDMPR-3.1.7.1.17-07")
class CancelledReadByCursorEndsWithTimeOut(WaitingReads):
    """The cancellation of a pending read by a cursor ends the read with MQ_ERROR_IO_TIMEOUT."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        for reader in self.qm.readers.values():
            if reader.Tag == tag and reader.CursorReference is not None:
                return super().cancel_waiting_read(queue, tag, Status.MQ_ERROR_IO_TIMEOUT)
        return super().cancel_waiting_read(queue, tag, status)


@fault("successful-cancel-returns-status-not-found", breaks="MQDMPR-3.1.7.1.17-10")
class SuccessfulCancelReturnsStatusNotFound(WaitingReads):
    """The cancellation of a pending read returns STATUS_NOT_FOUND."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        super().cancel_waiting_read(queue, tag, status)
        return Status.STATUS_NOT_FOUND


@fault("queue-manager-cancel-searches-first-open-descriptor-only", breaks="MQDMPR-3.1.7.1.17-10")
class QueueManagerCancelSearchesFirstOpenDescriptorOnly(WaitingReads):
    """The queue manager cancels a pending read only if the read uses the first OpenQueueDescriptor of the queue."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        first = next(iter(queue.OpenQueueDescriptorCollection.values()), None)
        for reader in list(first.WaitingMessageReadOperationCollection) if first is not None else ():
            if reader.Tag is not None and reader.Tag == tag:
                self.end_wait_without_message(reader, status)
                return Status.MQ_OK
        return Status.STATUS_NOT_FOUND


@fault("cancel-of-unknown-request-succeeds", breaks="MQDMPR-3.1.7.1.17-11")
class CancelOfUnknownRequestSucceeds(QueueCommands):
    """The queue manager returns success for the cancellation of a request that is not pending."""

    def cancel_waiting(self, request: commands.CancelWaiting, token: int, now: Now) -> Result:
        super().cancel_waiting(request, token, now)
        return Result({"cancelled": True})


@fault("queue-manager-cancel-of-unknown-tag-ends-single-pending-read", breaks="MQDMPR-3.1.7.1.17-11", blind=True)
class QueueManagerCancelOfUnknownTagEndsSinglePendingRead(QueueCommands):
    """The cancellation of an unknown tag ends the pending read of an application if only one read is pending."""

    def cancel_waiting(self, request: commands.CancelWaiting, token: int, now: Now) -> Result:
        result = super().cancel_waiting(request, token, now)
        readers = list(self.qm.readers.values())
        if result.values == {"cancelled": False} and len(readers) == 1:
            self.qm.waiting_reads.end_wait_without_message(readers[0], Status.MQ_ERROR_OPERATION_CANCELLED)
        return result


@fault("queue-manager-second-cancel-of-request-succeeds", breaks="MQDMPR-3.1.7.1.17-11", blind=True)
class QueueManagerSecondCancelOfRequestSucceeds(QueueCommands):
    """The queue manager returns success for the cancellation of a request that was cancelled before."""

    cancelled_requests: frozenset[int] = frozenset()

    def cancel_waiting(self, request: commands.CancelWaiting, token: int, now: Now) -> Result:
        result = super().cancel_waiting(request, token, now)
        if result.values == {"cancelled": True}:
            self.cancelled_requests |= {request.token}
        return Result({"cancelled": request.token in self.cancelled_requests})


@fault("queue-manager-cancel-of-completed-request-succeeds", breaks="MQDMPR-3.1.7.1.17-11", blind=True)
class QueueManagerCancelOfCompletedRequestSucceeds(QueueCommands):
    """The queue manager returns success for the cancellation of a request that has already got its answer."""

    def cancel_waiting(self, request: commands.CancelWaiting, token: int, now: Now) -> Result:
        result = super().cancel_waiting(request, token, now)
        return Result({"cancelled": True}) if request.token < token else result


@fault("queue-manager-cancelled-receive-by-cursor-takes-next-message", breaks="MQDMPR-3.1.7.1.17-06", blind=True)
class QueueManagerCancelledReceiveByCursorTakesNextMessage(WaitingReads):
    """A cancelled receive by a cursor still removes the next message of its queue."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        readers = [
            (one, reader)
            for one in queue.OpenQueueDescriptorCollection.values()
            for reader in one.WaitingMessageReadOperationCollection
        ]
        found = super().cancel_waiting_read(queue, tag, status)
        for descriptor, reader in readers:
            by_cursor = reader.CursorReference is not None and reader.DestructiveRead
            if reader.number not in self.qm.readers and by_cursor:
                reader.Tag, reader.answered = None, self.discard_found_message
                self.qm.readers[reader.number] = reader
                descriptor.WaitingMessageReadOperationCollection[reader] = None
        return found

    def discard_found_message(self, status: Status, position: MessagePosition | None) -> None:
        """Delete the message that completes the cancelled receive."""
        if position is not None:
            self.qm.message_positions.delete_message(position, MessageClass.MQMSG_CLASS_ACK_RECEIVE)


@fault("queue-manager-second-cancelled-read-ends-with-time-out", breaks="MQDMPR-3.1.7.1.17-07", blind=True)
class QueueManagerSecondCancelledReadEndsWithTimeOut(WaitingReads):
    """The cancellation of a second pending read of a queue ends the read with MQ_ERROR_IO_TIMEOUT."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        cancelled = self.__dict__.setdefault("cancelled", set())
        again = queue.Pathname in cancelled
        cancelled.add(queue.Pathname)
        return super().cancel_waiting_read(queue, tag, Status.MQ_ERROR_IO_TIMEOUT if again else status)


@fault("queue-manager-cancelled-peek-ends-with-time-out", breaks="MQDMPR-3.1.7.1.17-07", blind=True)
class QueueManagerCancelledPeekEndsWithTimeOut(WaitingReads):
    """The cancellation of a pending peek without a cursor ends the peek with MQ_ERROR_IO_TIMEOUT."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        for reader in self.qm.readers.values():
            if reader.Tag == tag and reader.CursorReference is None and not reader.DestructiveRead:
                return super().cancel_waiting_read(queue, tag, Status.MQ_ERROR_IO_TIMEOUT)
        return super().cancel_waiting_read(queue, tag, status)


@fault("queue-manager-cancel-of-peek-returns-not-found", breaks="MQDMPR-3.1.7.1.17-10", blind=True)
class QueueManagerCancelOfPeekReturnsNotFound(WaitingReads):
    """The cancellation of a pending peek ends the peek, but returns STATUS_NOT_FOUND."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        peeks = any(reader.Tag == tag and not reader.DestructiveRead for reader in self.qm.readers.values())
        found = super().cancel_waiting_read(queue, tag, status)
        return Status.STATUS_NOT_FOUND if peeks else found


@fault("queue-manager-cancel-of-last-pending-read-returns-not-found", breaks="MQDMPR-3.1.7.1.17-10", blind=True)
class QueueManagerCancelOfLastPendingReadReturnsNotFound(WaitingReads):
    """The cancellation of the only pending read of a queue returns STATUS_NOT_FOUND."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        found = super().cancel_waiting_read(queue, tag, status)
        left = any(one.WaitingMessageReadOperationCollection for one in queue.OpenQueueDescriptorCollection.values())
        return found if left else Status.STATUS_NOT_FOUND
