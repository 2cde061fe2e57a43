"""The commands of transactions, and those parts of sending and receiving that are within one."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from reference_qm.core.protocol.errors import CommandError
from reference_qm.core.transactions import coordinating
from reference_qm.core.transactions.events import find_transaction
from reference_qm.core.transactions.operations import check_takes_operations
from reference_qm.model.transactions import TransactionState
from reference_qm.surface import commands
from reference_qm.surface.commands import Result
from reference_qm.surface.entropy import new_guid

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager
    from reference_qm.model.transactions import Transaction
    from reference_qm.surface.clock import Now


def transaction_for(qm: QueueManager, identifier: UUID | None) -> Transaction | None:
    """Find the transaction that a message is to be sent or received in; CommandError when it takes no more."""
    if identifier is None:
        return None
    transaction = find_transaction(qm, identifier)
    check_takes_operations(qm, transaction)
    return transaction


def begin_transaction(qm: QueueManager, request: commands.BeginTransaction, token: int, now: Now) -> Result:
    """Begin a transaction. Spec: MS-MQDMPR 3.1.7.1.8."""
    identifier: UUID = new_guid(qm.entropy) if request.transaction is None else request.transaction
    transaction = qm.procedures.create_transaction(qm, identifier, not request.external)
    return Result({"transaction": str(transaction.Identifier)})


def prepare_transaction(qm: QueueManager, request: commands.PrepareTransaction, token: int, now: Now) -> Result | None:
    """Vote on a transaction. Spec: MS-MQDMPR 3.1.4.6."""
    return coordinating.prepare(qm, find_transaction(qm, request.transaction), request.single_phase, token, now)


def commit_transaction(qm: QueueManager, request: commands.CommitTransaction, token: int, now: Now) -> Result | None:
    """Commit a transaction. Spec: MS-MQDMPR 3.1.4.4."""
    return coordinating.commit(qm, find_transaction(qm, request.transaction), token, now)


def abort_transaction(qm: QueueManager, request: commands.AbortTransaction, token: int, now: Now) -> Result | None:
    """Abort a transaction. Spec: MS-MQDMPR 3.1.4.5."""
    return coordinating.abort(qm, find_transaction(qm, request.transaction), token)


def reenlistment_timeout(qm: QueueManager, request: commands.ReenlistmentTimeout, token: int, now: Now) -> Result:
    """Give up without a coordinator. Spec: MS-MQDMPR 3.1.4.11."""
    in_doubt = [
        str(one.Identifier) for one in qm.adm.TransactionCollection.values() if one.state is TransactionState.PREPARED
    ]
    if not in_doubt:
        raise CommandError("no transaction is in doubt: nothing waits for the coordinator")
    qm.procedures.reenlistment_timeout(qm, now)
    return Result({"in_doubt": in_doubt})
