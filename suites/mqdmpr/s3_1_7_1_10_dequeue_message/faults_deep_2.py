"""Further faults of MS-MQDMPR 3.1.7.1.10 Dequeue Message: second waits, cursors and transactions."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from harness.faults.parts import fault
from reference_qm.core.queueing.cursors import Cursors, Got
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.queueing.reading import Reading
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import Answered, Cursor, OpenQueueDescriptor
from reference_qm.model.enums import CursorState
from reference_qm.model.position_list import Boundary
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus, Status
from reference_qm.model.transactions import Transaction, TransactionalOperation
from reference_qm.surface.clock import Now


@fault("cursor-receive-from-deleted-queue-returns-already-received", breaks="MQDMPR-3.1.7.1.10-06")
class CursorReceiveFromDeletedQueueReturnsAlreadyReceived(Reading):
    """A receive by a cursor of a deleted queue returns MQ_ERROR_MESSAGE_ALREADY_RECEIVED."""

    def dequeue_message(self, queue_desc: OpenQueueDescriptor, answered: Answered, *rest: Any, **named: Any) -> None:
        cursor = named.get("cursor") or (rest[2] if len(rest) > 2 else None)
        if queue_desc.QueueReference is None and cursor is not None:
            answered(Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED, None)
        else:
            super().dequeue_message(queue_desc, answered, *rest, **named)


@fault("cursor-receive-without-timeout-waits-one-minute", breaks="MQDMPR-3.1.7.1.10-08")
class CursorReceiveWithoutTimeoutWaitsOneMinute(Waiting):
    """A pending receive by a cursor without a timeout ends after one minute."""

    def wait_for_new_message(
        self,
        queue_desc: OpenQueueDescriptor,
        timeout_ms: int | None,
        destructive_read: bool,
        answered: Answered,
        now: Now,
        tag: Hashable | None = None,
        cursor: Cursor | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        if timeout_ms is None and destructive_read and cursor is not None:
            timeout_ms = 60_000
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)


@fault("moved-cursor-receive-with-timeout-zero-returns-io-timeout", breaks="MQDMPR-3.1.7.1.10-20")
class MovedCursorReceiveWithTimeoutZeroReturnsIoTimeout(Cursors):
    """At the end of the queue, a receive with timeout zero by a cursor that has already received a message returns
    MQ_ERROR_IO_TIMEOUT.
    """

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        moved = not isinstance(cursor.MessagePositionReference, Boundary)
        return super().get_next_message_for_dequeue(cursor, no_wait and not moved)


@fault("cursor-receive-of-message-locked-by-transaction-receives-next-message", breaks="MQDMPR-3.1.7.1.10-16")
class CursorReceiveOfMessageLockedByTransactionReceivesNextMessage(Cursors):
    """A receive by a cursor whose message a transaction received removes the next message of the queue."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        position = cursor.MessagePositionReference
        if not isinstance(position, Boundary) and position.State is MessagePositionState.LOCKED:
            cursor.CursorState = CursorState.UNREAD
        return super().get_next_message_for_dequeue(cursor, no_wait)


@fault("cursor-receive-of-message-locked-by-transaction-returns-not-found", breaks="MQDMPR-3.1.7.1.10-17")
class CursorReceiveOfMessageLockedByTransactionReturnsNotFound(Cursors):
    """A receive by a cursor whose message a transaction received returns MQ_ERROR_MESSAGE_NOT_FOUND."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        got = super().get_next_message_for_dequeue(cursor, no_wait)
        position = cursor.MessagePositionReference
        locked = not isinstance(position, Boundary) and position.State is MessagePositionState.LOCKED
        return (CursorStatus.NOT_FOUND, None) if got[0] is CursorStatus.ALREADY_RECEIVED and locked else got


@fault("cancel-of-cursor-receive-ends-oldest-cursor-receive", breaks="MQDMPR-3.1.7.1.10-27")
class CancelOfCursorReceiveEndsOldestCursorReceive(Waiting):
    """A cancellation with the tag of one pending receive by a cursor ends the oldest pending receive by a cursor."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        readers = [
            reader
            for descriptor in queue.OpenQueueDescriptorCollection.values()
            for reader in descriptor.WaitingMessageReadOperationCollection
            if reader.CursorReference is not None and reader.DestructiveRead
        ]
        if any(reader.Tag == tag for reader in readers):
            self.stop_reader(readers[0], status)
            return Status.MQ_OK
        return super().cancel_waiting_read(queue, tag, status)


@fault("cursor-of-second-pending-receive-stays-at-its-position", breaks="MQDMPR-3.1.7.1.10-31")
class CursorOfSecondPendingReceiveStaysAtItsPosition(Cursors):
    """When a message arrives, the cursor of a pending receive moves to this message only if the cursor is at the start
    of the queue.
    """

    def message_available(self, cursor: Cursor, message_position: MessagePosition) -> None:
        waits = cursor.CursorState is CursorState.WAIT_RECEIVE
        if waits and not isinstance(cursor.MessagePositionReference, Boundary):
            cursor.CursorState = CursorState.UNREAD
        else:
            super().message_available(cursor, message_position)


@fault("receive-skips-message-that-became-available-again", breaks="MQDMPR-3.1.7.1.10-38")
class ReceiveSkipsMessageThatBecameAvailableAgain(Positions):
    """A receive without a cursor skips a message that an abort returned to the queue, if a later message was received
    meanwhile.
    """

    def message_available(self, position: MessagePosition) -> None:
        entries = position.QueueReference.MessagePositionList
        passed = entries.Start.passed
        again = position.State is MessagePositionState.LOCKED and not position.awaits_disk
        super().message_available(position)
        if again:
            entries.Start.passed = passed


@fault("receive-from-queue-with-locked-message-does-not-wait", breaks="MQDMPR-3.1.7.1.10-D01")
class ReceiveFromQueueWithLockedMessageDoesNotWait(Reading):
    """A receive without a cursor from a queue with a locked message returns MQ_ERROR_MESSAGE_NOT_FOUND at once."""

    def _answer_or_wait(
        self,
        queue_desc: OpenQueueDescriptor,
        got: Got,
        timeout_ms: int | None,
        destructive_read: bool,
        answered: Answered,
        now: Now,
        tag: Hashable | None,
        cursor: Cursor | None,
        transaction: Transaction | None = None,
    ) -> None:
        assert queue_desc.QueueReference is not None
        first = queue_desc.QueueReference.MessagePositionList.Start.Next
        if got[0] is CursorStatus.WAITING and cursor is None and destructive_read and not isinstance(first, Boundary):
            answered(Status.MQ_ERROR_MESSAGE_NOT_FOUND, None)
            return
        super()._answer_or_wait(queue_desc, got, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)


@fault("second-receive-in-transaction-does-not-lock-message", breaks="MQDMPR-3.1.7.1.10-D03")
class SecondReceiveInTransactionDoesNotLockMessage(TransactionOperations):
    """The second message that a transaction receives stays available to other readers."""

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        super().dequeue_in_transaction(transaction, position)
        if len(transaction.TransactionalOperationCollection) > 1:
            position.State = MessagePositionState.AVAILABLE


@fault("commit-returns-messages-received-from-second-queue", breaks="MQDMPR-3.1.7.1.10-D04")
class CommitReturnsMessagesReceivedFromSecondQueue(TransactionEvents):
    """The commit of a transaction that received from two queues returns the message of the second queue."""

    def commit_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        position = operation.MessagePositionReference
        first = next(
            (
                other.MessagePositionReference.QueueReference
                for transaction in self.qm.adm.TransactionCollection.values()
                if operation in transaction.TransactionalOperationCollection
                for other in transaction.TransactionalOperationCollection
            ),
            position.QueueReference,
        )
        if position.QueueReference is first:
            super().commit_dequeue(operation, now)
        else:
            self.qm.positions.unlock_message(position)


@fault("two-phase-receive-by-cursor-leaves-message-available", breaks="MQDMPR-3.1.7.1.10-D05")
class TwoPhaseReceiveByCursorLeavesMessageAvailable(TwoPhaseReading):
    """A two-phase receive by a cursor does not lock the message."""

    def dequeue_message_begin(
        self, queue_desc: OpenQueueDescriptor, answered: Answered, *rest: Any, **named: Any
    ) -> None:
        cursor = named.get("cursor") or (rest[2] if len(rest) > 2 else None)

        def unlock_message(status: Status, position: MessagePosition | None) -> None:
            if position is not None and cursor is not None:
                position.State = MessagePositionState.AVAILABLE
            answered(status, position)

        super().dequeue_message_begin(queue_desc, unlock_message, *rest, **named)


@fault("pending-receive-by-cursor-ends-after-three-seconds", breaks="MQDMPR-3.1.7.1.10-23")
class PendingReceiveByCursorEndsAfterThreeSeconds(Waiting):
    """A pending receive by a cursor waits three seconds at most."""

    def wait_for_new_message(
        self,
        queue_desc: OpenQueueDescriptor,
        timeout_ms: int | None,
        destructive_read: bool,
        answered: Answered,
        now: Now,
        tag: Hashable | None = None,
        cursor: Cursor | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        if timeout_ms is not None and destructive_read and cursor is not None:
            timeout_ms = min(timeout_ms, 3_000)
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)


@fault("cancelled-cursor-receive-leaves-cursor-waiting", breaks="MQDMPR-3.1.7.1.10-34")
class CancelledCursorReceiveLeavesCursorWaiting(Waiting):
    """When a wait is cancelled, the queue manager does not raise Wait Time Expired on the cursor of the read."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        for descriptor in queue.OpenQueueDescriptorCollection.values():
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                cursor = reader.CursorReference
                if reader.Tag is not None and reader.Tag == tag and cursor is not None:
                    before = cursor.CursorState, cursor.MessagePositionReference
                    cursor.CursorState = CursorState.READ
                    self.stop_reader(reader, status)
                    cursor.CursorState = before[0]
                    return Status.MQ_OK
        return super().cancel_waiting_read(queue, tag, status)
