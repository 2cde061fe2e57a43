"""Faults of MS-MQSO 4.3.1 Black Box Relationship Diagram and its neighbours."""

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


@fault("so-sent-before-the-commit", breaks=("MQSO-3.3.4.4-D01", "MQSO-4.3.1.2-D01"))
class SentBeforeTheCommit(TransactionOperations):
    """A message that is sent in a transaction is there at once."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        position = super().enqueue_in_transaction(transaction, queue, message)
        position.State = MessagePositionState.AVAILABLE
        return position


@fault("so-abort-commits", breaks=("MQSO-3.3.4.4-D02", "MQSO-4.3.1.2-D02"))
class AbortCommits(TransactionEvents):
    """What was sent in a transaction that is aborted is sent all the same."""

    def abort_enqueue(self, operation: TransactionalOperation, now: Now) -> None:
        self.commit_enqueue(operation, now)


@fault("so-committed-is-lost", breaks=("MQSO-3.3.4.4-D02", "MQSO-4.3.1.2-D02"))
class CommittedIsLost(TransactionEvents):
    """What was sent in a transaction that is committed is discarded."""

    def commit_enqueue(self, operation: TransactionalOperation, now: Now) -> None:
        self.abort_enqueue(operation, now)


@fault("so-vote-decides", breaks=("MQSO-4.3.1.2-01", "MQSO-4.3.1.2-02"))
class VoteDecides(Coordinating):
    """Whoever is asked to prepare commits, without waiting for what the coordinator decides."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        return super().prepare(transaction, True, token, now)


@fault("so-coordinator-for-every-transaction", breaks=("MQSO-4.3.1.2-D08", "MQSO-4.3.1.2-D09", "MQSO-4.3.3-D01"))
class CoordinatorForEveryTransaction(TransactionEvents):
    """Transactions of the queue manager's own are committed only when a coordinator has prepared them."""

    def create_transaction(self, identifier: UUID, single_phase: bool) -> Transaction:
        return super().create_transaction(identifier, False)


add(
    "so-transfer-not-acknowledged",
    "MQSO-4.3.1.2-D04",
    "Transactional messages are stored, and never acknowledged.",
    skip(OrderAcks.schedule),
)


# -- modes ---------------------------------------------------------------------------------------------------------


@fault("so-public-queues-of-a-workgroup", breaks=("MQSO-4.3.1.3-01", "MQSO-4.3.1.3-D01"))
class PublicQueuesOfAWorkgroup(Publishing):
    """In workgroup mode public queues are made, which nobody can find."""

    def publish(self, queue: Queue, published: OnStatus) -> None:
        if self.qm.enterprise.state.DirectoryIntegrated:
            super().publish(queue, published)
        else:
            queue.Identifier = OTHER_GUID
            published(Status.MQ_OK)


@fault("so-no-public-queues", breaks="MQSO-4.3.1.3-01")
class NoPublicQueues(Publishing):
    """In directory mode, too, no public queue is made."""

    def publish(self, queue: Queue, published: OnStatus) -> None:
        published(Status.MQ_ERROR_UNSUPPORTED_OPERATION)


@fault("so-nothing-sent-without-a-directory", breaks=("MQSO-4.3.1.1-01", "MQSO-4.3.3-D02"))
class NothingSentWithoutADirectory(NextHops):
    """Without a directory no destination is known, direct names included."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        integrated = self.qm.enterprise.state.DirectoryIntegrated
        return super().get_destination_info(format_name) if integrated else None


ROUTES = ("MQSO-3.3.4.5-01", "MQSO-4.3.1.3-03", "MQSO-4.3.1.3-D02")


@fault("gates-of-no-site", breaks=("MQDMPR-3.1.7.1.21-02", *ROUTES))
class GatesOfNoSite(NextHops):
    """The destination is the next hop, in whatever site it is."""

    def get_next_hop_identifiers(self, guid: UUID) -> tuple[UUID, ...]:
        return (guid,)
