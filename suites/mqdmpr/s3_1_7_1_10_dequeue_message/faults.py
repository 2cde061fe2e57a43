"""Faults of MS-MQDMPR 3.1.7.1.10 Dequeue Message, some of which break the other events that read, too."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.queueing.cursors import Cursors, Got
from reference_qm.core.queueing.reading import Reading
from reference_qm.core.queueing.seeking import Seeking
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Answered, Cursor, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.enums import CursorState, MessageSeekAction, SeekDirection
from reference_qm.model.position_list import Boundary, Entry
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus, Status
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


@fault(
    "deleted-queue-taken-for-empty",
    breaks=(
        "MQDMPR-3.1.7.1.10-06",
        "MQDMPR-3.1.7.1.11-04",
        "MQDMPR-3.1.7.1.13-07",
        "MQDMPR-3.1.7.1.14-04",
        "MQDMPR-3.1.7.1.15-04",
    ),
)
class DeletedTakenForEmpty(Reading):
    """A queue that was deleted while it was open is one without messages."""

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
        super().dequeue_message(
            queue_desc, _as_empty(answered), now, timeout_ms, cursor, tag, two_phase_read, transaction
        )

    def read_by_lookup_identifier(
        self,
        queue_desc: OpenQueueDescriptor,
        lookup_id: int,
        lookup_operation: MessageSeekAction,
        answered: Answered,
        peek_operation: bool = False,
        two_phase_read: bool = False,
        transaction: Transaction | None = None,
    ) -> None:
        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, _as_empty(answered), peek_operation, two_phase_read, transaction
        )

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        super().peek_message(queue_desc, _as_empty(answered), now, timeout_ms, cursor, tag)

    def peek_next_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        cursor: Cursor,
        timeout_ms: int | None = None,
        tag: Hashable | None = None,
    ) -> None:
        super().peek_next_message(queue_desc, _as_empty(answered), now, cursor, timeout_ms, tag)


def _as_empty(answered: Answered) -> Answered:
    def answer(status: Status, position: MessagePosition | None) -> None:
        gone = status is Status.MQ_ERROR_QUEUE_NOT_AVAILABLE
        answered(Status.MQ_ERROR_MESSAGE_NOT_FOUND if gone else status, position)

    return answer


@fault(
    "two-phases-in-one",
    breaks=(
        "MQDMPR-3.1.7.1.10-02",
        "MQDMPR-3.1.7.1.12-18",
        "MQDMPR-3.1.7.1.12-21",
    ),
)
class TwoPhasesInOne(Reading):
    """A message that is received in two phases is deleted in the first."""

    def take_message_out(
        self,
        position: MessagePosition,
        transaction: Transaction | None,
        two_phase_read: bool,
        answered: Answered,
    ) -> None:
        super().take_message_out(position, transaction, False, answered)


@fault(
    "two-phases-without-lock",
    breaks=(
        "MQDMPR-3.1.7.1.10-D05",
        "MQDMPR-3.1.7.1.11-07",
        "MQDMPR-3.1.7.1.12-13",
        "MQDMPR-3.1.7.1.13-02",
        "MQDMPR-3.1.7.1.13-04",
        "MQDMPR-3.1.7.1.13-32",
    ),
)
class TwoPhasesWithoutLock(Reading):
    """A message that is received in two phases can be received by others meanwhile."""

    def take_message_out(
        self,
        position: MessagePosition,
        transaction: Transaction | None,
        two_phase_read: bool,
        answered: Answered,
    ) -> None:
        if two_phase_read:
            answered(Status.MQ_OK, position)
        else:
            super().take_message_out(position, transaction, two_phase_read, answered)


@fault("received-in-one-phase-stays", breaks=("MQDMPR-3.1.7.1.10-D06", "MQDMPR-3.1.7.1.13-34"))
class ReceivedStays(Reading):
    """A message that is received in one phase stays in its queue, locked for ever."""

    def take_message_out(
        self,
        position: MessagePosition,
        transaction: Transaction | None,
        two_phase_read: bool,
        answered: Answered,
    ) -> None:
        super().take_message_out(position, transaction, two_phase_read or transaction is None, answered)


@fault("received-within-transaction-not-locked", breaks=("MQDMPR-3.1.7.1.10-D03", "MQDMPR-3.1.7.1.13-24"))
class NotLocked(TransactionOperations):
    """What is received within a transaction can be received by others, too, until that commits."""

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        super().dequeue_in_transaction(transaction, position)
        position.State = MessagePositionState.AVAILABLE


@fault(
    "received-within-transaction-deleted-at-once",
    breaks=("MQDMPR-3.1.7.1.10-D04", "MQDMPR-3.1.7.1.13-25", "MQDMPR-3.1.7.1.13-29"),
)
class DeletedAtOnce(TransactionOperations):
    """What is received within a transaction is gone at once, whatever becomes of that."""

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        super().dequeue_in_transaction(transaction, position)
        operation = transaction.TransactionalOperationCollection.pop()
        assert operation.DequeueReason is not None
        self.qm.positions.delete_message(position, operation.DequeueReason)


@fault(
    "cursor-not-asked-by-receives",
    breaks=("MQDMPR-3.1.7.1.10-12", "MQDMPR-3.1.7.1.10-15", "MQDMPR-3.1.7.1.11-10"),
)
class CursorNotAsked(Reading):
    """A receive by a cursor takes the first message."""

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
        super().dequeue_message(queue_desc, answered, now, timeout_ms, None, tag, two_phase_read, transaction)


@fault("receive-of-taken-message-takes-the-next", breaks=("MQDMPR-3.1.7.1.10-16", "MQDMPR-3.1.7.1.10-17"))
class TakesTheNext(Cursors):
    """A receive by a cursor whose message was taken takes the one behind it."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        status, position = super().get_next_message_for_dequeue(cursor, no_wait)
        if status is CursorStatus.ALREADY_RECEIVED:
            cursor.CursorState = CursorState.UNREAD
            return super().get_next_message_for_dequeue(cursor, no_wait)
        return status, position


@fault("taken-message-told-as-not-found", breaks=("MQDMPR-3.1.7.1.10-17", "MQDMPR-3.1.7.1.15-16"))
class ToldAsNotFound(Cursors):
    """Of a cursor whose message was taken it is said that there is no message."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        return _not_found(super().get_next_message_for_dequeue(cursor, no_wait))

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        return _not_found(super().get_message_for_peek(cursor))


def _not_found(got: Got) -> Got:
    return (CursorStatus.NOT_FOUND, None) if got[0] is CursorStatus.ALREADY_RECEIVED else got


@fault("receive-that-may-not-wait-times-out", breaks=("MQDMPR-3.1.7.1.10-19", "MQDMPR-3.1.7.1.10-20"))
class TimesOut(Cursors):
    """A receive by a cursor that may not wait begins to wait, and its time is over at once."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        return super().get_next_message_for_dequeue(cursor, False)


@fault(
    "no-read-waits",
    breaks=(
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
)
class NoReadWaits(Waiting):
    """Whatever its time-out, a read ends at once when there is no message."""

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
        super().wait_for_new_message(queue_desc, 0, destructive_read, answered, now, tag, cursor, transaction)


@fault("receive-brings-the-message-behind", breaks=("MQDMPR-3.1.7.1.10-D07", "MQDMPR-3.1.7.1.11-14"))
class BringsTheMessageBehind(Reading):
    """Who receives is given the message behind the one that is taken, if there is one."""

    def take_message_out(
        self,
        position: MessagePosition,
        transaction: Transaction | None,
        two_phase_read: bool,
        answered: Answered,
    ) -> None:
        behind = position.Next

        def answer(status: Status, taken: MessagePosition | None) -> None:
            answered(status, behind if taken is not None and isinstance(behind, MessagePosition) else taken)

        super().take_message_out(position, transaction, two_phase_read, answer)


@fault(
    "search-begins-behind-the-first",
    breaks=(
        "MQDMPR-3.1.7.1.10-38",
        "MQDMPR-3.1.7.1.15-38",
        "MQDMPR-3.1.7.1.15-58",
        "MQDMPR-3.1.7.3.2-06",
        "MQDMPR-3.1.7.3.2-09",
        "MQDMPR-3.1.7.3.3-10",
        "MQDMPR-3.1.7.3.3-15",
    ),
)
class BehindTheFirst(Seeking):
    """A search from the front of the queue begins behind its first message, if there are more."""

    def seek_available(
        self,
        initial_position: Entry,
        peek_operation: bool,
        seek_direction: SeekDirection = SeekDirection.FORWARD,
    ) -> MessagePosition | None:
        found: MessagePosition | None = super().seek_available(initial_position, peek_operation, seek_direction)
        if found is None or seek_direction is not SeekDirection.FORWARD or not isinstance(initial_position, Boundary):
            return found
        return super().seek_available(found, peek_operation, seek_direction) or found


@fault(
    "wait-ends-as-cancelled",
    breaks=(
        "MQDMPR-3.1.7.1.10-35",
        "MQDMPR-3.1.7.1.10-D02",
        "MQDMPR-3.1.7.1.14-33",
        "MQDMPR-3.1.7.1.15-35",
        "MQDMPR-3.1.7.1.15-55",
        "MQDMPR-3.1.7.3.1-19",
        "MQDMPR-3.1.7.3.1-20",
        "MQDMPR-3.1.7.3.5-03",
    ),
)
class EndsAsCancelled(Waiting):
    """A read whose time is over returns what one returns that was cancelled."""

    def stop_reader(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        super().stop_reader(reader, Status.MQ_ERROR_OPERATION_CANCELLED)
