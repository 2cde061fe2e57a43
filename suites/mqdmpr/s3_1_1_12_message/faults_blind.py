"""Faults of MS-MQDMPR 3.1.1.12, by an author who had not seen the checks."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.enterprise.restoring import Restoring
from reference_qm.core.queueing.positions import Positions
from reference_qm.model.adm import MessagePosition
from reference_qm.model.states import MessagePositionState


@fault("sender-message-dead-letter-queue-lost-at-restart", breaks="MQDMPR-3.1.1.12-67", blind=True)
class SenderMessageDeadLetterQueueLostAtRestart(Restoring):
    """After a restart, a recoverable message has no ApplicationDeadletterQueue, although its sender named a queue."""

    def _restore_message(self, rest: str, value: Any) -> None:
        super()._restore_message(rest, {name: one for name, one in value.items() if name != "dead_letter_queue"})


@fault("receiver-message-expired-while-locked-kept-after-abort", breaks="MQDMPR-3.1.1.12-D53", blind=True)
class ReceiverMessageExpiredWhileLockedKeptAfterAbort(Positions):
    """The receiver keeps a message whose TimeToBeReceived expires after a transaction received it and before this
    transaction is aborted.
    """

    def unlock_message(self, position: MessagePosition) -> None:
        if position.State is not MessagePositionState.LOCKED:
            super().unlock_message(position)
            return
        position.State = MessagePositionState.AVAILABLE
        position.QueueReference.MessagePositionList.reset_search_start(position)
        position.awaits_disk = False
        self.qm.waiting.release_readers(position)


@fault("receiver-nack-queue-deleted-omitted-for-locked-message", breaks="MQDMPR-3.1.1.12-D23", blind=True)
class ReceiverNackQueueDeletedOmittedForLockedMessage(Positions):
    """When a queue is deleted, the receiver does not acknowledge the messages that a transaction has locked."""

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        locked = position.State is MessagePositionState.LOCKED and not position.awaits_disk
        if locked and reason is MessageClass.MQMSG_CLASS_NACK_Q_DELETED:
            position.QueueReference.MessagePositionList.remove(position)
        else:
            super().delete_message(position, reason)
