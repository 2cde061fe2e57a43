"""Faults in transactions of one kind, and in the queues and names of a mode."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.codec import DirectQueueFormatName, UserMessagePacket
from reference_qm.core.commands.transaction_coordinating import TransactionCoordinating
from reference_qm.core.names.next_hops import NextHops
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.transfer.message_arrival import MessageArrival
from reference_qm.model.adm import (
    Message,
    MessagePosition,
    OutgoingQueue,
    Queue,
)
from reference_qm.model.states import MessagePositionState
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


@fault("sender-second-message-of-transaction-received-before-commit", breaks="MQSO-4.3.1.2-D01")
class SenderSecondMessageOfTransactionReceivedBeforeCommit(TransactionOperations):
    """The second message that a transaction sends to a local queue can be received before the commit."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        position = super().enqueue_in_transaction(transaction, queue, message)
        local = not isinstance(queue, OutgoingQueue)
        if local and len(transaction.TransactionalOperationCollection) > 1:
            position.State = MessagePositionState.AVAILABLE
        return position


@fault("sender-message-of-prepared-transaction-visible", breaks="MQSO-4.3.1.2-D01")
class SenderMessageOfPreparedTransactionVisible(TransactionEvents):
    """The messages that a transaction sends to local queues can be received after the vote, before the commit."""

    def transaction_prepare(self, transaction: Transaction, single_phase: bool = True) -> None:
        super().transaction_prepare(transaction, single_phase)
        if single_phase:
            return
        for operation in transaction.TransactionalOperationCollection:
            position = operation.MessagePositionReference
            if operation.OperationType.name == "ENQUEUE" and not isinstance(position.QueueReference, OutgoingQueue):
                position.State = MessagePositionState.AVAILABLE


@fault("receiver-large-transactional-message-acknowledged-and-dropped", breaks="MQSO-4.3.1.2-D04")
class ReceiverLargeTransactionalMessageAcknowledgedAndDropped(MessageArrival):
    """The destination acknowledges a transactional message with a body above 4,096 bytes, but does not store it."""

    def message_arrived(self, position: MessagePosition, now: Now) -> None:
        super().message_arrived(position, now)
        message = position.MessageReference
        if message.TransactionIdentifier is not None and len(message.Body) > 4096:
            position.QueueReference.MessagePositionList.remove(position)


@fault("receiver-second-message-of-transaction-not-stored", breaks="MQSO-4.3.1.2-D04")
class ReceiverSecondMessageOfTransactionNotStored(MessageArrival):
    """The destination stores only the first message of a transaction."""

    def message_arrived(self, position: MessagePosition, now: Now) -> None:
        super().message_arrived(position, now)
        message = position.MessageReference
        if message.TransactionIdentifier is not None and not message.FirstInTransaction:
            position.QueueReference.MessagePositionList.remove(position)


@fault("internal-transaction-with-receive-needs-coordinator", breaks="MQSO-4.3.1.2-D08")
class InternalTransactionWithReceiveNeedsCoordinator(TransactionCoordinating):
    """If an internal transaction has received a message, the queue manager commits or aborts the transaction only if a
    coordinator is available.
    """

    def check_coordinator(self, transaction: Transaction | None = None) -> None:
        received = transaction is not None and any(
            one.OperationType.name == "DEQUEUE" for one in transaction.TransactionalOperationCollection
        )
        super().check_coordinator(None if received else transaction)


@fault("internal-transaction-aborted-when-coordinator-is-lost", breaks="MQSO-4.3.1.2-D08")
class InternalTransactionAbortedWhenCoordinatorIsLost(TransactionCoordinating):
    """The queue manager aborts its internal transactions when the coordinator becomes unavailable."""

    def abort_undecided_transactions(self) -> None:
        super().abort_undecided_transactions()
        for transaction in list(self.qm.adm.TransactionCollection.values()):
            if transaction.SinglePhase:
                self.abort(transaction, None)


@fault("workgroup-queue-manager-creates-public-queue", breaks=("MQSO-4.3.1.3-01", "MQSO-4.3.1.3-D01"))
class WorkgroupQueueManagerCreatesPublicQueue(QueueLifecycle):
    """A queue manager in workgroup mode creates a public queue."""

    def create(self, queue: Queue, utc_s: int, created: Any, skip_directory: bool = False) -> None:
        skip = skip_directory or not self.qm.enterprise.state.DirectoryIntegrated
        super().create(queue, utc_s, created, skip)


@fault("workgroup-queue-manager-direct-os-name-not-found", breaks="MQSO-4.3.1.3-D01")
class WorkgroupQueueManagerDirectOsNameNotFound(MessageArrival):
    """A queue manager in workgroup mode does not find a private queue by a direct name with the protocol OS."""

    def find_destination(self, packet: UserMessagePacket) -> Queue | None:
        name = packet.UserHeader.DestinationQueue
        if isinstance(name, DirectQueueFormatName) and name.DirectFormatName.upper().startswith("OS:"):
            return None
        return super().find_destination(packet)


@fault("directory-queue-manager-private-names-not-routed", breaks="MQSO-4.3.1.3-03")
class DirectoryQueueManagerPrivateNamesNotRouted(NextHops):
    """A queue manager in directory mode ignores the topology for the queues that private format names identify."""

    def get_next_hops(self, guid: Any) -> Any:
        machine = self.qm.enterprise.find_queue_manager("Identifier", guid)
        return super().get_next_hops(guid) if machine is None else (machine,)
