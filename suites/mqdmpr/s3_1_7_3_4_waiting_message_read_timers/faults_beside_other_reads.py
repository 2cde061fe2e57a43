"""Faults in the timers and statuses of pending reads while other reads are pending."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.neighbouring_reads import list_waiting_reads
from harness.faults.parts import fault
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


class PendingReadTimeoutChanger(WaitingReads):
    """A part of the queue manager that changes the timeouts of some pending reads; a subclass selects which."""

    def change_timeout(self, queue_desc: OpenQueueDescriptor, timeout_ms: int) -> int:
        raise NotImplementedError

    def wait_for_new_message(
        self,
        queue_desc: OpenQueueDescriptor,
        timeout_ms: int | None,
        destructive_read: bool,
        answered: OnReadAnswered,
        now: Now,
        tag: Hashable | None = None,
        cursor: Cursor | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        if timeout_ms:
            timeout_ms = self.change_timeout(queue_desc, timeout_ms)
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)


@fault("queue-manager-pending-read-has-timeout-of-first-read-of-handle", breaks="MQDMPR-3.1.7.3.4-04", blind=True)
class QueueManagerPendingReadHasTimeoutOfFirstReadOfHandle(PendingReadTimeoutChanger):
    """The timer of a pending read runs for the timeout of the first read that waited with the same handle."""

    def change_timeout(self, queue_desc: OpenQueueDescriptor, timeout_ms: int) -> int:
        return self.__dict__.setdefault("timeouts", {}).setdefault(queue_desc, timeout_ms)


@fault("queue-manager-read-timer-uses-only-low-16-bits-of-timeout", breaks="MQDMPR-3.1.7.3.4-04", blind=True)
class QueueManagerReadTimerUsesOnlyLow16BitsOfTimeout(PendingReadTimeoutChanger):
    """The timer of a pending read runs for the 16 low bits of the timeout in milliseconds."""

    def change_timeout(self, queue_desc: OpenQueueDescriptor, timeout_ms: int) -> int:
        return timeout_ms & 0xFFFF or timeout_ms


class StoppedReadStatusReplacer(WaitingReads):
    """A part of the queue manager that ends some pending reads with MQ_ERROR_IO_TIMEOUT instead of the passed status; a
    subclass selects which.
    """

    def is_status_of_stopped_read_replaced(self, reader: WaitingMessageReadOperation) -> bool:
        raise NotImplementedError

    def end_wait_without_message(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        super().end_wait_without_message(
            reader, Status.MQ_ERROR_IO_TIMEOUT if self.is_status_of_stopped_read_replaced(reader) else status
        )


@fault("queue-manager-timer-stop-ends-cursor-peek-with-io-timeout", breaks="MQDMPR-3.1.7.3.5-03", blind=True)
class QueueManagerTimerStopEndsCursorPeekWithIoTimeout(StoppedReadStatusReplacer):
    """The event Waiting Message Read Timer Stop ends a pending peek by a cursor with MQ_ERROR_IO_TIMEOUT instead of
    the passed status.
    """

    def is_status_of_stopped_read_replaced(self, reader: WaitingMessageReadOperation) -> bool:
        return reader.CursorReference is not None and not reader.DestructiveRead


@fault("queue-manager-timer-stop-ends-later-read-with-io-timeout", breaks="MQDMPR-3.1.7.3.5-03", blind=True)
class QueueManagerTimerStopEndsLaterReadWithIoTimeout(StoppedReadStatusReplacer):
    """The event Waiting Message Read Timer Stop ends a pending read with MQ_ERROR_IO_TIMEOUT instead of the
    passed status, if an earlier read of the queue is still pending.
    """

    def is_status_of_stopped_read_replaced(self, reader: WaitingMessageReadOperation) -> bool:
        queue = reader.descriptor.QueueReference
        return queue is not None and reader not in list_waiting_reads(queue)[:1]
