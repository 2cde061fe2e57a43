"""Faults of MS-MQDMPR 3.1.3, by an author who had not seen the checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from harness.faults.primitives import during
from harness.faults.registry import add
from reference_qm.core.enterprise.initialization import Initialization
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.queueing.transaction_records import TransactionRecords
from reference_qm.core.store.entries import build_relocation
from reference_qm.core.transfer.administering import Administering
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.states import MessagePositionState
from reference_qm.model.transactions import OperationType, Transaction
from reference_qm.surface.clock import Now


def _establish_first(original: Callable[..., Any], *_: object) -> Callable[..., Any]:
    def establish(qm: QueueManager, now: Now) -> None:
        waiting = [queue for queue in qm.adm.OutgoingQueues.values() if len(queue.session.OutgoingMessageTable)]
        if waiting:
            qm.establishing.establish(waiting[0].session, now)

    return establish


add(
    "queue-manager-second-locked-outgoing-queue-not-sent-at-start",
    "MQDMPR-3.1.3-D13",
    "At its start, the queue manager sends the messages of only the first of several outgoing queues that were Locked.",
    during(Initialization.begin, Administering.establish_waiting, _establish_first),
    blind=True,
)


@fault("in-doubt-transaction-second-receive-forgotten", breaks="MQDMPR-3.1.3-D15", blind=True)
class InDoubtTransactionSecondReceiveForgotten(TransactionRecords):
    """After a restart, the queue manager restores only the first receive of a prepared transaction that received
    several messages.
    """

    def restore_transaction(self, rest: str, value: Any) -> None:
        super().restore_transaction(rest, value)
        operations = self.qm.adm.TransactionCollection[UUID(rest)].TransactionalOperationCollection
        received = [one for one in operations if one.OperationType is OperationType.DEQUEUE]
        for operation in received[1:]:
            operations.remove(operation)
            operation.MessagePositionReference.State = MessagePositionState.AVAILABLE


@fault("restart-keeps-move-of-open-transaction", breaks="MQDMPR-3.1.3-D16", blind=True)
class RestartKeepsMoveOfOpenTransaction(TransactionOperations):
    """The queue manager saves a move in an open transaction without a coordinator at once, so the message is in the
    target queue after a restart.
    """

    def move_in_transaction(self, transaction: Transaction, position: MessagePosition, target: Queue) -> None:
        super().move_in_transaction(transaction, position, target)
        there = MessagePosition(position.MessageReference, target, order_queue=position.order_queue, key=position.key)
        there.LookupIdentifier = position.LookupIdentifier
        self.qm.disk.save(build_relocation(there))
