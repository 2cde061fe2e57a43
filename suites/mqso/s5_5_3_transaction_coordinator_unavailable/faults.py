"""Faults that break rules of MS-MQSO 5.5.3 Transaction Coordinator Unavailable."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import omit_step
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.commands.higher_layer_commands import HigherLayerCommands
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.commands.transaction_commands import TransactionCommands
from reference_qm.core.commands.transaction_coordinating import TransactionCoordinating
from reference_qm.core.errors import CommandError
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.model.transactions import OperationType, Transaction, TransactionState
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from reference_qm.surface.inputs import CoordinatorChanged


@fault("returned-coordinator-ignored", breaks=("MQSO-5.5.3-01", "MQSO-5.5.3-02", "MQSO-5.5.3-06"))
class ReturnedCoordinatorIgnored(TransactionCoordinating):
    """After the coordinator was unavailable once, the queue manager never uses the coordinator again."""

    def on_coordinator_changed(self, event: CoordinatorChanged, now: Now) -> None:
        if not event.available:
            super().on_coordinator_changed(event, now)


@fault("queue-manager-keeps-transactions-at-second-coordinator-loss", breaks=("MQSO-5.5.3-03", "MQSO-5.5.3-01"))
class QueueManagerKeepsTransactionsAtSecondCoordinatorLoss(TransactionCoordinating):
    """A queue manager aborts undecided transactions when it loses the coordinator for the first time, but not when it
    loses the coordinator again.
    """

    def abort_undecided_transactions(self) -> None:
        if not getattr(self, "lost", False):
            super().abort_undecided_transactions()
        self.lost = True


@fault("sessions-refused-without-coordinator", breaks=("MQSO-5.5.3-02", "MQSO-5.5.3-05"))
class SessionsRefusedWithoutCoordinator(TransactionCoordinating):
    """The queue manager accepts and opens no sessions while the coordinator is unavailable."""

    def on_coordinator_changed(self, event: CoordinatorChanged, now: Now) -> None:
        super().on_coordinator_changed(event, now)
        if event.available:
            self.qm.transfer_administering.bring_online(now)
        else:
            self.qm.transfer_administering.take_offline(now)


@fault("queue-manager-internal-transaction-undecided-without-coordinator", breaks="MQSO-5.5.3-02", blind=True)
class QueueManagerInternalTransactionUndecidedWithoutCoordinator(TransactionCoordinating):
    """Without the coordinator, the queue manager neither commits nor aborts internal transactions."""

    def check_coordinator(self, transaction: Transaction | None = None) -> None:
        super().check_coordinator(transaction)
        if not self.qm.coordinated:
            raise CommandError("the Transaction Coordinator is unavailable (MQ_ERROR_DTC_CONNECT)")


add(
    "undecided-transaction-waits-for-lost-coordinator",
    "MQSO-5.5.3-03",
    "The queue manager keeps undecided transactions when it loses their coordinator.",
    omit_step(TransactionCoordinating.abort_undecided_transactions),
)


@fault("undecided-transaction-committed-when-coordinator-lost", breaks="MQSO-5.5.3-03")
class UndecidedTransactionCommittedWhenCoordinatorLost(TransactionCoordinating):
    """When the queue manager loses the coordinator, it commits undecided transactions."""

    def on_coordinator_changed(self, event: CoordinatorChanged, now: Now) -> None:
        if not event.available:
            for transaction in list(self.qm.adm.TransactionCollection.values()):
                if transaction.state is TransactionState.ACTIVE:
                    self._write_commit(transaction, 0, now)
        super().on_coordinator_changed(event, now)


@fault("only-first-transaction-of-lost-coordinator-aborted", breaks="MQSO-5.5.3-03")
class OnlyFirstTransactionOfLostCoordinatorAborted(TransactionCoordinating):
    """When the coordinator is lost, the queue manager aborts only the first of the unprepared transactions."""

    def abort_undecided_transactions(self) -> None:
        for transaction in list(self.qm.adm.TransactionCollection.values()):
            if not transaction.SinglePhase and transaction.state is TransactionState.ACTIVE:
                self.abort(transaction, None)
                return


@fault("queue-manager-leaves-messages-locked-at-coordinator-loss", breaks="MQSO-5.5.3-03", blind=True)
class QueueManagerLeavesMessagesLockedAtCoordinatorLoss(TransactionCoordinating):
    """When the coordinator is lost, the queue manager undoes the sends of the coordinator's transactions, but leaves
    received messages locked.
    """

    def abort_undecided_transactions(self) -> None:
        for transaction in self.qm.adm.TransactionCollection.values():
            if not transaction.SinglePhase and transaction.state is TransactionState.ACTIVE:
                operations = transaction.TransactionalOperationCollection
                operations[:] = [one for one in operations if one.OperationType is not OperationType.DEQUEUE]
        super().abort_undecided_transactions()


@fault("queue-manager-keeps-sending-transaction-at-coordinator-loss", breaks="MQSO-5.5.3-03")
class QueueManagerKeepsSendingTransactionAtCoordinatorLoss(TransactionCoordinating):
    """When a queue manager loses the coordinator, it does not abort a transaction that has only sent messages."""

    def abort_undecided_transactions(self) -> None:
        kept = {}
        for name, one in list(self.qm.adm.TransactionCollection.items()):
            kinds = {each.OperationType for each in one.TransactionalOperationCollection}
            if kinds == {OperationType.ENQUEUE}:
                kept[name] = self.qm.adm.TransactionCollection.pop(name)
        super().abort_undecided_transactions()
        self.qm.adm.TransactionCollection.update(kept)


add(
    "external-transaction-begun-without-coordinator",
    "MQSO-5.5.3-04",
    "The queue manager begins external transactions although the coordinator is unavailable.",
    omit_step(TransactionCoordinating.check_coordinator),
)


@fault("queue-manager-without-coordinator-begins-transaction-with-given-identifier", breaks="MQSO-5.5.3-04")
class QueueManagerWithoutCoordinatorBeginsTransactionWithGivenIdentifier(TransactionCommands):
    """Without the Transaction Coordinator, the queue manager takes part in an external transaction if the application
    supplies the identifier of this transaction.
    """

    def begin_transaction(self, request: commands.BeginTransaction, token: int, now: Now) -> Result:
        coordinated = self.qm.coordinated
        self.qm.coordinated = coordinated or request.transaction is not None
        try:
            return super().begin_transaction(request, token, now)
        finally:
            self.qm.coordinated = coordinated


@fault("messages-refused-without-coordinator", breaks="MQSO-5.5.3-05")
class MessagesRefusedWithoutCoordinator(HigherLayerCommands):
    """While the coordinator is unavailable, the queue manager refuses all messages that applications send."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        if not self.qm.coordinated:
            raise CommandError("no message is sent without the Transaction Coordinator")
        return super().send_message(request, token, now)


@fault("receiver-without-coordinator-takes-no-transactional-message", breaks="MQSO-5.5.3-05")
class ReceiverWithoutCoordinatorTakesNoTransactionalMessage(TransactionalReceiving):
    """Without the Transaction Coordinator, the receiver does not store transactional messages of other computers."""

    def receive_transactional_message(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        if self.qm.coordinated:
            super().receive_transactional_message(session, packet, receipt, now)
        else:
            receipt.is_on_disk = True


@fault("queue-manager-without-coordinator-refuses-internal-receive", breaks=("MQSO-5.5.3-05", "MQSO-4.3.3-D01"))
class QueueManagerWithoutCoordinatorRefusesInternalReceive(TransactionCoordinating):
    """Without the Transaction Coordinator, the queue manager refuses to commit an internal transaction that received a
    message.
    """

    def check_coordinator(self, transaction: Transaction | None = None) -> None:
        super().check_coordinator(transaction)
        operations = () if transaction is None else transaction.TransactionalOperationCollection
        if not self.qm.coordinated and any(one.OperationType is OperationType.DEQUEUE for one in operations):
            raise CommandError("the Transaction Coordinator is unavailable (MQ_ERROR_DTC_CONNECT)")


@fault("queue-manager-aborts-internal-transaction-at-coordinator-loss", breaks="MQSO-5.5.3-05", blind=True)
class QueueManagerAbortsInternalTransactionAtCoordinatorLoss(TransactionCoordinating):
    """When the coordinator is lost, the queue manager also aborts internal transactions."""

    def abort_undecided_transactions(self) -> None:
        for transaction in list(self.qm.adm.TransactionCollection.values()):
            if transaction.state is TransactionState.ACTIVE:
                self.abort(transaction, None)


@fault("queue-manager-without-coordinator-purge-refused", breaks="MQSO-5.5.3-05", blind=True)
class QueueManagerWithoutCoordinatorPurgeRefused(QueueCommands):
    """Without the Transaction Coordinator, the queue manager refuses to purge a transactional queue."""

    def purge_queue(self, request: commands.PurgeQueue, token: int, now: Now) -> Result | None:
        if not self.qm.coordinated and self.qm.queue_names.find_queue(request.queue).Transactional:
            raise CommandError("the Transaction Coordinator is unavailable (MQ_ERROR_DTC_CONNECT)")
        return super().purge_queue(request, token, now)


@fault("sender-without-coordinator-sends-no-transactional-message", breaks="MQSO-5.5.3-05", blind=True)
class SenderWithoutCoordinatorSendsNoTransactionalMessage(MessageSending):
    """Without the Transaction Coordinator, the queue manager transfers no transactional messages to other computers."""

    def dispatch_messages(self, session: Session, now: Now) -> None:
        waiting = session.OutgoingMessageTable.get_next_unsent()
        if self.qm.coordinated or waiting is None or not waiting.TxSequenceNumber:
            super().dispatch_messages(session, now)


@fault("queue-manager-does-not-notice-second-return-of-coordinator", breaks="MQSO-5.5.3-06")
class QueueManagerDoesNotNoticeSecondReturnOfCoordinator(TransactionCoordinating):
    """A queue manager that loses the Transaction Coordinator a second time does not notice the return of the
    coordinator.
    """

    def on_coordinator_changed(self, event: CoordinatorChanged, now: Now) -> None:
        self.returns = getattr(self, "returns", 0) + event.available
        if not event.available or self.returns < 2:
            super().on_coordinator_changed(event, now)


@fault("queue-manager-prepares-no-receives-after-coordinator-return", breaks="MQSO-5.5.3-06", blind=True)
class QueueManagerPreparesNoReceivesAfterCoordinatorReturn(TransactionCoordinating):
    """After the return of the coordinator, the queue manager prepares no transaction that received a message."""

    def on_coordinator_changed(self, event: CoordinatorChanged, now: Now) -> None:
        self.lost = getattr(self, "lost", False) or not event.available
        super().on_coordinator_changed(event, now)

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        operations = transaction.TransactionalOperationCollection
        if getattr(self, "lost", False) and any(one.OperationType is OperationType.DEQUEUE for one in operations):
            raise CommandError("the Transaction Coordinator is unavailable (MQ_ERROR_DTC_CONNECT)")
        return super().prepare(transaction, single_phase, token, now)


@fault("queue-manager-second-loss-of-coordinator-aborts-nothing", breaks="MQSO-5.5.3-01", blind=True)
class QueueManagerSecondLossOfCoordinatorAbortsNothing(TransactionCoordinating):
    """When the queue manager loses the Transaction Coordinator again, it does not abort the undecided transactions."""

    def abort_undecided_transactions(self) -> None:
        if not self.__dict__.get("lost"):
            super().abort_undecided_transactions()
        self.__dict__["lost"] = True
