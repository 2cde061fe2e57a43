"""Faults in the messages that applications send while the directory is unavailable."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.errors import CommandError
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue, Queue
from reference_qm.model.transactions import Transaction


@fault("queue-manager-transactional-send-without-directory-refused", breaks="MQSO-5.1.1.1-D07", blind=True)
class QueueManagerTransactionalSendWithoutDirectoryRefused(TransactionOperations):
    """While DirectoryOffline is TRUE, a queue manager refuses messages that are sent in a transaction."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        if self.qm.enterprise.state.DirectoryOffline and isinstance(queue, OutgoingQueue):
            raise CommandError("the directory is offline")
        return super().enqueue_in_transaction(transaction, queue, message)
