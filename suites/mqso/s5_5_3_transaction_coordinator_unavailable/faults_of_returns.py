"""Faults in the start without the Transaction Coordinator, and after its return."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.commands.transaction_coordinating import TransactionCoordinating
from reference_qm.core.errors import CommandError
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import CloseTransport
from reference_qm.surface.inputs import CoordinatorChanged, TransportAccepted


@fault("queue-manager-session-after-start-without-coordinator-refused", breaks="MQSO-5.5.3-02", blind=True)
class QueueManagerSessionAfterStartWithoutCoordinatorRefused(SessionOpening):
    """A queue manager that started without the Transaction Coordinator accepts no sessions."""

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        used = self.__dict__.setdefault("used", False)
        if self.qm.coordinated or used:
            self.__dict__["used"] = True
            super().accept_transport(event, now)
        else:
            self.qm.emit_effect(CloseTransport(event.transport, "the Transaction Coordinator is unavailable"))


@fault("queue-manager-second-return-of-coordinator-ignored", breaks="MQSO-5.5.3-06", blind=True)
class QueueManagerSecondReturnOfCoordinatorIgnored(TransactionCoordinating):
    """A queue manager notices only the first return of the Transaction Coordinator."""

    def on_coordinator_changed(self, event: CoordinatorChanged, now: Now) -> None:
        if event.available and self.__dict__.get("has_returned"):
            return
        self.__dict__["has_returned"] = event.available or self.__dict__.get("has_returned", False)
        super().on_coordinator_changed(event, now)


class CoordinatorReturnRecorder(TransactionCoordinating):
    """A part of the queue manager that records whether the coordinator has returned."""

    def on_coordinator_changed(self, event: CoordinatorChanged, now: Now) -> None:
        super().on_coordinator_changed(event, now)
        if event.available:
            self.qm.__dict__["has_coordinator_returned"] = True


@fault("queue-manager-external-commit-after-return-of-coordinator-refused", breaks="MQSO-5.5.3-06", blind=True)
class QueueManagerExternalCommitAfterReturnOfCoordinatorRefused(CoordinatorReturnRecorder):
    """After the return of the Transaction Coordinator, a queue manager refuses to prepare external transactions."""

    def check_coordinator(self, transaction: Transaction | None = None) -> None:
        super().check_coordinator(transaction)
        if transaction is not None and not transaction.SinglePhase and self.qm.__dict__.get("has_coordinator_returned"):
            raise CommandError("the Transaction Coordinator is unavailable (MQ_ERROR_DTC_CONNECT)")
