"""Faults that break rules of MS-MQDMPR 3.1.4 Higher-Layer Triggered Events, written without knowledge of the checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import replace_method_during
from harness.faults.registry import add
from reference_qm.core.commands.transaction_coordinating import TransactionCoordinating
from reference_qm.core.enterprise.queue_manager_initialization import QueueManagerInitialization
from reference_qm.core.errors import CommandError
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.transfer.transfer_administering import TransferAdministering
from reference_qm.model.states import MessagePositionState, OutgoingQueueState
from reference_qm.model.transactions import OperationType, Transaction, TransactionalOperation
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


def _make_session_opener_for_first_waiting_queue(original: Callable[..., Any], *_: Any) -> Callable[..., None]:
    def open_session_for_first_waiting_queue(qm: QueueManager, now: Now) -> None:
        for queue in qm.adm.OutgoingQueues.values():
            if len(queue.session.OutgoingMessageTable) and queue.State is not OutgoingQueueState.ON_HOLD:
                qm.session_establishing.establish(queue.session, now)
                return

    return open_session_for_first_waiting_queue


add(
    "queue-manager-start-waiting-messages-of-first-destination-only-sent",
    "MQDMPR-3.1.4.1-03",
    "The starting queue manager sends only the waiting messages of its first outgoing queue.",
    replace_method_during(
        QueueManagerInitialization.begin,
        TransferAdministering.establish_waiting,
        _make_session_opener_for_first_waiting_queue,
    ),
    blind=True,
)


@fault("queue-manager-abort-makes-purged-moved-message-available-again", breaks="MQDMPR-3.1.4.5-08", blind=True)
class QueueManagerAbortMakesPurgedMovedMessageAvailableAgain(TransactionEvents):
    """At an abort, the queue manager makes a message available again although the message was purged after the
    transaction had moved it.
    """

    def abort_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        position = operation.MessagePositionReference
        if operation.OperationType is OperationType.MOVE and position.State is MessagePositionState.PURGE_PENDING:
            position.State = MessagePositionState.LOCKED
        super().abort_dequeue(operation, now)


@fault("queue-manager-abort-leaves-every-second-received-message-locked", breaks="MQDMPR-3.1.4.5-13", blind=True)
class QueueManagerAbortLeavesEverySecondReceivedMessageLocked(TransactionEvents):
    """At an abort, the queue manager skips every second operation that received or moved a message, so that this
    message stays locked.
    """

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        operations = transaction.TransactionalOperationCollection
        taking = [one for one in operations if one.OperationType is not OperationType.ENQUEUE]
        skipped = set(taking[1::2])
        transaction.TransactionalOperationCollection = [one for one in operations if one not in skipped]
        super().transaction_abort(transaction, now)


@fault("queue-manager-abort-of-transaction-with-waiting-receive-refused", breaks="MQDMPR-3.1.4.5-20", blind=True)
class QueueManagerAbortOfTransactionWithWaitingReceiveRefused(TransactionCoordinating):
    """The queue manager refuses to abort a transaction in which a receive waits for a message."""

    def abort(self, transaction: Transaction, token: int | None) -> Result | None:
        if token is not None and any(reader.transaction is transaction for reader in self.qm.readers.values()):
            raise CommandError(f"transaction {transaction.Identifier} is in use (MQ_ERROR_TRANSACTION_SEQUENCE)")
        return super().abort(transaction, token)
