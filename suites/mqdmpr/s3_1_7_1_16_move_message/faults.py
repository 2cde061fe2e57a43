"""Faults that break rules of MS-MQDMPR 3.1.7.1.16 Move Message."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import omit_step_during
from harness.faults.registry import add
from reference_qm.codec import MessageClass
from reference_qm.core.events import MessageLeftQueue
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.core.store.entries import build_message_relocation, build_removal_change
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.states import MessagePositionState
from reference_qm.model.transactions import OperationType, Transaction, TransactionalOperation
from reference_qm.surface.clock import Now


def _is_application_queue(queue: Queue) -> bool:
    """Return whether a queue belongs to an application; applications can move the messages of such a queue."""
    return queue.QueueType is not QueueType.SYSTEM


@fault("move-leaves-message-in-source-queue-too", breaks="MQDMPR-3.1.7.1.16-05")
class MoveLeavesMessageInSourceQueueToo(MessagePositions):
    """When a message is moved, the queue manager also leaves the message in its source queue."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        if not _is_application_queue(queue):
            return super().move_message(position, queue)
        there = super().insert_message(queue, position.MessageReference)
        self.qm.message_positions.on_message_available(there)
        return there


@fault("queue-manager-moved-message-in-both-queues-after-restart", breaks="MQDMPR-3.1.7.1.16-05")
class QueueManagerMovedMessageInBothQueuesAfterRestart(MessagePositions):
    """After a restart, the queue manager restores a moved message also in its source queue."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        source, key = position.QueueReference, position.key
        target = super().move_message(position, queue)
        if key and queue.parent is not None:
            copy = MessagePosition(position.MessageReference, source, LookupIdentifier=position.LookupIdentifier)
            copy.key = self.qm.assign_persist_token()
            self.qm.disk.save(build_message_relocation(copy))
        return target


@fault("queue-manager-message-moved-between-subqueues-stays-in-first", breaks="MQDMPR-3.1.7.1.16-05", blind=True)
class QueueManagerMessageMovedBetweenSubqueuesStaysInFirst(MessagePositions):
    """When a message is moved from one subqueue to another, the queue manager also leaves the message in the first
    subqueue.
    """

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        source = position.QueueReference
        target = super().move_message(position, queue)
        if target is not None and source.parent is not None and queue.parent is source.parent:
            copy = MessagePosition(position.MessageReference, source, LookupIdentifier=position.LookupIdentifier)
            source.MessagePositionList.insert(copy)
            copy.State = MessagePositionState.AVAILABLE
        return target


@fault("queue-manager-moved-message-acknowledged-as-received", breaks="MQDMPR-3.1.7.1.16-05", blind=True)
class QueueManagerMovedMessageAcknowledgedAsReceived(MessagePositions):
    """When a message that requests AckPosReceive is moved, the receiver acknowledges it as received."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        source = position.QueueReference
        target = super().move_message(position, queue)
        if queue.parent is source:
            self.qm.post_event(MessageLeftQueue(position, MessageClass.MQMSG_CLASS_ACK_RECEIVE))
        return target


@fault("moved-message-loses-body", breaks="MQDMPR-3.1.7.1.16-06")
class MovedMessageLosesBody(MessagePositions):
    """When a message is moved, the queue manager drops the message's body."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        there = super().move_message(position, queue)
        if there is not None and _is_application_queue(queue):
            there.MessageReference = replace(there.MessageReference, Body=b"")
        return there


@fault("moved-message-gets-lowest-priority", breaks=("MQDMPR-3.1.7.1.16-06", "MQDMPR-3.1.7.1.16-07"))
class MovedMessageGetsLowestPriority(MessagePositions):
    """When a message is moved, the queue manager sets the message's priority to the lowest priority."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        if _is_application_queue(queue):
            position.MessageReference = replace(position.MessageReference, Priority=0)
        return super().move_message(position, queue)


@fault("receiver-moved-message-not-acknowledged", breaks="MQDMPR-3.1.7.1.16-06")
class ReceiverMovedMessageNotAcknowledged(MessagePositions):
    """When a message is moved, the queue manager drops the message's requests for acknowledgments."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        if queue.parent is not None or position.QueueReference.parent is not None:
            position.MessageReference = replace(position.MessageReference, AcknowledgementsRequested=0)
        return super().move_message(position, queue)


@fault("queue-manager-moved-message-loses-application-tag", breaks="MQDMPR-3.1.7.1.16-06", blind=True)
class QueueManagerMovedMessageLosesApplicationTag(MessagePositions):
    """When a message is moved, the queue manager drops the message's application tag."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        if queue.parent is not None or position.QueueReference.parent is not None:
            position.MessageReference = replace(position.MessageReference, AppSpecific=0)
        return super().move_message(position, queue)


@fault("queue-manager-moved-message-never-expires", breaks="MQDMPR-3.1.7.1.16-06", blind=True)
class QueueManagerMovedMessageNeverExpires(MessagePositions):
    """The TimeToBeReceived of a message has no effect after the message was moved to a subqueue."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        if queue.parent is not None and queue.parent is position.QueueReference:
            position.MessageReference = replace(position.MessageReference, TimeToBeReceived=0xFFFFFFFF)
        return super().move_message(position, queue)


@fault("queue-manager-message-moved-to-subqueue-lost-at-restart", breaks="MQDMPR-3.1.7.1.16-06", blind=True)
class QueueManagerMessageMovedToSubqueueLostAtRestart(MessagePositions):
    """At a restart, the queue manager loses a recoverable message that was moved to a subqueue."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        target = super().move_message(position, queue)
        if target is not None and queue.parent is not None and target.key:
            self.qm.disk.save(build_removal_change([target]))
            target.key = 0
        return target


@fault("moved-message-loses-application-tag", breaks="MQDMPR-3.1.7.1.16-06")
class MovedMessageLosesApplicationTag(MessagePositions):
    """When a message is moved for the second time, the queue manager drops the message's application tag
    and response queue.
    """

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        if position.QueueReference.parent is not None:
            kept = replace(position.MessageReference, AppSpecific=0, ResponseQueueFormatName=None)
            position.MessageReference = kept
        return super().move_message(position, queue)


@fault("moved-message-inserted-at-end-regardless-of-priority", breaks="MQDMPR-3.1.7.1.16-07")
class MovedMessageInsertedAtEndRegardlessOfPriority(MessagePositions):
    """The queue manager inserts a moved message as the last message of the target queue, regardless of its priority."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        message = position.MessageReference
        if _is_application_queue(queue):
            position.MessageReference = replace(message, Priority=0)
        there = super().move_message(position, queue)
        if there is not None and _is_application_queue(queue):
            there.MessageReference = message
        return there


def are_all_messages_available(positions: list[MessagePosition]) -> bool:
    """Return whether all messages of the positions are available."""
    return all(one.State is MessagePositionState.AVAILABLE for one in positions)


@fault("queue-manager-moved-message-before-messages-of-its-priority", breaks="MQDMPR-3.1.7.1.16-07")
class QueueManagerMovedMessageBeforeMessagesOfItsPriority(MessagePositions):
    """The queue manager inserts a moved message before the messages of its priority in the target queue."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        priority = position.MessageReference.Priority
        same = [one for one in queue.MessagePositionList if one.MessageReference.Priority == priority]
        target = super().move_message(position, queue)
        for one in same if target is not None and are_all_messages_available(same) else ():
            queue.MessagePositionList.remove(one)
            again = MessagePosition(one.MessageReference, queue, LookupIdentifier=one.LookupIdentifier)
            again.key, again.order_queue = one.key, one.order_queue
            queue.MessagePositionList.insert(again)
            again.State = MessagePositionState.AVAILABLE
        return target


@fault("message-moved-back-from-subqueue-inserted-first-of-priority", breaks="MQDMPR-3.1.7.1.16-07")
class MessageMovedBackFromSubqueueInsertedFirstOfPriority(MessagePositions):
    """The queue manager inserts a message that is moved from a subqueue to its queue before all messages of its
    priority.
    """

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        positions, priority = queue.MessagePositionList, position.MessageReference.Priority
        last = positions._last[priority]
        if position.QueueReference.parent is queue and last is not None:
            positions._last[priority] = None
            moved = super().move_message(position, queue)
            positions._last[priority] = last
            return moved
        return super().move_message(position, queue)


add(
    "committed-move-does-not-complete-waiting-read",
    "MQDMPR-3.1.7.1.16-D01",
    "When a transaction commits a move, the queue manager does not complete the reads that wait at the target queue.",
    omit_step_during(TransactionEvents.commit_move, WaitingReads.pass_new_message_to_waiting_readers),
    blind=True,
)


@fault("queue-manager-move-completes-no-waiting-peek", breaks="MQDMPR-3.1.7.1.16-D01")
class QueueManagerMoveCompletesNoWaitingPeek(WaitingReads):
    """A message that is moved completes a pending receive of the target queue, but no pending peek."""

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        subqueue = position.QueueReference.parent is not None
        descriptors = position.QueueReference.OpenQueueDescriptorCollection.values() if subqueue else ()
        peeks = [
            (each, one)
            for each in descriptors
            for one in each.WaitingMessageReadOperationCollection
            if not one.DestructiveRead
        ]
        for each, one in peeks:
            del each.WaitingMessageReadOperationCollection[one]
        super().pass_new_message_to_waiting_readers(position)
        for each, one in peeks:
            each.WaitingMessageReadOperationCollection[one] = None


@fault("queue-manager-move-completes-no-read-by-cursor", breaks="MQDMPR-3.1.7.1.16-D01", blind=True)
class QueueManagerMoveCompletesNoReadByCursor(WaitingReads):
    """A message that is moved does not complete a pending read by a cursor in the target queue."""

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        if position.QueueReference.parent is not None and any(
            one.CursorReference is not None
            for each in position.QueueReference.OpenQueueDescriptorCollection.values()
            for one in each.WaitingMessageReadOperationCollection
        ):
            return
        super().pass_new_message_to_waiting_readers(position)


@fault("moved-message-does-not-wake-reader-of-subqueue", breaks="MQDMPR-3.1.7.1.16-D01")
class MovedMessageDoesNotWakeReaderOfSubqueue(MessagePositions):
    """A message that is moved to a subqueue does not complete a pending read of the subqueue."""

    def on_message_available(self, position: MessagePosition) -> None:
        queue = position.QueueReference
        if queue.parent is None or queue.JournalQueueReference is not None:
            super().on_message_available(position)
            return
        descriptors, queue.OpenQueueDescriptorCollection = queue.OpenQueueDescriptorCollection, {}
        super().on_message_available(position)
        queue.OpenQueueDescriptorCollection = descriptors


@fault("move-in-transaction-does-not-lock-message", breaks="MQDMPR-3.1.7.1.16-D02")
class MoveInTransactionDoesNotLockMessage(TransactionOperations):
    """Before the commit, other readers can receive a message that a transaction moves."""

    def move_in_transaction(self, transaction: Transaction, position: MessagePosition, target: Queue) -> None:
        super().move_in_transaction(transaction, position, target)
        position.State = MessagePositionState.AVAILABLE


@fault("move-in-transaction-takes-effect-at-once", breaks=("MQDMPR-3.1.7.1.16-D02", "MQDMPR-3.1.7.1.16-D03"))
class MoveInTransactionTakesEffectAtOnce(TransactionOperations):
    """Before the commit, a message that a transaction moves is already in its target queue."""

    def move_in_transaction(self, transaction: Transaction, position: MessagePosition, target: Queue) -> None:
        self.qm.message_positions.move_message(position, target)


@fault("message-moved-by-open-transaction-peekable-in-source-queue", breaks="MQDMPR-3.1.7.1.16-D02", blind=True)
class MessageMovedByOpenTransactionPeekableInSourceQueue(MessageSearch):
    """A reader can peek a message in its source queue although an open transaction moves the message."""

    def is_message_readable(self, position: MessagePosition, peek_operation: bool) -> bool:
        moving = (
            operation.MessagePositionReference
            for transaction in self.qm.adm.TransactionCollection.values()
            for operation in transaction.TransactionalOperationCollection
            if operation.OperationType is OperationType.MOVE
        )
        return super().is_message_readable(position, peek_operation) or (peek_operation and position in moving)


@fault(
    "queue-manager-move-from-subqueue-in-transaction-does-not-lock-message", breaks="MQDMPR-3.1.7.1.16-D02", blind=True
)
class QueueManagerMoveFromSubqueueInTransactionDoesNotLockMessage(TransactionOperations):
    """When a transaction moves a message from a subqueue to the main queue, the queue manager does not lock the
    message.
    """

    def move_in_transaction(self, transaction: Transaction, position: MessagePosition, target: Queue) -> None:
        super().move_in_transaction(transaction, position, target)
        if target.parent is None:
            position.State = MessagePositionState.AVAILABLE


@fault("second-moved-message-of-transaction-not-locked", breaks="MQDMPR-3.1.7.1.16-D02")
class SecondMovedMessageOfTransactionNotLocked(TransactionOperations):
    """The second message that a transaction moves is not locked in its source queue."""

    def move_in_transaction(self, transaction: Transaction, position: MessagePosition, target: Queue) -> None:
        super().move_in_transaction(transaction, position, target)
        if len(transaction.TransactionalOperationCollection) > 1:
            position.State = MessagePositionState.AVAILABLE


@fault("queue-manager-transaction-carries-out-last-move-only", breaks="MQDMPR-3.1.7.1.16-D03", blind=True)
class QueueManagerTransactionCarriesOutLastMoveOnly(TransactionOperations):
    """The queue manager carries out only the last move of a transaction; the other messages stay in their queues."""

    def move_in_transaction(self, transaction: Transaction, position: MessagePosition, target: Queue) -> None:
        for operation in transaction.TransactionalOperationCollection:
            if operation.OperationType is OperationType.MOVE:
                operation.TargetQueueReference = operation.MessagePositionReference.QueueReference
        super().move_in_transaction(transaction, position, target)


@fault("queue-manager-moves-of-transaction-in-reverse-order", breaks="MQDMPR-3.1.7.1.16-D03", blind=True)
class QueueManagerMovesOfTransactionInReverseOrder(TransactionOperations):
    """When a transaction commits, the queue manager carries out the moves of the transaction in reverse order."""

    def move_in_transaction(self, transaction: Transaction, position: MessagePosition, target: Queue) -> None:
        super().move_in_transaction(transaction, position, target)
        operations = transaction.TransactionalOperationCollection
        operations.insert(0, operations.pop())


@fault("queue-manager-move-in-transaction-completes-no-read", breaks="MQDMPR-3.1.7.1.16-D03", blind=True)
class QueueManagerMoveInTransactionCompletesNoRead(TransactionEvents):
    """A message that a committed transaction moved does not complete a pending read of the target queue."""

    def commit_move(self, operation: TransactionalOperation, now: Now) -> None:
        target = operation.TargetQueueReference
        assert target is not None
        opened, target.OpenQueueDescriptorCollection = target.OpenQueueDescriptorCollection, {}
        super().commit_move(operation, now)
        target.OpenQueueDescriptorCollection = opened


@fault("queue-manager-message-of-second-aborted-move-stays-locked", breaks="MQDMPR-3.1.7.1.16-D03", blind=True)
class QueueManagerMessageOfSecondAbortedMoveStaysLocked(TransactionEvents):
    """An abort unlocks only the first of the messages that the transaction would have moved."""

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        moves = [one for one in transaction.TransactionalOperationCollection if one.OperationType is OperationType.MOVE]
        for operation in moves[1:]:
            transaction.TransactionalOperationCollection.remove(operation)
        super().transaction_abort(transaction, now)


@fault("second-move-of-transaction-uses-target-queue-of-first-move", breaks="MQDMPR-3.1.7.1.16-D03")
class SecondMoveOfTransactionUsesTargetQueueOfFirstMove(TransactionOperations):
    """All messages that a transaction moves go to the target queue of its first move."""

    def move_in_transaction(self, transaction: Transaction, position: MessagePosition, target: Queue) -> None:
        moved = (one.TargetQueueReference for one in transaction.TransactionalOperationCollection)
        first = next((one for one in moved if one is not None), target)
        super().move_in_transaction(transaction, position, first)
