"""Faults of MS-MQDMPR 3.1.4, Higher-Layer Triggered Events, with several operations, queues or transactions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import at_restart
from harness.faults.registry import add
from reference_qm.core.commands.coordinating import Coordinating
from reference_qm.core.commands.transaction_commands import TransactionCommands
from reference_qm.core.errors import CommandError
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.transaction_records import TransactionRecords
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.administering import Administering
from reference_qm.model.adm import MessagePosition, OutgoingQueue, Session
from reference_qm.model.states import SessionState
from reference_qm.model.transactions import OperationType, Transaction, TransactionalOperation, TransactionState
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result

ENQUEUE, DEQUEUE, MOVE = OperationType.ENQUEUE, OperationType.DEQUEUE, OperationType.MOVE


def _list_sent(transaction: Transaction) -> list[MessagePosition]:
    return [
        one.MessagePositionReference
        for one in transaction.TransactionalOperationCollection
        if one.OperationType is ENQUEUE
    ]


@fault("prepare-of-unknown-transaction-aborts-open-transactions", breaks="MQDMPR-3.1.4.3-05", blind=True)
class PrepareOfUnknownTransactionAbortsOpenTransactions(TransactionCommands):
    """When the queue manager refuses to prepare an unknown transaction, it aborts the open external transactions."""

    def prepare_transaction(self, request: Any, token: int, now: Now) -> Result | None:
        if request.transaction not in self.qm.adm.TransactionCollection:
            self.qm.coordinating.abort_undecided()
        return super().prepare_transaction(request, token, now)


@fault("transaction-that-begins-with-receive-has-no-first-message", breaks="MQDMPR-3.1.4.3-06", blind=True)
class TransactionThatBeginsWithReceiveHasNoFirstMessage(TransactionEvents):
    """The sender marks no message of a transaction as the first if the transaction received a message of the same queue
    manager before it sent a message.
    """

    def mark_boundaries(self, transaction: Transaction) -> None:
        super().mark_boundaries(transaction)
        if transaction.TransactionalOperationCollection[:1] and (
            transaction.TransactionalOperationCollection[0].OperationType is DEQUEUE
        ):
            for position in _list_sent(transaction):
                position.MessageReference = replace(position.MessageReference, FirstInTransaction=False)


@fault("transaction-that-ends-with-receive-has-no-last-message", breaks="MQDMPR-3.1.4.3-07", blind=True)
class TransactionThatEndsWithReceiveHasNoLastMessage(TransactionEvents):
    """The sender marks no message of a transaction as the last if the last operation of the transaction receives a
    message.
    """

    def mark_boundaries(self, transaction: Transaction) -> None:
        super().mark_boundaries(transaction)
        if transaction.TransactionalOperationCollection[-1:] and (
            transaction.TransactionalOperationCollection[-1].OperationType is DEQUEUE
        ):
            for position in _list_sent(transaction):
                position.MessageReference = replace(position.MessageReference, LastInTransaction=False)


@fault("external-transaction-last-message-not-marked", breaks="MQDMPR-3.1.4.3-07", blind=True)
class ExternalTransactionLastMessageNotMarked(TransactionEvents):
    """The sender does not mark the last message of a transaction with a coordinator as the last."""

    def mark_boundaries(self, transaction: Transaction) -> None:
        super().mark_boundaries(transaction)
        for position in [] if transaction.SinglePhase else _list_sent(transaction):
            position.MessageReference = replace(position.MessageReference, LastInTransaction=False)


@fault("prepare-refused-while-other-transaction-is-prepared", breaks="MQDMPR-3.1.4.3-08", blind=True)
class PrepareRefusedWhileOtherTransactionIsPrepared(Coordinating):
    """The queue manager refuses to prepare a transaction while another transaction is prepared."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        if any(one.state is TransactionState.PREPARED for one in self.qm.adm.TransactionCollection.values()):
            raise CommandError("another transaction is prepared: wait for its outcome")
        return super().prepare(transaction, single_phase, token, now)


@fault("prepare-refused-for-transaction-with-move", breaks="MQDMPR-3.1.4.3-08", blind=True)
class PrepareRefusedForTransactionWithMove(Coordinating):
    """The queue manager refuses to prepare a transaction that moves a message."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        if any(one.OperationType is MOVE for one in transaction.TransactionalOperationCollection):
            raise CommandError("the transaction moves a message: abort it")
        return super().prepare(transaction, single_phase, token, now)


@fault("commit-of-unknown-transaction-commits-open-transaction", breaks="MQDMPR-3.1.4.4-04", blind=True)
class CommitOfUnknownTransactionCommitsOpenTransaction(TransactionCommands):
    """When the queue manager refuses to commit an unknown transaction, it ends the reads that wait in transactions."""

    def commit_transaction(self, request: Any, token: int, now: Now) -> Result | None:
        if request.transaction not in self.qm.adm.TransactionCollection:
            for one in list(self.qm.adm.TransactionCollection.values()):
                self.qm.coordinating._stop_waiting(one)
        return super().commit_transaction(request, token, now)


@fault("commit-carries-out-first-move-only", breaks="MQDMPR-3.1.4.4-17", blind=True)
class CommitCarriesOutFirstMoveOnly(TransactionEvents):
    """At a commit, the queue manager moves only the first of several messages that the transaction moves."""

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        moves = [one for one in transaction.TransactionalOperationCollection if one.OperationType is MOVE]
        for one in moves[1:]:
            transaction.TransactionalOperationCollection.remove(one)
            self.qm.positions.unlock_message(one.MessagePositionReference)
        super().transaction_commit(transaction, now)


@fault("commit-moves-all-messages-to-first-target", breaks="MQDMPR-3.1.4.4-17", blind=True)
class CommitMovesAllMessagesToFirstTarget(TransactionEvents):
    """At a commit, the queue manager moves all messages of the transaction to the subqueue of its first move."""

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        moves = [one for one in transaction.TransactionalOperationCollection if one.OperationType is MOVE]
        for one in moves[1:]:
            one.TargetQueueReference = moves[0].TargetQueueReference
        super().transaction_commit(transaction, now)


@fault("commit-keeps-second-moved-message-in-source", breaks="MQDMPR-3.1.4.4-16", blind=True)
class CommitKeepsSecondMovedMessageInSource(TransactionEvents):
    """At a commit, the queue manager moves the first message of several, and only copies the other messages to the
    target queue.
    """

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        moves = [one for one in transaction.TransactionalOperationCollection if one.OperationType is MOVE]
        copied = [(one.MessagePositionReference.QueueReference, one.MessagePositionReference) for one in moves[1:]]
        super().transaction_commit(transaction, now)
        for queue, position in copied:
            again = self.qm.positions.insert_message(queue, position.MessageReference)
            self.qm.positions.message_available(again)


@fault("commit-of-move-drops-extension", breaks="MQDMPR-3.1.4.4-17", blind=True)
class CommitOfMoveDropsExtension(TransactionEvents):
    """When a commit moves a message, the queue manager drops the extension and the application tag of the message."""

    def commit_move(self, operation: TransactionalOperation, now: Now) -> None:
        position = operation.MessagePositionReference
        position.MessageReference = replace(position.MessageReference, Extension=b"", AppSpecific=0)
        super().commit_move(operation, now)


@fault("committed-moves-in-reverse-order", breaks="MQDMPR-3.1.4.4-18", blind=True)
class CommittedMovesInReverseOrder(TransactionEvents):
    """When a commit moves several messages, the queue manager inserts them into the target queue in reverse order."""

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        moves = [one for one in transaction.TransactionalOperationCollection if one.OperationType is MOVE]
        others = [one for one in transaction.TransactionalOperationCollection if one.OperationType is not MOVE]
        transaction.TransactionalOperationCollection[:] = [*others, *reversed(moves)]
        super().transaction_commit(transaction, now)


@fault("committed-transaction-still-listed", breaks="MQDMPR-3.1.4.4-23", blind=True)
class CommittedTransactionStillListed(TransactionEvents):
    """The queue manager keeps a committed transaction that sent no message in its list of transactions."""

    def _remove_transaction(self, transaction: Transaction) -> None:
        super()._remove_transaction(transaction)
        if not _list_sent(transaction):
            transaction.state = TransactionState.ENDING
            self.qm.adm.TransactionCollection[transaction.Identifier] = transaction


@fault("commit-of-transaction-without-operations-refused", breaks="MQDMPR-3.1.4.4-24", blind=True)
class CommitOfTransactionWithoutOperationsRefused(Coordinating):
    """The queue manager refuses to commit a prepared transaction without operations."""

    def commit(self, transaction: Transaction, token: int, now: Now) -> Result | None:
        if not transaction.SinglePhase and not transaction.TransactionalOperationCollection:
            raise CommandError("the transaction has no operations: abort it")
        return super().commit(transaction, token, now)


@fault("abort-removes-first-sent-message-only", breaks="MQDMPR-3.1.4.5-17", blind=True)
class AbortRemovesFirstSentMessageOnly(TransactionEvents):
    """At an abort, the queue manager removes only the first of several messages that the transaction sent to local
    queues.
    """

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        local = [one for one in _list_sent(transaction) if not isinstance(one.QueueReference, OutgoingQueue)]
        super().transaction_abort(transaction, now)
        for position in local[1:]:
            again = self.qm.positions.insert_message(position.QueueReference, position.MessageReference)
            self.qm.positions.message_available(again)


@fault("aborted-sent-message-counts-against-quota", breaks="MQDMPR-3.1.4.5-17", blind=True)
class AbortedSentMessageCountsAgainstQuota(TransactionEvents):
    """After an abort, the queue manager still counts the messages that the transaction sent to a local queue against
    the quota of the queue.
    """

    def abort_enqueue(self, operation: TransactionalOperation, now: Now) -> None:
        position = operation.MessagePositionReference
        size, messages = position.size, position.QueueReference.MessagePositionList
        super().abort_enqueue(operation, now)
        messages.TotalBytes += size


@fault("abort-of-transaction-with-move-refused", breaks="MQDMPR-3.1.4.5-20", blind=True)
class AbortOfTransactionWithMoveRefused(Coordinating):
    """The queue manager refuses to abort a transaction that moves a message."""

    def abort(self, transaction: Transaction, token: int | None) -> Result | None:
        if any(one.OperationType is MOVE for one in transaction.TransactionalOperationCollection):
            raise CommandError("the transaction moves a message: commit it")
        return super().abort(transaction, token)


@fault("in-doubt-transaction-commit-decides-all", breaks="MQDMPR-3.1.4.9-D01", blind=True)
class InDoubtTransactionCommitDecidesAll(TransactionEvents):
    """When one transaction in doubt is committed, the queue manager also commits the other transactions in doubt."""

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        prepared = [
            one
            for one in self.qm.adm.TransactionCollection.values()
            if one.state is TransactionState.PREPARED and one is not transaction
        ]
        super().transaction_commit(transaction, now)
        for one in prepared:
            super().transaction_commit(one, now)


@fault("in-doubt-transaction-commit-returns-received-message", breaks="MQDMPR-3.1.4.9-D01", blind=True)
class InDoubtTransactionCommitReturnsReceivedMessage(TransactionRecords):
    """After a restart, the commit of a transaction in doubt returns the messages that the transaction received."""

    def restore_transaction(self, rest: str, value: Any) -> None:
        kept = [one for one in value["operations"] if one[0] != DEQUEUE.value]
        super().restore_transaction(rest, {**value, "operations": kept})


@fault("in-doubt-transaction-abort-sends-outgoing-message", breaks="MQDMPR-3.1.4.10-D01", blind=True)
class InDoubtTransactionAbortSendsOutgoingMessage(TransactionRecords):
    """At a restart, the queue manager sends the messages of a prepared transaction to other queue managers at once."""

    def restore_transaction(self, rest: str, value: Any) -> None:
        kept = [one for one in value["operations"] if one[0] != ENQUEUE.value]
        super().restore_transaction(rest, {**value, "operations": kept})


def _forget_transactions(qm: QueueManager) -> None:
    qm.disk.save({f"transaction:{one}": None for one in qm.adm.TransactionCollection})


add(
    "in-doubt-transaction-decided-by-second-restart",
    "MQDMPR-3.1.4.10-D01",
    "After a second restart, the queue manager does not know the transactions in doubt.",
    at_restart(_forget_transactions),
    blind=True,
)


@fault("reenlistment-timeout-reports-first-transaction-only", breaks="MQDMPR-3.1.4.11-D01", blind=True)
class ReenlistmentTimeoutReportsFirstTransactionOnly(TransactionCommands):
    """At the reenlistment timeout the queue manager reports only the first of several transactions in doubt."""

    def reenlistment_timeout(self, request: Any, token: int, now: Now) -> Result:
        return Result({"in_doubt": super().reenlistment_timeout(request, token, now).values["in_doubt"][:1]})


@fault("offline-queue-manager-keeps-half-open-sessions", breaks="MQDMPR-3.1.4.12-03", blind=True)
class OfflineQueueManagerKeepsHalfOpenSessions(Administering):
    """A queue manager that is taken offline closes only open sessions, and completes a session that is being set up."""

    def take_offline(self, now: Now) -> None:
        half = [one for one in self.qm.sessions.values() if one.SessionState is SessionState.WAITING_CP_MSG]
        for session in half:
            del self.qm.sessions[session.number]
        super().take_offline(now)
        for session in half:
            self.qm.sessions[session.number] = session


@fault("offline-queue-manager-second-time-accepts-sessions", breaks="MQDMPR-3.1.4.12-03", blind=True)
class OfflineQueueManagerSecondTimeAcceptsSessions(Administering):
    """A queue manager that was taken offline and brought online again ignores a second request to go offline."""

    def take_offline(self, now: Now) -> None:
        if self.qm.adm.QueueManagerVersion != "online again":
            super().take_offline(now)

    def bring_online(self, now: Now) -> None:
        super().bring_online(now)
        self.qm.adm.QueueManagerVersion = "online again"


@fault("online-queue-manager-refuses-sessions", breaks="MQDMPR-3.1.4.13-03", blind=True)
class OnlineQueueManagerRefusesSessions(SessionOpening):
    """A queue manager that is brought online sends messages, but accepts no session from another queue manager."""

    def receive_establish_request(self, session: Session, packet: Any, now: Now) -> None:
        if self.qm.adm.QueueManagerVersion == "was offline":
            self.qm.closing.close(session, "offline", now)
            return
        if not self.qm.adm.ConnectionActive:
            self.qm.adm.QueueManagerVersion = "was offline"
        super().receive_establish_request(session, packet, now)


@fault("online-queue-manager-sends-only-messages-from-before", breaks="MQDMPR-3.1.4.13-03", blind=True)
class OnlineQueueManagerSendsOnlyMessagesFromBefore(Administering):
    """A queue manager that is brought online does not send the messages that were sent while it was offline."""

    def establish_waiting(self, now: Now) -> None:
        known = dict(self.qm.adm.OutgoingQueues)
        for name, queue in known.items():
            if not queue.ConnectionHistory:
                del self.qm.adm.OutgoingQueues[name]
        super().establish_waiting(now)
        self.qm.adm.OutgoingQueues.update(known)
