from __future__ import annotations

from uuid import UUID

from reference_qm.core.errors import CommandError
from reference_qm.core.part import QueueManagerPart
from reference_qm.model.transactions import Transaction, TransactionState
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from reference_qm.surface.entropy import generate_guid


class TransactionCommands(QueueManagerPart):
    """Handles the commands that begin and decide transactions, and finds the transactions that other commands name."""

    __slots__ = ()

    def find_transaction_of_request(self, identifier: UUID | None) -> Transaction | None:
        """Find the transaction that a send or receive command names; raise CommandError if the transaction accepts
        no further operations.
        """
        if identifier is None:
            return None
        transaction = self.qm.transaction_events.find_transaction(identifier)
        self.qm.transaction_operations.check_accepts_operations(transaction)
        return transaction

    def reject_message(self, request: commands.RejectMessage, token: int, now: Now) -> Result:
        """Reject a message that was received in a transaction. Spec: MS-MQRR 3.1.4.14."""
        queue = self.qm.queue_names.find_queue(request.queue)
        transaction = self.qm.transaction_events.find_transaction(request.transaction)
        self.qm.transaction_operations.reject(transaction, queue, request.lookup_id)
        return Result()

    def begin_transaction(self, request: commands.BeginTransaction, token: int, now: Now) -> Result:
        """Begin a transaction. Spec: MS-MQDMPR 3.1.7.1.8."""
        if request.external:
            self.qm.transaction_coordinating.check_coordinator()
        identifier: UUID = generate_guid(self.qm.entropy) if request.transaction is None else request.transaction
        transaction = self.qm.transaction_events.create_transaction(identifier, not request.external)
        return Result({"transaction": str(transaction.Identifier)})

    def prepare_transaction(self, request: commands.PrepareTransaction, token: int, now: Now) -> Result | None:
        """Vote on a transaction. Spec: MS-MQDMPR 3.1.4.6."""
        return self.qm.transaction_coordinating.prepare(
            self._find_decidable_transaction(request.transaction), request.single_phase, token, now
        )

    def commit_transaction(self, request: commands.CommitTransaction, token: int, now: Now) -> Result | None:
        """Commit a transaction. Spec: MS-MQDMPR 3.1.4.4."""
        return self.qm.transaction_coordinating.commit(
            self._find_decidable_transaction(request.transaction), token, now
        )

    def abort_transaction(self, request: commands.AbortTransaction, token: int, now: Now) -> Result | None:
        """Abort a transaction. Spec: MS-MQDMPR 3.1.4.5."""
        return self.qm.transaction_coordinating.abort(self._find_decidable_transaction(request.transaction), token)

    def _find_decidable_transaction(self, identifier: UUID) -> Transaction:
        """Find the transaction that a command asks to prepare, commit or abort.

        Raise CommandError if only the coordinator may decide the transaction and the coordinator is unavailable.
        """
        transaction = self.qm.transaction_events.find_transaction(identifier)
        self.qm.transaction_coordinating.check_coordinator(transaction)
        return transaction

    def on_reenlistment_timeout(self, request: commands.ReenlistmentTimeout, token: int, now: Now) -> Result:
        """Stop the queue manager because the coordinator did not become available in time. Spec: MS-MQDMPR
        3.1.4.11.
        """
        in_doubt = [
            str(one.Identifier)
            for one in self.qm.adm.TransactionCollection.values()
            if one.state is TransactionState.PREPARED
        ]
        if not in_doubt:
            raise CommandError("no transaction is in doubt, so none waits for the coordinator")
        self.qm.transaction_coordinating.on_reenlistment_timeout(now)
        return Result({"in_doubt": in_doubt})
