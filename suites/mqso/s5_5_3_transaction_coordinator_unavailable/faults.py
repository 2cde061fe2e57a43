"""Faults of MS-MQSO 5.5.3 Transaction Coordinator Unavailable."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import skip
from harness.faults.registry import add
from reference_qm.core.commands.commands import Commands
from reference_qm.core.commands.coordinating import Coordinating
from reference_qm.core.errors import CommandError
from reference_qm.model.transactions import TransactionState
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from reference_qm.surface.inputs import CoordinatorChanged

add(
    "undecided-transaction-waits-for-lost-coordinator",
    "MQSO-5.5.3-03",
    "The queue manager keeps undecided transactions when it loses their coordinator.",
    skip(Coordinating.abort_undecided),
)


@fault("undecided-transaction-committed-when-coordinator-lost", breaks="MQSO-5.5.3-03")
class UndecidedTransactionCommittedWhenCoordinatorLost(Coordinating):
    """When the queue manager loses the coordinator, it commits undecided transactions."""

    def on_coordinator_changed(self, event: CoordinatorChanged, now: Now) -> None:
        if not event.available:
            for transaction in list(self.qm.adm.TransactionCollection.values()):
                if transaction.state is TransactionState.ACTIVE:
                    self._write_commit(transaction, 0, now)
        super().on_coordinator_changed(event, now)


add(
    "external-transaction-begun-without-coordinator",
    "MQSO-5.5.3-04",
    "The queue manager begins external transactions although the coordinator is unavailable.",
    skip(Coordinating.check_coordinator),
)


@fault("sessions-refused-without-coordinator", breaks=("MQSO-5.5.3-02", "MQSO-5.5.3-05"))
class SessionsRefusedWithoutCoordinator(Coordinating):
    """The queue manager accepts and opens no sessions while the coordinator is unavailable."""

    def on_coordinator_changed(self, event: CoordinatorChanged, now: Now) -> None:
        super().on_coordinator_changed(event, now)
        if event.available:
            self.qm.administering.bring_online(now)
        else:
            self.qm.administering.take_offline(now)


@fault("messages-refused-without-coordinator", breaks="MQSO-5.5.3-05")
class MessagesRefusedWithoutCoordinator(Commands):
    """While the coordinator is unavailable, the queue manager refuses all messages that applications send."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        if not self.qm.coordinated:
            raise CommandError("no message is sent without the Transaction Coordinator")
        return super().send_message(request, token, now)


@fault("returned-coordinator-ignored", breaks=("MQSO-5.5.3-01", "MQSO-5.5.3-02", "MQSO-5.5.3-06"))
class ReturnedCoordinatorIgnored(Coordinating):
    """After the coordinator was unavailable once, the queue manager never uses the coordinator again."""

    def on_coordinator_changed(self, event: CoordinatorChanged, now: Now) -> None:
        if not event.available:
            super().on_coordinator_changed(event, now)


@fault("only-first-transaction-of-lost-coordinator-aborted", breaks="MQSO-5.5.3-03")
class OnlyFirstTransactionOfLostCoordinatorAborted(Coordinating):
    """When the coordinator is lost, the queue manager aborts only the first of the unprepared transactions."""

    def abort_undecided(self) -> None:
        for transaction in list(self.qm.adm.TransactionCollection.values()):
            if not transaction.SinglePhase and transaction.state is TransactionState.ACTIVE:
                self.abort(transaction, None)
                return
