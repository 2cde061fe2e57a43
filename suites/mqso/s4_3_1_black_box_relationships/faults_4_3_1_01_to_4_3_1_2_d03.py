"""Faults that break the rules MQSO-4.3.1-01 to MQSO-4.3.1.2-D03."""

from __future__ import annotations

from harness.faults.parts import fault, faulty_only_if
from harness.faults.primitives import change_core_at_restart
from harness.faults.registry import add
from reference_qm.codec import MessageClass
from reference_qm.core.commands.transaction_coordinating import TransactionCoordinating
from reference_qm.core.names.next_hops import Destination, NextHops
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.store.entries import build_removal_change
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import Message, MessagePosition, OutgoingMessagePosition, OutgoingQueue, Queue, Session
from reference_qm.model.attributes import UNLIMITED_QUOTA_KB
from reference_qm.model.states import MessagePositionState
from reference_qm.model.transactions import OperationType, Transaction, TransactionalOperation, TransactionState
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


def reset_journal_quotas(qm: QueueManager) -> None:
    """Set JournalQuota of all queues to its default."""
    for queue in qm.adm.QueueCollection.values():
        queue.JournalQuota = UNLIMITED_QUOTA_KB


add(
    "queue-manager-journal-quota-of-queue-lost-at-restart",
    ("MQSO-4.3.1-01", "MQSO-5.5.1-01"),
    "At a restart, the queue manager sets JournalQuota of its queues to unlimited.",
    change_core_at_restart(reset_journal_quotas),
)


def reset_modify_times(qm: QueueManager) -> None:
    """Set ModifyTime of all queues to CreateTime."""
    for queue in qm.adm.QueueCollection.values():
        queue.ModifyTime = queue.CreateTime


add(
    "queue-manager-modify-time-of-queue-lost-at-restart",
    "MQSO-4.3.1-01",
    "At a restart, the queue manager sets ModifyTime of its queues to the time of their creation.",
    change_core_at_restart(reset_modify_times),
)


def _remove_subqueues(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        queue.SubqueueCollection.clear()


add(
    "queue-manager-subqueues-lost-at-restart",
    "MQSO-4.3.1-01",
    "At a restart, the queue manager loses its subqueues.",
    change_core_at_restart(_remove_subqueues),
    blind=True,
)


def _change_lookup_identifiers(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        for position in list(queue.MessagePositionList):
            state = position.State
            queue.MessagePositionList.remove(position)
            position.State = state
            position.LookupIdentifier = qm.message_positions.assign_lookup_identifier(position.MessageReference)
            queue.MessagePositionList.insert(position)


add(
    "queue-manager-lookup-identifiers-change-at-restart",
    ("MQSO-4.3.1-01", "MQSO-5.5.1-01"),
    "At a restart, the queue manager changes the LookupIdentifiers of messages.",
    change_core_at_restart(_change_lookup_identifiers),
    blind=True,
)


@fault("direct-name-unresolved-without-directory", breaks=("MQSO-4.3.1.1-01", "MQSO-4.3.3-D02"))
class DirectNameUnresolvedWithoutDirectory(NextHops):
    """A queue manager without a directory resolves no destination, not even a direct format name."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        integrated = self.qm.enterprise.state.DirectoryIntegrated
        return super().get_destination_info(format_name) if integrated else None


@fault("queue-manager-commits-external-transaction-when-prepared", breaks=("MQSO-4.3.1.2-01", "MQSO-4.3.1.2-02"))
class QueueManagerCommitsExternalTransactionWhenPrepared(TransactionCoordinating):
    """The queue manager commits an external transaction as soon as it is prepared."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        return super().prepare(transaction, True, token, now)


@fault("queue-manager-prepare-commits-transaction-that-only-received", breaks="MQSO-4.3.1.2-01", blind=True)
class QueueManagerPrepareCommitsTransactionThatOnlyReceived(TransactionCoordinating):
    """If an external transaction only received messages, the queue manager commits it as soon as it is prepared."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        operations = transaction.TransactionalOperationCollection
        received = bool(operations) and all(one.OperationType is OperationType.DEQUEUE for one in operations)
        return super().prepare(transaction, single_phase or received, token, now)


@fault("queue-manager-refuses-vote-on-transaction-with-send-and-receive", breaks="MQSO-4.3.1.2-01")
class QueueManagerRefusesVoteOnTransactionWithSendAndReceive(TransactionCoordinating):
    """A queue manager does not vote on a transaction that has sent and received messages."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        kinds = {one.OperationType for one in transaction.TransactionalOperationCollection}
        if {OperationType.ENQUEUE, OperationType.DEQUEUE} <= kinds and not single_phase:
            transaction.state = TransactionState.ACTIVE
            return self.abort(transaction, token)
        return super().prepare(transaction, single_phase, token, now)


def _abort_restored_transactions(qm: QueueManager) -> None:
    for transaction in list(qm.adm.TransactionCollection.values()):
        qm.transaction_events.transaction_abort(transaction, Now(0, 0))


add(
    "queue-manager-prepared-transaction-aborted-at-restart",
    "MQSO-4.3.1.2-02",
    "At a restart, the queue manager aborts prepared transactions.",
    change_core_at_restart(_abort_restored_transactions),
    blind=True,
)


@fault("queue-manager-prepare-commits-previously-prepared-transaction", breaks="MQSO-4.3.1.2-02")
class QueueManagerPrepareCommitsPreviouslyPreparedTransaction(TransactionCoordinating):
    """When a queue manager prepares a transaction, it commits the transaction that it prepared before."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        for other in list(self.qm.adm.TransactionCollection.values()):
            if other is not transaction and other.state is TransactionState.PREPARED:
                self._write_commit(other, 0, now)
        return super().prepare(transaction, single_phase, token, now)


@fault("message-expired-before-commit-not-kept-as-dead-letter", breaks="MQSO-4.3.1.2-04", blind=True)
class MessageExpiredBeforeCommitNotKeptAsDeadLetter(TransactionEvents):
    """If a message expires before its transaction commits, the sender discards the message despite negative
    journaling.
    """

    def commit_enqueue(self, operation: TransactionalOperation, now: Now) -> None:
        queue = operation.MessagePositionReference.QueueReference
        if isinstance(queue, OutgoingQueue):
            for outgoing in queue.session.OutgoingMessageTable:
                mine = outgoing.MessagePosition is operation.MessagePositionReference
                if mine and self.qm.message_lifetimes.has_message_expired(outgoing.UserMessage, now):
                    self.qm.message_sending.remove_unsent_message(queue.session, outgoing)
                    return
        super().commit_enqueue(operation, now)


@fault("sender-message-expired-at-destination-not-dead-lettered", breaks="MQSO-4.3.1.2-04", blind=True)
class SenderMessageExpiredAtDestinationNotDeadLettered(FinalAcks):
    """The sender puts no transactional message that expires in its destination queue into a dead-letter queue."""

    def journal_completed_message(self, position: OutgoingMessagePosition, message_class: int) -> None:
        if message_class != MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT:
            super().journal_completed_message(position, message_class)


@fault("sender-message-refused-for-quota-not-dead-lettered", breaks="MQSO-4.3.1.2-04")
class SenderMessageRefusedForQuotaNotDeadLettered(FinalAcks):
    """The sender does not put a transactional message into the dead-letter queue if the destination refused the message
    because of a quota.
    """

    @faulty_only_if(lambda self, position, message_class: message_class == MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA)
    def journal_completed_message(self, position: OutgoingMessagePosition, message_class: int) -> None:
        self.qm.disk.save(build_removal_change([position.MessagePosition]))


@fault("sent-message-visible-before-commit", breaks=("MQSO-3.3.4.4-D01", "MQSO-4.3.1.2-D01"))
class SentMessageVisibleBeforeCommit(TransactionOperations):
    """The queue manager stores a message that is sent in a transaction in its queue before the commit."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        position = super().enqueue_in_transaction(transaction, queue, message)
        position.State = MessagePositionState.AVAILABLE
        return position


@fault("queue-manager-second-uncommitted-message-is-visible", breaks="MQSO-4.3.1.2-D01", blind=True)
class QueueManagerSecondUncommittedMessageIsVisible(TransactionOperations):
    """The second message that a transaction sends to a queue is visible before the commit."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        later = any(
            one.OperationType is OperationType.ENQUEUE and one.MessagePositionReference.QueueReference is queue
            for one in transaction.TransactionalOperationCollection
        )
        position = super().enqueue_in_transaction(transaction, queue, message)
        if later and not isinstance(queue, OutgoingQueue):
            position.State = MessagePositionState.AVAILABLE
        return position


@fault(
    "abort-stores-messages-that-transaction-sent", breaks=("MQSO-3.3.4.4-D02", "MQSO-4.3.1.2-D02", "MQDMPR-3.1.4.5-17")
)
class AbortStoresMessagesThatTransactionSent(TransactionEvents):
    """The queue manager stores a message that an aborted transaction sent."""

    def abort_enqueue(self, operation: TransactionalOperation, now: Now) -> None:
        self.commit_enqueue(operation, now)


@fault("commit-discards-sent-messages", breaks=("MQSO-3.3.4.4-D02", "MQSO-4.3.1.2-D02"))
class CommitDiscardsSentMessages(TransactionEvents):
    """The queue manager discards a message that a committed transaction sent."""

    def commit_enqueue(self, operation: TransactionalOperation, now: Now) -> None:
        self.abort_enqueue(operation, now)


@fault("queue-manager-abort-after-prepare-stores-sent-messages", breaks="MQSO-4.3.1.2-D02", blind=True)
class QueueManagerAbortAfterPrepareStoresSentMessages(TransactionEvents):
    """The abort of a prepared transaction stores the messages that it sent."""

    def abort_enqueue(self, operation: TransactionalOperation, now: Now) -> None:
        transactions = self.qm.adm.TransactionCollection.values()
        owner = next(one for one in transactions if operation in one.TransactionalOperationCollection)
        if not owner.SinglePhase and not isinstance(operation.MessagePositionReference.QueueReference, OutgoingQueue):
            self.commit_enqueue(operation, now)
        else:
            super().abort_enqueue(operation, now)


@fault("queue-manager-external-commit-discards-messages-of-second-queue", breaks="MQSO-4.3.1.2-D02")
class QueueManagerExternalCommitDiscardsMessagesOfSecondQueue(TransactionEvents):
    """An external commit stores the messages for the first local queue of a transaction, and discards the messages for
    other local queues.
    """

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        places = [
            one.MessagePositionReference.QueueReference
            for one in transaction.TransactionalOperationCollection
            if one.OperationType is OperationType.ENQUEUE
            and not isinstance(one.MessagePositionReference.QueueReference, OutgoingQueue)
        ]
        self.only = places[0] if places and not transaction.SinglePhase else None
        super().transaction_commit(transaction, now)

    def commit_enqueue(self, operation: TransactionalOperation, now: Now) -> None:
        queue = operation.MessagePositionReference.QueueReference
        if self.only is None or queue is self.only or isinstance(queue, OutgoingQueue):
            super().commit_enqueue(operation, now)
        else:
            self.abort_enqueue(operation, now)


@fault("sender-second-transactional-message-not-repeated", breaks="MQSO-4.3.1.2-D03", blind=True)
class SenderSecondTransactionalMessageNotRepeated(TransactionalSending):
    """The sender repeats only the first of several transactional messages without an OrderAck."""

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        hidden = [one for one in session.OutgoingMessageTable if one.TxSequenceNumber and not one.ReceivedOrderAck][1:]
        for position in hidden:
            position.ReceivedOrderAck = True
        super().on_ack_wait_timer(session, now)
        for position in hidden:
            position.ReceivedOrderAck = False
