"""Faults that break the rules MQDMPR-3.1.7.1.15-06 and MQDMPR-3.1.7.1.15-35 only under certain conditions."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now


class _OtherQueuePeeker(MessageReading):
    """Let a peek without a cursor return a message of a queue other than the opened queue."""

    def find_descriptor_of_peeked_queue(self, queue_desc: OpenQueueDescriptor) -> OpenQueueDescriptor | None:
        """Return the descriptor of the queue from which the peek wrongly takes its message, or None if the peek uses
        the opened queue.
        """
        return None

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        other = None if cursor is not None else self.find_descriptor_of_peeked_queue(queue_desc)
        super().peek_message(other or queue_desc, answered, now, timeout_ms, cursor, tag)


@fault("queue-manager-peek-at-subqueue-reads-parent-queue", breaks="MQDMPR-3.1.7.1.15-06", blind=True)
class QueueManagerPeekAtSubqueueReadsParentQueue(_OtherQueuePeeker):
    """A peek at a subqueue returns the first message of the queue to which the subqueue belongs."""

    def find_descriptor_of_peeked_queue(self, queue_desc: OpenQueueDescriptor) -> OpenQueueDescriptor | None:
        queue = queue_desc.QueueReference
        if queue is None or queue.parent is None or queue is queue.parent.JournalQueueReference:
            return None
        other = OpenQueueDescriptor(
            Handle=queue_desc.Handle,
            AccessType=queue_desc.AccessType,
            ShareMode=queue_desc.ShareMode,
            QueueReference=queue.parent,
            FormatName=queue_desc.FormatName,
        )
        queue.parent.OpenQueueDescriptorCollection[queue_desc.Handle] = other
        return other


@fault("queue-manager-peek-at-journal-reads-parent-queue", breaks="MQDMPR-3.1.7.1.15-06", blind=True)
class QueueManagerPeekAtJournalReadsParentQueue(_OtherQueuePeeker):
    """A peek at a journal returns the first message of the queue to which the journal belongs."""

    def find_descriptor_of_peeked_queue(self, queue_desc: OpenQueueDescriptor) -> OpenQueueDescriptor | None:
        queue = queue_desc.QueueReference
        if queue is None or queue.parent is None or queue is not queue.parent.JournalQueueReference:
            return None
        other = OpenQueueDescriptor(
            Handle=queue_desc.Handle,
            AccessType=queue_desc.AccessType,
            ShareMode=queue_desc.ShareMode,
            QueueReference=queue.parent,
            FormatName=queue_desc.FormatName,
        )
        queue.parent.OpenQueueDescriptorCollection[queue_desc.Handle] = other
        return other


@fault("queue-manager-peek-uses-descriptor-that-was-opened-last", breaks="MQDMPR-3.1.7.1.15-06", blind=True)
class QueueManagerPeekUsesDescriptorThatWasOpenedLast(_OtherQueuePeeker):
    """A peek returns the first message of the queue that was opened last."""

    def find_descriptor_of_peeked_queue(self, queue_desc: OpenQueueDescriptor) -> OpenQueueDescriptor | None:
        last = max(self.qm.descriptors.values(), key=lambda one: one.Handle, default=queue_desc)
        return None if last.QueueReference is None else last


class _PendingPeekStatusReplacer(WaitingReads):
    """Replace the status of a pending peek by a cursor that ends without a message."""

    def replace_status_of_peek(self, reader: WaitingMessageReadOperation, status: Status) -> Status:
        """Return the status that the peek returns."""
        return status

    def end_wait_without_message(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        peeks = not reader.DestructiveRead and reader.CursorReference is not None
        super().end_wait_without_message(reader, self.replace_status_of_peek(reader, status) if peeks else status)


@fault("queue-manager-cancelled-peek-by-cursor-returns-timeout", breaks="MQDMPR-3.1.7.1.15-35", blind=True)
class QueueManagerCancelledPeekByCursorReturnsTimeout(_PendingPeekStatusReplacer):
    """A pending peek by a cursor that is cancelled returns MQ_ERROR_IO_TIMEOUT."""

    def replace_status_of_peek(self, reader: WaitingMessageReadOperation, status: Status) -> Status:
        return Status.MQ_ERROR_IO_TIMEOUT


@fault("queue-manager-expired-peek-by-second-cursor-returns-cancelled", breaks="MQDMPR-3.1.7.1.15-35", blind=True)
class QueueManagerExpiredPeekBySecondCursorReturnsCancelled(_PendingPeekStatusReplacer):
    """A pending peek by a cursor that expires returns MQ_ERROR_OPERATION_CANCELLED if another read is pending."""

    def replace_status_of_peek(self, reader: WaitingMessageReadOperation, status: Status) -> Status:
        return Status.MQ_ERROR_OPERATION_CANCELLED if len(self.qm.readers) > 1 else status
