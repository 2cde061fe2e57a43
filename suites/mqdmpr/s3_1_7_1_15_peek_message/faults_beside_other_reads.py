"""Faults of peeks without a cursor while messages are locked or other reads are pending, and of long waits."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.neighbouring_reads import find_queue_of_same_name, has_locked_message, list_waiting_reads
from harness.faults.parts import fault
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now


class PeekChanger(MessageReading):
    """A part of the queue manager that changes some peeks; a subclass selects which."""

    def change_timeout(
        self, queue_desc: OpenQueueDescriptor, cursor: Cursor | None, timeout_ms: int | None
    ) -> int | None:
        return timeout_ms

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        super().peek_message(
            queue_desc, answered, now, self.change_timeout(queue_desc, cursor, timeout_ms), cursor, tag
        )


@fault("queue-manager-peek-at-deleted-queue-reads-recreated-queue", breaks="MQDMPR-3.1.7.1.15-04", blind=True)
class QueueManagerPeekAtDeletedQueueReadsRecreatedQueue(PeekChanger):
    """If a queue is deleted and created again after an application opened it, a peek with the old handle reads from the
    new queue.
    """

    def change_timeout(
        self, queue_desc: OpenQueueDescriptor, cursor: Cursor | None, timeout_ms: int | None
    ) -> int | None:
        if queue_desc.QueueReference is None and cursor is None:
            queue_desc.QueueReference = find_queue_of_same_name(self.qm, queue_desc)
        return timeout_ms


@fault("queue-manager-cursor-peek-at-deleted-queue-returns-already-received", breaks="MQDMPR-3.1.7.1.15-04", blind=True)
class QueueManagerCursorPeekAtDeletedQueueReturnsAlreadyReceived(MessageReading):
    """A peek by a cursor at a queue that was deleted after it was opened returns MQ_ERROR_MESSAGE_ALREADY_RECEIVED."""

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        if queue_desc.QueueReference is None and cursor is not None:
            answered(Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED, None)
            return
        super().peek_message(queue_desc, answered, now, timeout_ms, cursor, tag)


@fault("queue-manager-peek-without-timeout-by-cursor-ends-after-a-minute", breaks="MQDMPR-3.1.7.1.15-07", blind=True)
class QueueManagerPeekWithoutTimeoutByCursorEndsAfterAMinute(PeekChanger):
    """A peek by a cursor without a timeout ends after a minute."""

    def change_timeout(
        self, queue_desc: OpenQueueDescriptor, cursor: Cursor | None, timeout_ms: int | None
    ) -> int | None:
        return 60_000 if cursor is not None and timeout_ms is None else timeout_ms


@fault("queue-manager-second-peek-without-timeout-ends-after-a-minute", breaks="MQDMPR-3.1.7.1.15-07", blind=True)
class QueueManagerSecondPeekWithoutTimeoutEndsAfterAMinute(PeekChanger):
    """A peek without a timeout ends after a minute if another read of the queue is pending."""

    def change_timeout(
        self, queue_desc: OpenQueueDescriptor, cursor: Cursor | None, timeout_ms: int | None
    ) -> int | None:
        queue = queue_desc.QueueReference
        beside = queue is not None and bool(list_waiting_reads(queue))
        return 60_000 if beside and timeout_ms is None else timeout_ms


@fault("queue-manager-peek-behind-locked-message-fails-at-once", breaks="MQDMPR-3.1.7.1.15-44", blind=True)
class QueueManagerPeekBehindLockedMessageFailsAtOnce(PeekChanger):
    """If a queue has only locked messages, a peek without a cursor returns MQ_ERROR_IO_TIMEOUT at once."""

    def change_timeout(
        self, queue_desc: OpenQueueDescriptor, cursor: Cursor | None, timeout_ms: int | None
    ) -> int | None:
        return 0 if cursor is None and has_locked_message(queue_desc) else timeout_ms


@fault("queue-manager-peek-beside-pending-read-fails-at-once", breaks="MQDMPR-3.1.7.1.15-44", blind=True)
class QueueManagerPeekBesidePendingReadFailsAtOnce(PeekChanger):
    """While another read of the queue is pending, a peek without a cursor returns MQ_ERROR_IO_TIMEOUT at once."""

    def change_timeout(
        self, queue_desc: OpenQueueDescriptor, cursor: Cursor | None, timeout_ms: int | None
    ) -> int | None:
        queue = queue_desc.QueueReference
        return 0 if cursor is None and queue is not None and list_waiting_reads(queue) else timeout_ms


@fault("queue-manager-pending-peek-of-closed-handle-returns-io-timeout", breaks="MQDMPR-3.1.7.1.15-55", blind=True)
class QueueManagerPendingPeekOfClosedHandleReturnsIoTimeout(WaitingReads):
    """A pending peek without a cursor returns MQ_ERROR_IO_TIMEOUT when its handle is closed."""

    def end_wait_without_message(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        plain = reader.CursorReference is None and not reader.DestructiveRead
        if plain and status is Status.MQ_ERROR_OPERATION_CANCELLED:
            status = Status.MQ_ERROR_IO_TIMEOUT
        super().end_wait_without_message(reader, status)


@fault("queue-manager-second-peek-at-same-message-returns-io-timeout", breaks="MQDMPR-3.1.7.1.15-59", blind=True)
class QueueManagerSecondPeekAtSameMessageReturnsIoTimeout(MessageReading):
    """The second peek of a handle at the same message returns MQ_ERROR_IO_TIMEOUT."""

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        def answer_first_peek_at_message_only(status: Status, position: MessagePosition | None) -> None:
            seen = self.__dict__.setdefault("seen", set())
            if position is not None and (queue_desc, position) in seen:
                answered(Status.MQ_ERROR_IO_TIMEOUT, None)
                return
            seen.add((queue_desc, position))
            answered(status, position)

        changed = answer_first_peek_at_message_only if cursor is None else answered
        super().peek_message(queue_desc, changed, now, timeout_ms, cursor, tag)


@fault("queue-manager-peek-at-message-beside-locked-one-returns-io-timeout", breaks="MQDMPR-3.1.7.1.15-59", blind=True)
class QueueManagerPeekAtMessageBesideLockedOneReturnsIoTimeout(MessageReading):
    """A peek without a cursor that finds a message behind or before a locked message returns MQ_ERROR_IO_TIMEOUT."""

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        if cursor is None and has_locked_message(queue_desc):
            answered(Status.MQ_ERROR_IO_TIMEOUT, None)
            return
        super().peek_message(queue_desc, answered, now, timeout_ms, cursor, tag)
