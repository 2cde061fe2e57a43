"""Faults that break the rules MQDMPR-3.1.7.1.10-38 to MQDMPR-3.1.7.1.10-D07."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from harness.faults.calls import GivenStepArguments, change_step_arguments
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.codec import MessageClass
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.queue_cursors import CursorResult
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.core.store.disk import Change
from reference_qm.core.store.durable_records import DurableRecords
from reference_qm.core.store.entries import build_removal_change
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.position_list import Boundary
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus, Status
from reference_qm.model.transactions import OperationType, Transaction, TransactionalOperation
from reference_qm.surface.clock import Now


@fault("queue-manager-receive-does-not-find-returned-message", breaks="MQDMPR-3.1.7.1.10-38")
class QueueManagerReceiveDoesNotFindReturnedMessage(MessagePositions):
    """A receive without a cursor starts at the position where the previous receive ended, and does not find a message
    that was returned to an earlier position.
    """

    def on_message_available(self, position: MessagePosition) -> None:
        positions = position.QueueReference.MessagePositionList
        passed, was_locked = positions.Start.passed, position.State is MessagePositionState.LOCKED
        super().on_message_available(position)
        if was_locked and not position.is_disk_write_pending:
            positions.Start.passed = passed


@fault("receive-skips-message-that-became-available-again", breaks="MQDMPR-3.1.7.1.10-38")
class ReceiveSkipsMessageThatBecameAvailableAgain(MessagePositions):
    """A receive without a cursor skips a message that an abort returned to the queue, if a later message was received
    meanwhile.
    """

    def on_message_available(self, position: MessagePosition) -> None:
        entries = position.QueueReference.MessagePositionList
        passed = entries.Start.passed
        again = position.State is MessagePositionState.LOCKED and not position.is_disk_write_pending
        super().on_message_available(position)
        if again:
            entries.Start.passed = passed


@fault("receive-from-queue-with-locked-message-does-not-wait", breaks="MQDMPR-3.1.7.1.10-D01")
class ReceiveFromQueueWithLockedMessageDoesNotWait(MessageReading):
    """A receive without a cursor from a queue with a locked message returns MQ_ERROR_MESSAGE_NOT_FOUND at once."""

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
        assert queue_desc.QueueReference is not None
        first = queue_desc.QueueReference.MessagePositionList.Start.Next
        if got[0] is CursorStatus.WAITING and cursor is None and destructive_read and not isinstance(first, Boundary):
            answered(Status.MQ_ERROR_MESSAGE_NOT_FOUND, None)
            return
        super()._answer_read_or_wait(
            queue_desc, got, timeout_ms, destructive_read, answered, now, tag, cursor, transaction
        )


@fault("queue-manager-waiting-receive-of-transaction-does-not-lock-message", breaks="MQDMPR-3.1.7.1.10-D03", blind=True)
class QueueManagerWaitingReceiveOfTransactionDoesNotLockMessage(WaitingReads):
    """If a receive in a transaction had to wait, the queue manager removes its message at once, before the commit."""

    def pass_message_to_waiting_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        super().pass_message_to_waiting_reader(reader, position)
        if reader.transaction is not None and reader.transaction.TransactionalOperationCollection:
            reader.transaction.TransactionalOperationCollection.pop()
            self.qm.message_positions.delete_message(position, MessageClass.MQMSG_CLASS_ACK_RECEIVE)


@fault(
    "queue-manager-message-received-from-subqueue-in-transaction-not-locked", breaks="MQDMPR-3.1.7.1.10-D03", blind=True
)
class QueueManagerMessageReceivedFromSubqueueInTransactionNotLocked(TransactionOperations):
    """The queue manager does not lock a message that a transaction receives from a subqueue."""

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        super().dequeue_in_transaction(transaction, position)
        if position.QueueReference.parent is not None:
            position.State = MessagePositionState.AVAILABLE


@fault("second-receive-in-transaction-does-not-lock-message", breaks="MQDMPR-3.1.7.1.10-D03")
class SecondReceiveInTransactionDoesNotLockMessage(TransactionOperations):
    """The second message that a transaction receives stays available to other readers."""

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        super().dequeue_in_transaction(transaction, position)
        if len(transaction.TransactionalOperationCollection) > 1:
            position.State = MessagePositionState.AVAILABLE


@fault("queue-manager-message-received-in-open-transaction-lost-at-restart", breaks="MQDMPR-3.1.7.1.10-D04", blind=True)
class QueueManagerMessageReceivedInOpenTransactionLostAtRestart(TransactionOperations):
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
            self.qm.message_positions.unlock_message(position)


@fault(
    "queue-manager-message-received-in-transaction-journaled-before-commit", breaks="MQDMPR-3.1.7.1.10-D04", blind=True
)
class QueueManagerMessageReceivedInTransactionJournaledBeforeCommit(TransactionOperations):
    """The queue manager copies a message that a transaction receives into the journal before the commit, even if an
    abort follows.
    """

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        super().dequeue_in_transaction(transaction, position)
        self.qm.message_journaling.journal_received_message(position, MessageClass.MQMSG_CLASS_ACK_RECEIVE)


@fault(
    "queue-manager-received-messages-of-transaction-journaled-in-reverse", breaks="MQDMPR-3.1.7.1.10-D04", blind=True
)
class QueueManagerReceivedMessagesOfTransactionJournaledInReverse(TransactionEvents):
    """A commit deletes the messages that its transaction received in the reverse order of the receives."""

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        if all(one.OperationType is OperationType.DEQUEUE for one in transaction.TransactionalOperationCollection):
            transaction.TransactionalOperationCollection.reverse()
        super().transaction_commit(transaction, now)


@fault("queue-manager-abort-deletes-second-message-received-in-transaction", breaks="MQDMPR-3.1.7.1.10-D04", blind=True)
class QueueManagerAbortDeletesSecondMessageReceivedInTransaction(TransactionEvents):
    """At an abort, the queue manager deletes the second and each later message that the transaction received."""

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        received = [
            one for one in transaction.TransactionalOperationCollection if one.OperationType is OperationType.DEQUEUE
        ]
        super().transaction_abort(transaction, now)
        for one in received[1:]:
            one.MessagePositionReference.QueueReference.MessagePositionList.remove(one.MessagePositionReference)


@fault("commit-puts-messages-received-from-second-queue-back", breaks="MQDMPR-3.1.7.1.10-D04")
class CommitPutsMessagesReceivedFromSecondQueueBack(TransactionEvents):
    """The commit of a transaction that received from two queues returns the message of the second queue."""

    def commit_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        position = operation.MessagePositionReference
        first = next(
            (
                other.MessagePositionReference.QueueReference
                for transaction in self.qm.adm.TransactionCollection.values()
                if operation in transaction.TransactionalOperationCollection
                for other in transaction.TransactionalOperationCollection
            ),
            position.QueueReference,
        )
        if position.QueueReference is first:
            super().commit_dequeue(operation, now)
        else:
            self.qm.message_positions.unlock_message(position)


@fault("two-phase-receive-by-cursor-leaves-message-available", breaks="MQDMPR-3.1.7.1.10-D05")
class TwoPhaseReceiveByCursorLeavesMessageAvailable(TwoPhaseReading):
    """A two-phase receive by a cursor does not lock the message."""

    def dequeue_message_begin(
        self, queue_desc: OpenQueueDescriptor, answered: OnReadAnswered, *rest: Any, **named: Any
    ) -> None:
        cursor = named.get("cursor") or (rest[2] if len(rest) > 2 else None)

        def unlock_message(status: Status, position: MessagePosition | None) -> None:
            if position is not None and cursor is not None:
                position.State = MessagePositionState.AVAILABLE
            answered(status, position)

        super().dequeue_message_begin(queue_desc, unlock_message, *rest, **named)


add(
    "one-phase-receive-leaves-locked-message",
    ("MQDMPR-3.1.7.1.10-D06", "MQDMPR-3.1.7.1.13-34"),
    "A message that is received in one phase stays in its queue, locked.",
    change_step_arguments(
        MessageReading.take_message_out, two_phase_read=lambda given: given.two_phase_read or given.transaction is None
    ),
)


@fault("queue-manager-received-recoverable-message-back-after-restart", breaks="MQDMPR-3.1.7.1.10-D06", blind=True)
class QueueManagerReceivedRecoverableMessageBackAfterRestart(DurableRecords):
    """After a restart, the queue manager restores a received recoverable message if other messages
    stayed in the queue.
    """

    def build_message_removal(self, positions: Iterable[MessagePosition], reason: MessageClass) -> Change:
        positions = list(positions)
        change = super().build_message_removal(positions, reason)
        if reason is MessageClass.MQMSG_CLASS_ACK_RECEIVE and len(positions[0].QueueReference.MessagePositionList) > 1:
            return {}
        return change


def _answer_with_following_message(given: GivenStepArguments) -> OnReadAnswered:
    behind = given.position.Next  # before the message is removed from the queue

    def answer_with_message_behind(status: Status, taken: MessagePosition | None) -> None:
        given.answered(status, behind if taken is not None and isinstance(behind, MessagePosition) else taken)

    return answer_with_message_behind


add(
    "receive-returns-next-message",
    ("MQDMPR-3.1.7.1.10-D07", "MQDMPR-3.1.7.1.11-14"),
    "A receive returns the content of the message after the message that it removes.",
    change_step_arguments(MessageReading.take_message_out, answered=_answer_with_following_message),
)


@fault("server-receive-without-cursor-begins-at-open-cursor", breaks="MQDMPR-3.1.7.1.10-38", blind=True)
class ServerReceiveWithoutCursorBeginsAtOpenCursor(MessageReading):
    """A receive without a cursor returns the first available message after the position of a cursor that is open on the
    same handle, instead of the first available message of the queue.
    """

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
        if cursor is None and queue_desc.QueueReference is not None and queue_desc.CursorCollection:
            newest = list(queue_desc.CursorCollection.values())[-1]
            position = self.qm.message_search.seek_available(newest.MessagePositionReference, False)
            if position is not None:
                self.take_message_out(position, transaction, two_phase_read, answered)
                return
        super().dequeue_message(queue_desc, answered, now, timeout_ms, cursor, tag, two_phase_read, transaction)
