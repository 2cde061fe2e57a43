"""Faults of MS-MQSO 5.2.1.3 Subcomponent Roles: other participants of an internal transaction."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.commands.transaction_commands import TransactionCommands
from reference_qm.core.commands.transaction_coordinating import TransactionCoordinating
from reference_qm.core.errors import CommandError
from reference_qm.model.adm import OutgoingQueue
from reference_qm.model.transactions import Transaction
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("queue-manager-second-internal-transaction-needs-coordinator", breaks="MQSO-5.2.1.3-D01", blind=True)
class QueueManagerSecondInternalTransactionNeedsCoordinator(TransactionCommands):
    """The queue manager begins only one internal transaction at a time while the coordinator is unavailable."""

    def begin_transaction(self, request: commands.BeginTransaction, token: int, now: Now) -> Result:
        if not self.qm.coordinated and self.qm.adm.TransactionCollection:
            raise CommandError("the coordinator is unavailable")
        return super().begin_transaction(request, token, now)


@fault("queue-manager-internal-commit-with-messages-to-send-needs-coordinator", breaks="MQSO-5.2.1.3-D01", blind=True)
class QueueManagerInternalCommitWithMessagesToSendNeedsCoordinator(TransactionCoordinating):
    """The queue manager commits an internal transaction with messages to other queue managers only while the
    coordinator is available.
    """

    def commit(self, transaction: Transaction, token: int, now: Now) -> Result | None:
        queues = [one.MessagePositionReference.QueueReference for one in transaction.TransactionalOperationCollection]
        if not self.qm.coordinated and any(isinstance(queue, OutgoingQueue) for queue in queues):
            raise CommandError("the coordinator is unavailable")
        return super().commit(transaction, token, now)


@fault("queue-manager-internal-abort-waits-for-coordinator", breaks="MQSO-5.2.1.3-D01", blind=True)
class QueueManagerInternalAbortWaitsForCoordinator(TransactionCoordinating):
    """The queue manager does not abort an internal transaction while the coordinator is unavailable."""

    def abort(self, transaction: Transaction, token: int | None) -> Result | None:
        if not self.qm.coordinated and token is not None:
            raise CommandError("the coordinator is unavailable")
        return super().abort(transaction, token)
