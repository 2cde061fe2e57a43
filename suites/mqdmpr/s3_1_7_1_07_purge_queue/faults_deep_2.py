"""Further faults of MS-MQDMPR 3.1.7.1.7 Purge Queue: several messages, messages in transactions."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.queueing.positions import Positions
from reference_qm.model.adm import MessagePosition
from reference_qm.model.states import MessagePositionState


@fault("aborted-receive-returns-purged-message", breaks="MQDMPR-3.1.7.1.7-05")
class AbortedReceiveReturnsPurgedMessage(Positions):
    """A message that a transaction received before the purge returns to the queue when the transaction aborts."""

    def unlock_message(self, position: MessagePosition) -> None:
        if position.State is MessagePositionState.PURGE_PENDING:
            position.State = MessagePositionState.LOCKED
        super().unlock_message(position)


@fault("only-first-purged-message-is-reported", breaks="MQDMPR-3.1.7.1.7-07")
class OnlyFirstPurgedMessageIsReported(Positions):
    """When a queue is purged, the receiver sends a negative acknowledgment only for the first message."""

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        positions = position.QueueReference.MessagePositionList
        purged = reason is MessageClass.MQMSG_CLASS_NACK_Q_PURGED
        if purged and len(list(positions)) == 1 and position.State is not MessagePositionState.DELETED:
            positions.remove(position)
            position.State = MessagePositionState.DELETED
        else:
            super().delete_message(position, reason)
