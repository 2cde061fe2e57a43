"""Model the transactions of applications and of a coordinator. Spec: MS-MQDMPR 3.1.4.3 to 3.1.4.8, 3.1.7.1.8."""

from __future__ import annotations

from random import Random
from typing import Any

from harness.model.queues.sending import SendTransitions
from harness.model.queues.state import DELETED_MESSAGE_STATE, Transaction
from harness.model.steps import ImpossibleStep, draw_one_value_or_refuse_step, transition

MAX_TRANSACTIONS = 4


class TransactionTransitions(SendTransitions):
    """The transitions that begin, commit and abort transactions."""

    @transition("MQDMPR-3.1.7.1.8-03", "MQDMPR-3.1.7.1.8-04", needs=("transactions",), weight=7, external=False)
    def begin(self, transaction: str, external: bool) -> None:
        self.transactions[transaction] = Transaction(transaction, external)
        self.answer_with_success()

    def draw_begin(self, chance: Random) -> dict[str, Any]:
        if len(self.transactions) >= MAX_TRANSACTIONS or not any(one.transactional for one in self.queues.values()):
            raise ImpossibleStep
        return {"transaction": f"t{self.steps}", "external": chance.random() < 0.4}

    @transition("MQDMPR-3.1.4.3-03", "MQDMPR-3.1.4.3-08", "MQDMPR-3.1.4.6-03", needs=("transactions",), weight=3)
    def prepare(self, transaction: str, single_phase: bool) -> None:
        prepared = self.find(self.transactions, transaction)
        if not prepared.is_external:
            raise ImpossibleStep
        if prepared.state != "active":
            self.answer_with_refusal("MQ_ERROR_TRANSACTION_SEQUENCE")
        elif single_phase:
            self.cite_rules("MQDMPR-3.1.4.6-09")
            self._carry_out_operations(prepared)
        else:
            self.cite_rules("MQDMPR-3.1.4.6-08")
            self._stop_readers(prepared)
            prepared.state = "prepared"
            self.answers["answer"] = {"outcome": "prepared"}

    def draw_prepare(self, chance: Random) -> dict[str, Any]:
        external = [one for one in self.transactions.values() if one.is_external]
        long = [one for one in external if len(one.operations) > 1]
        moves = [one for one in external if any(each.target for each in one.operations)]
        preferred = moves if moves and chance.random() < 0.5 else long
        one = draw_one_value_or_refuse_step(chance, preferred if preferred and chance.random() < 0.6 else external)
        return {"transaction": one.name, "single_phase": chance.random() < 0.2}

    @transition("MQDMPR-3.1.4.4-03", "MQDMPR-3.1.4.4-23", "MQDMPR-3.1.4.4-24", needs=("transactions",), weight=4)
    def commit(self, transaction: str) -> None:
        committed = self.find(self.transactions, transaction)
        if committed.is_external and committed.state != "prepared":
            self.answer_with_refusal("MQ_ERROR_TRANSACTION_SEQUENCE")
        else:
            self._carry_out_operations(committed)

    def draw_commit(self, chance: Random) -> dict[str, Any]:
        return {"transaction": self._draw_transaction_to_end(chance)}

    def _draw_transaction_to_end(self, chance: Random) -> str:
        """Choose at random a transaction to end. If transactions with several operations exist, one of them is chosen
        in most cases.
        """
        long = [name for name, one in self.transactions.items() if len(one.operations) > 1]
        if not long and chance.random() < 0.6:
            raise ImpossibleStep
        return str(draw_one_value_or_refuse_step(chance, long if long and chance.random() < 0.6 else self.transactions))

    def _carry_out_operations(self, transaction: Transaction) -> None:
        self._stop_readers(transaction)
        for operation in transaction.operations:
            position = operation.position
            if position.state == DELETED_MESSAGE_STATE:
                continue
            if operation.kind == "enqueue":
                self.cite_rules("MQDMPR-3.1.4.4-07")
                self.handle_arrival(position)
            elif operation.kind == "dequeue":
                self.cite_rules("MQDMPR-3.1.4.4-11")
                self.delete_position(position, operation.reason)
            elif operation.target is not None:
                self.cite_rules("MQDMPR-3.1.4.4-16", "MQDMPR-3.1.4.4-17", "MQDMPR-3.1.4.4-19")
                self.move_position(position, operation.target)
        del self.transactions[transaction.name]
        self.answers["answer"] = {"outcome": "committed"}

    @transition("MQDMPR-3.1.4.5-03", "MQDMPR-3.1.4.5-19", "MQDMPR-3.1.4.5-20", needs=("transactions",), weight=3)
    def abort(self, transaction: str) -> None:
        aborted = self.find(self.transactions, transaction)
        self._stop_readers(aborted)
        self.undo_transaction(aborted)
        self.answers["answer"] = {"outcome": "aborted"}

    def undo_transaction(self, transaction: Transaction) -> None:
        """Undo the operations of a transaction (MS-MQDMPR 3.1.4.5)."""
        for operation in transaction.operations:
            position = operation.position
            if operation.kind == "enqueue":
                if position.state != DELETED_MESSAGE_STATE:
                    self.cite_rules("MQDMPR-3.1.4.5-17")
                    position.queue.positions.remove(position)
                    position.state = DELETED_MESSAGE_STATE
            else:
                self.cite_rules("MQDMPR-3.1.4.5-08", "MQDMPR-3.1.4.5-13")
                received = operation.kind == "dequeue" and position.state == "purge pending"
                reason = operation.reason if received and self.choose_reading("E119") else "NACK_Q_PURGED"
                self.release_position(position, purged=reason)
        del self.transactions[transaction.name]

    def draw_abort(self, chance: Random) -> dict[str, Any]:
        return {"transaction": self._draw_transaction_to_end(chance)}

    def _stop_readers(self, transaction: Transaction) -> None:
        """End the waiting reads of a transaction that accepts no more operations."""
        for reader in self.readers():
            if reader.transaction is transaction:
                self.end_read_without_message(reader)

    @transition("MQQB-3.1.7.2.1-D05", needs=("transactions", "reject"), weight=3)
    def reject(self, transaction: str, message: str, queue: str) -> None:
        """Let an application reject a message that it received in a transaction. When the transaction commits, the
        sender of the message is informed.
        """
        found = self.find(self.transactions, transaction)
        position = self.find_position(self.find(self.queues, queue), message)
        operation = next((one for one in found.operations if one.position is position and one.kind == "dequeue"), None)
        if operation is None or found.state != "active":
            raise ImpossibleStep
        operation.reason = "NACK_RECEIVE_REJECTED"
        self.answer_with_success()

    def draw_reject(self, chance: Random) -> dict[str, Any]:
        transaction = draw_one_value_or_refuse_step(
            chance, (one for one in self.transactions.values() if one.state == "active")
        )
        received = [one for one in transaction.operations if one.kind == "dequeue"]
        operation = draw_one_value_or_refuse_step(
            chance, (one for one in received if one.position.state != DELETED_MESSAGE_STATE)
        )
        position = operation.position
        return {"transaction": transaction.name, "message": position.message.name, "queue": position.queue.name}
