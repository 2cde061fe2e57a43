from __future__ import annotations

from collections.abc import Hashable

from reference_qm.codec import MessageClass
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.queueing.queue_cursors import CursorResult
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus, Status
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result

STATUS_OF_CURSOR_FAILURE = {
    CursorStatus.ALREADY_RECEIVED: Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED,
    CursorStatus.ILLEGAL_CURSOR_ACTION: Status.MQ_ERROR_ILLEGAL_CURSOR_ACTION,
    CursorStatus.NOT_FOUND: Status.MQ_ERROR_MESSAGE_NOT_FOUND,
}
"""The status to return to the reader for each failure status of a cursor."""


class MessageReading(QueueManagerPart):
    """Receives and peeks at messages. Spec: MS-MQDMPR 3.1.7.1.10, 3.1.7.1.13 to 3.1.7.1.15."""

    __slots__ = ()

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
        """Receive the first message, or the message at a cursor. If there is no message, wait.

        Spec: MS-MQDMPR 3.1.7.1.10.
        """
        if queue_desc.QueueReference is None:
            answered(Status.MQ_ERROR_QUEUE_NOT_AVAILABLE, None)
            return

        def receive_found_message(status: Status, position: MessagePosition | None) -> None:
            if position is None:
                answered(status, None)
            else:
                self.take_message_out(position, transaction, two_phase_read, answered)

        if cursor is None:
            position = self.qm.message_search.seek_available(queue_desc.QueueReference.MessagePositionList.Start, False)
            got: CursorResult = (CursorStatus.WAITING if position is None else CursorStatus.SUCCEEDED, position)
        else:
            got = self.qm.queue_cursors.get_next_message_for_dequeue(cursor, timeout_ms == 0)
        self._answer_read_or_wait(
            queue_desc, got, timeout_ms, True, receive_found_message, now, tag, cursor, transaction
        )

    def read_by_lookup_identifier(
        self,
        queue_desc: OpenQueueDescriptor,
        lookup_id: int,
        lookup_operation: MessageSeekAction,
        answered: OnReadAnswered,
        peek_operation: bool = False,
        two_phase_read: bool = False,
        transaction: Transaction | None = None,
    ) -> None:
        """Receive or peek at the message with the given LookupIdentifier, or the message before or after that
        message.

        Spec: MS-MQDMPR 3.1.7.1.13.
        """
        if queue_desc.QueueReference is None:
            answered(Status.MQ_ERROR_QUEUE_NOT_AVAILABLE, None)
            return
        status, position = self.qm.message_search.seek_with_identifier(
            queue_desc.QueueReference, lookup_id, peek_operation, lookup_operation
        )
        if position is None or peek_operation:
            answered(status, position)
        else:
            self.take_message_out(position, transaction, two_phase_read, answered)

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        """Peek at the first message, or at the message at a cursor. If there is no message, wait.

        Spec: MS-MQDMPR 3.1.7.1.15. The document has no tag for a waiting peek. Here a peek has a tag, because
        MS-MQQP 3.2.4.7 also cancels peeks.
        """
        if queue_desc.QueueReference is None:
            answered(Status.MQ_ERROR_QUEUE_NOT_AVAILABLE, None)
            return
        if cursor is None:
            position = self.qm.message_search.seek_available(queue_desc.QueueReference.MessagePositionList.Start, True)
            got: CursorResult = (CursorStatus.WAITING if position is None else CursorStatus.SUCCEEDED, position)
        else:
            got = self.qm.queue_cursors.get_message_for_peek(cursor)
        self._answer_read_or_wait(queue_desc, got, timeout_ms, False, answered, now, tag, cursor)

    def peek_next_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        cursor: Cursor,
        timeout_ms: int | None = None,
        tag: Hashable | None = None,
    ) -> None:
        """Move a cursor to the next message, and peek at this message. If there is no next message, wait.

        Spec: MS-MQDMPR 3.1.7.1.14.
        """
        if queue_desc.QueueReference is None:
            answered(Status.MQ_ERROR_QUEUE_NOT_AVAILABLE, None)
            return
        got = self.qm.queue_cursors.get_next_message_for_peek(cursor)
        self._answer_read_or_wait(queue_desc, got, timeout_ms, False, answered, now, tag, cursor)

    def _answer_read_or_wait(
        self,
        queue_desc: OpenQueueDescriptor,
        got: CursorResult,
        timeout_ms: int | None,
        destructive_read: bool,
        answered: OnReadAnswered,
        now: Now,
        tag: Hashable | None,
        cursor: Cursor | None,
        transaction: Transaction | None = None,
    ) -> None:
        status, position = got
        if status is CursorStatus.SUCCEEDED:
            answered(Status.MQ_OK, position)
        elif status is CursorStatus.WAITING:
            self.qm.waiting_reads.wait_for_new_message(
                queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction
            )
        else:
            answered(STATUS_OF_CURSOR_FAILURE[status], None)

    def take_message_out(
        self,
        position: MessagePosition,
        transaction: Transaction | None,
        two_phase_read: bool,
        answered: OnReadAnswered,
    ) -> None:
        """Take a message out of its queue for the reader that receives it. In a transaction, the operation is
        recorded; in a two-phase read, the message is locked; otherwise the message is deleted. Spec: MS-MQDMPR
        3.1.7.1.10, 3.1.7.1.13.

        The message stays locked until its deletion is on disk, because a crash before that would return the message
        to the queue. If the write to the disk fails, the message can be received again.
        """
        if transaction is not None:
            self.qm.transaction_operations.dequeue_in_transaction(transaction, position)
            answered(Status.MQ_OK, position)
            return
        position.State = MessagePositionState.LOCKED
        if two_phase_read:
            answered(Status.MQ_OK, position)
            return
        reason = MessageClass.MQMSG_CLASS_ACK_RECEIVE

        def deliver_message() -> Result:
            self.qm.message_positions.delete_message(position, reason)
            answered(Status.MQ_OK, position)
            return Result()

        def put_into_system_queue() -> None:
            self.qm.message_positions.unlock_message(position)
            answered(Status.MQ_ERROR_MESSAGE_STORAGE_FAILED, None)

        self.qm.disk.commit(
            self.qm.durable_records.build_message_removal([position], reason),
            None,
            deliver_message,
            put_into_system_queue,
        )
