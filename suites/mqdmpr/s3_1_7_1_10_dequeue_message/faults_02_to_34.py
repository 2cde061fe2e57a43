"""Faults that break the rules MQDMPR-3.1.7.1.10-02 to MQDMPR-3.1.7.1.10-34."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from harness.faults.calls import change_step_arguments, replace_step_status
from harness.faults.parts import fault
from harness.faults.primitives import combine_installers
from harness.faults.registry import add
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.queue_cursors import CursorResult, QueueCursors
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.enums import CursorState
from reference_qm.model.position_list import Boundary
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus, Status
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now

add(
    "two-phase-receive-deletes-at-first-phase",
    ("MQDMPR-3.1.7.1.10-02", "MQDMPR-3.1.7.1.12-18", "MQDMPR-3.1.7.1.12-21"),
    "The queue manager deletes a message in the first phase of a two-phase receive.",
    change_step_arguments(MessageReading.take_message_out, two_phase_read=lambda given: False),
)


READ_EVENT_METHODS = (
    MessageReading.dequeue_message,
    MessageReading.read_by_lookup_identifier,
    MessageReading.peek_message,
    MessageReading.peek_next_message,
)


add(
    "read-of-deleted-queue-fails-with-not-found",
    (
        "MQDMPR-3.1.7.1.10-06",
        "MQDMPR-3.1.7.1.11-04",
        "MQDMPR-3.1.7.1.13-07",
        "MQDMPR-3.1.7.1.14-04",
        "MQDMPR-3.1.7.1.15-04",
    ),
    "A read of a queue that was deleted after it was opened returns MQ_ERROR_MESSAGE_NOT_FOUND.",
    combine_installers(
        *(
            replace_step_status(read, Status.MQ_ERROR_MESSAGE_NOT_FOUND, of=Status.MQ_ERROR_QUEUE_NOT_AVAILABLE)
            for read in READ_EVENT_METHODS
        )
    ),
)


@fault("cursor-receive-from-deleted-queue-returns-already-received", breaks="MQDMPR-3.1.7.1.10-06")
class CursorReceiveFromDeletedQueueReturnsAlreadyReceived(MessageReading):
    """A receive by a cursor of a deleted queue returns MQ_ERROR_MESSAGE_ALREADY_RECEIVED."""

    def dequeue_message(
        self, queue_desc: OpenQueueDescriptor, answered: OnReadAnswered, *rest: Any, **named: Any
    ) -> None:
        cursor = named.get("cursor") or (rest[2] if len(rest) > 2 else None)
        if queue_desc.QueueReference is None and cursor is not None:
            answered(Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED, None)
        else:
            super().dequeue_message(queue_desc, answered, *rest, **named)


HOUR_MS = 3_600_000


add(
    "queue-manager-receive-without-timeout-ends-after-an-hour",
    "MQDMPR-3.1.7.1.10-08",
    "A receive without a timeout ends after an hour.",
    change_step_arguments(
        WaitingReads.wait_for_new_message,
        timeout_ms=lambda given: HOUR_MS if given.timeout_ms is None and given.destructive_read else given.timeout_ms,
    ),
    blind=True,
)


@fault("cursor-receive-without-timeout-waits-one-minute", breaks="MQDMPR-3.1.7.1.10-08")
class CursorReceiveWithoutTimeoutWaitsOneMinute(WaitingReads):
    """A pending receive through a cursor ends after one minute, although it has no timeout."""

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
        if timeout_ms is None and destructive_read and cursor is not None:
            timeout_ms = 60_000
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)


add(
    "receive-by-cursor-takes-first-message",
    ("MQDMPR-3.1.7.1.10-12", "MQDMPR-3.1.7.1.10-15", "MQDMPR-3.1.7.1.11-10"),
    "A receive by a cursor returns the first message of the queue.",
    change_step_arguments(MessageReading.dequeue_message, cursor=lambda given: None),
)


@fault("receive-by-cursor-skips-received-message", breaks=("MQDMPR-3.1.7.1.10-16", "MQDMPR-3.1.7.1.10-17"))
class ReceiveByCursorSkipsReceivedMessage(QueueCursors):
    """A receive by a cursor whose message another reader has received returns the next message."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        status, position = super().get_next_message_for_dequeue(cursor, no_wait)
        if status is CursorStatus.ALREADY_RECEIVED:
            cursor.CursorState = CursorState.UNREAD
            return super().get_next_message_for_dequeue(cursor, no_wait)
        return status, position


@fault("cursor-receive-of-message-locked-by-transaction-receives-next-message", breaks="MQDMPR-3.1.7.1.10-16")
class CursorReceiveOfMessageLockedByTransactionReceivesNextMessage(QueueCursors):
    """A receive by a cursor whose message a transaction received removes the next message of the queue."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        position = cursor.MessagePositionReference
        if not isinstance(position, Boundary) and position.State is MessagePositionState.LOCKED:
            cursor.CursorState = CursorState.UNREAD
        return super().get_next_message_for_dequeue(cursor, no_wait)


def _replace_status_already_received_by_not_found(got: CursorResult) -> CursorResult:
    return (CursorStatus.NOT_FOUND, None) if got[0] is CursorStatus.ALREADY_RECEIVED else got


@fault("received-message-reported-as-not-found", breaks=("MQDMPR-3.1.7.1.10-17", "MQDMPR-3.1.7.1.15-16"))
class ReceivedMessageReportedAsNotFound(QueueCursors):
    """A read by a cursor whose message another reader has received returns MQ_ERROR_MESSAGE_NOT_FOUND."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        return _replace_status_already_received_by_not_found(super().get_next_message_for_dequeue(cursor, no_wait))

    def get_message_for_peek(self, cursor: Cursor) -> CursorResult:
        return _replace_status_already_received_by_not_found(super().get_message_for_peek(cursor))


@fault("queue-manager-cursor-receive-of-locked-message-returns-not-found", breaks="MQDMPR-3.1.7.1.10-17", blind=True)
class QueueManagerCursorReceiveOfLockedMessageReturnsNotFound(QueueCursors):
    """A receive by a cursor returns MQ_ERROR_MESSAGE_NOT_FOUND if an open transaction has received the cursor's
    message.
    """

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        at = cursor.MessagePositionReference
        locked = isinstance(at, MessagePosition) and at.State is MessagePositionState.LOCKED
        if cursor.CursorState is CursorState.READ and isinstance(at, MessagePosition) and locked:
            return CursorStatus.NOT_FOUND, None
        return super().get_next_message_for_dequeue(cursor, no_wait)


@fault("cursor-receive-of-message-locked-by-transaction-returns-not-found", breaks="MQDMPR-3.1.7.1.10-17")
class CursorReceiveOfMessageLockedByTransactionReturnsNotFound(QueueCursors):
    """A receive by a cursor whose message a transaction received returns MQ_ERROR_MESSAGE_NOT_FOUND."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        got = super().get_next_message_for_dequeue(cursor, no_wait)
        position = cursor.MessagePositionReference
        locked = not isinstance(position, Boundary) and position.State is MessagePositionState.LOCKED
        return (CursorStatus.NOT_FOUND, None) if got[0] is CursorStatus.ALREADY_RECEIVED and locked else got


add(
    "receive-by-cursor-with-timeout-0-times-out",
    ("MQDMPR-3.1.7.1.10-19", "MQDMPR-3.1.7.1.10-20"),
    "A receive by a cursor with timeout zero that finds no message returns MQ_ERROR_IO_TIMEOUT.",
    change_step_arguments(QueueCursors.get_next_message_for_dequeue, no_wait=lambda given: False),
)


@fault("moved-cursor-receive-with-timeout-zero-returns-io-timeout", breaks="MQDMPR-3.1.7.1.10-20")
class MovedCursorReceiveWithTimeoutZeroReturnsIoTimeout(QueueCursors):
    """At the end of the queue, a receive with timeout zero by a cursor that has already received a message returns
    MQ_ERROR_IO_TIMEOUT.
    """

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        moved = not isinstance(cursor.MessagePositionReference, Boundary)
        return super().get_next_message_for_dequeue(cursor, no_wait and not moved)


add(
    "read-never-waits",
    (
        "MQDMPR-3.1.7.1.10-22",
        "MQDMPR-3.1.7.1.10-23",
        "MQDMPR-3.1.7.1.10-D01",
        "MQDMPR-3.1.7.1.14-16",
        "MQDMPR-3.1.7.1.14-17",
        "MQDMPR-3.1.7.1.15-18",
        "MQDMPR-3.1.7.1.15-19",
        "MQDMPR-3.1.7.1.15-44",
        "MQDMPR-3.1.7.3.1-10",
        "MQDMPR-3.1.7.3.1-14",
        "MQDMPR-3.1.7.3.1-18",
    ),
    "A read without an available message ends at once, regardless of its timeout.",
    change_step_arguments(WaitingReads.wait_for_new_message, timeout_ms=lambda given: 0),
)


@fault("pending-receive-by-cursor-ends-after-three-seconds", breaks="MQDMPR-3.1.7.1.10-23")
class PendingReceiveByCursorEndsAfterThreeSeconds(WaitingReads):
    """A pending receive by a cursor waits three seconds at most."""

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
        if timeout_ms is not None and destructive_read and cursor is not None:
            timeout_ms = min(timeout_ms, 3_000)
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)


@fault("queue-manager-cancel-ends-first-pending-receive", breaks="MQDMPR-3.1.7.1.10-27", blind=True)
class QueueManagerCancelEndsFirstPendingReceive(WaitingReads):
    """A cancellation by tag ends the read that has waited longest in the queue, even if its tag is different."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        tagged = [
            reader
            for descriptor in queue.OpenQueueDescriptorCollection.values()
            for reader in descriptor.WaitingMessageReadOperationCollection
            if reader.Tag is not None
        ]
        if not any(reader.Tag == tag for reader in tagged):
            return Status.STATUS_NOT_FOUND
        self.end_wait_without_message(min(tagged, key=lambda reader: reader.number), status)
        return Status.MQ_OK


@fault("cancel-of-cursor-receive-ends-oldest-cursor-receive", breaks="MQDMPR-3.1.7.1.10-27")
class CancelOfCursorReceiveEndsOldestCursorReceive(WaitingReads):
    """A cancellation with the tag of one pending receive by a cursor ends the oldest pending receive by a cursor."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        readers = [
            reader
            for descriptor in queue.OpenQueueDescriptorCollection.values()
            for reader in descriptor.WaitingMessageReadOperationCollection
            if reader.CursorReference is not None and reader.DestructiveRead
        ]
        if any(reader.Tag == tag for reader in readers):
            self.end_wait_without_message(readers[0], status)
            return Status.MQ_OK
        return super().cancel_waiting_read(queue, tag, status)


@fault("cursor-of-pending-receive-moves-only-from-start-of-queue", breaks="MQDMPR-3.1.7.1.10-31")
class CursorOfPendingReceiveMovesOnlyFromStartOfQueue(QueueCursors):
    """When a message arrives, the cursor of a pending receive moves to this message only if the cursor is at the start
    of the queue.
    """

    def on_message_available(self, cursor: Cursor, message_position: MessagePosition) -> None:
        waits = cursor.CursorState is CursorState.WAIT_RECEIVE
        if waits and not isinstance(cursor.MessagePositionReference, Boundary):
            cursor.CursorState = CursorState.UNREAD
        else:
            super().on_message_available(cursor, message_position)


@fault("cancelled-cursor-receive-leaves-cursor-waiting", breaks="MQDMPR-3.1.7.1.10-34")
class CancelledCursorReceiveLeavesCursorWaiting(WaitingReads):
    """When a wait is cancelled, the queue manager does not raise Wait Time Expired on the cursor of the read."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        for descriptor in queue.OpenQueueDescriptorCollection.values():
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                cursor = reader.CursorReference
                if reader.Tag is not None and reader.Tag == tag and cursor is not None:
                    before = cursor.CursorState, cursor.MessagePositionReference
                    cursor.CursorState = CursorState.READ
                    self.end_wait_without_message(reader, status)
                    cursor.CursorState = before[0]
                    return Status.MQ_OK
        return super().cancel_waiting_read(queue, tag, status)


@fault("queue-manager-transactional-cursor-receive-skips-taken-message", breaks="MQDMPR-3.1.7.1.10-16", blind=True)
class QueueManagerTransactionalCursorReceiveSkipsTakenMessage(MessageReading):
    """If another reader has received the message at a cursor, a receive by this cursor in a transaction takes the
    next message.
    """

    def dequeue_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
        two_phase_read: bool = False,
        transaction: Transaction | None = None,
    ) -> None:
        at = None if cursor is None else cursor.MessagePositionReference
        gone = isinstance(at, MessagePosition) and at.State is not MessagePositionState.AVAILABLE
        if cursor is not None and transaction is not None and gone:
            cursor.CursorState = CursorState.UNREAD
        super().dequeue_message(queue_desc, answered, now, timeout_ms, cursor, tag, two_phase_read, transaction)


@fault("queue-manager-locked-cursor-receive-returns-transaction-usage", breaks="MQDMPR-3.1.7.1.10-17", blind=True)
class QueueManagerLockedCursorReceiveReturnsTransactionUsage(MessageReading):
    """A receive by a cursor returns MQ_ERROR_TRANSACTION_USAGE if another reader has received the message of the
    cursor but has not ended its receive.
    """

    def dequeue_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
        two_phase_read: bool = False,
        transaction: Transaction | None = None,
    ) -> None:
        at = None if cursor is None else cursor.MessagePositionReference

        def report_transaction_usage_if_locked(status: Status, position: MessagePosition | None) -> None:
            locked = isinstance(at, MessagePosition) and at.State is MessagePositionState.LOCKED
            if locked and status is Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED:
                status = Status.MQ_ERROR_TRANSACTION_USAGE
            answered(status, position)

        super().dequeue_message(
            queue_desc, report_transaction_usage_if_locked, now, timeout_ms, cursor, tag, two_phase_read, transaction
        )


@fault("queue-manager-cursor-receive-at-end-of-queue-takes-first-message", breaks="MQDMPR-3.1.7.1.10-19", blind=True)
class QueueManagerCursorReceiveAtEndOfQueueTakesFirstMessage(QueueCursors):
    """If no message follows the position of a cursor, a receive by the cursor with timeout zero takes the first message
    of the queue.
    """

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        got = super().get_next_message_for_dequeue(cursor, no_wait)
        if got[0] is not CursorStatus.NOT_FOUND:
            return got
        self.move_cursor_to_start(cursor)
        return super().get_next_message_for_dequeue(cursor, no_wait)
