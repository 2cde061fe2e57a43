"""Faults of MS-MQSO 5.1.1.3 that only special cases show: a second occurrence, and other causes of the same state."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.queueing.journaling import Journaling
from reference_qm.core.queueing.seeking import Seeking
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.transfer.expiring import Expiring
from reference_qm.model.adm import INFINITE, MessagePosition, Queue
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import TransactionalOperation
from reference_qm.surface.clock import Now


@fault("queue-manager-message-of-second-abort-deleted", breaks="MQSO-5.1.1.3-D07")
class SecondAbortDeletes(TransactionEvents):
    """A message is deleted when a second transaction that received this message is aborted."""

    def abort_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        position = operation.MessagePositionReference
        aborted: set[int] = getattr(self, "aborted", set())
        self.aborted = aborted
        super().abort_dequeue(operation, now)
        if position.LookupIdentifier in aborted and position.State is MessagePositionState.AVAILABLE:
            self.qm.positions.delete_message(position, MessageClass.MQMSG_CLASS_ACK_RECEIVE)
        aborted.add(position.LookupIdentifier)


@fault("queue-manager-locked-message-peeked-by-identifier", breaks="MQSO-5.1.1.3-D06")
class LockedFoundByIdentifier(Seeking):
    """A peek with the identifier of a message that a transaction has received returns the message."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        position = queue.MessagePositionList.find(lookup_id)
        locked = position is not None and position.State is MessagePositionState.LOCKED
        if locked and peek_operation and lookup_action is MessageSeekAction.CURRENT:
            return Status.MQ_OK, position
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-expired-message-with-jp-becomes-dead-letter", breaks="MQSO-5.1.1.3-D08")
class PositiveJournalingKeepsDeadLetter(Journaling):
    """An expired message for which only positive journaling was requested becomes a dead letter."""

    def journal_failed(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.PositiveJournalingRequested and message.TimeToReachQueue != INFINITE:
            position.MessageReference = replace(message, NegativeJournalingRequested=True)
        super().journal_failed(position)


@fault("queue-manager-second-expired-message-kept", breaks="MQSO-5.1.1.3-D02")
class SecondExpiredKept(Expiring):
    """If several messages of a queue expire at the same time, only the first is removed."""

    def delete_not_received(self, positions: list[MessagePosition], now: Now) -> None:
        super().delete_not_received(positions[:1], now)
