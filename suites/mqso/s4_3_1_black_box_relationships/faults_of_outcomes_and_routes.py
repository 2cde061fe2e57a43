"""Faults in the outcomes of transactions, in repeated transfers, in the modes of a queue manager, and in routes."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import combine_installers
from harness.faults.registry import add
from reference_qm.codec import OrderAckBody
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.public_queue_publishing import PublicQueuePublishing, StatusCallback
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.transaction_records import TransactionRecords
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import MessagePosition, Queue, Session
from reference_qm.model.elements import OnReadAnswered
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import OperationType, Transaction, TransactionalOperation
from reference_qm.surface.clock import Now
from reference_qm.surface.entropy import generate_guid


@fault("queue-manager-commit-of-transaction-with-sends-undoes-receives", breaks="MQSO-4.3.1.2-01", blind=True)
class QueueManagerCommitOfTransactionWithSendsUndoesReceives(TransactionEvents):
    """When an external transaction with sends and receives commits, the queue manager returns the received messages to
    their queues.
    """

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        kinds = {one.OperationType for one in transaction.TransactionalOperationCollection}
        undone = not transaction.SinglePhase and {OperationType.ENQUEUE, OperationType.DEQUEUE} <= kinds
        self.__dict__["undone"] = undone
        super().transaction_commit(transaction, now)
        self.__dict__["undone"] = False

    def commit_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        if self.__dict__.get("undone"):
            self.abort_dequeue(operation, now)
        else:
            super().commit_dequeue(operation, now)


@fault("queue-manager-prepared-transaction-lost-at-restart", breaks="MQSO-4.3.1.2-01", blind=True)
class QueueManagerPreparedTransactionLostAtRestart(TransactionRecords):
    """After a restart, a queue manager no longer knows the transactions for which it has voted."""

    def restore_transaction(self, rest: str, value: Any) -> None:
        super().restore_transaction(rest, value)
        self.qm.adm.TransactionCollection.pop(UUID(rest), None)


@fault("sender-transactional-message-after-first-not-repeated", breaks="MQSO-4.3.1.2-D03", blind=True)
class SenderTransactionalMessageAfterFirstNotRepeated(TransactionalSending):
    """The sender repeats only the first of several transactional messages that were not acknowledged."""

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        unacked = [one for one in session.OutgoingMessageTable if one.TxSequenceNumber and not one.ReceivedOrderAck]
        for position in unacked[1:]:
            position.ReceivedOrderAck = True
        super().on_ack_wait_timer(session, now)
        for position in unacked[1:]:
            position.ReceivedOrderAck = False


@fault("sender-transactional-message-repeated-only-once", breaks="MQSO-4.3.1.2-D03", blind=True)
class SenderTransactionalMessageRepeatedOnlyOnce(TransactionalSending):
    """The sender sends each transactional message that was not acknowledged only one more time."""

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        repeated: set[int] = self.__dict__.setdefault("repeated", set())
        if session.number not in repeated:
            repeated.add(session.number)
            super().on_ack_wait_timer(session, now)


@fault("sender-order-ack-deletes-only-last-acknowledged-message", breaks="MQSO-4.3.1.2-D05", blind=True)
class SenderOrderAckDeletesOnlyLastAcknowledgedMessage(OrderAcks):
    """When an OrderAck acknowledges several messages, the sender deletes only the last of them."""

    def delete_order_acknowledged_messages(self, session: Session, body: OrderAckBody) -> None:
        kept = {}
        for position in session.OutgoingMessageTable:
            if 0 < position.TxSequenceNumber < body.TxSequenceNumber:
                kept[position] = position.TxSequenceNumber
                position.TxSequenceNumber = 0
        super().delete_order_acknowledged_messages(session, body)
        for position, number in kept.items():
            position.TxSequenceNumber = number


class TransactionKindOfSendsRecorder(TransactionEvents):
    """A part of the queue manager that records whether the transaction that sent a local message was internal."""

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        for operation in transaction.TransactionalOperationCollection:
            if operation.OperationType is OperationType.ENQUEUE:
                sends = self.qm.__dict__.setdefault("internal_sends", {})
                sends[id(operation.MessagePositionReference)] = transaction.SinglePhase
        super().transaction_commit(transaction, now)


class ReceiveInOtherKindOfTransactionRefuser(MessageReading):
    """A part of the queue manager that refuses to receive a message of one kind of transaction in a transaction of the
    other kind.
    """

    is_refused_message_sent_internally: bool

    def take_message_out(
        self, position: MessagePosition, transaction: Transaction | None, two_phase_read: bool, answered: OnReadAnswered
    ) -> None:
        internal = self.qm.__dict__.get("internal_sends", {}).get(id(position))
        if (
            transaction is not None
            and internal is self.is_refused_message_sent_internally
            and transaction.SinglePhase is not internal
        ):
            answered(Status.MQ_ERROR_TRANSACTION_USAGE, None)
        else:
            super().take_message_out(position, transaction, two_phase_read, answered)


class ReceiveOfInternallySentMessageRefuser(ReceiveInOtherKindOfTransactionRefuser):
    """A part of the queue manager that refuses to receive a message of an internal transaction in an external
    transaction.
    """

    is_refused_message_sent_internally = True


class ReceiveOfExternallySentMessageRefuser(ReceiveInOtherKindOfTransactionRefuser):
    """A part of the queue manager that refuses to receive a message of an external transaction in an internal
    transaction.
    """

    is_refused_message_sent_internally = False


@fault("queue-manager-public-queue-in-workgroup-mode-created", breaks="MQSO-4.3.1.3-01", blind=True)
class QueueManagerPublicQueueInWorkgroupModeCreated(PublicQueuePublishing):
    """A queue manager in workgroup mode creates a public queue with an Identifier of its own."""

    def publish(self, queue: Queue, published: StatusCallback) -> None:
        if self.qm.enterprise.state.DirectoryIntegrated:
            super().publish(queue, published)
            return
        queue.Identifier = generate_guid(self.qm.entropy)
        published(Status.MQ_OK)


add(
    "queue-manager-message-of-internal-transaction-refused-in-external",
    "MQSO-4.3.1.2-D09",
    "The queue manager refuses to receive a message of an internal transaction in an external transaction.",
    combine_installers(
        replace_part(TransactionKindOfSendsRecorder), replace_part(ReceiveOfInternallySentMessageRefuser)
    ),
    blind=True,
)
add(
    "queue-manager-message-of-external-transaction-refused-in-internal",
    "MQSO-4.3.1.2-D09",
    "The queue manager refuses to receive a message of an external transaction in an internal transaction.",
    combine_installers(
        replace_part(TransactionKindOfSendsRecorder), replace_part(ReceiveOfExternallySentMessageRefuser)
    ),
    blind=True,
)
