"""Faults that break the rules MQSO-5.1.1.2-D01 to MQSO-5.1.1.2-D07."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import change_core_at_restart, omit_step
from harness.faults.registry import add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.names.destination_resolving import DestinationResolving
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.queue_cursors import CursorResult, QueueCursors
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.core.queueing.queue_quotas import QueueQuotas
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.core.transfer.message_enqueueing import MessageEnqueueing
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue, Queue, Session
from reference_qm.model.attributes import UNLIMITED_QUOTA_KB
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.enums import CursorState, MessageSeekAction, QueueAccessType
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState
from reference_qm.model.statuses import CursorStatus, EnqueueStatus, Status
from reference_qm.model.transactions import TransactionalOperation
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("queue-manager-receive-returns-last-message-of-queue", breaks="MQSO-5.1.1.2-D01")
class QueueManagerReceiveReturnsLastMessageOfQueue(MessageReading):
    """A receive returns the last message of the queue."""

    def dequeue_message(
        self, queue_desc: OpenQueueDescriptor, answered: OnReadAnswered, now: Now, *args: Any, **named: Any
    ) -> None:
        queue = queue_desc.QueueReference
        if queue is None or not len(queue.MessagePositionList):
            super().dequeue_message(queue_desc, answered, now, *args, **named)
            return
        last = MessageSeekAction.LAST
        self.read_by_lookup_identifier(queue_desc, 0, last, answered, transaction=named.get("transaction"))


@fault("queue-manager-abort-puts-received-message-at-end-of-queue", breaks="MQSO-5.1.1.2-D01")
class QueueManagerAbortPutsReceivedMessageAtEndOfQueue(TransactionEvents):
    """An abort puts a message that the transaction received at the end of its queue."""

    def abort_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        position = operation.MessagePositionReference
        if position.State is MessagePositionState.LOCKED:
            positions = position.QueueReference.MessagePositionList
            positions.remove(position)
            position.State = MessagePositionState.LOCKED
            positions.insert(position)
        super().abort_dequeue(operation, now)


@fault("queue-manager-express-messages-precede-recoverable-messages", breaks="MQSO-5.1.1.2-D01", blind=True)
class QueueManagerExpressMessagesPrecedeRecoverableMessages(MessagePositions):
    """Express messages precede the recoverable messages of the same priority."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        position = super().insert_message(queue, message)
        if message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS:
            positions = queue.MessagePositionList
            for other in list(positions):
                same = other.MessageReference.Priority == message.Priority
                recoverable = other.MessageReference.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE
                if same and recoverable and other.State is MessagePositionState.AVAILABLE:
                    positions.remove(other)
                    other.State = MessagePositionState.AVAILABLE
                    positions.insert(other)
        return position


@fault("receive-by-cursor-returns-last-message", breaks="MQSO-5.1.1.2-D01")
class ReceiveByCursorReturnsLastMessage(QueueCursors):
    """A receive by a cursor returns the last message of the queue."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        status, position = super().get_next_message_for_dequeue(cursor, no_wait)
        queue = cursor.OpenQueueDescriptorReference.QueueReference
        if status is not CursorStatus.SUCCEEDED or queue is None:
            return status, position
        *_, last = queue.MessagePositionList
        return status, last


@fault("queue-quota-ignored", breaks="MQSO-5.1.1.2-D02")
class QueueQuotaIgnored(QueueQuotas):
    """The queue manager ignores the quota of a queue."""

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check_room_for_message(queue, message)
        return EnqueueStatus.NO_ERROR if status is EnqueueStatus.QUEUE_QUOTA_EXCEEDED else status


@fault("queue-manager-full-transactional-queue-stores-own-message", breaks="MQSO-5.1.1.2-D02")
class QueueManagerFullTransactionalQueueStoresOwnMessage(MessageEnqueueing):
    """A full transactional queue stores the message of an application of the same computer."""

    def admit_message(self, queue: Queue, message: Message, now: Now) -> EnqueueStatus:
        status = super().admit_message(queue, message, now)
        full = status is EnqueueStatus.QUEUE_QUOTA_EXCEEDED and message.TransactionIdentifier is not None
        return EnqueueStatus.NO_ERROR if full else status


@fault("receiver-full-queue-stores-express-message", breaks="MQSO-5.1.1.2-D02", blind=True)
class ReceiverFullQueueStoresExpressMessage(MessageAdmission):
    """A full queue stores an express message of another queue manager."""

    def has_queue_room_for_message(
        self, session: Session, packet: UserMessagePacket, queue: Queue, message: Message, now: Now
    ) -> bool:
        return not packet.UserHeader.DM or super().has_queue_room_for_message(session, packet, queue, message, now)


@fault("queue-manager-full-queue-stores-small-messages", breaks="MQSO-5.1.1.2-D02")
class QueueManagerFullQueueStoresSmallMessages(QueueQuotas):
    """A queue refuses a large message because of its quota, but stores small messages without limit."""

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check_room_for_message(queue, message)
        small = len(message.Body) < 256
        return EnqueueStatus.NO_ERROR if small and status is EnqueueStatus.QUEUE_QUOTA_EXCEEDED else status


add(
    "pending-receive-gets-no-message",
    ("MQSO-3.3.4.6-D01", "MQSO-5.1.1.2-D03"),
    "A pending receive does not get the message that arrives.",
    omit_step(WaitingReads.pass_new_message_to_waiting_readers),
)


add(
    "pending-receive-ignores-timeout",
    ("MQSO-3.3.4.6-D01", "MQSO-5.1.1.2-D03"),
    "A pending receive continues to wait after its timeout.",
    omit_step(WaitingReads.on_waiting_message_read_timer),
)


@fault("queue-manager-receive-removes-message-after-receive-timeout", breaks="MQSO-5.1.1.2-D03")
class QueueManagerReceiveRemovesMessageAfterReceiveTimeout(WaitingReads):
    """A receive whose timeout has expired removes the next arriving message, and returns nothing."""

    def on_waiting_message_read_timer(self, number: int) -> None:
        reader = self.qm.readers[number]
        answered, reader.answered = reader.answered, self.remove_found_message
        answered(Status.MQ_ERROR_IO_TIMEOUT, None)

    def remove_found_message(self, status: Status, position: MessagePosition | None) -> None:
        """Remove a message without an answer."""
        if position is not None:
            self.qm.message_positions.delete_message(position, MessageClass.MQMSG_CLASS_ACK_RECEIVE)


@fault("pending-receive-of-journaling-queue-with-quota-gets-no-message", breaks="MQSO-5.1.1.2-D03")
class PendingReceiveOfJournalingQueueWithQuotaGetsNoMessage(WaitingReads):
    """A pending receive gets no message that arrives in a queue with both a quota and journaling."""

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        queue = position.QueueReference
        if queue.Quota == UNLIMITED_QUOTA_KB or not queue.Journaling:
            super().pass_new_message_to_waiting_readers(position)


@fault("purge-removes-nothing", breaks="MQSO-5.1.1.2-D04")
class PurgeRemovesNothing(QueueLifecycle):
    """A purge succeeds and removes no message."""

    def purge(
        self,
        queue: Queue,
        token: int | None,
        done: Callable[[int], Result],
        failed: Callable[[], None] | None = None,
    ) -> Result | None:
        return done(len(queue.MessagePositionList))


@fault("purge-ends-at-locked-message", breaks="MQSO-5.1.1.2-D04")
class PurgeEndsAtLockedMessage(QueueLifecycle):
    """A purge removes only the messages before the first message that a transaction has locked."""

    def purge(
        self,
        queue: Queue,
        token: int | None,
        done: Callable[[int], Result],
        failed: Callable[[], None] | None = None,
    ) -> Result | None:
        positions = list(queue.MessagePositionList)
        states = [position.State for position in positions]
        if MessagePositionState.LOCKED not in states or any(position.is_disk_write_pending for position in positions):
            result: Result | None = super().purge(queue, token, done, failed)
            return result
        locked = states.index(MessagePositionState.LOCKED)
        reason = MessageClass.MQMSG_CLASS_NACK_Q_PURGED
        positions[locked].State = MessagePositionState.PURGE_PENDING
        removed = positions[:locked]

        def carry_out() -> Result:
            for position in removed:
                self.qm.message_positions.delete_message(position, reason)
            return done(len(removed))

        removal = self.qm.durable_records.build_message_removal(removed, reason)
        return self.qm.disk.commit(removal, token, carry_out, lambda: None)


def _has_lowest_priority(position: MessagePosition) -> bool:
    message = position.MessageReference
    available = position.State is MessagePositionState.AVAILABLE
    return available and message.Priority == 0 and message.TransactionIdentifier is None


@fault("queue-manager-purge-keeps-messages-of-priority-0", breaks="MQSO-5.1.1.2-D04")
class QueueManagerPurgeKeepsMessagesOfPriority0(QueueLifecycle):
    """A purge keeps the nontransactional messages of priority 0."""

    def purge(self, queue: Queue, *arguments: object, **named: object) -> Result | None:
        kept = [one for one in queue.MessagePositionList if _has_lowest_priority(one)]
        for position in kept:
            position.State = MessagePositionState.PURGE_PENDING
        try:
            return super().purge(queue, *arguments, **named)  # type: ignore[arg-type]
        finally:
            for position in kept:
                position.State = MessagePositionState.AVAILABLE


@fault("queue-manager-purge-empties-journal-too", breaks="MQSO-5.1.1.2-D04", blind=True)
class QueueManagerPurgeEmptiesJournalToo(QueueLifecycle):
    """A purge of a queue also removes the messages in its journal."""

    def purge(self, queue: Queue, *arguments: object, **named: object) -> Result | None:
        journal = queue.JournalQueueReference
        for position in [] if journal is None else list(journal.MessagePositionList):
            self.qm.message_positions.delete_message(position, MessageClass.MQMSG_CLASS_NACK_Q_PURGED)
        return super().purge(queue, *arguments, **named)  # type: ignore[arg-type]


@fault("queue-manager-purge-empties-subqueues-too", breaks="MQSO-5.1.1.2-D04", blind=True)
class QueueManagerPurgeEmptiesSubqueuesToo(QueueLifecycle):
    """A purge of a queue also removes the messages in its subqueues."""

    def purge(self, queue: Queue, *arguments: object, **named: object) -> Result | None:
        for subqueue in queue.SubqueueCollection.values():
            for position in list(subqueue.MessagePositionList):
                self.qm.message_positions.delete_message(position, MessageClass.MQMSG_CLASS_NACK_Q_PURGED)
        return super().purge(queue, *arguments, **named)  # type: ignore[arg-type]


add(
    "deleted-queue-still-exists",
    "MQSO-5.1.1.2-D05",
    "A queue still exists after it was deleted.",
    omit_step(QueueLifecycle.forget),
)


@fault("queue-manager-journal-of-deleted-queue-returns-with-its-name", breaks="MQSO-5.1.1.2-D05")
class QueueManagerJournalOfDeletedQueueReturnsWithItsName(QueueLifecycle):
    """The journal of a new queue with the name of a deleted queue contains the messages from the journal of the deleted
    queue.
    """

    def delete(self, queue: Queue, *arguments: object, **named: object) -> Result | None:
        journal = queue.JournalQueueReference
        if journal is not None:
            kept = [one.MessageReference for one in journal.MessagePositionList]
            self.journals = {**getattr(self, "journals", {}), queue.Pathname.lower(): kept}
        return super().delete(queue, *arguments, **named)  # type: ignore[arg-type]

    def add(self, queue: Queue) -> None:
        super().add(queue)
        for message in getattr(self, "journals", {}).pop(queue.Pathname.lower(), ()):
            assert queue.JournalQueueReference is not None
            self.qm.message_journaling.put_into_system_queue(queue.JournalQueueReference, message)


@fault("queue-manager-deletion-empties-queues-with-longer-names", breaks="MQSO-5.1.1.2-D05", blind=True)
class QueueManagerDeletionEmptiesQueuesWithLongerNames(QueueLifecycle):
    """The deletion of a queue also removes the messages of queues whose names begin with its name."""

    def delete(self, queue: Queue, *arguments: object, **named: object) -> Result | None:
        for other in list(self.qm.adm.QueueCollection.values()):
            if other is not queue and other.Pathname.lower().startswith(queue.Pathname.lower()):
                for position in list(other.MessagePositionList):
                    self.qm.message_positions.delete_message(position, MessageClass.MQMSG_CLASS_NACK_Q_DELETED)
        return super().delete(queue, *arguments, **named)  # type: ignore[arg-type]


@fault("queue-manager-subqueue-of-deleted-queue-returns-with-its-name", breaks="MQSO-5.1.1.2-D05")
class QueueManagerSubqueueOfDeletedQueueReturnsWithItsName(QueueLifecycle):
    """When the subqueues of a deleted queue are created again, they contain the messages of the deleted subqueues."""

    def delete(self, queue: Queue, token: int | None, done: Callable[[], Result]) -> Result | None:
        kept = {name: list(one.MessagePositionList) for name, one in queue.SubqueueCollection.items()}
        self.kept = {**getattr(self, "kept", {}), queue.Pathname.lower(): kept}
        return super().delete(queue, token, done)

    def add_subqueue(self, queue: Queue, parent: Queue, name: str) -> None:
        super().add_subqueue(queue, parent, name)
        for position in getattr(self, "kept", {}).get(parent.Pathname.lower(), {}).pop(name.lower(), []):
            again = self.qm.message_positions.insert_message(queue, position.MessageReference)
            self.qm.message_positions.on_message_available(again)


@fault("queue-manager-returns-same-cursor-for-every-request-on-handle", breaks="MQSO-5.1.1.2-D06")
class QueueManagerReturnsSameCursorForEveryRequestOnHandle(QueueCursors):
    """The queue manager returns the same cursor for every request on an open queue."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        return next(iter(queue_desc.CursorCollection.values()), None) or super().open(queue_desc)


def _open_nonempty_queues_with_cursors(qm: QueueManager) -> None:
    """Open each nonempty queue with two cursors, and reuse the numbers of the earlier handles."""
    for queue in list(qm.adm.QueueCollection.values()):
        if len(queue.MessagePositionList):
            _, descriptor = qm.queue_opening.open_found_queue(queue, queue.Pathname, QueueAccessType.RECEIVE)
            if descriptor is not None:
                for _ in range(2):
                    qm.queue_cursors.open(descriptor)


add(
    "cursors-survive-restart",
    ("MQSO-5.1.1-D01", "MQSO-5.1.1.2-D06"),
    "Open queues and their cursors are open again after a restart.",
    change_core_at_restart(_open_nonempty_queues_with_cursors),
)


@fault("queue-manager-new-cursor-begins-at-older-cursor", breaks="MQSO-5.1.1.2-D06")
class QueueManagerNewCursorBeginsAtOlderCursor(QueueCursors):
    """A new cursor begins at the position of the cursor that was opened last with the same handle."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        older = list(queue_desc.CursorCollection.values())
        cursor = super().open(queue_desc)
        if cursor is not None and older and queue_desc.QueueReference is not None:
            cursor.MessagePositionReference = older[-1].MessagePositionReference
            queue_desc.QueueReference.MessagePositionList.hold(cursor.MessagePositionReference)
        return cursor


@fault("queue-manager-closed-cursor-rewinds-other-cursors", breaks="MQSO-5.1.1.2-D06", blind=True)
class QueueManagerClosedCursorRewindsOtherCursors(QueueOpening):
    """When a cursor is closed, the other cursors of its handle are at the start of the queue again."""

    def close_cursor(self, cursor: Cursor) -> None:
        descriptor = cursor.OpenQueueDescriptorReference
        super().close_cursor(cursor)
        for other in descriptor.CursorCollection.values():
            self.qm.queue_cursors.move_cursor_to_start(other)
            other.CursorState = CursorState.UNREAD


@fault("outgoing-queue-shared-by-destinations", breaks=("MQSO-3.3.4.3-D03", "MQSO-5.1.1.2-D07"))
class OutgoingQueueSharedByDestinations(DestinationResolving):
    """The queue manager puts all outgoing messages into the outgoing queue that was created first."""

    def open_outgoing_queue(self, text: str, now: Now) -> OutgoingQueue:
        return next(iter(self.qm.adm.OutgoingQueues.values()), None) or super().open_outgoing_queue(text, now)


@fault("queue-manager-outgoing-queue-shared-by-queues-of-one-host", breaks="MQSO-5.1.1.2-D07")
class QueueManagerOutgoingQueueSharedByQueuesOfOneHost(DestinationResolving):
    """The queue manager uses one outgoing queue for all direct format names of queues of one computer."""

    def open_outgoing_queue(self, text: str, now: Now) -> OutgoingQueue:
        host = text.lower().partition("\\")[0]
        for name, queue in self.qm.adm.OutgoingQueues.items():
            if host.startswith("direct=") and name.partition("\\")[0] == host:
                return queue
        return super().open_outgoing_queue(text, now)
