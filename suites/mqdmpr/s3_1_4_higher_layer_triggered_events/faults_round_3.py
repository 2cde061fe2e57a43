"""Faults that break rules of MS-MQDMPR 3.1.4 Higher-Layer Triggered Events."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.errors import CommandError
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.sessions.connecting import OFFLINE_REFUSAL
from reference_qm.core.transfer.administering import Administering
from reference_qm.model.adm import MessagePosition
from reference_qm.model.states import MessagePositionState, SessionState
from reference_qm.model.transactions import OperationType, Transaction, TransactionalOperation
from reference_qm.surface.clock import Now


@fault("initiator-offline-session-in-progress-established", breaks="MQDMPR-3.1.4.12-03", blind=True)
class InitiatorOfflineSessionInProgressEstablished(Administering):
    """A queue manager that is taken offline finishes the sessions that it has begun to establish."""

    def take_offline(self, now: Now) -> None:
        self.qm.adm.ConnectionActive = False
        for session in list(self.qm.sessions.values()):
            if not session.initiator or session.SessionState in (SessionState.OPEN, SessionState.WAITING_RECONNECT):
                self.qm.closing.close(session, OFFLINE_REFUSAL, now)


@fault("queue-manager-transaction-with-purged-message-not-prepared", breaks="MQDMPR-3.1.4.3-08", blind=True)
class QueueManagerTransactionWithPurgedMessageNotPrepared(TransactionEvents):
    """The queue manager cannot prepare a transaction whose received message was purged in the meantime."""

    def transaction_prepare(self, transaction: Transaction, single_phase: bool = True) -> None:
        for operation in transaction.TransactionalOperationCollection:
            if operation.MessagePositionReference.State is MessagePositionState.PURGE_PENDING:
                raise CommandError("a message of the transaction was purged (MQ_ERROR_TRANSACTION_SEQUENCE): abort it")
        super().transaction_prepare(transaction, single_phase)


@fault("queue-manager-message-moved-between-subqueues-kept", breaks="MQDMPR-3.1.4.4-16", blind=True)
class QueueManagerMessageMovedBetweenSubqueuesKept(TransactionEvents):
    """A message that a transaction moves from one subqueue to another also remains in the first subqueue."""

    def commit_move(self, operation: TransactionalOperation, now: Now) -> None:
        position, target = operation.MessagePositionReference, operation.TargetQueueReference
        source = position.QueueReference
        moved = position.State is not MessagePositionState.DELETED
        super().commit_move(operation, now)
        if moved and source.parent is not None and target is not None and target.parent is not None:
            kept = MessagePosition(position.MessageReference, source, LookupIdentifier=position.LookupIdentifier)
            source.MessagePositionList.insert(kept)
            self.qm.positions.message_available(kept)


@fault("queue-manager-coordinator-abort-leaves-moved-message-locked", breaks="MQDMPR-3.1.4.8-03", blind=True)
class QueueManagerCoordinatorAbortLeavesMovedMessageLocked(TransactionEvents):
    """When a coordinator aborts a transaction, the queue manager does not undo the moves."""

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        if not transaction.SinglePhase:
            transaction.TransactionalOperationCollection = [
                one
                for one in transaction.TransactionalOperationCollection
                if one.OperationType is not OperationType.MOVE
            ]
        super().transaction_abort(transaction, now)
