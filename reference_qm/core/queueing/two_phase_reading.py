from __future__ import annotations

from collections.abc import Callable, Hashable

from reference_qm.codec import MessageClass
from reference_qm.core.part import QueueManagerPart
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result

LOCKED_POSITION_STATES = (MessagePositionState.LOCKED, MessagePositionState.PURGE_PENDING)


class TwoPhaseReading(QueueManagerPart):
    """Locks messages for readers that complete or cancel their dequeue later, such as remote readers.

    Spec: MS-MQDMPR 3.1.7.1.11, 3.1.7.1.12.
    """

    __slots__ = ()

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
        """Lock a message and return it. The message stays locked until Dequeue Message End. Spec: MS-MQDMPR
        3.1.7.1.11.

        3.1.7.1.10 does not allow a transaction in a two-phase read, but 3.1.7.1.11 passes one. If a transaction is
        given, it owns the lock. A crash releases the lock, because it ends the lock's owner.
        """
        self.qm.message_reading.dequeue_message(
            queue_desc, answered, now, timeout_ms, cursor, tag, two_phase_read=True, transaction=transaction
        )

    def dequeue_message_end(
        self,
        queue_desc: OpenQueueDescriptor,
        position: MessagePosition,
        delete_message: bool,
        ended: Callable[[Status], None],
        transactional: bool = False,
    ) -> None:
        """Delete a locked message, or make it available again. Spec: MS-MQDMPR 3.1.7.1.12.

        ``ended`` is called with rStatus; if the message is deleted, this happens when the deletion is on disk. The
        document refuses a message that is Available. A Deleted message, which was deleted by an earlier call or
        with its queue, is refused as well.
        """
        if queue_desc.QueueReference is None:
            ended(Status.MQ_ERROR_QUEUE_NOT_AVAILABLE)
        elif position.State not in LOCKED_POSITION_STATES:
            ended(Status.MQ_ERROR_TRANSACTION_SEQUENCE)
        elif transactional:
            ended(Status.MQ_OK)
        elif delete_message or position.State is MessagePositionState.PURGE_PENDING:
            self.end_with_deletion(position, ended)
        else:
            self.qm.message_positions.unlock_message(position)
            ended(Status.MQ_OK)

    def end_with_deletion(self, position: MessagePosition, ended: Callable[[Status], None]) -> None:
        """Delete a locked message. The reported reason is that the queue was purged, if this happened while the message
        was locked; otherwise the reason is that the message was received. If the disk fails, the message stays locked.
        Spec: MS-MQDMPR 3.1.7.1.12.
        """
        purged = position.State is MessagePositionState.PURGE_PENDING
        reason = MessageClass.MQMSG_CLASS_NACK_Q_PURGED if purged else MessageClass.MQMSG_CLASS_ACK_RECEIVE

        def delete_locked_message() -> Result:
            self.qm.message_positions.delete_message(position, reason)
            ended(Status.MQ_OK)
            return Result()

        self.qm.disk.commit(
            self.qm.durable_records.build_message_removal([position], reason),
            None,
            delete_locked_message,
            lambda: ended(Status.MQ_ERROR_MESSAGE_STORAGE_FAILED),
        )
