"""Faults of MS-MQDMPR 3.1.7.1.10 Dequeue Message that only special cases reveal: returned messages, and a remote reader
together with a transaction.
"""

from __future__ import annotations

from collections.abc import Iterable

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.core.store.disk import Change
from reference_qm.core.store.durability import Durability
from reference_qm.core.store.entries import build_removal_change
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import WaitingMessageReadOperation
from reference_qm.model.states import MessagePositionState
from reference_qm.model.transactions import OperationType, Transaction, TransactionalOperation
from reference_qm.surface.clock import Now


@fault("queue-manager-receive-does-not-find-returned-message", breaks="MQDMPR-3.1.7.1.10-38")
class QueueManagerReceiveDoesNotFindReturnedMessage(Positions):
    """A receive without a cursor starts at the position where the previous receive ended, and does not find a message
    that was returned to an earlier position.
    """

    def message_available(self, position: MessagePosition) -> None:
        positions = position.QueueReference.MessagePositionList
        passed, was_locked = positions.Start.passed, position.State is MessagePositionState.LOCKED
        super().message_available(position)
        if was_locked and not position.awaits_disk:
            positions.Start.passed = passed


@fault("queue-manager-undecided-receive-removed-from-disk", breaks="MQDMPR-3.1.7.1.10-D04", blind=True)
class QueueManagerUndecidedReceiveRemovedFromDisk(TransactionOperations):
    """When a restart ends a transaction, the queue manager loses the messages that the transaction received."""

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        super().dequeue_in_transaction(transaction, position)
        self.qm.disk.save(build_removal_change([position]))


@fault("queue-manager-transaction-receives-from-last-queue-only", breaks="MQDMPR-3.1.7.1.10-D04", blind=True)
class QueueManagerTransactionReceivesFromLastQueueOnly(TransactionEvents):
    """A commit returns the messages that its transaction received from queues other than the first one."""

    def commit_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        first = next(
            one
            for transaction in self.qm.adm.TransactionCollection.values()
            if operation in transaction.TransactionalOperationCollection
            for one in transaction.TransactionalOperationCollection
        )
        position = operation.MessagePositionReference
        if position.QueueReference is first.MessagePositionReference.QueueReference:
            super().commit_dequeue(operation, now)
        else:
            self.qm.positions.unlock_message(position)


@fault("queue-manager-waiting-receive-of-transaction-does-not-lock", breaks="MQDMPR-3.1.7.1.10-D03", blind=True)
class QueueManagerWaitingReceiveOfTransactionDoesNotLock(Waiting):
    """If a receive in a transaction had to wait, the queue manager removes its message at once, before the commit."""

    def satisfy_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        super().satisfy_reader(reader, position)
        if reader.transaction is not None and reader.transaction.TransactionalOperationCollection:
            reader.transaction.TransactionalOperationCollection.pop()
            self.qm.positions.delete_message(position, MessageClass.MQMSG_CLASS_ACK_RECEIVE)


@fault("queue-manager-receive-in-transaction-journaled-at-once", breaks="MQDMPR-3.1.7.1.10-D04", blind=True)
class QueueManagerReceiveInTransactionJournaledAtOnce(TransactionOperations):
    """The queue manager copies a message that a transaction receives into the journal before the commit, even if an
    abort follows.
    """

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        super().dequeue_in_transaction(transaction, position)
        self.qm.journaling.journal_received(position, MessageClass.MQMSG_CLASS_ACK_RECEIVE)


@fault(
    "queue-manager-received-messages-of-transaction-journaled-in-reverse", breaks="MQDMPR-3.1.7.1.10-D04", blind=True
)
class QueueManagerReceivedMessagesOfTransactionJournaledInReverse(TransactionEvents):
    """A commit deletes the messages that its transaction received in the reverse order of the receives."""

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        if all(one.OperationType is OperationType.DEQUEUE for one in transaction.TransactionalOperationCollection):
            transaction.TransactionalOperationCollection.reverse()
        super().transaction_commit(transaction, now)


@fault("queue-manager-received-recoverable-message-back-after-restart", breaks="MQDMPR-3.1.7.1.10-D06", blind=True)
class QueueManagerReceivedRecoverableMessageBackAfterRestart(Durability):
    """After a restart, the queue manager restores a received recoverable message if other messages
    stayed in the queue.
    """

    def build_removal(self, positions: Iterable[MessagePosition], reason: MessageClass) -> Change:
        positions = list(positions)
        change = super().build_removal(positions, reason)
        if reason is MessageClass.MQMSG_CLASS_ACK_RECEIVE and len(positions[0].QueueReference.MessagePositionList) > 1:
            return {}
        return change


@fault("queue-manager-receive-in-transaction-of-another-reader-taken", breaks="MQDMPR-3.1.7.1.10-D03", blind=True)
class QueueManagerReceiveInTransactionOfAnotherReaderTaken(TransactionOperations):
    """The queue manager does not lock a message that a transaction receives from a subqueue."""

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        super().dequeue_in_transaction(transaction, position)
        if position.QueueReference.parent is not None:
            position.State = MessagePositionState.AVAILABLE


@fault("queue-manager-aborted-second-receive-lost", breaks="MQDMPR-3.1.7.1.10-D04", blind=True)
class QueueManagerAbortedSecondReceiveLost(TransactionEvents):
    """At an abort, the queue manager deletes the second and each later message that the transaction received."""

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        received = [
            one for one in transaction.TransactionalOperationCollection if one.OperationType is OperationType.DEQUEUE
        ]
        super().transaction_abort(transaction, now)
        for one in received[1:]:
            one.MessagePositionReference.QueueReference.MessagePositionList.remove(one.MessagePositionReference)
