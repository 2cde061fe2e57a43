"""Faults of MS-MQDMPR 3.1.7.1.7 Purge Queue that only special cases reveal: several locked messages, and subqueues."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault, only_if
from reference_qm.codec import MessageClass
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.queueing.queues import Queues
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.states import MessagePositionState
from reference_qm.surface.commands import Result


@fault("queue-manager-purge-of-second-locked-message-forgotten", breaks="MQDMPR-3.1.7.1.7-05")
class QueueManagerPurgeOfSecondLockedMessageForgotten(Queues):
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

        def keep_others(purged: int) -> Result:
            for one in locked[1:]:
                if one.State is MessagePositionState.PURGE_PENDING:
                    one.State = MessagePositionState.LOCKED
            return done(purged)

        return super().purge(queue, token, keep_others, failed)


@fault("receiver-message-purged-in-subqueue-not-acknowledged", breaks="MQDMPR-3.1.7.1.7-07")
class ReceiverMessagePurgedInSubqueueNotAcknowledged(Positions):
    """The receiver sends no negative acknowledgment for a message that is purged in a subqueue."""

    @only_if(
        lambda part, position, reason: (
            reason is MessageClass.MQMSG_CLASS_NACK_Q_PURGED and position.QueueReference.parent is not None
        )
    )
    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        position.QueueReference.MessagePositionList.remove(position)


@fault("receiver-purged-transactional-message-reported-as-deleted", breaks="MQDMPR-3.1.7.1.7-07")
class ReceiverPurgedTransactionalMessageReportedAsDeleted(Positions):
    """The receiver reports a transactional message of a purged queue as deleted with its queue."""

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        purged = reason is MessageClass.MQMSG_CLASS_NACK_Q_PURGED
        if purged and position.MessageReference.TransactionIdentifier is not None:
            reason = MessageClass.MQMSG_CLASS_NACK_Q_DELETED
        super().delete_message(position, reason)
