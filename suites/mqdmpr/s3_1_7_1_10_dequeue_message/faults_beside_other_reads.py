"""Faults of receives while messages are locked, while other reads are pending, or after the queue was deleted."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.neighbouring_reads import (
    find_queue_of_same_name,
    has_locked_message,
    is_followed_by_locked_message,
    list_waiting_reads,
)
from harness.faults.parts import fault, faulty_only_if
from reference_qm.codec import MessageClass
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.queue_cursors import CursorResult, QueueCursors
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.enums import CursorState
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus, Status
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


def _is_other_message_of_queue_locked(position: MessagePosition) -> bool:
    locked = MessagePositionState.LOCKED
    others = position.QueueReference.MessagePositionList
    return any(one is not position and one.State is locked and not one.is_disk_write_pending for one in others)


@fault("queue-manager-second-two-phase-receive-deletes-message", breaks="MQDMPR-3.1.7.1.10-02", blind=True)
class QueueManagerSecondTwoPhaseReceiveDeletesMessage(MessageReading):
    """While a two-phase receive of the queue is not ended, the queue manager deletes the message of the next two-phase
    receive at once.
    """

    @faulty_only_if(
        lambda self, position, transaction, two_phase_read, answered: (
            two_phase_read and _is_other_message_of_queue_locked(position)
        )
    )
    def take_message_out(
        self, position: MessagePosition, transaction: Transaction | None, two_phase_read: bool, answered: OnReadAnswered
    ) -> None:
        super().take_message_out(position, transaction, False, answered)


@fault("queue-manager-message-of-two-phase-receive-moved-to-end", breaks="MQDMPR-3.1.7.1.10-02", blind=True)
class QueueManagerMessageOfTwoPhaseReceiveMovedToEnd(MessageReading):
    """The queue manager moves the message of a two-phase receive behind the other messages of its priority."""

    @faulty_only_if(
        lambda self, position, transaction, two_phase_read, answered: (
            two_phase_read and transaction is None and not position.reader_hold_count
        )
    )
    def take_message_out(
        self, position: MessagePosition, transaction: Transaction | None, two_phase_read: bool, answered: OnReadAnswered
    ) -> None:
        positions = position.QueueReference.MessagePositionList
        positions.remove(position)
        positions.insert(position)
        position.State = MessagePositionState.LOCKED
        answered(Status.MQ_OK, position)


_DELETED_QUEUE_RULES = ("MQDMPR-3.1.7.1.10-06", "MQDMPR-3.1.7.1.11-04")


@fault("queue-manager-timed-receive-from-deleted-queue-returns-io-timeout", breaks=_DELETED_QUEUE_RULES, blind=True)
class QueueManagerTimedReceiveFromDeletedQueueReturnsIoTimeout(MessageReading):
    """A receive with a timeout from a queue that was deleted after it was opened returns MQ_ERROR_IO_TIMEOUT."""

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
        if queue_desc.QueueReference is None and timeout_ms:
            answered(Status.MQ_ERROR_IO_TIMEOUT, None)
            return
        super().dequeue_message(queue_desc, answered, now, timeout_ms, cursor, tag, two_phase_read, transaction)


@fault("queue-manager-receive-from-deleted-queue-reads-recreated-queue", breaks=_DELETED_QUEUE_RULES, blind=True)
class QueueManagerReceiveFromDeletedQueueReadsRecreatedQueue(MessageReading):
    """If a queue is deleted and created again after an application opened it, a receive with the old handle takes a
    message from the new queue.
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
        if queue_desc.QueueReference is None:
            queue_desc.QueueReference = find_queue_of_same_name(self.qm, queue_desc)
        super().dequeue_message(queue_desc, answered, now, timeout_ms, cursor, tag, two_phase_read, transaction)


@fault("queue-manager-cursor-receive-from-deleted-queue-returns-not-found", breaks=_DELETED_QUEUE_RULES, blind=True)
class QueueManagerCursorReceiveFromDeletedQueueReturnsNotFound(MessageReading):
    """A receive by a cursor of a queue that was deleted after it was opened returns MQ_ERROR_MESSAGE_NOT_FOUND."""

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
        if queue_desc.QueueReference is None and cursor is not None:
            answered(Status.MQ_ERROR_MESSAGE_NOT_FOUND, None)
            return
        super().dequeue_message(queue_desc, answered, now, timeout_ms, cursor, tag, two_phase_read, transaction)


@fault("queue-manager-cursor-receive-of-locked-message-returns-next-message", breaks="MQDMPR-3.1.7.1.10-16", blind=True)
class QueueManagerCursorReceiveOfLockedMessageReturnsNextMessage(QueueCursors):
    """If another reader has locked the message of a cursor, a receive by the cursor returns the next message."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        at = cursor.MessagePositionReference
        if cursor.CursorState is CursorState.READ and at.State is MessagePositionState.LOCKED:  # type: ignore[union-attr]
            cursor.CursorState = CursorState.UNREAD
        return super().get_next_message_for_dequeue(cursor, no_wait)


@fault(
    "queue-manager-cursor-receive-after-failed-receive-takes-next-message", breaks="MQDMPR-3.1.7.1.10-16", blind=True
)
class QueueManagerCursorReceiveAfterFailedReceiveTakesNextMessage(QueueCursors):
    """If another reader has received the message of a cursor, the first receive by the cursor fails, but the second
    receive returns the next message.
    """

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        got = super().get_next_message_for_dequeue(cursor, no_wait)
        if got[0] is CursorStatus.ALREADY_RECEIVED:
            cursor.CursorState = CursorState.UNREAD
        return got


@fault("queue-manager-failed-receive-by-cursor-deletes-next-message", breaks="MQDMPR-3.1.7.1.10-16", blind=True)
class QueueManagerFailedReceiveByCursorDeletesNextMessage(QueueCursors):
    """If another reader has received the message of a cursor, a receive by the cursor fails, but deletes the next
    message.
    """

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        got = super().get_next_message_for_dequeue(cursor, no_wait)
        if got[0] is CursorStatus.ALREADY_RECEIVED:
            following = self.qm.message_search.seek_available(cursor.MessagePositionReference, True)
            if following is not None:
                self.qm.message_positions.delete_message(following, MessageClass.MQMSG_CLASS_ACK_RECEIVE)
        return got


@fault("queue-manager-receive-by-cursor-before-locked-message-waits", breaks="MQDMPR-3.1.7.1.10-19", blind=True)
class QueueManagerReceiveByCursorBeforeLockedMessageWaits(MessageReading):
    """If only locked messages follow, a receive by a cursor with timeout 0 waits."""

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
        if cursor is not None and timeout_ms == 0 and is_followed_by_locked_message(cursor):
            timeout_ms = None
        super().dequeue_message(queue_desc, answered, now, timeout_ms, cursor, tag, two_phase_read, transaction)


@fault("queue-manager-cursor-receive-past-last-message-takes-first-message", breaks="MQDMPR-3.1.7.1.10-19", blind=True)
class QueueManagerCursorReceivePastLastMessageTakesFirstMessage(QueueCursors):
    """If no message follows, a receive by a cursor that has already received a message starts again at the first
    message of the queue.
    """

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        at = cursor.MessagePositionReference
        used = getattr(at, "State", None) is MessagePositionState.DELETED
        got = super().get_next_message_for_dequeue(cursor, no_wait)
        if got[0] is CursorStatus.NOT_FOUND and used:
            self.move_cursor_to_start(cursor)
            return super().get_next_message_for_dequeue(cursor, no_wait)
        return got


@fault("queue-manager-cursor-receive-before-locked-message-times-out", breaks="MQDMPR-3.1.7.1.10-20", blind=True)
class QueueManagerCursorReceiveBeforeLockedMessageTimesOut(QueueCursors):
    """If only locked messages follow, a receive by a cursor with timeout 0 returns MQ_ERROR_IO_TIMEOUT."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        return super().get_next_message_for_dequeue(cursor, no_wait and not is_followed_by_locked_message(cursor))


@fault("queue-manager-cursor-receive-after-earlier-wait-returns-io-timeout", breaks="MQDMPR-3.1.7.1.10-20", blind=True)
class QueueManagerCursorReceiveAfterEarlierWaitReturnsIoTimeout(QueueCursors):
    """A receive by a cursor with timeout 0 returns MQ_ERROR_IO_TIMEOUT if no message follows and an earlier read by the
    cursor waited in vain.
    """

    def on_read_wait_expired(self, cursor: Cursor) -> None:
        super().on_read_wait_expired(cursor)
        self.__dict__.setdefault("waited", set()).add(cursor)

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        waited = cursor in self.__dict__.get("waited", ())
        return super().get_next_message_for_dequeue(cursor, no_wait and not waited)


@fault("queue-manager-cancel-of-cursor-receive-ends-oldest-read", breaks="MQDMPR-3.1.7.1.10-27", blind=True)
class QueueManagerCancelOfCursorReceiveEndsOldestRead(WaitingReads):
    """When an application cancels a pending receive by a cursor, the queue manager ends the oldest pending read of the
    queue instead.
    """

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        reads = list_waiting_reads(queue)
        if any(one.Tag == tag and one.CursorReference is not None and one.DestructiveRead for one in reads):
            tag = reads[0].Tag
        return super().cancel_waiting_read(queue, tag, status)


@fault("queue-manager-second-cursor-receive-of-handle-not-cancelled", breaks="MQDMPR-3.1.7.1.10-27", blind=True)
class QueueManagerSecondCursorReceiveOfHandleNotCancelled(WaitingReads):
    """The queue manager cannot cancel a pending receive by a cursor if another read of the same handle began to wait
    earlier.
    """

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        for descriptor in queue.OpenQueueDescriptorCollection.values():
            for one in list(descriptor.WaitingMessageReadOperationCollection)[1:]:
                if one.Tag == tag and one.CursorReference is not None:
                    return Status.STATUS_NOT_FOUND
        return super().cancel_waiting_read(queue, tag, status)


@fault("queue-manager-cancelled-cursor-receive-lacks-wait-time-expired", breaks="MQDMPR-3.1.7.1.10-34", blind=True)
class QueueManagerCancelledCursorReceiveLacksWaitTimeExpired(WaitingReads):
    """If a pending receive by a cursor ends because of a cancellation, the queue manager does not raise Wait Time
    Expired on the cursor.
    """

    def end_wait_without_message(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        cursor = reader.CursorReference
        if cursor is None or status is Status.MQ_ERROR_IO_TIMEOUT or not reader.DestructiveRead:
            super().end_wait_without_message(reader, status)
            return
        place, state = cursor.MessagePositionReference, cursor.CursorState
        cursor.CursorState = CursorState.WAIT_PEEK  # from which Wait Time Expired moves nothing
        super().end_wait_without_message(reader, status)
        assert cursor.MessagePositionReference is place
        cursor.CursorState = state


@fault("queue-manager-wait-time-expired-raised-once-for-each-cursor", breaks="MQDMPR-3.1.7.1.10-34", blind=True)
class QueueManagerWaitTimeExpiredRaisedOnceForEachCursor(QueueCursors):
    """The queue manager raises Wait Time Expired only for the first wait of a cursor that ends without a message."""

    def on_read_wait_expired(self, cursor: Cursor) -> None:
        told = self.__dict__.setdefault("told", set())
        if cursor not in told:
            super().on_read_wait_expired(cursor)
        told.add(cursor)


@fault("queue-manager-cursor-receive-of-closed-handle-returns-io-timeout", breaks="MQDMPR-3.1.7.1.10-35", blind=True)
class QueueManagerCursorReceiveOfClosedHandleReturnsIoTimeout(WaitingReads):
    """A pending receive by a cursor returns MQ_ERROR_IO_TIMEOUT when its handle or cursor is closed."""

    def end_wait_without_message(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        closed = status is Status.MQ_ERROR_OPERATION_CANCELLED
        if closed and reader.CursorReference is not None and reader.DestructiveRead:
            status = Status.MQ_ERROR_IO_TIMEOUT
        super().end_wait_without_message(reader, status)


@fault("queue-manager-second-expired-cursor-receive-returns-not-found", breaks="MQDMPR-3.1.7.1.10-35", blind=True)
class QueueManagerSecondExpiredCursorReceiveReturnsNotFound(WaitingReads):
    """The second pending receive by a cursor that expires returns MQ_ERROR_MESSAGE_NOT_FOUND."""

    def end_wait_without_message(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        told = self.__dict__.setdefault("told", set())
        cursor = reader.CursorReference
        if cursor in told and reader.DestructiveRead and status is Status.MQ_ERROR_IO_TIMEOUT:
            status = Status.MQ_ERROR_MESSAGE_NOT_FOUND
        if cursor is not None:
            told.add(cursor)
        super().end_wait_without_message(reader, status)


@fault("queue-manager-receive-behind-locked-message-fails-at-once", breaks="MQDMPR-3.1.7.1.10-D01", blind=True)
class QueueManagerReceiveBehindLockedMessageFailsAtOnce(MessageReading):
    """If a queue has only locked messages, a receive without a cursor returns MQ_ERROR_IO_TIMEOUT at once."""

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
        if cursor is None and has_locked_message(queue_desc):
            timeout_ms = 0
        super().dequeue_message(queue_desc, answered, now, timeout_ms, cursor, tag, two_phase_read, transaction)


@fault("queue-manager-receive-beside-pending-receive-fails-at-once", breaks="MQDMPR-3.1.7.1.10-D01", blind=True)
class QueueManagerReceiveBesidePendingReceiveFailsAtOnce(MessageReading):
    """While a receive of the queue is pending, a further receive without a cursor returns MQ_ERROR_IO_TIMEOUT at
    once.
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
        queue = queue_desc.QueueReference
        if cursor is None and queue is not None and any(one.DestructiveRead for one in list_waiting_reads(queue)):
            timeout_ms = 0
        super().dequeue_message(queue_desc, answered, now, timeout_ms, cursor, tag, two_phase_read, transaction)


@fault("queue-manager-receive-of-returned-message-returns-io-timeout", breaks="MQDMPR-3.1.7.1.10-D07", blind=True)
class QueueManagerReceiveOfReturnedMessageReturnsIoTimeout(MessageReading):
    """A receive that finds a message that an earlier receive returned to the queue returns MQ_ERROR_IO_TIMEOUT."""

    def take_message_out(
        self, position: MessagePosition, transaction: Transaction | None, two_phase_read: bool, answered: OnReadAnswered
    ) -> None:
        taken = self.__dict__.setdefault("taken", set())
        if position in taken:
            answered(Status.MQ_ERROR_IO_TIMEOUT, None)
            return
        taken.add(position)
        super().take_message_out(position, transaction, two_phase_read, answered)


@fault("queue-manager-receive-of-message-without-body-returns-io-timeout", breaks="MQDMPR-3.1.7.1.10-D07", blind=True)
class QueueManagerReceiveOfMessageWithoutBodyReturnsIoTimeout(MessageReading):
    """A receive that finds a message without a body removes the message, but returns MQ_ERROR_IO_TIMEOUT."""

    def take_message_out(
        self, position: MessagePosition, transaction: Transaction | None, two_phase_read: bool, answered: OnReadAnswered
    ) -> None:
        if not position.MessageReference.Body:
            super().take_message_out(
                position, transaction, False, lambda status, found: answered(Status.MQ_ERROR_IO_TIMEOUT, None)
            )
            return
        super().take_message_out(position, transaction, two_phase_read, answered)
