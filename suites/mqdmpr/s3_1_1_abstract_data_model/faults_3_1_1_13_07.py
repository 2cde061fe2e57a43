"""Faults that break the rule MQDMPR-3.1.1.13-07."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.transactions import OperationType, Transaction
from suites.mqdmpr.s3_1_1_abstract_data_model.fault_steps import LastTransactionOperationChanger


@fault("transaction-enqueue-after-dequeue-has-dequeue-reason", breaks="MQDMPR-3.1.1.13-07")
class TransactionEnqueueAfterDequeueHasDequeueReason(LastTransactionOperationChanger):
    """The queue manager records a DequeueReason for a message that is sent after a receive."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        received = any(one.DequeueReason for one in transaction.TransactionalOperationCollection)
        position = super().enqueue_in_transaction(transaction, queue, message)
        if received:
            self.change_last_operation(transaction, DequeueReason=MessageClass.MQMSG_CLASS_ACK_RECEIVE)
        return position


@fault("transaction-second-dequeue-has-no-dequeue-reason", breaks="MQDMPR-3.1.1.13-07")
class TransactionSecondDequeueHasNoDequeueReason(LastTransactionOperationChanger):
    """The queue manager records no DequeueReason for the second receive of a transaction."""

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        super().dequeue_in_transaction(transaction, position)
        operations = transaction.TransactionalOperationCollection
        if sum(one.OperationType is OperationType.DEQUEUE for one in operations) == 2:
            self.change_last_operation(transaction, DequeueReason=None)
