"""Faults that break rules of MS-MQDMPR 3.1.1 Abstract Data Model after a change, or in one kind of object."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import uuid5

from harness.faults.parts import fault
from harness.faults.primitives import change_packets_of_kind, set_fields
from harness.faults.registry import add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.enterprise.state_restoring import StateRestoring
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.queueing.transaction_records import TransactionRecords
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.transfer_administering import TransferAdministering
from reference_qm.model.adm import Message, MessagePosition, OutgoingMessagePosition, OutgoingQueue, Queue, Session
from reference_qm.model.states import OutgoingQueueState
from reference_qm.model.transactions import OperationType, Transaction
from reference_qm.surface.clock import Now


@fault("queue-manager-queue-label-lost-at-second-restart", breaks="MQDMPR-3.1.1-01", blind=True)
class QueueManagerQueueLabelLostAtSecondRestart(StateRestoring):
    """The queue manager keeps the Label of a queue over one restart, but not over the next restart."""

    def restore(self, entries: Mapping[str, object]) -> None:
        super().restore(entries)
        for queue in self.qm.adm.QueueCollection.values():
            label, queue.Label = queue.Label, ""
            self.qm.disk.save(self.qm.durable_records.build_queue_entry(queue))
            queue.Label = label


@fault("queue-manager-identifier-changed-by-bring-online", breaks="MQDMPR-3.1.1-05", blind=True)
class QueueManagerIdentifierChangedByBringOnline(TransferAdministering):
    """The queue manager has a new Identifier after it was offline."""

    def bring_online(self, now: Now) -> None:
        self.qm.adm.Identifier = uuid5(self.qm.adm.Identifier, "online")
        super().bring_online(now)


add(
    "queue-manager-administration-acknowledgment-source-queue-manager-other-identifier",
    "MQDMPR-3.1.1-05",
    "The SourceQueueManager in the queue manager's acknowledgments differs from that in messages of its applications.",
    change_packets_of_kind(
        UserMessagePacket,
        lambda packet: set_fields(
            packet, {"UserHeader.SourceQueueManager": lambda own: uuid5(own, "acknowledgments")}
        ).build(),
        lambda packet: packet.MessagePropertiesHeader.MessageClass == MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE,
    ),
    blind=True,
)


@fault("queue-manager-hardened-outgoing-queue-unlocked-by-second-message", breaks="MQDMPR-3.1.1.3-07", blind=True)
class QueueManagerHardenedOutgoingQueueUnlockedBySecondMessage(MessageSending):
    """In hardened security mode, the State of an outgoing queue becomes Waiting when a second message is sent to it."""

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        super().add_message_to_session_table(session, position, now)
        queue = session.OutgoingQueueReference
        locked = queue is not None and queue.State is OutgoingQueueState.LOCKED
        if queue is not None and locked and len(session.OutgoingMessageTable) > 1:
            queue.State = OutgoingQueueState.WAITING


@fault("queue-manager-later-local-enqueue-operation-recorded-as-move", breaks="MQDMPR-3.1.1.13-03", blind=True)
class QueueManagerLaterLocalEnqueueOperationRecordedAsMove(TransactionOperations):
    """The operation for the second message that a transaction sends to a local queue has the type Move."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        position = super().enqueue_in_transaction(transaction, queue, message)
        operation = transaction.TransactionalOperationCollection[-1]
        if len(transaction.TransactionalOperationCollection) > 1 and not isinstance(queue, OutgoingQueue):
            operation.OperationType, operation.TargetQueueReference = OperationType.MOVE, queue
        return position


@fault("queue-manager-restored-enqueue-operation-recorded-as-move", breaks="MQDMPR-3.1.1.13-03", blind=True)
class QueueManagerRestoredEnqueueOperationRecordedAsMove(TransactionRecords):
    """After a restart, the operation for a message that a prepared transaction sends to a local queue is a Move."""

    def restore_transaction(self, rest: str, value: Mapping[str, object]) -> None:
        super().restore_transaction(rest, value)
        for transaction in self.qm.adm.TransactionCollection.values():
            for operation in transaction.TransactionalOperationCollection:
                queue = operation.MessagePositionReference.QueueReference
                if operation.OperationType is OperationType.ENQUEUE and not isinstance(queue, OutgoingQueue):
                    operation.OperationType, operation.TargetQueueReference = OperationType.MOVE, queue
