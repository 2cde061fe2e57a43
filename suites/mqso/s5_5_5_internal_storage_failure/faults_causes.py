"""Faults of MS-MQSO 5.5.5 and 5.5.6: single operations on a full disk, later starts, and single interfaces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import combine_installers, omit_step
from harness.faults.registry import add
from reference_qm.core.commands.input_dispatching import InputDispatching
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.commands.transaction_coordinating import TransactionCoordinating
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.enterprise.state_restoring import StateRestoring
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.core.queueing.queue_quotas import QueueQuotas
from reference_qm.core.transfer.message_arrival import UnsavedArrival
from reference_qm.core.transfer.message_enqueueing import MessageEnqueueing
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import IncomingTransactionalTransferInfo, MessagePosition, Queue
from reference_qm.model.states import MessagePositionState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.model.transactions import Transaction, TransactionState
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from reference_qm.surface.inputs import Command, DatagramReceived, DirectoryAnswered, Input, TransportAccepted


@fault("queue-manager-keeps-quota-of-change-refused-by-full-disk", breaks="MQSO-5.5.5-01", blind=True)
class QueueManagerKeepsQuotaOfChangeRefusedByFullDisk(QueueCommands):
    """The queue manager refuses a change of several properties on a full disk, but the new quota stays."""

    def _change_attributes(self, queue: Queue, changes: dict[str, Any], token: int) -> Result | None:
        answer = super()._change_attributes(queue, changes, token)
        pending = [one for one in self.qm.disk.pending.values() if one.token == token]
        for commit in pending:
            undo = commit.undo_change

            def undo_all_but_quota(undo: Callable[[], None] = undo) -> None:
                undo()
                if "Quota" in changes:
                    queue.Quota = changes["Quota"]

            object.__setattr__(commit, "undo_change", undo_all_but_quota)
        return answer


class _KeeperOfMessageRefusedByFullDisk(MessageEnqueueing):
    def _put_into_local_queue(
        self, position: MessagePosition, token: int | None, result: Result, now: Now
    ) -> Result | None:
        answer = super()._put_into_local_queue(position, token, result, now)
        for commit in self.qm.disk.pending.values():
            if commit.token == token and token is not None:
                object.__setattr__(commit, "undo_change", lambda: None)
        return answer


add(
    "queue-manager-full-disk-refused-message-uses-quota",
    "MQSO-5.5.5-01",
    "A message that could not be stored on a full disk stays locked in its local queue, and uses the quota.",
    combine_installers(omit_step(QueueQuotas.on_resources_changed), replace_part(_KeeperOfMessageRefusedByFullDisk)),
    blind=True,
)


add(
    "queue-manager-full-disk-refused-message-blocks-outgoing-queue",
    "MQSO-5.5.5-01",
    "A message to another queue manager that was refused on a full disk stays in its outgoing queue, and blocks it.",
    omit_step(MessageSending.remove_unsaved_message),
)


@fault("queue-manager-transaction-stuck-after-commit-fails-on-full-disk", breaks="MQSO-5.5.5-01", blind=True)
class QueueManagerTransactionStuckAfterCommitFailsOnFullDisk(TransactionCoordinating):
    """A transaction whose commit fails on a full disk stays in its final state, so that the transaction can be neither
    committed nor aborted later.
    """

    def _write_commit(self, transaction: Transaction, token: int, now: Now) -> Result | None:
        answer = super()._write_commit(transaction, token, now)
        for commit in self.qm.disk.pending.values():
            if commit.token == token:
                undo = commit.undo_change

                def undo_all_but_ending_state(undo: Callable[[], None] = undo) -> None:
                    undo()
                    transaction.state = TransactionState.ENDING

                object.__setattr__(commit, "undo_change", undo_all_but_ending_state)
        return answer


@fault("queue-manager-locks-message-whose-receive-fails-on-full-disk", breaks="MQSO-5.5.5-01", blind=True)
class QueueManagerLocksMessageWhoseReceiveFailsOnFullDisk(MessagePositions):
    """A message whose receipt failed on a full disk stays locked: no application can receive the message later."""

    def unlock_message(self, position: MessagePosition) -> None:
        failed = bool(self.qm.disk.error) and position.State is MessagePositionState.LOCKED
        if not failed:
            super().unlock_message(position)


@fault("queue-manager-failed-purge-on-full-disk-removes-newest-message", breaks="MQSO-5.5.5-01", blind=True)
class QueueManagerFailedPurgeOnFullDiskRemovesNewestMessage(QueueLifecycle):
    """A purge that failed on a full disk is refused, but the newest message of the queue is gone."""

    def purge(
        self,
        queue: Queue,
        token: int | None,
        done: Callable[[int], Result],
        failed: Callable[[], None] | None = None,
    ) -> Result | None:
        answer = super().purge(queue, token, done, failed)
        for commit in self.qm.disk.pending.values():
            if commit.token == token and token is not None:
                undo = commit.undo_change

                def undo_and_remove_newest_message(undo: Callable[[], None] = undo) -> None:
                    undo()
                    for position in list(queue.MessagePositionList)[-1:]:
                        queue.MessagePositionList.remove(position)

                object.__setattr__(commit, "undo_change", undo_and_remove_newest_message)
        return answer


class _SequenceAdvancerDespiteFailedWrite(TransactionalReceiving):
    def withdraw_unsaved_message(self, transfer: IncomingTransactionalTransferInfo) -> None:
        place = transfer.SequenceIdentifier, transfer.SequenceNumber
        super().withdraw_unsaved_message(transfer)
        transfer.SequenceIdentifier, transfer.SequenceNumber = place


add(
    "receiver-full-disk-advances-sequence",
    "MQSO-5.5.5-01",
    "The receiver advances the sequence of a sender although a full disk could not store the message.",
    combine_installers(omit_step(QueueQuotas.on_resources_changed), replace_part(_SequenceAdvancerDespiteFailedWrite)),
    blind=True,
)


class _UnsavedMessageRecorder(MessageReceiving):
    def on_persist_failed(self, saving: UnsavedArrival, error: str, now: Now) -> None:
        super().on_persist_failed(saving, error, now)
        if saving.accepted_message is None:
            self.qm.adm.MessageIDHistoryTable.insert(saving.entry)


add(
    "receiver-full-disk-remembers-message",
    "MQSO-5.5.5-01",
    "The receiver keeps a recoverable message that a full disk could not store in its history, as a duplicate.",
    combine_installers(omit_step(QueueQuotas.on_resources_changed), replace_part(_UnsavedMessageRecorder)),
    blind=True,
)


@fault("queue-manager-keeps-transactional-queue-refused-by-full-disk", breaks="MQSO-5.5.5-01", blind=True)
class QueueManagerKeepsTransactionalQueueRefusedByFullDisk(QueueLifecycle):
    """The queue manager refuses to create a queue on a full disk, but the queue exists if it is transactional."""

    def forget(self, queue: Queue) -> None:
        if not (self.qm.disk.error and queue.Transactional):
            super().forget(queue)


@fault("queue-manager-repairs-queue-counter-to-second-highest-number", breaks="MQSO-5.5.5-02", blind=True)
class QueueManagerRepairsQueueCounterToSecondHighestNumber(StateRestoring):
    """When the queue manager repairs the stored counter of private queue numbers, it sets the counter one lower than
    the highest number of an existing queue.
    """

    def repair_queue_numbers(self) -> None:
        before = self.qm.adm.last_private_queue_number
        super().repair_queue_numbers()
        if self.qm.adm.last_private_queue_number != before:
            self.qm.adm.last_private_queue_number -= 1


@fault("queue-manager-repair-of-queue-counter-removes-newest-queue", breaks="MQSO-5.5.5-02", blind=True)
class QueueManagerRepairOfQueueCounterRemovesNewestQueue(StateRestoring):
    """When the queue manager repairs the number of private queues, it loses the newest queue."""

    def repair_queue_numbers(self) -> None:
        before = self.qm.adm.last_private_queue_number
        super().repair_queue_numbers()
        if self.qm.adm.last_private_queue_number != before:
            queues = [one for one in self.qm.adm.QueueCollection.values() if one.PrivateQueueNumber]
            newest = max(queues, key=lambda one: one.PrivateQueueNumber or 0)
            del self.qm.adm.QueueCollection[newest.Pathname.lower()]


@fault(
    "queue-manager-with-damaged-store-answers-pings",
    breaks=("MQSO-5.5.5-03", "MQSO-6.6.2-05", "MQSO-5.1.1.1-01", "MQSO-5.1.1.1-02"),
    blind=True,
)
class QueueManagerWithDamagedStoreAnswersPings(InputDispatching):
    """A queue manager whose store is damaged still answers Ping Requests."""

    def refuse_input_while_stopped(self, event: Input, now: Now) -> None:
        if isinstance(event, DatagramReceived):
            self.on_datagram(event, now)
        else:
            super().refuse_input_while_stopped(event, now)


@fault("queue-manager-with-damaged-store-creates-queues", breaks="MQSO-5.5.5-03", blind=True)
class QueueManagerWithDamagedStoreCreatesQueues(InputDispatching):
    """A queue manager whose store is damaged still creates queues for applications."""

    def on_command(self, event: Command, now: Now) -> None:
        halted = self.qm.halted
        if isinstance(event.request, commands.CreateQueue):
            self.qm.halted = None
        try:
            super().on_command(event, now)
        finally:
            self.qm.halted = halted


@fault("queue-manager-with-damaged-store-lets-applications-peek", breaks="MQSO-5.5.5-03", blind=True)
class QueueManagerWithDamagedStoreLetsApplicationsPeek(InputDispatching):
    """A queue manager whose store is damaged still lets applications peek at messages."""

    def on_command(self, event: Command, now: Now) -> None:
        halted = self.qm.halted
        if isinstance(event.request, commands.PeekMessage | commands.PeekMessages):
            self.qm.halted = None
        try:
            super().on_command(event, now)
        finally:
            self.qm.halted = halted


@fault("queue-manager-with-damaged-store-accepts-second-connection", breaks="MQSO-5.5.5-03", blind=True)
class QueueManagerWithDamagedStoreAcceptsSecondConnection(InputDispatching):
    """A queue manager whose store is damaged refuses the first connection of a peer and serves the later ones."""

    def refuse_input_while_stopped(self, event: Input, now: Now) -> None:
        if isinstance(event, TransportAccepted) and not self.__dict__.get("refused"):
            self.__dict__["refused"] = True
            super().refuse_input_while_stopped(event, now)
        elif isinstance(event, Command):
            super().refuse_input_while_stopped(event, now)
        elif isinstance(event, TransportAccepted):
            self.qm.queue_manager_initialization.initialize_globally(now)
            self.qm.session_opening.accept_transport(event, now)
        elif getattr(event, "transport", None) in self.qm.transports:
            self.on_transport_event(event, now)  # type: ignore[arg-type]


@fault("queue-manager-stays-offline-after-directory-object-is-corrected", breaks="MQSO-5.5.6-03", blind=True)
class QueueManagerStaysOfflineAfterDirectoryObjectIsCorrected(DirectoryClient):
    """A queue manager that found a wrong directory object stays offline although the object is corrected later."""

    def _on_first_read(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._on_first_read(answer, now)
        if self.qm.enterprise.state.DirectoryOffline:
            self.__dict__["mismatch"] = True

    def _check_directory_online(self, answer: DirectoryAnswered, now: Now) -> None:
        if not self.__dict__.get("mismatch"):
            super()._check_directory_online(answer, now)


@fault("queue-manager-identifier-not-compared-at-later-start", breaks=("MQSO-5.5.6-01", "MQSO-5.5.6-02"), blind=True)
class QueueManagerIdentifierNotComparedAtLaterStart(DirectoryClient):
    """A queue manager that was registered before does not compare its Identifier with the directory object at a later
    start: it is online although the object has a different Identifier.
    """

    def _on_first_read(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._on_first_read(answer, now)
        state = self.qm.enterprise.state
        if self.qm.enterprise.last_known is not None and answer.elements is not None:
            state.DirectoryOffline = False
            self.qm.timers.stop(TimerKey(TimerName.DIRECTORY_ONLINE, 0))
