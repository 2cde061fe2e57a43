"""Faults that break rules of MS-MQDMPR 3.1.7.1.10 Dequeue Message."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.queueing.cursors import Cursors, Got
from reference_qm.core.queueing.reading import Reading
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Answered, Cursor, OpenQueueDescriptor
from reference_qm.model.enums import CursorState
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus, Status
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


@fault("queue-manager-cursor-receive-in-transaction-takes-next", breaks="MQDMPR-3.1.7.1.10-16", blind=True)
class QueueManagerCursorReceiveInTransactionTakesNext(Reading):
    """If another reader has received the message at a cursor, a receive by this cursor in a transaction takes the
    next message.
    """

    def dequeue_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
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


@fault("queue-manager-locked-message-at-cursor-is-transaction-usage", breaks="MQDMPR-3.1.7.1.10-17", blind=True)
class QueueManagerLockedMessageAtCursorIsTransactionUsage(Reading):
    """A receive by a cursor returns MQ_ERROR_TRANSACTION_USAGE if another reader has received the message of the
    cursor but has not ended its receive.
    """

    def dequeue_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
        two_phase_read: bool = False,
        transaction: Transaction | None = None,
    ) -> None:
        at = None if cursor is None else cursor.MessagePositionReference

        def report_lock(status: Status, position: MessagePosition | None) -> None:
            locked = isinstance(at, MessagePosition) and at.State is MessagePositionState.LOCKED
            if locked and status is Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED:
                status = Status.MQ_ERROR_TRANSACTION_USAGE
            answered(status, position)

        super().dequeue_message(queue_desc, report_lock, now, timeout_ms, cursor, tag, two_phase_read, transaction)


@fault("queue-manager-cursor-receive-at-end-begins-again", breaks="MQDMPR-3.1.7.1.10-19", blind=True)
class QueueManagerCursorReceiveAtEndBeginsAgain(Cursors):
    """A receive with the timeout zero by a cursor without a further message takes the first message of the queue."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        got = super().get_next_message_for_dequeue(cursor, no_wait)
        if got[0] is not CursorStatus.NOT_FOUND:
            return got
        self.rewind(cursor)
        return super().get_next_message_for_dequeue(cursor, no_wait)
