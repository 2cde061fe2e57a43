"""Faults of MS-MQDMPR 3.1.4.1, 3.1.4.9 to 3.1.4.15: starting, what is in doubt, and what an administrator asks for."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from harness.faults.primitives import skip, skip_during
from harness.faults.registry import add
from reference_qm.core.commands.coordinating import Coordinating
from reference_qm.core.commands.transaction_commands import TransactionCommands
from reference_qm.core.enterprise.initialization import Initialization
from reference_qm.core.queueing.transaction_records import TransactionRecords
from reference_qm.core.sessions.connecting import Connecting
from reference_qm.core.transfer.administering import Administering
from reference_qm.model.transactions import OperationType, Transaction, TransactionState
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result

# -- after a restart ------------------------------------------------------------------------------------------------


@fault("in-doubt-forgets-what-it-sends", breaks="MQDMPR-3.1.4.9-D01")
class ForgetsWhatItSends(TransactionRecords):
    """Of a transaction that is in doubt after a restart it is not known any more what it sends."""

    def restore_transaction(self, rest: str, value: Any) -> None:
        super().restore_transaction(rest, value)
        operations = self.qm.adm.TransactionCollection[UUID(rest)].TransactionalOperationCollection
        operations[:] = [one for one in operations if one.OperationType is not OperationType.ENQUEUE]


@fault("prepared-always-committed", breaks=("MQDMPR-3.1.4.8-03", "MQDMPR-3.1.4.8-05", "MQDMPR-3.1.4.10-D01"))
class PreparedAlwaysCommitted(Coordinating):
    """A transaction that is prepared is committed whatever its coordinator decides."""

    def abort(self, transaction: Transaction, token: int | None) -> Result | None:
        if transaction.state is TransactionState.PREPARED:
            return self.commit(transaction, token or 0, Now(0, 0))
        result: Result | None = super().abort(transaction, token)
        return result


add(
    "start-sends-nothing",
    "MQDMPR-3.1.4.1-03",
    "After a start, what waits is sent when more is sent.",
    skip_during(Initialization.begin, Administering.establish_waiting),
)

# -- the administrator and the coordinator that is silent ------------------------------------------------------------


@fault("reenlistment-timeout-not-told", breaks="MQDMPR-3.1.4.11-D01")
class NoneInDoubt(TransactionCommands):
    """When the coordinator does not answer, nothing is said to be in doubt."""

    def reenlistment_timeout(self, request: commands.ReenlistmentTimeout, token: int, now: Now) -> Result:
        super().reenlistment_timeout(request, token, now)
        return Result({"in_doubt": []})


add(
    "reenlistment-timeout-goes-on",
    "MQDMPR-3.1.4.11-D02",
    "When the coordinator does not answer, the queue manager goes on.",
    skip(Coordinating.reenlistment_timeout),
)


@fault("offline-keeps-accepting", breaks="MQDMPR-3.1.4.12-03")
class OfflineKeepsAccepting(Connecting):
    """A queue manager that was taken offline accepts sessions, and establishes none."""

    def may_connect(self) -> bool:
        return True


@fault("offline-only-ends-sessions", breaks="MQDMPR-3.1.4.12-03")
class OfflineOnlyEndsSessions(Administering):
    """Taking the queue manager offline ends its sessions, which are established anew."""

    def take_offline(self, now: Now) -> None:
        super().take_offline(now)
        self.qm.adm.ConnectionActive = True


add(
    "offline-for-good",
    "MQDMPR-3.1.4.13-03",
    "A queue manager that was taken offline does not come back before it starts again.",
    skip(Administering.bring_online),
)


add(
    "online-without-what-waits",
    "MQDMPR-3.1.4.13-03",
    "A queue manager that is online again accepts sessions, and establishes none for what waits.",
    skip_during(Administering.bring_online, Administering.establish_waiting),
)
