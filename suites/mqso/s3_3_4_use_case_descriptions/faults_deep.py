"""Faults of MS-MQSO 3.3.4 that only special cases show: refused changes, reads that wait, a second queue of a
transaction, other readers.
"""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.errors import CommandError
from reference_qm.core.queueing.seeking import Seeking
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue, Queue
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import OperationType, Transaction
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("queue-manager-refused-change-of-two-properties-changes-one", breaks="MQSO-3.3.4.1-D01")
class RefusedChangeChangesLabel(QueueCommands):
    """If a change to a queue is refused because of one property, the label is changed nevertheless."""

    def set_queue(self, request: commands.SetQueue, token: int, now: Now) -> Result | None:
        try:
            return super().set_queue(request, token, now)
        except CommandError:
            if request.label is not None:
                self.qm.queue_names.find_queue(request.name).Label = request.label
            raise


@fault("queue-manager-query-changes-modify-time", breaks="MQSO-3.3.4.2-D01")
class QueryChangesModifyTime(QueueCommands):
    """A query of a queue's properties sets ModifyTime of the queue to the current time."""

    def get_queue(self, request: commands.GetQueue, token: int, now: Now) -> Result:
        self.qm.queue_names.find_queue(request.name).ModifyTime = now.utc_s
        return super().get_queue(request, token, now)


@fault("queue-manager-uncommitted-message-given-to-waiting-read", breaks="MQSO-3.3.4.4-D01")
class UncommittedMessageReleased(TransactionOperations):
    """A read that waits at a queue gets a message that was sent in a transaction which is not committed."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        position = super().enqueue_in_transaction(transaction, queue, message)
        if not isinstance(queue, OutgoingQueue) and any(
            one.WaitingMessageReadOperationCollection for one in queue.OpenQueueDescriptorCollection.values()
        ):
            self.qm.positions.message_available(position)
        return position


@fault("queue-manager-aborted-message-to-second-queue-stored", breaks="MQSO-3.3.4.4-D02")
class AbortedMessageStored(TransactionEvents):
    """After an abort, the messages that the transaction sent to its second queue are in this queue."""

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        sent = [
            one for one in transaction.TransactionalOperationCollection if one.OperationType is OperationType.ENQUEUE
        ]
        first = sent[0].MessagePositionReference.QueueReference if sent else None
        kept = [
            one
            for one in sent
            if (place := one.MessagePositionReference.QueueReference) is not first
            and not isinstance(place, OutgoingQueue)
        ]
        for operation in kept:
            transaction.TransactionalOperationCollection.remove(operation)
            self.commit_enqueue(operation, now)
        super().transaction_abort(transaction, now)


@fault("queue-manager-cancel-of-one-receive-cancels-every-receive-of-handle", breaks="MQSO-3.3.4.6-D01")
class EveryReceiveCancelled(Waiting):
    """The cancellation of a receive also cancels the other receives that wait through the same handle."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        for descriptor in list(queue.OpenQueueDescriptorCollection.values()):
            readers = list(descriptor.WaitingMessageReadOperationCollection)
            if any(reader.Tag == tag for reader in readers):
                for reader in readers:
                    self.stop_reader(reader, status)
                return Status.MQ_OK
        return super().cancel_waiting_read(queue, tag, status)


@fault("queue-manager-locked-message-shown-by-lookup-identifier", breaks=("MQSO-3.3.4.7-D01", "MQSO-5.1.1.3-D06"))
class LockedMessageShown(Seeking):
    """A peek by LookupIdentifier returns a message that a transaction has received."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        position = queue.MessagePositionList.find(lookup_id)
        if peek_operation and position is not None and position.State is MessagePositionState.LOCKED:
            return Status.MQ_OK, position
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
