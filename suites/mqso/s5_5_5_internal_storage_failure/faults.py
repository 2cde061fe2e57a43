"""Faults that break rules of MS-MQSO 5.5.5 Internal Storage Failure and of 5.5.6."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import change_core_at_restart, combine_installers, filter_inputs, omit_step
from harness.faults.registry import FaultyCore, add
from reference_qm.codec import MessageClass
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.enterprise.state_restoring import RestoreError, StateRestoring
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.directory.enums import DirectoryOperationResult
from reference_qm.model.adm import Queue
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from reference_qm.surface.inputs import Input, PersistFailed, RecordPersisted


def _report_failed_write_as_persisted(event: Input) -> Iterator[Input]:
    yield RecordPersisted(event.token) if isinstance(event, PersistFailed) else event


add(
    "full-disk-ignored",
    "MQSO-5.5.5-01",
    "The queue manager treats an operation as stored although the full disk could not store it.",
    filter_inputs(_report_failed_write_as_persisted),
)


def _keep_change_of_failed_write(faulty: FaultyCore) -> None:
    """Carry out a request, but answer that its result could not be stored."""

    def record_failed_write(event: Input) -> Iterator[Input]:
        if isinstance(event, PersistFailed):
            commit = faulty.core.disk.pending.get(event.token)
            if commit is not None:
                commit.on_saved()
                faulty.core.disk.pending[event.token] = replace(commit, undo_change=lambda: None)
        yield event

    faulty.input_filters.append(record_failed_write)


add(
    "full-disk-refusal-has-effect",
    "MQSO-5.5.5-01",
    ("The queue manager refuses an operation because the disk is full, but carries it out."),
    _keep_change_of_failed_write,
)


@fault("queue-manager-keeps-refused-property-change-when-disk-is-full", breaks="MQSO-5.5.5-01")
class QueueManagerKeepsRefusedPropertyChangeWhenDiskIsFull(QueueCommands):
    """If a change to the properties of a queue cannot be stored, the change is refused, but the queue has the new
    properties.
    """

    def _change_attributes(self, queue: Queue, changes: dict[str, Any], token: int) -> Result | None:
        for name, value in changes.items():
            setattr(queue, name, value)
        return super()._change_attributes(queue, changes, token)


@fault("queue-manager-keeps-queue-of-failed-creation-when-disk-is-full", breaks="MQSO-5.5.5-01")
class QueueManagerKeepsQueueOfFailedCreationWhenDiskIsFull(QueueCommands):
    """If a new queue cannot be stored, its creation is refused, but the queue exists."""

    def _save_new_queue(self, name: str, token: int, status: Status, queue: Queue | None) -> Result | None:
        result = super()._save_new_queue(name, token, status, queue)
        kept = getattr(self, "kept", {})
        self.kept = {**kept, name.lower(): queue}
        for commit in self.qm.disk.pending.values():
            if commit.token == token and queue is not None:
                object.__setattr__(commit, "undo_change", lambda: None)
        return result


@fault("queue-manager-hides-messages-of-purge-refused-by-full-disk", breaks="MQSO-5.5.5-01", blind=True)
class QueueManagerHidesMessagesOfPurgeRefusedByFullDisk(QueueLifecycle):
    """If a purge cannot be stored, the purge is refused, but the messages can no longer be received."""

    def purge(
        self,
        queue: Queue,
        token: int | None,
        done: Callable[[int], Result],
        failed: Callable[[], None] | None = None,
    ) -> Result | None:
        positions = list(queue.MessagePositionList)

        def remove_messages_after_failed_write() -> None:
            for position in positions:
                self.qm.message_positions.delete_message(position, MessageClass.MQMSG_CLASS_NACK_Q_PURGED)

        return super().purge(queue, token, done, remove_messages_after_failed_write)


add(
    "sender-disk-full-refused-message-sent-later",
    "MQSO-5.5.5-01",
    "If a message to another queue manager cannot be stored, the send is refused, but the message is sent.",
    omit_step(MessageSending.remove_unsaved_message),
    blind=True,
)


add(
    "queue-counter-not-repaired",
    "MQSO-5.5.5-02",
    "The queue manager uses the stored queue counter although queues with higher numbers exist.",
    omit_step(StateRestoring.repair_queue_numbers),
)


@fault("queues-with-number-above-counter-lost-at-restart", breaks="MQSO-5.5.5-02")
class QueuesWithNumberAboveCounterLostAtRestart(StateRestoring):
    """The queue manager drops queues whose numbers are higher than the stored queue counter."""

    def repair_queue_numbers(self) -> None:
        last = self.qm.adm.last_private_queue_number
        super().repair_queue_numbers()
        for queue in list(self.qm.adm.QueueCollection.values()):
            if (queue.PrivateQueueNumber or 0) > last:
                self.qm.queue_lifecycle.forget(queue)


@fault(
    "damaged-store-treated-as-empty",
    breaks=(
        "MQSO-5.1.1.1-01",
        "MQSO-5.1.1.1-02",
        "MQSO-5.5.5-03",
        "MQSO-6.6.2-04",
        "MQSO-6.6.2-05",
        "MQDMPR-3.1.1.1-23",
        "MQDMPR-3.1.3-30",
    ),
)
class DamagedStoreTreatedAsEmpty(StateRestoring):
    """The queue manager treats a damaged store as an empty store and starts."""

    def restore(self, entries: Mapping[str, object]) -> None:
        try:
            super().restore(entries)
        except RestoreError:
            super().restore({})


@fault("foreign-directory-object-accepted", breaks=("MQSO-5.5.6-01", "MQSO-5.5.6-02", "MQSO-5.5.6-03"))
class ForeignDirectoryObjectAccepted(DirectoryClient):
    """The queue manager is in directory mode although the directory object of its computer has a different
    Identifier.
    """

    def synchronize_with_directory(self, now: Now) -> DirectoryOperationResult:
        super().synchronize_with_directory(now)
        return DirectoryOperationResult.SUCCESS


class AcceptorOfDirectoryObjectWithOtherIdentifier(DirectoryClient):
    """After a restart, the queue manager does not compare its Identifier with the Identifier of its directory
    object.
    """

    def _join_domain(self, now: Now) -> None:
        super()._join_domain(now)
        if vars(self).get("is_restarted", False):
            self.qm.enterprise.state.DirectoryOffline = False


def _record_restart(qm: QueueManager) -> None:
    vars(qm.directory_client)["is_restarted"] = True


add(
    "queue-manager-other-identifier-in-directory-accepted-after-restart",
    ("MQSO-5.5.6-02", "MQSO-5.5.6-03"),
    "After a restart, the queue manager does not compare its Identifier with the Identifier of its directory object.",
    combine_installers(
        replace_part(AcceptorOfDirectoryObjectWithOtherIdentifier), change_core_at_restart(_record_restart)
    ),
)


@fault("purge-on-full-disk-deletes-express-messages", breaks="MQSO-5.5.5-01", blind=True)
class PurgeOnFullDiskDeletesExpressMessages(QueueLifecycle):
    """If a purge fails because the disk is full, the express messages of the queue are deleted nevertheless."""

    def purge(
        self,
        queue: Queue,
        token: int | None,
        done: Callable[[int], Result],
        failed: Callable[[], None] | None = None,
    ) -> Result | None:
        def delete_express_messages() -> None:
            for position in list(queue.MessagePositionList):
                express = position.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS
                if express and position.State is MessagePositionState.AVAILABLE:
                    self.qm.message_positions.delete_message(position, MessageClass.MQMSG_CLASS_NACK_Q_PURGED)
            if failed is not None:
                failed()

        return super().purge(queue, token, done, delete_express_messages)


@fault("deletion-on-full-disk-deletes-messages-of-journal", breaks="MQSO-5.5.5-01")
class DeletionOnFullDiskDeletesMessagesOfJournal(QueueLifecycle):
    """If the deletion of a queue fails because the disk is full, the messages of the queue's journal are deleted
    nevertheless.
    """

    def delete(self, queue: Queue, token: int | None, done: Callable[[], Result]) -> Result | None:
        journal = queue.JournalQueueReference
        for position in list(journal.MessagePositionList) if journal is not None else ():
            self.qm.message_positions.delete_message(position, MessageClass.MQMSG_CLASS_NACK_Q_DELETED)
        return super().delete(queue, token, done)
