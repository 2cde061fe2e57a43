"""Faults of MS-MQSO 4.3.1 that only special cases reveal: elements that a restart changes."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import at_restart
from harness.faults.registry import add
from reference_qm.codec import MessageClass, OrderAckBody
from reference_qm.core.commands.commands import Commands
from reference_qm.core.commands.coordinating import Coordinating
from reference_qm.core.errors import CommandError
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import Message, MessagePosition, OutgoingMessagePosition, OutgoingQueue, Queue, Session
from reference_qm.model.attributes import UNLIMITED
from reference_qm.model.states import MessagePositionState
from reference_qm.model.transactions import OperationType, Transaction, TransactionalOperation
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


def lose_journal_quotas(qm: QueueManager) -> None:
    """Set JournalQuota of all queues to its default."""
    for queue in qm.adm.QueueCollection.values():
        queue.JournalQuota = UNLIMITED


def change_modify_times(qm: QueueManager) -> None:
    """Set ModifyTime of all queues to CreateTime."""
    for queue in qm.adm.QueueCollection.values():
        queue.ModifyTime = queue.CreateTime


add(
    "queue-manager-journal-quota-of-queue-lost-at-restart",
    ("MQSO-4.3.1-01", "MQSO-5.5.1-01"),
    "At a restart, the queue manager sets JournalQuota of its queues to unlimited.",
    at_restart(lose_journal_quotas),
)
add(
    "queue-manager-modify-time-of-queue-lost-at-restart",
    "MQSO-4.3.1-01",
    "At a restart, the queue manager sets ModifyTime of its queues to the time of their creation.",
    at_restart(change_modify_times),
)


def _forget_subqueues(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        queue.SubqueueCollection.clear()


add(
    "queue-manager-subqueues-lost-at-restart",
    "MQSO-4.3.1-01",
    "At a restart, the queue manager loses its subqueues.",
    at_restart(_forget_subqueues),
    blind=True,
)


def _change_lookup_identifiers(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        for position in list(queue.MessagePositionList):
            state = position.State
            queue.MessagePositionList.remove(position)
            position.State = state
            position.LookupIdentifier = qm.positions.assign_lookup_identifier(position.MessageReference)
            queue.MessagePositionList.insert(position)


add(
    "queue-manager-lookup-identifiers-change-at-restart",
    ("MQSO-4.3.1-01", "MQSO-5.5.1-01"),
    "At a restart, the queue manager changes the LookupIdentifiers of messages.",
    at_restart(_change_lookup_identifiers),
    blind=True,
)


@fault("sender-message-expired-at-destination-not-dead-lettered", breaks="MQSO-4.3.1.2-04", blind=True)
class SenderMessageExpiredAtDestinationNotDeadLettered(FinalAcks):
    """The sender puts no transactional message that expires in its destination queue into a dead-letter queue."""

    def journal_completed(self, position: OutgoingMessagePosition, message_class: int) -> None:
        if message_class != MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT:
            super().journal_completed(position, message_class)


@fault("queue-manager-prepare-of-second-transaction-commits", breaks="MQSO-4.3.1.2-01", blind=True)
class QueueManagerPrepareOfSecondTransactionCommits(Coordinating):
    """If an external transaction only received messages, the queue manager commits it as soon as it is prepared."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        operations = transaction.TransactionalOperationCollection
        received = bool(operations) and all(one.OperationType is OperationType.DEQUEUE for one in operations)
        return super().prepare(transaction, single_phase or received, token, now)


def _forget_prepared(qm: QueueManager) -> None:
    for transaction in list(qm.adm.TransactionCollection.values()):
        qm.transaction_events.transaction_abort(transaction, Now(0, 0))


add(
    "queue-manager-prepared-transaction-aborted-at-restart",
    "MQSO-4.3.1.2-02",
    "At a restart, the queue manager aborts prepared transactions.",
    at_restart(_forget_prepared),
    blind=True,
)


@fault("queue-manager-uncommitted-messages-counted", breaks="MQSO-4.3.1.2-D01", blind=True)
class QueueManagerUncommittedMessagesCounted(TransactionOperations):
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


@fault("queue-manager-abort-of-prepared-transaction-commits-sends", breaks="MQSO-4.3.1.2-D02", blind=True)
class QueueManagerAbortOfPreparedTransactionCommitsSends(TransactionEvents):
    """The abort of a prepared transaction stores the messages that it sent."""

    def abort_enqueue(self, operation: TransactionalOperation, now: Now) -> None:
        transactions = self.qm.adm.TransactionCollection.values()
        owner = next(one for one in transactions if operation in one.TransactionalOperationCollection)
        if not owner.SinglePhase and not isinstance(operation.MessagePositionReference.QueueReference, OutgoingQueue):
            self.commit_enqueue(operation, now)
        else:
            super().abort_enqueue(operation, now)


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


@fault("sender-order-ack-removes-only-named-message", breaks="MQSO-4.3.1.2-D05", blind=True)
class SenderOrderAckRemovesOnlyNamedMessage(OrderAcks):
    """An OrderAck removes only the message that it names, and not the messages before this message."""

    def delete_order_acknowledged(self, session: Session, body: OrderAckBody) -> None:
        kept = [one for one in session.OutgoingMessageTable if 0 < one.TxSequenceNumber < body.TxSequenceNumber]
        numbers = [one.TxSequenceNumber for one in kept]
        for position in kept:
            position.TxSequenceNumber += 1 << 20
        super().delete_order_acknowledged(session, body)
        for position, number in zip(kept, numbers, strict=True):
            position.TxSequenceNumber = number


@fault("queue-manager-abort-returns-only-first-received-message", breaks="MQSO-4.3.1.2-D07", blind=True)
class QueueManagerAbortReturnsOnlyFirstReceivedMessage(TransactionEvents):
    """An abort leaves the second message that the transaction received locked."""

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        received = [
            one for one in transaction.TransactionalOperationCollection if one.OperationType is OperationType.DEQUEUE
        ]
        for operation in received[1:]:
            transaction.TransactionalOperationCollection.remove(operation)
        super().transaction_abort(transaction, now)


@fault("queue-manager-external-receive-of-internally-sent-message-refused", breaks="MQSO-4.3.1.2-D09", blind=True)
class QueueManagerExternalReceiveOfInternallySentMessageRefused(Coordinating):
    """The queue manager refuses to prepare an external transaction that received a message of this queue manager."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        for operation in transaction.TransactionalOperationCollection:
            sender = operation.MessagePositionReference.MessageReference.Identifier.QueueManagerGuid
            if operation.OperationType is OperationType.DEQUEUE and sender == self.qm.adm.Identifier:
                raise CommandError("the message was sent in an internal transaction")
        return super().prepare(transaction, single_phase, token, now)


@fault("queue-manager-second-sequence-of-session-gets-no-order-ack", breaks="MQSO-4.3.1.2-D04", blind=True)
class QueueManagerSecondSequenceOfSessionGetsNoOrderAck(OrderAcks):
    """The destination acknowledges only the first sequence of transactional messages that it receives on a session."""

    def on_send_timer(self, session: Session, now: Now) -> None:
        due = list(session.order_acks_due)
        for transfer in due[1:]:
            del session.order_acks_due[transfer]
        super().on_send_timer(session, now)


@fault("queue-manager-internal-transaction-second-queue-refused", breaks="MQSO-4.3.1.2-D08", blind=True)
class QueueManagerInternalTransactionSecondQueueRefused(TransactionEvents):
    """A commit of an internal transaction stores only the messages to the first queue of the transaction."""

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        sent = [
            one
            for one in transaction.TransactionalOperationCollection
            if one.OperationType is OperationType.ENQUEUE and transaction.SinglePhase
        ]
        first = sent[0].MessagePositionReference.QueueReference if sent else None
        for operation in sent:
            place = operation.MessagePositionReference.QueueReference
            if place is not first and not isinstance(place, OutgoingQueue):
                transaction.TransactionalOperationCollection.remove(operation)
                self.abort_enqueue(operation, now)
        super().transaction_commit(transaction, now)


@fault("queue-manager-workgroup-second-message-not-sent", breaks="MQSO-4.3.3-D02", blind=True)
class QueueManagerWorkgroupSecondMessageNotSent(Commands):
    """A queue manager without a directory refuses transactional messages to direct names of other computers."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        local = self.qm.destinations.find_local(request.to)
        if not self.qm.enterprise.state.DirectoryIntegrated and request.transactional and local is None:
            raise CommandError("no transactional message is sent without a directory")
        return super().send_message(request, token, now)
