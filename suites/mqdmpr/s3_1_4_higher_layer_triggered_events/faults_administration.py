"""Faults that break rules of MS-MQDMPR 3.1.4.1 and 3.1.4.9 to 3.1.4.15 about the start, transactions in doubt, and
administration.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from harness.faults.primitives import omit_step, omit_step_during
from harness.faults.registry import add
from reference_qm.core.commands.transaction_commands import TransactionCommands
from reference_qm.core.commands.transaction_coordinating import TransactionCoordinating
from reference_qm.core.enterprise.queue_manager_initialization import QueueManagerInitialization
from reference_qm.core.queueing.transaction_records import TransactionRecords
from reference_qm.core.sessions.session_connecting import SessionConnecting
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.core.transfer.transfer_administering import TransferAdministering
from reference_qm.model.adm import Session
from reference_qm.model.transactions import OperationType, Transaction, TransactionState
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result

# -- after a restart ------------------------------------------------------------------------------------------------


@fault("in-doubt-transaction-loses-its-sent-messages", breaks="MQDMPR-3.1.4.9-D01")
class InDoubtTransactionLosesItsSentMessages(TransactionRecords):
    """At a restart, the queue manager loses the messages that a transaction in doubt is to send."""

    def restore_transaction(self, rest: str, value: Any) -> None:
        super().restore_transaction(rest, value)
        operations = self.qm.adm.TransactionCollection[UUID(rest)].TransactionalOperationCollection
        operations[:] = [one for one in operations if one.OperationType is not OperationType.ENQUEUE]


@fault(
    "coordinator-abort-commits-prepared-transaction",
    breaks=("MQDMPR-3.1.4.8-03", "MQDMPR-3.1.4.8-05", "MQDMPR-3.1.4.10-D01"),
)
class CoordinatorAbortCommitsPreparedTransaction(TransactionCoordinating):
    """The queue manager commits a prepared transaction when the coordinator aborts it."""

    def abort(self, transaction: Transaction, token: int | None) -> Result | None:
        if transaction.state is TransactionState.PREPARED:
            return self.commit(transaction, token or 0, Now(0, 0))
        result: Result | None = super().abort(transaction, token)
        return result


add(
    "start-does-not-send-waiting-messages",
    "MQDMPR-3.1.4.1-03",
    "After its start the queue manager sends its waiting messages only together with the next new message.",
    omit_step_during(QueueManagerInitialization.begin, TransferAdministering.establish_waiting),
)

# -- the administrator, and a coordinator that does not answer -------------------------------------------------------


@fault("reenlistment-timeout-reports-no-in-doubt-transaction", breaks="MQDMPR-3.1.4.11-D01")
class ReenlistmentTimeoutReportsNoInDoubtTransaction(TransactionCommands):
    """At the reenlistment timeout the queue manager reports that no transaction is in doubt."""

    def on_reenlistment_timeout(self, request: commands.ReenlistmentTimeout, token: int, now: Now) -> Result:
        super().on_reenlistment_timeout(request, token, now)
        return Result({"in_doubt": []})


add(
    "reenlistment-timeout-does-not-stop-start",
    "MQDMPR-3.1.4.11-D02",
    "After the reenlistment timeout the queue manager continues its start.",
    omit_step(TransactionCoordinating.on_reenlistment_timeout),
)


@fault("offline-queue-manager-accepts-sessions", breaks="MQDMPR-3.1.4.12-03")
class OfflineQueueManagerAcceptsSessions(SessionConnecting):
    """A queue manager that is offline accepts sessions, but establishes none."""

    def may_connect(self) -> bool:
        return True


@fault("offline-queue-manager-reestablishes-sessions", breaks="MQDMPR-3.1.4.12-03")
class OfflineQueueManagerReestablishesSessions(TransferAdministering):
    """A queue manager that is taken offline ends its sessions, but establishes them again."""

    def take_offline(self, now: Now) -> None:
        super().take_offline(now)
        self.qm.adm.ConnectionActive = True


add(
    "online-queue-manager-stays-offline",
    "MQDMPR-3.1.4.13-03",
    "A queue manager that was taken offline stays offline until its restart.",
    omit_step(TransferAdministering.bring_online),
)


add(
    "online-queue-manager-does-not-send",
    "MQDMPR-3.1.4.13-03",
    "A queue manager that is online again accepts sessions, but does not establish sessions for its waiting messages.",
    omit_step_during(TransferAdministering.bring_online, TransferAdministering.establish_waiting),
)


@fault("sender-reconnects-after-reenlistment-timeout", breaks="MQDMPR-3.1.4.11-D02", blind=True)
class SenderReconnectsAfterReenlistmentTimeout(SessionEstablishing):
    """After the Reenlistment Timeout, the sender still connects for outgoing messages when the Session Retry Connect
    Timer expires.
    """

    def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
        adm = self.qm.adm
        active = adm.ConnectionActive
        adm.ConnectionActive = active or self.qm.halted is not None
        super().on_session_retry_connect_timer(session, now)
        adm.ConnectionActive = active
