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
    "so-undecided-without-coordinator",
    "MQSO-5.5.3-03",
    "Transactions wait for a coordinator that was lost.",
    skip(Coordinating.abort_undecided),
)


@fault("so-committed-without-coordinator", breaks="MQSO-5.5.3-03")
class CommittedWithoutCoordinator(Coordinating):
    """What was not decided when the coordinator was lost is committed."""

    def on_coordinator_changed(self, event: CoordinatorChanged, now: Now) -> None:
        if not event.available:
            for transaction in list(self.qm.adm.TransactionCollection.values()):
                if transaction.state is TransactionState.ACTIVE:
                    self._write_commit(transaction, 0, now)
        super().on_coordinator_changed(event, now)


add(
    "so-used-without-coordinator",
    "MQSO-5.5.3-04",
    "Transactions of a coordinator that is away are begun and used.",
    skip(Coordinating.check_coordinator),
)


@fault("so-nothing-without-coordinator", breaks=("MQSO-5.5.3-02", "MQSO-5.5.3-05"))
class NothingWithoutCoordinator(Coordinating):
    """Without its coordinator a queue manager has no sessions."""

    def on_coordinator_changed(self, event: CoordinatorChanged, now: Now) -> None:
        super().on_coordinator_changed(event, now)
        if event.available:
            self.qm.administering.bring_online(now)
        else:
            self.qm.administering.take_offline(now)


@fault("so-nothing-sent-without-coordinator", breaks="MQSO-5.5.3-05")
class NothingSentWithoutCoordinator(Commands):
    """Without its coordinator a queue manager takes no message of an application."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        if not self.qm.coordinated:
            raise CommandError("nothing is sent without the Transaction Coordinator")
        return super().send_message(request, token, now)


@fault("so-coordinator-lost-for-good", breaks=("MQSO-5.5.3-01", "MQSO-5.5.3-02", "MQSO-5.5.3-06"))
class CoordinatorLostForGood(Coordinating):
    """A coordinator that was lost is not found again."""

    def on_coordinator_changed(self, event: CoordinatorChanged, now: Now) -> None:
        if not event.available:
            super().on_coordinator_changed(event, now)
