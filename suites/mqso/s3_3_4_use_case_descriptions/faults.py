"""Faults that break rules of MS-MQSO 3.3.4 Use Case Descriptions."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

from harness.faults.calls import replace_step_if
from harness.faults.parts import fault, faulty_only_if
from harness.faults.registry import add
from reference_qm.codec import MessageClass
from reference_qm.core.commands.higher_layer_commands import HigherLayerCommands
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.errors import CommandError
from reference_qm.core.names.destination_resolving import DestinationResolving
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.core.queueing.queue_quotas import QueueQuotas
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.core.transfer.message_enqueueing import MessageEnqueueing
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue, Queue
from reference_qm.model.elements import OnReadAnswered, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import EnqueueStatus, Status
from reference_qm.model.transactions import OperationType, Transaction, TransactionalOperation
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("refused-creation-changes-existing-queue", breaks="MQSO-3.3.4.1-D01")
class RefusedCreationChangesExistingQueue(QueueCommands):
    """An attempt to create an existing queue is refused, but changes the queue's label."""

    def create_queue(self, request: commands.CreateQueue, token: int, now: Now) -> None:
        known = self.qm.adm.QueueCollection.get(request.name.lower())
        if known is not None:
            known.Label = request.label
        super().create_queue(request, token, now)


@fault("queue-change-sets-only-the-label", breaks="MQSO-3.3.4.1-D01")
class QueueChangeSetsOnlyTheLabel(QueueCommands):
    """When an application changes several properties of a queue, only the label changes."""

    def set_queue(self, request: commands.SetQueue, token: int, now: Now) -> Result | None:
        return super().set_queue(commands.SetQueue(request.name, request.label), token, now)


@fault("queue-manager-refused-change-of-two-properties-changes-one", breaks="MQSO-3.3.4.1-D01")
class QueueManagerRefusedChangeOfTwoPropertiesChangesOne(QueueCommands):
    """If a change to a queue is refused because of one property, the label is changed nevertheless."""

    def set_queue(self, request: commands.SetQueue, token: int, now: Now) -> Result | None:
        try:
            return super().set_queue(request, token, now)
        except CommandError:
            if request.label is not None:
                self.qm.queue_names.find_queue(request.name).Label = request.label
            raise


@fault("queue-manager-queue-whose-creation-was-refused-exists", breaks="MQSO-3.3.4.1-D01", blind=True)
class QueueManagerQueueWhoseCreationWasRefusedExists(QueueCommands):
    """A queue whose creation is refused because of an invalid owner, type or property exists nevertheless."""

    def create_queue(self, request: commands.CreateQueue, token: int, now: Now) -> None:
        try:
            super().create_queue(request, token, now)
        except CommandError:
            if self.qm.queue_names.find_queue_by_path(request.name) is None:
                super().create_queue(commands.CreateQueue(request.name), token, now)
                del self.qm.disk.pending[max(self.qm.disk.pending)]
            raise


@fault("queue-query-removes-first-message", breaks="MQSO-3.3.4.2-D01")
class QueueQueryRemovesFirstMessage(QueueCommands):
    """A query of a queue's properties removes the first message of the queue."""

    def get_queue(self, request: commands.GetQueue, token: int, now: Now) -> Result:
        queue = self.qm.queue_names.find_queue(request.name)
        answer = super().get_queue(request, token, now)
        for position in list(queue.MessagePositionList)[:1]:
            queue.MessagePositionList.remove(position)
        return answer


@fault("queue-manager-query-changes-modify-time", breaks="MQSO-3.3.4.2-D01")
class QueueManagerQueryChangesModifyTime(QueueCommands):
    """A query of a queue's properties sets ModifyTime of the queue to the current time."""

    def get_queue(self, request: commands.GetQueue, token: int, now: Now) -> Result:
        self.qm.queue_names.find_queue(request.name).ModifyTime = now.utc_s
        return super().get_queue(request, token, now)


@fault("queue-manager-query-unlocks-messages-of-transactions", breaks="MQSO-3.3.4.2-D01", blind=True)
class QueueManagerQueryUnlocksMessagesOfTransactions(QueueCommands):
    """A query of a queue's properties makes the messages that transactions have received available again."""

    def get_queue(self, request: commands.GetQueue, token: int, now: Now) -> Result:
        queue = self.qm.queue_names.find_queue(request.name)
        received = {
            operation.MessagePositionReference
            for transaction in self.qm.adm.TransactionCollection.values()
            for operation in transaction.TransactionalOperationCollection
            if operation.OperationType is OperationType.DEQUEUE
        }
        for position in queue.MessagePositionList:
            if position in received:
                position.State = MessagePositionState.AVAILABLE
        return super().get_queue(request, token, now)


@fault("message-over-quota-accepted", breaks=("MQSO-3.3.4.3-D01", "MQSO-5.1.1.3-01"))
class MessageOverQuotaAccepted(QueueQuotas):
    """The queue manager returns success for a message that exceeds the quota of its queue and is not stored."""

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        super().check_room_for_message(queue, message)
        return EnqueueStatus.NO_ERROR


@fault("send-to-several-queues-reports-success-for-full-queue", breaks="MQSO-3.3.4.3-D01", blind=True)
class SendToSeveralQueuesReportsSuccessForFullQueue(MessageEnqueueing):
    """A send to several queues reports success although one of the queues is full and gets no copy."""

    def enqueue_to_open_queue(
        self,
        descriptor: OpenQueueDescriptor,
        message: Message,
        now: Now,
        transaction: Transaction | None = None,
    ) -> EnqueueStatus:
        status = super().enqueue_to_open_queue(descriptor, message, now, transaction)
        return EnqueueStatus.NO_ERROR if descriptor.Multiple else status


@fault("queue-manager-reports-discarded-transactional-message-as-sent", breaks="MQSO-3.3.4.3-D01", blind=True)
class QueueManagerReportsDiscardedTransactionalMessageAsSent(HigherLayerCommands):
    """A send of a transactional message to a nontransactional queue reports success, and the message is discarded."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        try:
            local = self.qm.destination_resolving.find_local_queue(request.to)
        except CommandError:
            local = None
        if local is not None and request.transactional and not local.Transactional:
            return Result({"message_id": f"{{{self.qm.adm.Identifier}}}\\1"})
        return super().send_message(request, token, now)


@fault("queue-manager-stores-local-message-in-dead-letter-queue", breaks="MQSO-3.3.4.3-D02")
class QueueManagerStoresLocalMessageInDeadLetterQueue(DestinationResolving):
    """The queue manager stores a message for one of its own queues in the dead-letter queue."""

    def find_local_queue(self, text: str) -> Queue | None:
        return None if super().find_local_queue(text) is None else self.qm.adm.SystemDeadletterQueue


@fault("queue-manager-stores-message-to-several-queues-only-in-first", breaks="MQSO-3.3.4.3-D02", blind=True)
class QueueManagerStoresMessageToSeveralQueuesOnlyInFirst(MessageEnqueueing):
    """The queue manager stores a message to several local queues only in the first of these queues."""

    def _enqueue_message(
        self, queue: Queue | None, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        several = message.DestinationMultiQueueFormatName
        local = queue is not None and not isinstance(queue, OutgoingQueue)
        before = getattr(self, "stored", None)
        if several is not None and local:
            self.stored = (several, message.Body)
            if before == self.stored:
                return EnqueueStatus.NO_ERROR
        return super()._enqueue_message(queue, message, now, transaction)


@fault("queue-manager-message-to-several-remote-queues-sent-only-to-first", breaks="MQSO-3.3.4.3-D03", blind=True)
class QueueManagerMessageToSeveralRemoteQueuesSentOnlyToFirst(MessageEnqueueing):
    """The queue manager puts a message to several queues of other queue managers only into the outgoing queue of the
    first queue.
    """

    def _enqueue_message(
        self, queue: Queue | None, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        several = message.DestinationMultiQueueFormatName
        before = getattr(self, "sent", None)
        if several is not None and isinstance(queue, OutgoingQueue):
            self.sent = (several, message.Body)
            if before == self.sent:
                return EnqueueStatus.NO_ERROR
        return super()._enqueue_message(queue, message, now, transaction)


@fault("queue-manager-uncommitted-message-given-to-waiting-read", breaks="MQSO-3.3.4.4-D01")
class QueueManagerUncommittedMessageGivenToWaitingRead(TransactionOperations):
    """A read that waits at a queue returns a message of a transaction before the transaction is committed."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        position = super().enqueue_in_transaction(transaction, queue, message)
        if not isinstance(queue, OutgoingQueue) and any(
            one.WaitingMessageReadOperationCollection for one in queue.OpenQueueDescriptorCollection.values()
        ):
            self.qm.message_positions.on_message_available(position)
        return position


@fault("queue-manager-second-message-of-transaction-sent-before-commit", breaks="MQSO-3.3.4.4-D01", blind=True)
class QueueManagerSecondMessageOfTransactionSentBeforeCommit(HigherLayerCommands):
    """If a transaction sends several messages to other queue managers, the sender transfers all messages except the
    first before the commit.
    """

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        transaction = self.qm.transaction_commands.find_transaction_of_request(request.transaction)
        later = transaction is not None and any(
            isinstance(one.MessagePositionReference.QueueReference, OutgoingQueue)
            for one in transaction.TransactionalOperationCollection
        )
        if later and self.qm.destination_resolving.find_local_queue(request.to) is None:
            request = replace(request, transactional=True, transaction=None)
        return super().send_message(request, token, now)


@fault("queue-manager-uncommitted-message-visible-to-peek", breaks="MQSO-3.3.4.4-D01", blind=True)
class QueueManagerUncommittedMessageVisibleToPeek(TransactionOperations):
    """A peek finds a message that an open transaction has sent to a local queue."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        position: MessagePosition = super().enqueue_in_transaction(transaction, queue, message)
        position.MessageReference = replace(position.MessageReference, AllowPeekWhenLocked=True)
        return position


@fault("queue-manager-aborted-message-to-second-queue-stored", breaks="MQSO-3.3.4.4-D02")
class QueueManagerAbortedMessageToSecondQueueStored(TransactionEvents):
    """An abort stores the messages that the transaction sent to its second queue."""

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


@fault("queue-manager-commit-discards-last-of-three-messages", breaks="MQSO-3.3.4.4-D02", blind=True)
class QueueManagerCommitDiscardsLastOfThreeMessages(TransactionEvents):
    """A commit discards the third message that the transaction sent to local queues."""

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        sent = [
            one
            for one in transaction.TransactionalOperationCollection
            if one.OperationType is OperationType.ENQUEUE
            and not isinstance(one.MessagePositionReference.QueueReference, OutgoingQueue)
        ]
        for operation in sent[2:]:
            transaction.TransactionalOperationCollection.remove(operation)
            self.abort_enqueue(operation, now)
        super().transaction_commit(transaction, now)


@fault("queue-manager-abort-after-receive-stores-sent-message", breaks="MQSO-3.3.4.4-D02")
class QueueManagerAbortAfterReceiveStoresSentMessage(TransactionEvents):
    """An aborted transaction that also received a message stores the messages that it sent to local queues."""

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        kinds = [one.OperationType for one in transaction.TransactionalOperationCollection]
        self.mixed = OperationType.DEQUEUE in kinds
        super().transaction_abort(transaction, now)

    def abort_enqueue(self, operation: TransactionalOperation, now: Now) -> None:
        if self.mixed and not isinstance(operation.MessagePositionReference.QueueReference, OutgoingQueue):
            self.commit_enqueue(operation, now)
        else:
            super().abort_enqueue(operation, now)


@fault("queue-manager-cancel-of-one-receive-cancels-every-receive-of-handle", breaks="MQSO-3.3.4.6-D01")
class QueueManagerCancelOfOneReceiveCancelsEveryReceiveOfHandle(WaitingReads):
    """The cancellation of a receive also cancels the other receives that wait through the same handle."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        for descriptor in list(queue.OpenQueueDescriptorCollection.values()):
            readers = list(descriptor.WaitingMessageReadOperationCollection)
            if any(reader.Tag == tag for reader in readers):
                for reader in readers:
                    self.end_wait_without_message(reader, status)
                return Status.MQ_OK
        return super().cancel_waiting_read(queue, tag, status)


@fault("queue-manager-waiting-receive-of-transaction-gets-no-message", breaks="MQSO-3.3.4.6-D01", blind=True)
class QueueManagerWaitingReceiveOfTransactionGetsNoMessage(WaitingReads):
    """A receive that waits within a transaction does not get the message that arrives."""

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        if not any(reader.transaction is not None for reader in self.qm.readers.values()):
            super().pass_new_message_to_waiting_readers(position)


@fault("queue-manager-message-for-one-waiting-receive-ends-other-receive", breaks="MQSO-3.3.4.6-D01")
class QueueManagerMessageForOneWaitingReceiveEndsOtherReceive(WaitingReads):
    """When a message ends one of two waiting receives, the queue manager ends the other receive with a timeout."""

    def pass_message_to_waiting_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        others = [one for one in self.qm.readers.values() if one is not reader and one.descriptor is reader.descriptor]
        super().pass_message_to_waiting_reader(reader, position)
        for one in others:
            if one.DestructiveRead and one.number in self.qm.readers:
                self.end_wait_without_message(one, Status.MQ_ERROR_IO_TIMEOUT)


add(
    "received-message-not-deleted",
    ("MQSO-3.3.4.6-D02", "MQSO-5.1.1.3-D06"),
    "The queue manager leaves a message that is received outside a transaction in its queue.",
    replace_step_if(
        MessageReading.take_message_out,
        lambda given: given.transaction is None and not given.two_phase_read,
        lambda given: given.answered(Status.MQ_OK, given.position),
    ),
)


@fault("queue-manager-message-received-by-cursor-stays-in-queue", breaks="MQSO-3.3.4.6-D02", blind=True)
class QueueManagerMessageReceivedByCursorStaysInQueue(MessageReading):
    """A message that is received through a cursor outside a transaction stays in its queue."""

    def dequeue_message(
        self, queue_desc: OpenQueueDescriptor, answered: OnReadAnswered, now: Now, *args: Any, **named: Any
    ) -> None:
        cursor = args[1] if len(args) > 1 else named.get("cursor")
        if cursor is None or named.get("transaction") is not None:
            super().dequeue_message(queue_desc, answered, now, *args, **named)
            return

        def answer_and_unlock_message(status: Status, position: MessagePosition | None) -> None:
            answered(status, position)
            if position is not None:
                self.qm.message_positions.unlock_message(position)

        super().dequeue_message(queue_desc, answer_and_unlock_message, now, *args, **(named | {"two_phase_read": True}))


@fault("queue-manager-message-received-from-journal-stays-in-journal", breaks="MQSO-3.3.4.6-D02")
class QueueManagerMessageReceivedFromJournalStaysInJournal(MessagePositions):
    """A message that an application receives from the journal of a queue stays in the journal."""

    @faulty_only_if(lambda self, position, reason: position.QueueReference.QueueType is QueueType.SYSTEM)
    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        self.unlock_message(position)


@fault("queue-manager-locked-message-shown-by-lookup-identifier", breaks=("MQSO-3.3.4.7-D01", "MQSO-5.1.1.3-D06"))
class QueueManagerLockedMessageShownByLookupIdentifier(MessageSearch):
    """A peek by LookupIdentifier returns a message that a transaction has received."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        position = queue.MessagePositionList.find(lookup_id)
        if peek_operation and position is not None and position.State is MessagePositionState.LOCKED:
            return Status.MQ_OK, position
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-second-message-of-transaction-not-locked", breaks="MQSO-3.3.4.7-D01", blind=True)
class QueueManagerSecondMessageOfTransactionNotLocked(TransactionOperations):
    """The second message that a transaction receives from a queue is not locked."""

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        later = any(one.OperationType is OperationType.DEQUEUE for one in transaction.TransactionalOperationCollection)
        super().dequeue_in_transaction(transaction, position)
        if later:
            position.State = MessagePositionState.AVAILABLE


@fault("queue-manager-abort-deletes-second-received-message", breaks="MQSO-3.3.4.7-D02", blind=True)
class QueueManagerAbortDeletesSecondReceivedMessage(TransactionEvents):
    """An abort returns the first message that the transaction received, and deletes the others."""

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        received = [
            one for one in transaction.TransactionalOperationCollection if one.OperationType is OperationType.DEQUEUE
        ]
        for operation in received[1:]:
            transaction.TransactionalOperationCollection.remove(operation)
            self.commit_dequeue(operation, now)
        super().transaction_abort(transaction, now)


@fault("queue-manager-subqueue-keeps-message-received-in-transaction", breaks="MQSO-3.3.4.7-D02")
class QueueManagerSubqueueKeepsMessageReceivedInTransaction(TransactionEvents):
    """A message that a transaction receives from a subqueue is in the subqueue again after the commit."""

    @faulty_only_if(lambda self, operation, now: operation.MessagePositionReference.QueueReference.parent is not None)
    def commit_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        self.qm.message_positions.unlock_message(operation.MessagePositionReference)
