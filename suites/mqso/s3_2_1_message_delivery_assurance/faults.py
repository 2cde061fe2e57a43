"""Faults that break rules of MS-MQSO 3.2.1 Message Delivery Assurance."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from harness.faults.calls import change_step_arguments
from harness.faults.parts import fault
from harness.faults.primitives import change_core_at_restart
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.commands.higher_layer_commands import HigherLayerCommands
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.core.store.disk import Change
from reference_qm.core.store.durable_records import DurableRecords
from reference_qm.core.transfer.message_history import MessageHistory
from reference_qm.model.adm import MessageIDHistoryEntry, MessagePosition, OutgoingQueue, Queue
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState
from reference_qm.model.transactions import Transaction
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result

add(
    "queue-manager-receive-by-lookup-identifier-in-transaction-deletes-at-once",
    "MQSO-3.2.1-01",
    "Before the commit, the queue manager deletes a message that a transaction has received by its LookupIdentifier.",
    change_step_arguments(MessageReading.read_by_lookup_identifier, transaction=lambda given: None),
)


@fault("queue-manager-stores-nontransactional-message-in-transactional-queue", breaks="MQSO-3.2.1-01", blind=True)
class QueueManagerStoresNontransactionalMessageInTransactionalQueue(HigherLayerCommands):
    """The queue manager stores a nontransactional message of a local application in a transactional queue."""

    def _find_accepting_queue(self, request: commands.SendMessage) -> Queue | None:
        local = self.qm.destination_resolving.find_local_queue(request.to)
        if local is not None and local.Transactional and not request.transactional:
            return local
        return super()._find_accepting_queue(request)


add(
    "queue-manager-cursor-receive-in-transaction-deletes-at-once",
    "MQSO-3.2.1-01",
    "Before the commit, the queue manager deletes a message that a transaction has received through a cursor.",
    change_step_arguments(
        MessageReading.dequeue_message,
        transaction=lambda given: None if given.cursor is not None else given.transaction,
    ),
    blind=True,
)


@fault("queue-manager-waiting-receive-deletes-message-before-commit", breaks=("MQSO-3.2.1-01", "MQSO-3.3.4.7-D02"))
class QueueManagerWaitingReceiveDeletesMessageBeforeCommit(MessageReading):
    """If a receive in a transaction has waited for its message, the queue manager deletes the message at once instead
    of at the commit.
    """

    def dequeue_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
        two_phase_read: bool = False,
        transaction: Transaction | None = None,
    ) -> None:
        queue = queue_desc.QueueReference
        if transaction is not None and queue is not None and not len(queue.MessagePositionList):
            self.loose = (*getattr(self, "loose", ()), transaction.Identifier)
        super().dequeue_message(queue_desc, answered, now, timeout_ms, cursor, tag, two_phase_read, transaction)

    def take_message_out(
        self,
        position: MessagePosition,
        transaction: Transaction | None,
        two_phase_read: bool,
        answered: OnReadAnswered,
    ) -> None:
        inside = (
            transaction if transaction is None or transaction.Identifier not in getattr(self, "loose", ()) else None
        )
        super().take_message_out(position, inside, two_phase_read, answered)


@fault("receiver-repeated-express-message-delivered-again", breaks="MQSO-3.2.1-D01")
class ReceiverRepeatedExpressMessageDeliveredAgain(MessageHistory):
    """If a sender repeats an express message on a later session, the receiver delivers the message again."""

    def remember_message(self, packet: UserMessagePacket, now: Now) -> MessageIDHistoryEntry:
        entry = super().remember_message(packet, now)
        if not packet.UserHeader.DM:
            self.qm.adm.MessageIDHistoryTable.remove(entry)
        return entry


@fault("sender-outgoing-express-message-survives-restart", breaks="MQSO-3.2.1-D01", blind=True)
class SenderOutgoingExpressMessageSurvivesRestart(DurableRecords):
    """An express message to another queue manager is saved, and sent after a restart."""

    def build_send_record(self, position: MessagePosition) -> Change:
        if isinstance(position.QueueReference, OutgoingQueue) and position.MessageReference.Priority:
            recoverable = DeliveryGuarantee.RECOVERABLE
            position.MessageReference = replace(position.MessageReference, DeliveryGuarantee=recoverable)
        return super().build_send_record(position)


def remove_nontransactional_dead_letters(qm: QueueManager) -> None:
    """Remove all messages of the nontransactional dead-letter queue."""
    positions = qm.adm.SystemDeadletterQueue.MessagePositionList
    for position in positions:
        positions.remove(position)


add(
    "queue-manager-recoverable-dead-letter-lost-at-restart",
    "MQSO-3.2.1-D02",
    "At a restart, the queue manager loses the recoverable messages in the dead-letter queue.",
    change_core_at_restart(remove_nontransactional_dead_letters),
)


def _remove_messages_sent_by_other_computers(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        for position in [] if queue.Transactional else list(queue.MessagePositionList):
            if position.MessageReference.Identifier.QueueManagerGuid != qm.adm.Identifier:
                queue.MessagePositionList.remove(position)


add(
    "receiver-recoverable-message-of-network-lost-at-restart",
    "MQSO-3.2.1-D02",
    "At a restart, the queue manager loses the recoverable messages that arrived from other queue managers.",
    change_core_at_restart(_remove_messages_sent_by_other_computers),
    blind=True,
)


def _clear_message_id_history(qm: QueueManager) -> None:
    for entry in list(qm.adm.MessageIDHistoryTable):
        qm.adm.MessageIDHistoryTable.remove(entry)


add(
    "receiver-recoverable-message-repeated-after-restart-delivered-twice",
    "MQSO-3.2.1-D02",
    "After a restart, the receiver delivers a recoverable message again if the sender repeats the message.",
    change_core_at_restart(_clear_message_id_history),
    blind=True,
)


@fault("receiver-sequence-forgotten-by-purge", breaks="MQSO-3.2.1-D03")
class ReceiverSequenceForgottenByPurge(QueueLifecycle):
    """A purge makes the receiver forget the sequences of the queue, so the receiver delivers a
    repeated message again.
    """

    def purge(self, queue: Queue, *arguments: object, **named: object) -> Result | None:
        queue.IncomingTransactionalTransferInfoCollection.clear()
        return super().purge(queue, *arguments, **named)  # type: ignore[arg-type]


def _forget_incoming_sequences_of_empty_queues(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        if not len(queue.MessagePositionList):
            queue.IncomingTransactionalTransferInfoCollection.clear()


add(
    "receiver-sequence-of-empty-queue-forgotten-at-restart",
    "MQSO-3.2.1-D03",
    "After a restart, the receiver delivers a repeated transactional message again if its queue was empty.",
    change_core_at_restart(_forget_incoming_sequences_of_empty_queues),
    blind=True,
)


@fault("queue-manager-second-waiting-receive-gets-same-message", breaks=("MQSO-3.2.1-D03", "MQSO-5.1.1.2-D03"))
class QueueManagerSecondWaitingReceiveGetsSameMessage(WaitingReads):
    """Two receives that wait for a message of one queue get the same message."""

    def pass_message_to_waiting_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        others = [
            one
            for one in list(self.qm.readers.values())
            if one is not reader
            and one.DestructiveRead
            and one.descriptor.QueueReference is position.QueueReference
            and position.State is MessagePositionState.AVAILABLE
        ]
        super().pass_message_to_waiting_reader(reader, position)
        if reader.DestructiveRead:
            for one in others:
                if one.number in self.qm.readers:
                    super().pass_message_to_waiting_reader(one, position)
