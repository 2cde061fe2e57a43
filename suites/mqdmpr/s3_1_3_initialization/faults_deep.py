"""Faults of MS-MQDMPR 3.1.3 Initialization with several queues, messages, transactions or starts."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.enterprise.initialization import Initialization
from reference_qm.core.queueing.queue_opening import Opened, QueueOpening
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.queueing.transaction_records import TransactionRecords
from reference_qm.core.store.entries import message_entry
from reference_qm.core.store.messages import serialize_message
from reference_qm.model.adm import MessagePosition, OutgoingQueue, Queue
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.model.message import Message
from reference_qm.model.states import OutgoingQueueState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.model.transactions import OperationType, Transaction
from reference_qm.surface.clock import Now


@fault("restart-keeps-message-that-open-transaction-sent", breaks="MQDMPR-3.1.3-D16", blind=True)
class RestartKeepsMessageThatOpenTransactionSent(TransactionOperations):
    """The queue manager saves a message that an open internal transaction sent to a local queue at once, so the message
    is in the queue after a restart.
    """

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        position = super().enqueue_in_transaction(transaction, queue, message)
        if not isinstance(queue, OutgoingQueue) and self.qm.disk.used:
            self.qm.disk.save(message_entry(position, serialize_message(position.MessageReference).build()))
        return position


@fault("in-doubt-transaction-move-not-restored", breaks="MQDMPR-3.1.3-D15", blind=True)
class InDoubtTransactionMoveNotRestored(TransactionRecords):
    """After a restart, the commit of a prepared transaction does not carry out the moves of the transaction."""

    def restore_transaction(self, rest: str, value: Any) -> None:
        kept = [one for one in value["operations"] if one[0] != OperationType.MOVE.value]
        super().restore_transaction(rest, {**value, "operations": kept})


@fault("in-doubt-transaction-last-one-restored-only", breaks="MQDMPR-3.1.3-D15", blind=True)
class InDoubtTransactionLastOneRestoredOnly(TransactionRecords):
    """After a restart, the queue manager can commit or abort only the last of several prepared transactions."""

    def restore_transaction(self, rest: str, value: Any) -> None:
        self.qm.adm.TransactionCollection.clear()
        super().restore_transaction(rest, value)


@fault("hardened-security-queue-of-second-host-not-locked-at-start", breaks="MQDMPR-3.1.3-D14", blind=True)
class HardenedSecurityQueueOfSecondHostNotLockedAtStart(Initialization):
    """When the queue manager starts in hardened security mode, only the first of its outgoing queues is Locked."""

    def begin(self, now: Now) -> None:
        super().begin(now)
        for queue in list(self.qm.adm.OutgoingQueues.values())[1:]:
            if queue.State is OutgoingQueueState.LOCKED:
                queue.State = OutgoingQueueState.WAITING


@fault("order-queue-open-to-send-for-applications", breaks="MQDMPR-3.1.3-27", blind=True)
class OrderQueueOpenToSendForApplications(QueueOpening):
    """An application can open the queue for order acknowledgments for sending, by the name of the local computer."""

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> Opened:
        own = "order_queue$" in format_name.lower() or "notify_queue$" in format_name.lower()
        if own and required_access is QueueAccessType.SEND and "TCP" not in format_name:
            queue = next(iter(self.qm.adm.QueueCollection.values()))
            return self.open_found_queue(queue, format_name, required_access, shared_mode)
        return super().open_queue(format_name, required_access, shared_mode, now)


@fault("order-queue-open-to-peek-for-remote-readers", breaks="MQDMPR-3.1.3-27", blind=True)
class OrderQueueOpenToPeekForRemoteReaders(QueueOpening):
    """An application or a remote reader can open the queue for order acknowledgments with PeekAccess."""

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> Opened:
        if "order_queue$" in format_name.lower() and required_access is QueueAccessType.PEEK:
            queue = next(iter(self.qm.adm.QueueCollection.values()))
            return self.open_found_queue(queue, format_name, required_access, shared_mode)
        return super().open_queue(format_name, required_access, shared_mode, now)


@fault("notify-queue-open-to-send-in-upper-case", breaks="MQDMPR-3.1.3-27", blind=True)
class NotifyQueueOpenToSendInUpperCase(QueueOpening):
    """An application can open the queue for change notifications for sending if the name is in capital letters."""

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> Opened:
        if "NOTIFY_QUEUE$" in format_name and required_access is QueueAccessType.SEND:
            queue = next(iter(self.qm.adm.QueueCollection.values()))
            return self.open_found_queue(queue, format_name, required_access, shared_mode)
        return super().open_queue(format_name, required_access, shared_mode, now)


@fault("sites-update-timer-stopped-by-gates-timer", breaks="MQDMPR-3.1.3-D11", blind=True)
class SitesUpdateTimerStoppedByGatesTimer(DirectoryClient):
    """At its start the queue manager stops the Directory Sites Update Timer when it starts the Directory Site Gates
    Update Timer.
    """

    def _start_timer(self, name: TimerName, now: Now) -> None:
        super()._start_timer(name, now)
        if name is TimerName.DIRECTORY_SITE_GATES_UPDATE:
            self.qm.timers.stop(TimerKey(TimerName.DIRECTORY_SITES_UPDATE, 0))


@fault("restart-restores-only-first-prepared-transaction", breaks="MQDMPR-3.1.3-D15")
class RestartRestoresOnlyFirstPreparedTransaction(TransactionRecords):
    """After a restart, the queue manager has only the first of several transactions for which it voted."""

    def restore_transaction(self, rest: str, value: Any) -> None:
        if not self.qm.adm.TransactionCollection:
            super().restore_transaction(rest, value)
