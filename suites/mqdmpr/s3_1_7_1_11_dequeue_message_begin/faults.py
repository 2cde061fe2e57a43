"""Faults that break rules of MS-MQDMPR 3.1.7.1.11 Dequeue Message Begin."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.calls import change_step_arguments, replace_step_status
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


@fault("queue-manager-receive-by-cursor-of-deleted-queue-finds-no-message", breaks="MQDMPR-3.1.7.1.11-04")
class QueueManagerReceiveByCursorOfDeletedQueueFindsNoMessage(TwoPhaseReading):
    """A two-phase receive by a cursor returns MQ_ERROR_MESSAGE_ALREADY_RECEIVED if the queue of the
    cursor was deleted.
    """

    def dequeue_message_begin(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        if queue_desc.QueueReference is None and cursor is not None:
            answered(Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED, None)
            return
        super().dequeue_message_begin(queue_desc, answered, now, timeout_ms, cursor, tag, transaction)


@fault("queue-manager-message-of-second-two-phase-receive-not-locked", breaks="MQDMPR-3.1.7.1.11-07", blind=True)
class QueueManagerMessageOfSecondTwoPhaseReceiveNotLocked(TwoPhaseReading):
    """When a reader begins a second two-phase receive before the end of its first one, the queue manager does not lock
    the message of the second receive.
    """

    def dequeue_message_begin(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        queue = queue_desc.QueueReference
        positions = () if queue is None else queue.MessagePositionList
        second = any(one.State is MessagePositionState.LOCKED for one in positions)

        def unlock_second_message(status: Status, position: MessagePosition | None) -> None:
            answered(status, position)
            if second and position is not None:
                position.State = MessagePositionState.AVAILABLE

        super().dequeue_message_begin(queue_desc, unlock_second_message, now, timeout_ms, cursor, tag, transaction)


@fault("queue-manager-message-of-two-phase-receive-that-waited-not-locked", breaks="MQDMPR-3.1.7.1.11-07", blind=True)
class QueueManagerMessageOfTwoPhaseReceiveThatWaitedNotLocked(TwoPhaseReading):
    """When a two-phase receive had to wait for its message, the queue manager does not lock the message."""

    def dequeue_message_begin(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        waited: list[bool] = []

        def unlock_message_after_wait(status: Status, position: MessagePosition | None) -> None:
            answered(status, position)
            if waited and position is not None:
                position.State = MessagePositionState.AVAILABLE

        super().dequeue_message_begin(queue_desc, unlock_message_after_wait, now, timeout_ms, cursor, tag, transaction)
        waited.append(True)


add(
    "two-phase-receive-ignores-its-cancel-tag",
    ("MQDMPR-3.1.7.1.11-12", "MQDMPR-3.1.7.1.10-27"),
    "The queue manager loses the tag of a two-phase receive.",
    change_step_arguments(TwoPhaseReading.dequeue_message_begin, tag=lambda given: None),
)


@fault("queue-manager-ignores-request-tag-of-two-phase-cursor-receive", breaks="MQDMPR-3.1.7.1.11-12", blind=True)
class QueueManagerIgnoresRequestTagOfTwoPhaseCursorReceive(TwoPhaseReading):
    """The queue manager ignores the tag that the reader passes to a two-phase receive by a cursor."""

    def dequeue_message_begin(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        tag = tag if cursor is None else None
        super().dequeue_message_begin(queue_desc, answered, now, timeout_ms, cursor, tag, transaction)


add(
    "two-phase-receive-returns-timeout-status",
    ("MQDMPR-3.1.7.1.11-15", "MQDMPR-3.1.7.1.10-D07"),
    "The event Dequeue Message Begin returns its message with MQ_ERROR_IO_TIMEOUT.",
    replace_step_status(TwoPhaseReading.dequeue_message_begin, Status.MQ_ERROR_IO_TIMEOUT),
)


@fault("server-two-phase-receive-of-received-message-returns-not-found", breaks="MQDMPR-3.1.7.1.11-15", blind=True)
class ServerTwoPhaseReceiveOfReceivedMessageReturnsNotFound(TwoPhaseReading):
    """A two-phase receive at a cursor whose message was received by another reader ends with
    MQ_ERROR_MESSAGE_NOT_FOUND.
    """

    def dequeue_message_begin(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        def report_received_message_as_not_found(status: Status, position: MessagePosition | None) -> None:
            received = status is Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED
            answered(Status.MQ_ERROR_MESSAGE_NOT_FOUND if received else status, position)

        super().dequeue_message_begin(
            queue_desc, report_received_message_as_not_found, now, timeout_ms, cursor, tag, transaction
        )
