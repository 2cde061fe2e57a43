"""Alternative readings of errata about a queue manager without its directory or its Transaction Coordinator."""

from __future__ import annotations

from harness.faults.parts import faulty_only_if, follows_reading_of_erratum, replace_part
from harness.faults.primitives import combine_installers
from harness.faults.registry import register_variant_of_reading
from reference_qm.core.commands.higher_layer_commands import HigherLayerCommands
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.commands.transaction_coordinating import TransactionCoordinating
from reference_qm.core.errors import CommandError
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.model.adm import Session
from reference_qm.model.transactions import TransactionState
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result

COORDINATOR_UNAVAILABLE_ERROR = "the Transaction Coordinator is unavailable (MQ_ERROR_DTC_CONNECT)"


@follows_reading_of_erratum("E200.2")
class NoMessageIsTransferredWhileDirectoryIsOffline(SessionEstablishing):
    """While DirectoryOffline is TRUE, the queue manager sends no messages to other queue managers."""

    @faulty_only_if(lambda part, session, now, again=False: part.qm.enterprise.state.DirectoryOffline)
    def establish(self, session: Session, now: Now, *, again: bool = False) -> None:
        self.qm.sessions[session.number] = session
        self.qm.session_closing.await_reconnect(session, now)


class _TransactionalSendRefuser(HigherLayerCommands):
    @faulty_only_if(lambda part, *_: not part.qm.coordinated)
    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        if request.transactional or request.transaction is not None:
            raise CommandError(COORDINATOR_UNAVAILABLE_ERROR)
        return super().send_message(request, token, now)


class _TransactionalReceiveRefuser(QueueCommands):
    @faulty_only_if(lambda part, *_: not part.qm.coordinated)
    def receive_message(self, request: commands.ReceiveMessage, token: int, now: Now) -> None:
        if request.queue is not None and self.qm.queue_names.find_queue(request.queue).Transactional:
            raise CommandError(COORDINATOR_UNAVAILABLE_ERROR)
        super().receive_message(request, token, now)


register_variant_of_reading(
    "E201.2",
    "Without the Transaction Coordinator, applications cannot send to or receive from a transactional queue.",
    combine_installers(replace_part(_TransactionalSendRefuser), replace_part(_TransactionalReceiveRefuser)),
)


@follows_reading_of_erratum("E202.2")
class PreparedTransactionsAreAbortedWithoutCoordinator(TransactionCoordinating):
    """When the queue manager loses the coordinator, it also aborts prepared transactions."""

    def abort_undecided_transactions(self) -> None:
        super().abort_undecided_transactions()
        for transaction in list(self.qm.adm.TransactionCollection.values()):
            if transaction.state is TransactionState.PREPARED:
                self.abort(transaction, None)
