from __future__ import annotations

from reference_qm.core.errors import CommandError
from reference_qm.core.events import TransactionDecided, TransactionOutcome
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.queueing import transaction_records as records
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import Transaction, TransactionState
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from reference_qm.surface.inputs import CoordinatorChanged


class TransactionCoordinating(QueueManagerPart):
    """Decides transactions on behalf of an application or a coordinator (DTC).

    Each command is answered when the outcome is on disk. Spec: MS-MQDMPR 3.1.4.6, 3.1.4.7, 3.1.4.8. After a crash,
    commit and abort also resolve transactions in doubt (3.1.4.9, 3.1.4.10). A command that fails leaves the
    transaction unchanged, so that the caller can repeat the command or abort the transaction.
    """

    __slots__ = ()

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        """Vote on a transaction. With the vote ``prepared``, the queue manager promises that it can commit even
        after a crash. Spec: MS-MQDMPR 3.1.4.6.

        ``single_phase`` states that this queue manager is the only participant; the transaction is then committed
        at once.
        """
        _check_transaction_state(transaction, TransactionState.ACTIVE, "begin a new transaction")
        self.qm.transaction_events.transaction_prepare(transaction, False)
        if single_phase:
            return self._write_commit(transaction, token, now)
        self._reject_reads_waiting_in_transaction(transaction)
        change = self.qm.transaction_records.build_prepare_record(transaction)
        transaction.state = TransactionState.PREPARING

        def vote_prepared() -> Result:
            transaction.state = TransactionState.PREPARED
            return Result({"outcome": transaction.state.value})

        def restore_active_state() -> None:
            transaction.state = TransactionState.ACTIVE

        return self.qm.disk.commit(change, token, vote_prepared, restore_active_state)

    def commit(self, transaction: Transaction, token: int, now: Now) -> Result | None:
        """Commit a transaction.

        Spec: MS-MQDMPR 3.1.4.7, 3.1.4.9; MS-MQMP 3.1.4.15 for a transaction without a coordinator.

        A transaction without a coordinator is prepared here, as 3.1.4.3 does by default. Otherwise the first and
        last message of the transaction would not be marked (MS-MQMQ 2.2.20.5).
        """
        if transaction.SinglePhase:
            _check_transaction_state(transaction, TransactionState.ACTIVE, "wait for the answer")
            self.qm.transaction_events.transaction_prepare(transaction, True)
        else:
            _check_transaction_state(transaction, TransactionState.PREPARED, "the coordinator must prepare it first")
        return self._write_commit(transaction, token, now)

    def abort(self, transaction: Transaction, token: int | None) -> Result | None:
        """Abort a transaction. Spec: MS-MQDMPR 3.1.4.8, 3.1.4.10; MS-MQMP 3.1.4.16."""
        if transaction.state is not TransactionState.PREPARED:
            _check_transaction_state(transaction, TransactionState.ACTIVE, "wait for the answer")
        self._reject_reads_waiting_in_transaction(transaction)
        change, before = self.qm.transaction_records.build_abort_record(transaction), transaction.state
        transaction.state = TransactionState.ENDING

        def carry_out_abort() -> Result:
            return self._carry_out_outcome(transaction, TransactionOutcome.ABORTED)

        def restore_previous_state() -> None:
            transaction.state = before

        return self.qm.disk.commit(change, token, carry_out_abort, restore_previous_state)

    def on_reenlistment_timeout(self, now: Now) -> None:
        """Stop the queue manager because the coordinator has not reported the outcome of transactions in doubt.
        Spec: MS-MQDMPR 3.1.4.11.

        The document stops the initialization at this point. In this implementation, the initialization is already
        complete when the coordinator is asked. Instead of stopping, the queue manager leaves the network and, until it
        is started again, refuses every command that would change its state.
        """
        self.qm.halted = (
            "the coordinator did not report the outcome of transactions in doubt (MS-MQDMPR 3.1.4.11): restart"
        )
        self.qm.transfer_administering.take_offline(now)

    def on_coordinator_changed(self, event: CoordinatorChanged, now: Now) -> None:
        """Record whether the Transaction Coordinator is available. Spec: MS-MQSO 5.5.3."""
        self.qm.coordinated = event.available
        if not event.available:
            self.abort_undecided_transactions()

    def abort_undecided_transactions(self) -> None:
        """Abort the open transactions whose outcome only the coordinator can decide, because the coordinator became
        unavailable. Spec: MS-MQSO 5.5.3.

        A prepared transaction is not aborted: it is in doubt, because other participants may have committed it
        (MS-MQDMPR 3.1.4.6).
        """
        for transaction in list(self.qm.adm.TransactionCollection.values()):
            if not transaction.SinglePhase and transaction.state is TransactionState.ACTIVE:
                self.abort(transaction, None)

    def check_coordinator(self, transaction: Transaction | None = None) -> None:
        """Raise CommandError for a command that begins or decides an external transaction while the coordinator is
        unavailable.

        Spec: MS-MQSO 5.5.3, 6.7.1.
        """
        external = transaction is None or not transaction.SinglePhase
        if external and not self.qm.coordinated:
            raise CommandError(
                "the Transaction Coordinator is unavailable (MQ_ERROR_DTC_CONNECT): try again when it is available"
            )

    def _write_commit(self, transaction: Transaction, token: int, now: Now) -> Result | None:
        """Commit a transaction by writing all of its operations to the disk as one record.

        Outgoing messages stay in their queues until the record is on disk.
        """
        self._reject_reads_waiting_in_transaction(transaction)
        change, before = self.qm.transaction_records.build_commit_record(transaction), transaction.state
        outgoing = records.list_outgoing_messages(transaction)
        keys = [position.key for _, position in outgoing]
        transaction.state = TransactionState.ENDING
        for queue, position in outgoing:
            change |= self.qm.message_sending.accept_outgoing_message(queue, position, now)

        def carry_out_commit() -> Result:
            return self._carry_out_outcome(transaction, TransactionOutcome.COMMITTED)

        def restore_state_before() -> None:
            transaction.state = before
            for (queue, position), key in zip(outgoing, keys, strict=True):
                self.qm.message_sending.remove_unsaved_message(queue, position)
                position.key, position.is_disk_write_pending = key, False

        sessions = list(dict.fromkeys(queue.session for queue, _ in outgoing))
        return self.qm.disk.commit(change, token, carry_out_commit, restore_state_before, sessions)

    def _carry_out_outcome(self, transaction: Transaction, outcome: TransactionOutcome) -> Result:
        self.qm.post_event(TransactionDecided(transaction, outcome))
        return Result({"outcome": outcome.value})

    def _reject_reads_waiting_in_transaction(self, transaction: Transaction) -> None:
        """Reject the commands that wait to receive a message in a transaction that accepts no further operations."""
        for reader in list(self.qm.readers.values()):
            if reader.transaction is transaction:
                self.qm.waiting_reads.end_wait_without_message(reader, Status.MQ_ERROR_TRANSACTION_SEQUENCE)


def _check_transaction_state(transaction: Transaction, wanted: TransactionState, way_out: str) -> None:
    if transaction.state is not wanted:
        raise CommandError(
            f"transaction {transaction.Identifier} is {transaction.state.value} "
            f"(MQ_ERROR_TRANSACTION_SEQUENCE): {way_out}"
        )
