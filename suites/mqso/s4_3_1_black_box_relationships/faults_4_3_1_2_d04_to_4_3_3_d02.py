"""Faults that break the rules MQSO-4.3.1.2-D04 to MQSO-4.3.3-D02."""

from __future__ import annotations

from uuid import UUID

from harness.faults.made_up import MADE_UP_GUID
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import combine_installers, omit_step
from harness.faults.registry import add
from reference_qm.codec import OrderAckBody, PublicName, parse_format_name
from reference_qm.core.commands.higher_layer_commands import HigherLayerCommands
from reference_qm.core.commands.transaction_coordinating import TransactionCoordinating
from reference_qm.core.errors import CommandError
from reference_qm.core.names.next_hops import Destination, NextHops
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.public_queue_publishing import PublicQueuePublishing, StatusCallback
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue, Queue, Session
from reference_qm.model.elements import OnReadAnswered
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import OperationType, Transaction, TransactionalOperation
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result

add(
    "transactional-message-gets-no-order-ack",
    "MQSO-4.3.1.2-D04",
    "The destination stores transactional messages but never acknowledges them.",
    omit_step(OrderAcks.start_order_ack_timer),
)


@fault("queue-manager-second-sequence-of-session-gets-no-order-ack", breaks="MQSO-4.3.1.2-D04", blind=True)
class QueueManagerSecondSequenceOfSessionGetsNoOrderAck(OrderAcks):
    """The destination acknowledges only the first sequence of transactional messages that it receives on a session."""

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        due = list(session.order_acks_due)
        for transfer in due[1:]:
            del session.order_acks_due[transfer]
        super().on_order_ack_send_timer(session, now)


@fault("sender-order-ack-removes-only-named-message", breaks="MQSO-4.3.1.2-D05", blind=True)
class SenderOrderAckRemovesOnlyNamedMessage(OrderAcks):
    """An OrderAck removes only the message that it names, and not the messages before this message."""

    def delete_order_acknowledged_messages(self, session: Session, body: OrderAckBody) -> None:
        kept = [one for one in session.OutgoingMessageTable if 0 < one.TxSequenceNumber < body.TxSequenceNumber]
        numbers = [one.TxSequenceNumber for one in kept]
        for position in kept:
            position.TxSequenceNumber += 1 << 20
        super().delete_order_acknowledged_messages(session, body)
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


@fault("queue-manager-abort-after-prepare-deletes-received-messages", breaks="MQSO-4.3.1.2-D07")
class QueueManagerAbortAfterPrepareDeletesReceivedMessages(TransactionEvents):
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


@fault(
    "internal-transaction-needs-prepare",
    breaks=("MQSO-4.3.1.2-D08", "MQSO-4.3.1.2-D09", "MQSO-4.3.3-D01", "MQSO-5.2.1.3-D01"),
)
class InternalTransactionNeedsPrepare(TransactionEvents):
    """The queue manager commits an internal transaction only after a coordinator has prepared it."""

    def create_transaction(self, identifier: UUID, single_phase: bool) -> Transaction:
        return super().create_transaction(identifier, False)


@fault("queue-manager-internal-commit-stores-messages-of-first-queue-only", breaks="MQSO-4.3.1.2-D08", blind=True)
class QueueManagerInternalCommitStoresMessagesOfFirstQueueOnly(TransactionEvents):
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


@fault("queue-manager-external-receive-of-internally-sent-message-refused", breaks="MQSO-4.3.1.2-D09", blind=True)
class QueueManagerExternalReceiveOfInternallySentMessageRefused(TransactionCoordinating):
    """The queue manager refuses to prepare an external transaction that received a message of this queue manager."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        for operation in transaction.TransactionalOperationCollection:
            sender = operation.MessagePositionReference.MessageReference.Identifier.QueueManagerGuid
            if operation.OperationType is OperationType.DEQUEUE and sender == self.qm.adm.Identifier:
                raise CommandError("the message was sent in an internal transaction")
        return super().prepare(transaction, single_phase, token, now)


class RecorderOfMessagesSentByExternalTransactions(TransactionOperations):
    """The queue manager records the messages that external transactions send."""

    externally_sent_messages: frozenset[tuple[UUID, int]] = frozenset()

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        if not transaction.SinglePhase:
            self.externally_sent_messages |= {(message.Identifier.QueueManagerGuid, message.Identifier.Ordinal)}
        position: MessagePosition = super().enqueue_in_transaction(transaction, queue, message)
        return position


class RefuserOfInternalReceiveOfExternallySentMessage(MessageReading):
    """The queue manager refuses to receive, in an internal transaction, a message that an external transaction sent."""

    def take_message_out(
        self,
        position: MessagePosition,
        transaction: Transaction | None,
        two_phase_read: bool,
        answered: OnReadAnswered,
    ) -> None:
        identifier = position.MessageReference.Identifier
        noted = self.qm.transaction_operations.externally_sent_messages  # type: ignore[attr-defined]
        if (
            transaction is not None
            and transaction.SinglePhase
            and (identifier.QueueManagerGuid, identifier.Ordinal) in noted
        ):
            answered(Status.MQ_ERROR_TRANSACTION_USAGE, None)
            return
        super().take_message_out(position, transaction, two_phase_read, answered)


add(
    "queue-manager-internal-receive-of-external-send-refused",
    "MQSO-4.3.1.2-D09",
    "The queue manager refuses to receive, in an internal transaction, a message that an external transaction sent.",
    combine_installers(
        replace_part(RecorderOfMessagesSentByExternalTransactions),
        replace_part(RefuserOfInternalReceiveOfExternallySentMessage),
    ),
    blind=True,
)


@fault("public-queue-created-in-workgroup-mode", breaks=("MQSO-4.3.1.3-01", "MQSO-4.3.1.3-D01"))
class PublicQueueCreatedInWorkgroupMode(PublicQueuePublishing):
    """A queue manager in workgroup mode creates public queues."""

    def publish(self, queue: Queue, published: StatusCallback) -> None:
        if self.qm.enterprise.state.DirectoryIntegrated:
            super().publish(queue, published)
        else:
            queue.Identifier = MADE_UP_GUID
            published(Status.MQ_OK)


@fault("public-queue-refused-in-directory-mode", breaks="MQSO-4.3.1.3-01")
class PublicQueueRefusedInDirectoryMode(PublicQueuePublishing):
    """A queue manager in directory mode refuses to create public queues."""

    def publish(self, queue: Queue, published: StatusCallback) -> None:
        published(Status.MQ_ERROR_UNSUPPORTED_OPERATION)


@fault("queue-manager-public-queue-created-after-start-without-directory", breaks="MQSO-4.3.1.3-D01", blind=True)
class QueueManagerPublicQueueCreatedAfterStartWithoutDirectory(PublicQueuePublishing):
    """A queue manager that is configured for a directory, but is in workgroup mode because the directory was
    unavailable at its start, creates public queues.
    """

    def publish(self, queue: Queue, published: StatusCallback) -> None:
        if self.qm.config.directory_integrated and not self.qm.enterprise.state.DirectoryIntegrated:
            queue.Identifier = MADE_UP_GUID
            published(Status.MQ_OK)
        else:
            super().publish(queue, published)


@fault("sender-message-to-public-queue-not-routed", breaks="MQSO-4.3.1.3-D02", blind=True)
class SenderMessageToPublicQueueNotRouted(NextHops):
    """The sender sends a message for a public format name directly to the computer of the queue, even if the route
    leads through a routing server; messages for private format names are routed correctly.
    """

    is_destination_public = False

    def get_destination_info(self, format_name: str) -> Destination | None:
        self.is_destination_public = isinstance(parse_format_name(format_name), PublicName)
        return super().get_destination_info(format_name)

    def get_next_hop_identifiers(self, guid: UUID) -> tuple[UUID, ...]:
        return (guid,) if self.is_destination_public else super().get_next_hop_identifiers(guid)


@fault("queue-manager-workgroup-transactional-message-refused", breaks="MQSO-4.3.3-D02", blind=True)
class QueueManagerWorkgroupTransactionalMessageRefused(HigherLayerCommands):
    """A queue manager without a directory refuses transactional messages to direct names of other computers."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        local = self.qm.destination_resolving.find_local_queue(request.to)
        if not self.qm.enterprise.state.DirectoryIntegrated and request.transactional and local is None:
            raise CommandError("no transactional message is sent without a directory")
        return super().send_message(request, token, now)


ROUTING_RULES = ("MQSO-3.3.4.5-01", "MQSO-4.3.1.3-03", "MQSO-4.3.1.3-D02")


@fault("routing-ignores-site-gates", breaks=("MQDMPR-3.1.7.1.21-02", *ROUTING_RULES))
class RoutingIgnoresSiteGates(NextHops):
    """The queue manager sends a message directly to its destination, even if the destination is in another site."""

    def get_next_hop_identifiers(self, guid: UUID) -> tuple[UUID, ...]:
        return (guid,)
