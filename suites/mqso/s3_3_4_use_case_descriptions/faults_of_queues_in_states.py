"""Faults in the use cases of an application while queues are paused, cursors are open, or transactions are active."""

from __future__ import annotations

from collections.abc import Iterable

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.store.disk import Change
from reference_qm.core.store.durable_records import DurableRecords
from reference_qm.core.transfer.message_enqueueing import MessageEnqueueing
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import (
    Message,
    MessagePosition,
    OutgoingMessagePosition,
    Queue,
    Session,
)
from reference_qm.model.elements import OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState, SessionState
from reference_qm.model.statuses import EnqueueStatus, Status
from reference_qm.model.transactions import OperationType, Transaction
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("queue-manager-rewinds-cursors-when-queue-is-queried", breaks="MQSO-3.3.4.2-D01", blind=True)
class QueueManagerRewindsCursorsWhenQueueIsQueried(QueueCommands):
    """A query of the properties of a queue moves the cursors of the queue to its start."""

    def get_queue(self, request: commands.GetQueue, token: int, now: Now) -> Result:
        for descriptor in self.qm.queue_names.find_queue(request.name).OpenQueueDescriptorCollection.values():
            for cursor in descriptor.CursorCollection.values():
                self.qm.queue_cursors.move_cursor_to_start(cursor)
        return super().get_queue(request, token, now)


@fault("queue-manager-hides-refusal-by-one-of-several-queues", breaks="MQSO-3.3.4.3-D01", blind=True)
class QueueManagerHidesRefusalByOneOfSeveralQueues(MessageEnqueueing):
    """The queue manager returns success for a message to several queues although one of the queues refuses it."""

    def enqueue_to_open_queue(
        self, descriptor: OpenQueueDescriptor, message: Message, now: Now, transaction: Transaction | None = None
    ) -> EnqueueStatus:
        super().enqueue_to_open_queue(descriptor, message, now, transaction)
        return EnqueueStatus.NO_ERROR


@fault("queue-manager-express-message-without-session-not-queued", breaks="MQSO-3.3.4.3-D03", blind=True)
class QueueManagerExpressMessageWithoutSessionNotQueued(MessageSending):
    """The queue manager drops an express message to another queue manager if no session to it is open."""

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        lost = session.SessionState is not SessionState.OPEN
        super().add_message_to_session_table(session, position, now)
        message = position.MessagePosition.MessageReference
        if lost and message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS and message.Class == 0:
            self.remove_unsent_message(session, position)


@fault("queue-manager-message-received-by-lookup-not-removed", breaks="MQSO-3.3.4.6-D02", blind=True)
class QueueManagerMessageReceivedByLookupNotRemoved(MessageReading):
    """The queue manager does not remove a message that an application receives by its LookupIdentifier."""

    def read_by_lookup_identifier(
        self,
        queue_desc: OpenQueueDescriptor,
        lookup_id: int,
        lookup_operation: MessageSeekAction,
        answered: OnReadAnswered,
        peek_operation: bool = False,
        two_phase_read: bool = False,
        transaction: Transaction | None = None,
    ) -> None:
        peek = peek_operation or (transaction is None and not two_phase_read)
        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, answered, peek, two_phase_read, transaction
        )


@fault("queue-manager-received-message-returns-after-restart", breaks="MQSO-3.3.4.6-D02", blind=True)
class QueueManagerReceivedMessageReturnsAfterRestart(DurableRecords):
    """A message that an application has received is in its queue again after a restart."""

    def build_message_removal(self, positions: Iterable[MessagePosition], reason: MessageClass) -> Change:
        if reason is MessageClass.MQMSG_CLASS_ACK_RECEIVE:
            return {}
        return super().build_message_removal(positions, reason)


RULES_OF_TRANSACTIONAL_RECEIVES = ("MQSO-3.3.4.7-D01", "MQSO-4.3.1.2-D06")


@fault("queue-manager-message-of-transaction-peeked-by-lookup", breaks=RULES_OF_TRANSACTIONAL_RECEIVES, blind=True)
class QueueManagerMessageOfTransactionPeekedByLookup(MessageSearch):
    """A peek by LookupIdentifier returns a message that was received in a transaction that has not ended."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        if peek_operation and lookup_action is MessageSeekAction.CURRENT:
            position = queue.MessagePositionList.find(lookup_id)
            if position is not None and position.State is MessagePositionState.LOCKED:
                return Status.MQ_OK, position
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault(
    "queue-manager-hides-only-first-message-received-in-transaction", breaks=RULES_OF_TRANSACTIONAL_RECEIVES, blind=True
)
class QueueManagerHidesOnlyFirstMessageReceivedInTransaction(TransactionOperations):
    """The queue manager hides only the first message that is received in a transaction."""

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        earlier = [
            one for one in transaction.TransactionalOperationCollection if one.OperationType is OperationType.DEQUEUE
        ]
        super().dequeue_in_transaction(transaction, position)
        if earlier:
            position.State = MessagePositionState.AVAILABLE
            position.QueueReference.MessagePositionList.reset_search_start(position)
