"""Further faults of MS-MQDMPR 3.1.7.1.15 Peek Message: locked messages, several readers and second waits."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.queueing.cursors import Cursors, Got
from reference_qm.core.queueing.reading import Reading
from reference_qm.core.queueing.seeking import Seeking
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Answered, Cursor, OpenQueueDescriptor
from reference_qm.model.enums import CursorState
from reference_qm.model.position_list import Boundary
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus, Status
from reference_qm.surface.clock import Now


@fault("peek-by-cursor-returns-message-locked-by-transaction", breaks="MQDMPR-3.1.7.1.15-15")
class PeekByCursorReturnsMessageLockedByTransaction(Cursors):
    """A peek by a cursor returns its message although a transaction received the message."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        position = cursor.MessagePositionReference
        read = cursor.CursorState is CursorState.READ and not isinstance(position, Boundary)
        if read and not isinstance(position, Boundary) and position.State is MessagePositionState.LOCKED:
            return CursorStatus.SUCCEEDED, position
        return super().get_message_for_peek(cursor)


@fault("peek-by-cursor-at-message-locked-by-transaction-waits", breaks="MQDMPR-3.1.7.1.15-16")
class PeekByCursorAtMessageLockedByTransactionWaits(Cursors):
    """A peek by a cursor whose message a transaction received waits instead of returning an error."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        got = super().get_message_for_peek(cursor)
        position = cursor.MessagePositionReference
        locked = not isinstance(position, Boundary) and position.State is MessagePositionState.LOCKED
        if got[0] is CursorStatus.ALREADY_RECEIVED and locked:
            cursor.CursorState = CursorState.WAIT_PEEK
            return CursorStatus.WAITING, None
        return got


@fault("peek-without-cursor-returns-message-received-in-two-phases", breaks="MQDMPR-3.1.7.1.15-38")
class PeekWithoutCursorReturnsMessageReceivedInTwoPhases(Seeking):
    """A peek without a cursor returns a message that another reader received in two phases."""

    def is_readable(self, position: MessagePosition, peek_operation: bool) -> bool:
        held = any(
            operation.MessagePositionReference is position
            for transaction in self.qm.adm.TransactionCollection.values()
            for operation in transaction.TransactionalOperationCollection
        )
        if position.State is MessagePositionState.LOCKED and peek_operation and not held:
            return True
        return super().is_readable(position, peek_operation)


@fault("peek-of-queue-with-locked-message-does-not-wait", breaks="MQDMPR-3.1.7.1.15-44")
class PeekOfQueueWithLockedMessageDoesNotWait(Reading):
    """A peek without a cursor at a queue whose only message is locked returns MQ_ERROR_MESSAGE_NOT_FOUND at once."""

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
        transaction: object = None,
    ) -> None:
        assert queue_desc.QueueReference is not None
        first = queue_desc.QueueReference.MessagePositionList.Start.Next
        empty = isinstance(first, Boundary)
        if got[0] is CursorStatus.WAITING and cursor is None and not destructive_read and not empty:
            answered(Status.MQ_ERROR_MESSAGE_NOT_FOUND, None)
            return
        super()._answer_or_wait(queue_desc, got, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)  # type: ignore[arg-type]


@fault("second-pending-peek-without-cursor-gets-no-message", breaks="MQDMPR-3.1.7.1.15-51")
class SecondPendingPeekWithoutCursorGetsNoMessage(Waiting):
    """A message that arrives completes one pending peek without a cursor; a second such peek continues to wait."""

    def release_readers(self, position: MessagePosition) -> None:
        peeked = False
        for descriptor in list(position.QueueReference.OpenQueueDescriptorCollection.values()):
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                plain = not reader.DestructiveRead and reader.CursorReference is None
                if reader.number not in self.qm.readers or (peeked and plain):
                    continue
                found = self._find_message_for(reader, position)
                if found is None:
                    return
                peeked = peeked or plain
                self.satisfy_reader(reader, found)


@fault("second-peek-by-waiting-cursor-does-not-wait", breaks="MQDMPR-3.1.7.1.15-18")
class SecondPeekByWaitingCursorDoesNotWait(Reading):
    """When the wait of a peek by a cursor has expired, a second peek by this cursor ends without waiting."""

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        again = cursor is not None and cursor.CursorState is CursorState.WAIT_PEEK
        super().peek_message(queue_desc, answered, now, 0 if again else timeout_ms, cursor, tag)


@fault("pending-peek-by-cursor-does-not-complete-receive-behind-it", breaks="MQDMPR-3.1.7.1.15-29")
class PendingPeekByCursorDoesNotCompleteReceiveBehindIt(Waiting):
    """A message that completes a pending peek by a cursor completes later peeks, but not a later receive."""

    def release_readers(self, position: MessagePosition) -> None:
        peeked = False
        for descriptor in list(position.QueueReference.OpenQueueDescriptorCollection.values()):
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                if reader.number not in self.qm.readers or (peeked and reader.DestructiveRead):
                    continue
                found = self._find_message_for(reader, position)
                if found is None:
                    return
                peeked = peeked or (not reader.DestructiveRead and reader.CursorReference is not None)
                self.satisfy_reader(reader, found)


@fault("peek-by-cursor-of-deleted-queue-returns-already-received", breaks="MQDMPR-3.1.7.1.15-04")
class PeekByCursorOfDeletedQueueReturnsAlreadyReceived(Reading):
    """A peek by a cursor of a deleted queue returns MQ_ERROR_MESSAGE_ALREADY_RECEIVED."""

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        if queue_desc.QueueReference is None and cursor is not None:
            answered(Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED, None)
        else:
            super().peek_message(queue_desc, answered, now, timeout_ms, cursor, tag)


@fault("pending-peek-without-timeout-waits-one-minute", breaks="MQDMPR-3.1.7.1.15-07")
class PendingPeekWithoutTimeoutWaitsOneMinute(Reading):
    """A peek by a cursor without a timeout ends after one minute."""

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        limited = 60_000 if timeout_ms is None and cursor is not None else timeout_ms
        super().peek_message(queue_desc, answered, now, limited, cursor, tag)
