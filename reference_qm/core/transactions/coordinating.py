"""Transactions as an application or a coordinator (DTC) asks for their outcome: answered when it is on disk.

Spec: MS-MQDMPR 3.1.4.6, 3.1.4.7, 3.1.4.8; after a crash the same answers resolve what is in doubt: 3.1.4.9, 3.1.4.10.
What fails leaves the transaction as it was: to be tried again, or aborted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference_qm.core.protocol.errors import CommandError
from reference_qm.core.protocol.sending import take_back
from reference_qm.core.transactions import records
from reference_qm.core.transactions.events import Outcome
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import TransactionState
from reference_qm.surface.commands import Result

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager
    from reference_qm.model.transactions import Transaction
    from reference_qm.surface.clock import Now


def prepare(qm: QueueManager, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
    """Vote: ``prepared`` promises to commit even after a crash. Spec: MS-MQDMPR 3.1.4.6.

    ``single_phase``: this queue manager is the only one that takes part, so that it is committed at once.
    """
    _check_state(transaction, TransactionState.ACTIVE, "begin another one")
    qm.procedures.transaction_prepare(qm, transaction, False)
    if single_phase:
        return _commit(qm, transaction, token, now)
    _stop_waiting(qm, transaction)
    change = records.prepared(qm, transaction)
    transaction.state = TransactionState.PREPARING

    def vote() -> Result:
        transaction.state = TransactionState.PREPARED
        return Result({"outcome": transaction.state.value})

    def refuse() -> None:
        transaction.state = TransactionState.ACTIVE

    return qm.disk.commit(change, token, vote, refuse)


def commit(qm: QueueManager, transaction: Transaction, token: int, now: Now) -> Result | None:
    """Commit a transaction. Spec: MS-MQDMPR 3.1.4.7, 3.1.4.9; MS-MQMP 3.1.4.15 for one without a coordinator.

    That one is prepared here, by the default of 3.1.4.3: else its messages would have no boundaries (MS-MQMQ 2.2.20.5).
    """
    if transaction.SinglePhase:
        _check_state(transaction, TransactionState.ACTIVE, "wait for the answer")
        qm.procedures.transaction_prepare(qm, transaction, True)
    else:
        _check_state(transaction, TransactionState.PREPARED, "a coordinator prepares it first")
    return _commit(qm, transaction, token, now)


def abort(qm: QueueManager, transaction: Transaction, token: int) -> Result | None:
    """Abort a transaction. Spec: MS-MQDMPR 3.1.4.8, 3.1.4.10; MS-MQMP 3.1.4.16."""
    if transaction.state is not TransactionState.PREPARED:
        _check_state(transaction, TransactionState.ACTIVE, "wait for the answer")
    _stop_waiting(qm, transaction)
    change, before = records.aborted(qm, transaction), transaction.state
    transaction.state = TransactionState.ENDING

    def decide() -> Result:
        return _decide(qm, transaction, Outcome.ABORTED)

    def undecide() -> None:
        transaction.state = before

    return qm.disk.commit(change, token, decide, undecide)


def reenlistment_timeout(qm: QueueManager, now: Now) -> None:
    """Stop, because the coordinator does not tell what became of what is in doubt. Spec: MS-MQDMPR 3.1.4.11.

    Printed is to stop the initialization, which here is over before the coordinator is asked: so the queue manager
    leaves the network, and refuses with an error whatever would change something, until it starts again.
    """
    qm.halted = "the coordinator did not say what became of transactions in doubt (MS-MQDMPR 3.1.4.11): restart"
    qm.procedures.take_offline(qm, now)


def _commit(qm: QueueManager, transaction: Transaction, token: int, now: Now) -> Result | None:
    """Write everything as one record. What is sent has its place in its outgoing queue meanwhile, and waits there."""
    _stop_waiting(qm, transaction)
    change, before = records.committed(qm, transaction), transaction.state
    outgoing = records.outgoing(transaction)
    keys = [position.key for _, position in outgoing]
    transaction.state = TransactionState.ENDING
    for queue, position in outgoing:
        change |= qm.procedures.take_over(qm, queue, position, now)

    def decide() -> Result:
        return _decide(qm, transaction, Outcome.COMMITTED)

    def undecide() -> None:
        transaction.state = before
        for (queue, position), key in zip(outgoing, keys, strict=True):
            take_back(qm, queue, position)
            position.key, position.awaits_disk = key, False

    sessions = list(dict.fromkeys(queue.session for queue, _ in outgoing))
    return qm.disk.commit(change, token, decide, undecide, sessions)


def _decide(qm: QueueManager, transaction: Transaction, outcome: Outcome) -> Result:
    qm.outcomes.append((transaction, outcome))
    return Result({"outcome": outcome.value})


def _stop_waiting(qm: QueueManager, transaction: Transaction) -> None:
    """Reject the commands that wait for a message in a transaction that takes no more."""
    for reader in list(qm.readers.values()):
        if reader.transaction is transaction:
            qm.procedures.stop_reader(qm, reader, Status.MQ_ERROR_TRANSACTION_SEQUENCE)


def _check_state(transaction: Transaction, wanted: TransactionState, way_out: str) -> None:
    if transaction.state is not wanted:
        raise CommandError(
            f"transaction {transaction.Identifier} is {transaction.state.value} "
            f"(MQ_ERROR_TRANSACTION_SEQUENCE): {way_out}"
        )
