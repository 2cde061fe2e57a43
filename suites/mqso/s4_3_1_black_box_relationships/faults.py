"""Faults of MS-MQSO 4.3.1 Black Box Relationship Diagram and of neighboring sections."""

from __future__ import annotations

from uuid import UUID

from harness.faults.made_up import OTHER_GUID
from harness.faults.parts import fault
from harness.faults.primitives import skip
from harness.faults.registry import add
from reference_qm.core.commands.coordinating import Coordinating
from reference_qm.core.names.next_hops import Destination, NextHops
from reference_qm.core.queueing.publishing import OnStatus, Publishing
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import Transaction, TransactionalOperation
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("sent-message-visible-before-commit", breaks=("MQSO-3.3.4.4-D01", "MQSO-4.3.1.2-D01"))
class SentMessageVisibleBeforeCommit(TransactionOperations):
    """The queue manager stores a message that is sent in a transaction in its queue before the commit."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        position = super().enqueue_in_transaction(transaction, queue, message)
        position.State = MessagePositionState.AVAILABLE
        return position


@fault("abort-sends-messages", breaks=("MQSO-3.3.4.4-D02", "MQSO-4.3.1.2-D02"))
class AbortSendsMessages(TransactionEvents):
    """The queue manager stores a message that an aborted transaction sent."""

    def abort_enqueue(self, operation: TransactionalOperation, now: Now) -> None:
        self.commit_enqueue(operation, now)


@fault("commit-discards-sent-messages", breaks=("MQSO-3.3.4.4-D02", "MQSO-4.3.1.2-D02"))
class CommitDiscardsSentMessages(TransactionEvents):
    """The queue manager discards a message that a committed transaction sent."""

    def commit_enqueue(self, operation: TransactionalOperation, now: Now) -> None:
        self.abort_enqueue(operation, now)


@fault("prepare-commits-external-transaction", breaks=("MQSO-4.3.1.2-01", "MQSO-4.3.1.2-02"))
class PrepareCommitsExternalTransaction(Coordinating):
    """The queue manager commits an external transaction as soon as it is prepared."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        return super().prepare(transaction, True, token, now)


@fault("internal-transaction-needs-prepare", breaks=("MQSO-4.3.1.2-D08", "MQSO-4.3.1.2-D09", "MQSO-4.3.3-D01"))
class InternalTransactionNeedsPrepare(TransactionEvents):
    """The queue manager commits an internal transaction only after a coordinator has prepared it."""

    def create_transaction(self, identifier: UUID, single_phase: bool) -> Transaction:
        return super().create_transaction(identifier, False)


add(
    "transactional-message-gets-no-order-ack",
    "MQSO-4.3.1.2-D04",
    "The destination stores transactional messages but never acknowledges them.",
    skip(OrderAcks.schedule),
)


# -- modes ---------------------------------------------------------------------------------------------------------


@fault("public-queue-created-in-workgroup-mode", breaks=("MQSO-4.3.1.3-01", "MQSO-4.3.1.3-D01"))
class PublicQueueCreatedInWorkgroupMode(Publishing):
    """A queue manager in workgroup mode creates public queues."""

    def publish(self, queue: Queue, published: OnStatus) -> None:
        if self.qm.enterprise.state.DirectoryIntegrated:
            super().publish(queue, published)
        else:
            queue.Identifier = OTHER_GUID
            published(Status.MQ_OK)


@fault("public-queue-refused-in-directory-mode", breaks="MQSO-4.3.1.3-01")
class PublicQueueRefusedInDirectoryMode(Publishing):
    """A queue manager in directory mode refuses to create public queues."""

    def publish(self, queue: Queue, published: OnStatus) -> None:
        published(Status.MQ_ERROR_UNSUPPORTED_OPERATION)


@fault("direct-name-unresolved-without-directory", breaks=("MQSO-4.3.1.1-01", "MQSO-4.3.3-D02"))
class DirectNameUnresolvedWithoutDirectory(NextHops):
    """A queue manager without a directory resolves no destination, not even a direct format name."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        integrated = self.qm.enterprise.state.DirectoryIntegrated
        return super().get_destination_info(format_name) if integrated else None


ROUTING_RULES = ("MQSO-3.3.4.5-01", "MQSO-4.3.1.3-03", "MQSO-4.3.1.3-D02")


@fault("routing-ignores-site-gates", breaks=("MQDMPR-3.1.7.1.21-02", *ROUTING_RULES))
class RoutingIgnoresSiteGates(NextHops):
    """The queue manager sends a message directly to its destination, even if the destination is in another site."""

    def get_next_hop_identifiers(self, guid: UUID) -> tuple[UUID, ...]:
        return (guid,)
