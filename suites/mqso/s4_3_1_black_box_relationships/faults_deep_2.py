"""Faults of MS-MQSO 4.3.1.2: second votes, transactions with several queues, and refusals of other kinds."""

from __future__ import annotations

from harness.faults.parts import fault, only_if
from reference_qm.codec import MessageClass
from reference_qm.core.commands.coordinating import Coordinating
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.store.entries import build_removal_change
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.model.adm import OutgoingMessagePosition, OutgoingQueue
from reference_qm.model.transactions import OperationType, Transaction, TransactionalOperation, TransactionState
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("sender-message-refused-for-quota-not-dead-lettered", breaks="MQSO-4.3.1.2-04")
class SenderMessageRefusedForQuotaNotDeadLettered(FinalAcks):
    """The sender does not put a transactional message into the dead-letter queue if the destination refused the message
    because of a quota.
    """

    @only_if(lambda self, position, message_class: message_class == MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA)
    def journal_completed(self, position: OutgoingMessagePosition, message_class: int) -> None:
        self.qm.disk.save(build_removal_change([position.MessagePosition]))


@fault("queue-manager-abort-of-prepared-transaction-deletes-received", breaks="MQSO-4.3.1.2-D07")
class QueueManagerAbortOfPreparedTransactionDeletesReceived(TransactionEvents):
    """When the coordinator aborts a prepared transaction, the queue manager deletes the messages that the transaction
    received.
    """

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        self.prepared = not transaction.SinglePhase and any(
            one.OperationType is OperationType.ENQUEUE for one in transaction.TransactionalOperationCollection
        )
        super().transaction_abort(transaction, now)

    def abort_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        if self.prepared and operation.DequeueReason is not None:
            self.commit_dequeue(operation, now)
        else:
            super().abort_dequeue(operation, now)


@fault("queue-manager-vote-with-waiting-receive-refused", breaks="MQSO-4.3.1.2-01")
class QueueManagerVoteWithWaitingReceiveRefused(Coordinating):
    """A queue manager does not vote on a transaction that has sent and received messages."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        kinds = {one.OperationType for one in transaction.TransactionalOperationCollection}
        if {OperationType.ENQUEUE, OperationType.DEQUEUE} <= kinds and not single_phase:
            transaction.state = TransactionState.ACTIVE
            return self.abort(transaction, token)
        return super().prepare(transaction, single_phase, token, now)


@fault("queue-manager-external-commit-second-local-queue-discarded", breaks="MQSO-4.3.1.2-D02")
class QueueManagerExternalCommitSecondLocalQueueDiscarded(TransactionEvents):
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


@fault("queue-manager-commit-after-second-prepare-refused", breaks="MQSO-4.3.1.2-02")
class QueueManagerCommitAfterSecondPrepareRefused(Coordinating):
    """When a queue manager prepares a transaction, it commits the transaction that it prepared before."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        for other in list(self.qm.adm.TransactionCollection.values()):
            if other is not transaction and other.state is TransactionState.PREPARED:
                self._write_commit(other, 0, now)
        return super().prepare(transaction, single_phase, token, now)
