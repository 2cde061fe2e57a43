"""Faults that break the rules MQDMPR-3.1.7.1.10-06 to MQDMPR-3.1.7.1.10-D07 for one kind of message or reader."""

from __future__ import annotations

from typing import Any

from harness.faults.calls import change_step_arguments, replace_step_if
from harness.faults.parts import fault, faulty_only_if
from harness.faults.read_answers import change_read_answers, is_transactional
from harness.faults.registry import add
from reference_qm.codec import MessageClass
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.queue_cursors import CursorResult, QueueCursors
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OnReadAnswered, WaitingMessageReadOperation
from reference_qm.model.enums import CursorState
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState
from reference_qm.model.statuses import CursorStatus, Status

add(
    "queue-manager-receive-with-timeout-from-deleted-queue-times-out",
    ("MQDMPR-3.1.7.1.10-06", "MQDMPR-3.1.7.1.11-04"),
    "A receive with a timeout from a queue that was deleted after it was opened returns MQ_ERROR_IO_TIMEOUT.",
    replace_step_if(
        MessageReading.dequeue_message,
        lambda given: given.queue_desc.QueueReference is None and given.timeout_ms != 0,
        lambda given: given.answered(Status.MQ_ERROR_IO_TIMEOUT, None),
    ),
    blind=True,
)


@fault(
    "queue-manager-cursor-before-locked-messages-receives-first",
    breaks=("MQDMPR-3.1.7.1.10-19", "MQDMPR-3.1.7.1.10-20"),
    blind=True,
)
class QueueManagerCursorBeforeLockedMessagesReceivesFirst(QueueCursors):
    """If all messages behind a cursor are locked, a receive by the cursor takes the first available message."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        status, position = super().get_next_message_for_dequeue(cursor, no_wait)
        queue = cursor.OpenQueueDescriptorReference.QueueReference
        last = None if queue is None else queue.MessagePositionList.Tail
        locked = isinstance(last, MessagePosition) and last.State is MessagePositionState.LOCKED
        if status is CursorStatus.NOT_FOUND and queue is not None and locked:
            found = self.qm.message_search.seek_available(queue.MessagePositionList.Start, False)
            if found is not None:
                return CursorStatus.SUCCEEDED, found
        return status, position


add(
    "queue-manager-second-pending-receive-by-cursor-ends-at-timeout-of-first",
    "MQDMPR-3.1.7.1.10-23",
    "A receive by a cursor waits no longer than the receive that has waited longest with the same handle.",
    change_step_arguments(
        WaitingReads.wait_for_new_message,
        timeout_ms=lambda given: (
            400
            if given.cursor is not None
            and given.destructive_read
            and any(one.DestructiveRead for one in given.queue_desc.WaitingMessageReadOperationCollection)
            else given.timeout_ms
        ),
    ),
    blind=True,
)


add(
    "queue-manager-pending-receive-by-cursor-timeout-truncated-to-16-bits",
    "MQDMPR-3.1.7.1.10-23",
    "The queue manager uses only the low 16 bits of the timeout of a receive by a cursor.",
    change_step_arguments(
        WaitingReads.wait_for_new_message,
        timeout_ms=lambda given: (
            given.timeout_ms & 0xFFFF
            if given.timeout_ms is not None and given.cursor is not None and given.destructive_read
            else given.timeout_ms
        ),
    ),
    blind=True,
)


@fault("queue-manager-cursor-of-second-pending-receive-not-moved", breaks="MQDMPR-3.1.7.1.10-31", blind=True)
class QueueManagerCursorOfSecondPendingReceiveNotMoved(WaitingReads):
    """Of several cursors with pending receives, only the first cursor moves to the message that arrives."""

    def pass_message_to_waiting_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        cursors = list(reader.descriptor.CursorCollection.values())
        cursor = reader.CursorReference
        if cursor is None or not reader.DestructiveRead or not cursors or cursors[0] is cursor:
            super().pass_message_to_waiting_reader(reader, position)
            return
        before = cursor.MessagePositionReference
        super().pass_message_to_waiting_reader(reader, position)
        cursor.MessagePositionReference = before


@fault("queue-manager-pending-receive-cursor-skips-urgent-arrival", breaks="MQDMPR-3.1.7.1.10-31", blind=True)
class QueueManagerPendingReceiveCursorSkipsUrgentArrival(WaitingReads):
    """The cursor of a pending receive does not move to an arriving message of a priority above 3."""

    @faulty_only_if(lambda self, reader, position: position.MessageReference.Priority > 3)
    def pass_message_to_waiting_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        cursor = reader.CursorReference
        before = None if cursor is None else cursor.MessagePositionReference
        super().pass_message_to_waiting_reader(reader, position)
        if cursor is not None and before is not None and reader.DestructiveRead:
            cursor.MessagePositionReference = before


@fault("queue-manager-second-expired-receive-leaves-cursor-waiting", breaks="MQDMPR-3.1.7.1.10-34", blind=True)
class QueueManagerSecondExpiredReceiveLeavesCursorWaiting(QueueCursors):
    """When a second pending receive by a cursor ends without a message, the cursor is left in the state WaitReceive."""

    def on_read_wait_expired(self, cursor: Cursor) -> None:
        ended = self.__dict__.setdefault("ended", set())
        waited = cursor.CursorState is CursorState.WAIT_RECEIVE
        if not (waited and cursor.Handle in ended):
            super().on_read_wait_expired(cursor)
        if waited:
            ended.add(cursor.Handle)


add(
    "queue-manager-pending-receive-returns-transactional-message-as-timeout",
    "MQDMPR-3.1.7.1.10-D02",
    "A pending receive without a cursor returns MQ_ERROR_IO_TIMEOUT when a transactional message arrives.",
    change_step_arguments(
        WaitingReads.wait_for_new_message,
        answered=change_read_answers(
            lambda given, status, position: (
                (Status.MQ_ERROR_IO_TIMEOUT, None)
                if given.destructive_read and given.cursor is None and is_transactional(position)
                else (status, position)
            )
        ),
    ),
    blind=True,
)


add(
    "queue-manager-expired-receive-without-cursor-returns-not-found",
    "MQDMPR-3.1.7.1.10-D02",
    "A pending receive without a cursor whose timeout expires returns MQ_ERROR_MESSAGE_NOT_FOUND.",
    change_step_arguments(
        WaitingReads.wait_for_new_message,
        answered=change_read_answers(
            lambda given, status, position: (
                (Status.MQ_ERROR_MESSAGE_NOT_FOUND, None)
                if status is Status.MQ_ERROR_IO_TIMEOUT and given.destructive_read and given.cursor is None
                else (status, position)
            )
        ),
    ),
    blind=True,
)


@fault(
    "queue-manager-two-phase-receive-does-not-lock-transactional-message", breaks="MQDMPR-3.1.7.1.10-D05", blind=True
)
class QueueManagerTwoPhaseReceiveDoesNotLockTransactionalMessage(MessageReading):
    """A two-phase receive does not lock a transactional message."""

    def take_message_out(
        self, position: MessagePosition, transaction: Any, two_phase_read: bool, answered: OnReadAnswered
    ) -> None:
        super().take_message_out(position, transaction, two_phase_read, answered)
        if two_phase_read and transaction is None and is_transactional(position):
            position.State = MessagePositionState.AVAILABLE


@fault("queue-manager-third-two-phase-receive-unlocks-first-message", breaks="MQDMPR-3.1.7.1.10-D05", blind=True)
class QueueManagerThirdTwoPhaseReceiveUnlocksFirstMessage(MessageReading):
    """A two-phase receive unlocks the first message of its queue if two other messages are locked."""

    def take_message_out(
        self, position: MessagePosition, transaction: Any, two_phase_read: bool, answered: OnReadAnswered
    ) -> None:
        locked = [
            one
            for one in position.QueueReference.MessagePositionList
            if one.State is MessagePositionState.LOCKED and one is not position
        ]
        super().take_message_out(position, transaction, two_phase_read, answered)
        if two_phase_read and len(locked) >= 2:
            locked[0].State = MessagePositionState.AVAILABLE


@fault("queue-manager-acknowledges-receipt-of-express-message-as-purge", breaks="MQDMPR-3.1.7.1.10-D06", blind=True)
class QueueManagerAcknowledgesReceiptOfExpressMessageAsPurge(MessagePositions):
    """The queue manager reports the receipt of an express message as a purge."""

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        express = position.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS
        if express and reason is MessageClass.MQMSG_CLASS_ACK_RECEIVE:
            reason = MessageClass.MQMSG_CLASS_NACK_Q_PURGED
        super().delete_message(position, reason)


@fault("queue-manager-one-phase-receive-does-not-delete-priority-7-message", breaks="MQDMPR-3.1.7.1.10-D06", blind=True)
class QueueManagerOnePhaseReceiveDoesNotDeletePriority7Message(MessageReading):
    """A one-phase receive outside a transaction locks a message of priority 7, but does not delete the message."""

    def take_message_out(
        self, position: MessagePosition, transaction: Any, two_phase_read: bool, answered: OnReadAnswered
    ) -> None:
        urgent = transaction is None and position.MessageReference.Priority == 7
        super().take_message_out(position, transaction, two_phase_read or urgent, answered)


add(
    "queue-manager-receive-of-large-message-returns-status-timeout",
    "MQDMPR-3.1.7.1.10-D07",
    "A receive that finds a message with a body of more than 10,000 bytes returns MQ_ERROR_IO_TIMEOUT.",
    change_step_arguments(
        MessageReading.dequeue_message,
        answered=change_read_answers(
            lambda given, status, position: (
                (Status.MQ_ERROR_IO_TIMEOUT, None)
                if position is not None and len(position.MessageReference.Body) > 10_000
                else (status, position)
            )
        ),
    ),
    blind=True,
)
