"""Faults that break rules of MS-MQDMPR 3.1.7.1.7 Purge Queue."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault, faulty_only_if
from reference_qm.codec import MessageClass
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.remote.remote_read_ending import RemoteReadEnding
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.states import MessagePositionState
from reference_qm.surface.commands import Result


@fault("purged-message-restored-by-restart", breaks="MQDMPR-3.1.7.1.7-05")
class PurgedMessageRestoredByRestart(TransactionOperations):
    """After a restart, the queue manager restores a message that a transaction received before a purge."""

    def find_messages_kept_by_transactions(self) -> set[MessagePosition]:
        return {
            operation.MessagePositionReference
            for transaction in self.qm.adm.TransactionCollection.values()
            for operation in transaction.TransactionalOperationCollection
        }


@fault("message-locked-during-purge-restored", breaks="MQDMPR-3.1.7.1.7-05")
class MessageLockedDuringPurgeRestored(MessagePositions):
    """A message that is locked during a purge is in the queue again when its reader returns it."""

    def unlock_message(self, position: MessagePosition) -> None:
        if position.State is MessagePositionState.PURGE_PENDING:
            position.State = MessagePositionState.LOCKED
        super().unlock_message(position)


@fault("second-purge-deletes-message-that-reader-has-locked", breaks="MQDMPR-3.1.7.1.7-05")
class SecondPurgeDeletesMessageThatReaderHasLocked(QueueLifecycle):
    """A second purge of a queue deletes a message that a reader has had locked since before the first purge."""

    def purge(
        self,
        queue: Queue,
        token: int | None,
        done: Callable[[int], Result],
        failed: Callable[[], None] | None = None,
    ) -> Result | None:
        for position in list(queue.MessagePositionList):
            if position.State is MessagePositionState.PURGE_PENDING:
                self.qm.message_positions.delete_message(position, MessageClass.MQMSG_CLASS_NACK_Q_PURGED)
        return super().purge(queue, token, done, failed)


@fault("lost-connection-of-reader-returns-purged-message-to-queue", breaks="MQDMPR-3.1.7.1.7-05")
class LostConnectionOfReaderReturnsPurgedMessageToQueue(RemoteReadEnding):
    """A message whose queue was purged is in the queue again when the connection of its reader is lost."""

    def get_rundown_ack(self) -> bool:
        for queue in self.qm.queue_names.list_every_queue():
            for position in queue.MessagePositionList:
                if position.State is MessagePositionState.PURGE_PENDING:
                    position.State = MessagePositionState.LOCKED
        acknowledges: bool = super().get_rundown_ack()
        return acknowledges


@fault("queue-manager-purge-of-second-locked-message-forgotten", breaks="MQDMPR-3.1.7.1.7-05")
class QueueManagerPurgeOfSecondLockedMessageForgotten(QueueLifecycle):
    """If several messages are locked during a purge, the queue manager deletes only the first of them when its read
    ends.
    """

    def purge(
        self,
        queue: Queue,
        token: int | None,
        done: Callable[[int], Result],
        failed: Callable[[], None] | None = None,
    ) -> Result | None:
        locked = [one for one in queue.MessagePositionList if one.State is MessagePositionState.LOCKED]

        def restore_other_messages(purged: int) -> Result:
            for one in locked[1:]:
                if one.State is MessagePositionState.PURGE_PENDING:
                    one.State = MessagePositionState.LOCKED
            return done(purged)

        return super().purge(queue, token, restore_other_messages, failed)


@fault("purged-messages-not-acknowledged", breaks="MQDMPR-3.1.7.1.7-07")
class PurgedMessagesNotAcknowledged(QueueLifecycle):
    """When a queue is purged, the queue manager deletes the queue's messages without an acknowledgment."""

    def purge(
        self,
        queue: Queue,
        token: int | None,
        done: Callable[[int], Result],
        failed: Callable[[], None] | None = None,
    ) -> Result | None:
        for position in list(queue.MessagePositionList):
            if position.State is MessagePositionState.AVAILABLE:
                queue.MessagePositionList.remove(position)
        return super().purge(queue, token, done, failed)


@fault("receiver-message-purged-in-subqueue-not-acknowledged", breaks="MQDMPR-3.1.7.1.7-07")
class ReceiverMessagePurgedInSubqueueNotAcknowledged(MessagePositions):
    """The receiver sends no negative acknowledgment for a message that is purged in a subqueue."""

    @faulty_only_if(
        lambda part, position, reason: (
            reason is MessageClass.MQMSG_CLASS_NACK_Q_PURGED and position.QueueReference.parent is not None
        )
    )
    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        position.QueueReference.MessagePositionList.remove(position)


@fault("receiver-purged-transactional-message-reported-as-deleted", breaks="MQDMPR-3.1.7.1.7-07")
class ReceiverPurgedTransactionalMessageReportedAsDeleted(MessagePositions):
    """The receiver reports a transactional message of a purged queue as deleted with its queue."""

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        purged = reason is MessageClass.MQMSG_CLASS_NACK_Q_PURGED
        if purged and position.MessageReference.TransactionIdentifier is not None:
            reason = MessageClass.MQMSG_CLASS_NACK_Q_DELETED
        super().delete_message(position, reason)


@fault("only-first-purged-message-is-reported", breaks="MQDMPR-3.1.7.1.7-07")
class OnlyFirstPurgedMessageIsReported(MessagePositions):
    """When a queue is purged, the receiver sends a negative acknowledgment only for the first message."""

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        positions = position.QueueReference.MessagePositionList
        purged = reason is MessageClass.MQMSG_CLASS_NACK_Q_PURGED
        if purged and len(list(positions)) == 1 and position.State is not MessagePositionState.DELETED:
            positions.remove(position)
            position.State = MessagePositionState.DELETED
        else:
            super().delete_message(position, reason)
