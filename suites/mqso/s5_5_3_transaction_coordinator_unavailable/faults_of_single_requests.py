"""Faults in single requests while the Transaction Coordinator is unavailable, and after its return."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.commands.transaction_commands import TransactionCommands
from reference_qm.core.commands.transaction_coordinating import TransactionCoordinating
from reference_qm.model.transactions import Transaction
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import CoordinatorChanged


@fault("queue-manager-second-loss-of-coordinator-not-noticed", breaks="MQSO-5.5.3-01")
class QueueManagerSecondLossOfCoordinatorNotNoticed(TransactionCoordinating):
    """The queue manager handles only the first loss of the Transaction Coordinator."""

    def on_coordinator_changed(self, event: CoordinatorChanged, now: Now) -> None:
        losses = self.__dict__["losses"] = self.__dict__.get("losses", 0) + (not event.available)
        if event.available or losses == 1:
            super().on_coordinator_changed(event, now)


@fault("queue-manager-second-external-transaction-kept-at-loss-of-coordinator", breaks="MQSO-5.5.3-01")
class QueueManagerSecondExternalTransactionKeptAtLossOfCoordinator(TransactionCoordinating):
    """The queue manager aborts only one external transaction when the Transaction Coordinator becomes unavailable."""

    def abort_undecided_transactions(self) -> None:
        units = self.qm.adm.TransactionCollection
        external = [one for one in units.values() if not one.SinglePhase and one.state.name == "ACTIVE"]
        for transaction in external[:1]:
            self.abort(transaction, None)


@fault("queue-manager-second-external-transaction-accepted-without-coordinator", breaks="MQSO-5.5.3-04")
class QueueManagerSecondExternalTransactionAcceptedWithoutCoordinator(TransactionCoordinating):
    """Without the Transaction Coordinator, the queue manager refuses only the first request to begin an external
    transaction.
    """

    def check_coordinator(self, transaction: Transaction | None = None) -> None:
        refused = self.__dict__.get("refused", 0)
        if transaction is None and not self.qm.coordinated:
            self.__dict__["refused"] = refused + 1
            if refused:
                return
        super().check_coordinator(transaction)


@fault("queue-manager-external-transaction-of-given-identifier-accepted-without-coordinator", breaks="MQSO-5.5.3-04")
class QueueManagerExternalTransactionOfGivenIdentifierAcceptedWithoutCoordinator(TransactionCommands):
    """Without the Transaction Coordinator, the queue manager takes part in external transactions whose identifier the
    request contains.
    """

    def begin_transaction(self, request: commands.BeginTransaction, token: int, now: Now) -> Any:
        available = self.qm.coordinated
        self.qm.coordinated = available or request.transaction is not None
        try:
            return super().begin_transaction(request, token, now)
        finally:
            self.qm.coordinated = available


@fault("queue-manager-external-transaction-with-receive-survives-loss-of-coordinator", breaks="MQSO-5.5.3-04")
class QueueManagerExternalTransactionWithReceiveSurvivesLossOfCoordinator(TransactionCoordinating):
    """At the loss of the Transaction Coordinator, the queue manager keeps the external transactions that received a
    message, and they can receive further messages.
    """

    def abort_undecided_transactions(self) -> None:
        for transaction in list(self.qm.adm.TransactionCollection.values()):
            received = any(one.OperationType.name == "DEQUEUE" for one in transaction.TransactionalOperationCollection)
            if not transaction.SinglePhase and transaction.state.name == "ACTIVE" and not received:
                self.abort(transaction, None)
