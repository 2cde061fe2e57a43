"""Faults of MS-MQSO 3.3.4.4 to 3.3.4.7: subqueues and journals, and readers that wait together."""

from __future__ import annotations

from harness.faults.parts import fault, only_if
from reference_qm.codec import MessageClass
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import MessagePosition, OutgoingQueue
from reference_qm.model.elements import WaitingMessageReadOperation
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import OperationType, Transaction, TransactionalOperation
from reference_qm.surface.clock import Now


@fault("queue-manager-second-waiting-receive-ended-by-message-of-first", breaks="MQSO-3.3.4.6-D01")
class QueueManagerSecondWaitingReceiveEndedByMessageOfFirst(Waiting):
    """When a message ends one of two waiting receives, the queue manager ends the other receive with a timeout."""

    def satisfy_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        others = [one for one in self.qm.readers.values() if one is not reader and one.descriptor is reader.descriptor]
        super().satisfy_reader(reader, position)
        for one in others:
            if one.DestructiveRead and one.number in self.qm.readers:
                self.stop_reader(one, Status.MQ_ERROR_IO_TIMEOUT)


@fault("queue-manager-message-received-from-journal-stays", breaks="MQSO-3.3.4.6-D02")
class QueueManagerMessageReceivedFromJournalStays(Positions):
    """A message that an application receives from the journal of a queue stays in the journal."""

    @only_if(lambda self, position, reason: position.QueueReference.QueueType is QueueType.SYSTEM)
    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        self.unlock_message(position)


@fault("queue-manager-message-received-from-subqueue-in-transaction-stays", breaks="MQSO-3.3.4.7-D02")
class QueueManagerMessageReceivedFromSubqueueInTransactionStays(TransactionEvents):
    """A message that a transaction receives from a subqueue is in the subqueue again after the commit."""

    @only_if(lambda self, operation, now: operation.MessagePositionReference.QueueReference.parent is not None)
    def commit_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        self.qm.positions.unlock_message(operation.MessagePositionReference)


@fault("queue-manager-abort-after-receive-stores-sent-message", breaks="MQSO-3.3.4.4-D02")
class QueueManagerAbortAfterReceiveStoresSentMessage(TransactionEvents):
    """An aborted transaction that also received a message stores the messages that it sent to local queues."""

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        kinds = [one.OperationType for one in transaction.TransactionalOperationCollection]
        self.mixed = OperationType.DEQUEUE in kinds
        super().transaction_abort(transaction, now)

    def abort_enqueue(self, operation: TransactionalOperation, now: Now) -> None:
        if self.mixed and not isinstance(operation.MessagePositionReference.QueueReference, OutgoingQueue):
            self.commit_enqueue(operation, now)
        else:
            super().abort_enqueue(operation, now)
