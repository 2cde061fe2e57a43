"""Faults of MS-MQSO 5.1.1.2 that only special cases reveal: a second instance, a second occurrence, other causes, and
effects in other queues.
"""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import at_restart, both
from harness.faults.registry import add
from reference_qm.codec import DirectQueueFormatName, MessageClass, PrivateName, UserMessagePacket
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.names.destinations import Destinations
from reference_qm.core.names.queue_names import ORDER_QUEUE_NUMBER
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.cursors import Cursors
from reference_qm.core.queueing.journaling import Journaling
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.core.queueing.queues import Queues
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.transfer.administering import Administering
from reference_qm.core.transfer.admission import Admission
from reference_qm.core.transfer.arrival import Arrival
from reference_qm.core.transfer.enqueueing import Enqueueing
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue, Queue, Session
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import CursorState
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState, SessionState
from reference_qm.model.statuses import EnqueueStatus, Status
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.model.transactions import TransactionalOperation
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("queue-manager-aborted-message-returns-at-end", breaks="MQSO-5.1.1.2-D01")
class QueueManagerAbortedMessageReturnsAtEnd(TransactionEvents):
    """An abort puts a message that the transaction received at the end of its queue."""

    def abort_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        position = operation.MessagePositionReference
        if position.State is MessagePositionState.LOCKED:
            positions = position.QueueReference.MessagePositionList
            positions.remove(position)
            position.State = MessagePositionState.LOCKED
            positions.insert(position)
        super().abort_dequeue(operation, now)


@fault("queue-manager-full-transactional-queue-stores-own-message", breaks="MQSO-5.1.1.2-D02")
class QueueManagerFullTransactionalQueueStoresOwnMessage(Enqueueing):
    """A full transactional queue stores the message of an application of the same computer."""

    def admit_message(self, queue: Queue, message: Message, now: Now) -> EnqueueStatus:
        status = super().admit_message(queue, message, now)
        full = status is EnqueueStatus.QUEUE_QUOTA_EXCEEDED and message.TransactionIdentifier is not None
        return EnqueueStatus.NO_ERROR if full else status


@fault("queue-manager-receive-takes-message-after-its-timeout", breaks="MQSO-5.1.1.2-D03")
class QueueManagerReceiveTakesMessageAfterItsTimeout(Waiting):
    """A receive whose timeout has expired removes the next arriving message, and returns nothing."""

    def on_waiting_message_read_timer(self, number: int) -> None:
        reader = self.qm.readers[number]
        answered, reader.answered = reader.answered, self.remove_message
        answered(Status.MQ_ERROR_IO_TIMEOUT, None)

    def remove_message(self, status: Status, position: MessagePosition | None) -> None:
        """Remove a message without an answer."""
        if position is not None:
            self.qm.positions.delete_message(position, MessageClass.MQMSG_CLASS_ACK_RECEIVE)


@fault("queue-manager-purge-keeps-messages-of-priority-0", breaks="MQSO-5.1.1.2-D04")
class QueueManagerPurgeKeepsMessagesOfPriority0(Queues):
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


def _has_lowest_priority(position: MessagePosition) -> bool:
    message = position.MessageReference
    available = position.State is MessagePositionState.AVAILABLE
    return available and message.Priority == 0 and message.TransactionIdentifier is None


@fault("queue-manager-journal-of-deleted-queue-returns-with-its-name", breaks="MQSO-5.1.1.2-D05")
class QueueManagerJournalOfDeletedQueueReturnsWithItsName(Queues):
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
            self.qm.journaling.keep_message(queue.JournalQueueReference, message)


@fault("queue-manager-new-cursor-begins-at-older-cursor", breaks="MQSO-5.1.1.2-D06")
class QueueManagerNewCursorBeginsAtOlderCursor(Cursors):
    """A new cursor begins at the position of the cursor that was opened last with the same handle."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        older = list(queue_desc.CursorCollection.values())
        cursor = super().open(queue_desc)
        if cursor is not None and older and queue_desc.QueueReference is not None:
            cursor.MessagePositionReference = older[-1].MessagePositionReference
            queue_desc.QueueReference.MessagePositionList.hold(cursor.MessagePositionReference)
        return cursor


@fault("queue-manager-outgoing-queue-shared-by-queues-of-one-host", breaks="MQSO-5.1.1.2-D07")
class QueueManagerOutgoingQueueSharedByQueuesOfOneHost(Destinations):
    """The queue manager uses one outgoing queue for all direct format names of queues of one computer."""

    def open_outgoing(self, text: str, now: Now) -> OutgoingQueue:
        host = text.lower().partition("\\")[0]
        for name, queue in self.qm.adm.OutgoingQueues.items():
            if host.startswith("direct=") and name.partition("\\")[0] == host:
                return queue
        return super().open_outgoing(text, now)


@fault("queue-manager-outgoing-queue-created-again-never-destroyed", breaks="MQSO-5.1.1.2-D08")
class QueueManagerOutgoingQueueCreatedAgainNeverDestroyed(Destinations):
    """If the queue manager recreates an outgoing queue that was destroyed, the recreated queue is not destroyed when it
    is idle.
    """

    def destroy(self, queue: OutgoingQueue) -> None:
        name = queue.DestinationFormatName.lower()
        if name not in getattr(self, "destroyed", ()):
            self.destroyed = (*getattr(self, "destroyed", ()), name)
            super().destroy(queue)


@fault("queue-manager-outgoing-queue-lost-twice-does-not-connect-again", breaks="MQSO-5.1.1.2-D09")
class QueueManagerOutgoingQueueLostTwiceDoesNotConnectAgain(Closing):
    """An outgoing queue whose connection is lost a second time does not connect again."""

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        super().on_transport_lost(session, reason, now)
        if session.number in getattr(self, "lost", ()) and session.SessionState is SessionState.WAITING_RECONNECT:
            self.qm.timers.stop(TimerKey(TimerName.SESSION_RETRY_CONNECT, session.number))
        self.lost = (*getattr(self, "lost", ()), session.number)


@fault("queue-manager-resumed-queue-withholds-messages-of-the-pause", breaks="MQSO-5.1.1.2-D10")
class QueueManagerResumedQueueWithholdsMessagesOfThePause(Administering):
    """A resumed outgoing queue sends the messages that it had before the pause, but not the messages that were added
    later.
    """

    def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
        super().pause_queue(queue, now)
        before = {one.order for one in queue.session.OutgoingMessageTable}
        self.before = {**getattr(self, "before", {}), queue.DestinationFormatName: before}

    def resume_queue(self, queue: OutgoingQueue, now: Now) -> None:
        table = queue.session.OutgoingMessageTable
        before = getattr(self, "before", {}).get(queue.DestinationFormatName)
        if before is None:
            super().resume_queue(queue, now)
            return
        later = [one for one in table if one.order not in before]
        for position in later:
            table.remove(position)
        super().resume_queue(queue, now)
        for position in later:
            table.add(position)


@fault("queue-manager-message-of-network-to-system-queue-stored", breaks="MQSO-5.1.1.2-D11")
class QueueManagerMessageOfNetworkToSystemQueueStored(Arrival):
    """The receiver stores a message that is addressed to the direct format name of a system queue in this queue."""

    def find_destination(self, packet: UserMessagePacket) -> Queue | None:
        name = packet.UserHeader.DestinationQueue
        if isinstance(name, DirectQueueFormatName):
            path = name.DirectFormatName.partition("\\")[2]
            if path.lower().startswith("system$;"):
                return self.qm.queue_names.find_by_path(path)
        return super().find_destination(packet)


@fault("queue-manager-transactional-dead-letter-queue-deletion-succeeds", breaks="MQSO-5.1.1.2-D11")
class QueueManagerTransactionalDeadLetterQueueDeletionSucceeds(QueueCommands):
    """A request to delete the transactional dead-letter queue succeeds."""

    def delete_queue(self, request: commands.DeleteQueue, token: int, now: Now) -> Result | None:
        if request.name.lower() == "system$;deadxact":
            return Result()
        return super().delete_queue(request, token, now)


@fault("queue-manager-source-journal-message-without-response-queue", breaks="MQSO-5.1.1.2-D12")
class QueueManagerSourceJournalMessageWithoutResponseQueue(Journaling):
    """The sender stores a message in the source journal without its response queue."""

    def journal_delivered(self, position: MessagePosition) -> None:
        position.MessageReference = replace(position.MessageReference, ResponseQueueFormatName=None)
        super().journal_delivered(position)


class DeadLetterOfRestoredMessage(Journaling):
    """After a restart, a transactional dead letter is in the dead-letter queue for nontransactional messages."""

    def dead_letter_queue(self, message: Message) -> Queue:
        found = super().dead_letter_queue(message)
        restarted = getattr(self, "restarted", False) and found is self.qm.adm.SystemTransactionalDeadletterQueue
        return self.qm.adm.SystemDeadletterQueue if restarted else found


def _note_restart(qm: QueueManager) -> None:
    vars(qm.journaling)["restarted"] = True


add(
    "queue-manager-transactional-dead-letter-in-other-queue-after-restart",
    "MQSO-5.1.1.2-D13",
    "After a restart, a transactional dead letter is in the dead-letter queue for nontransactional messages.",
    both(replace_part(DeadLetterOfRestoredMessage), at_restart(_note_restart)),
)


@fault("receiver-order-ack-of-second-sender-to-other-queue", breaks="MQSO-5.1.1.2-D14")
class ReceiverOrderAckOfSecondSenderToOtherQueue(OrderAcks):
    """If the receiver uses private format names, it sends the order acknowledgments for a second sender to private
    queue 5.
    """

    def name_order_queue(self, session: Session, source: UUID) -> str:
        if session.DirectFormatSession:
            return super().name_order_queue(session, source)
        self.first = getattr(self, "first", source)
        return str(PrivateName(source, ORDER_QUEUE_NUMBER if source == self.first else 5))


@fault("queue-manager-purge-empties-journal-too", breaks="MQSO-5.1.1.2-D04", blind=True)
class QueueManagerPurgeEmptiesJournalToo(Queues):
    """A purge of a queue also removes the messages in its journal."""

    def purge(self, queue: Queue, *arguments: object, **named: object) -> Result | None:
        journal = queue.JournalQueueReference
        for position in [] if journal is None else list(journal.MessagePositionList):
            self.qm.positions.delete_message(position, MessageClass.MQMSG_CLASS_NACK_Q_PURGED)
        return super().purge(queue, *arguments, **named)  # type: ignore[arg-type]


@fault("queue-manager-purge-empties-subqueues-too", breaks="MQSO-5.1.1.2-D04", blind=True)
class QueueManagerPurgeEmptiesSubqueuesToo(Queues):
    """A purge of a queue also removes the messages in its subqueues."""

    def purge(self, queue: Queue, *arguments: object, **named: object) -> Result | None:
        for subqueue in queue.SubqueueCollection.values():
            for position in list(subqueue.MessagePositionList):
                self.qm.positions.delete_message(position, MessageClass.MQMSG_CLASS_NACK_Q_PURGED)
        return super().purge(queue, *arguments, **named)  # type: ignore[arg-type]


@fault("queue-manager-deletion-empties-queues-with-longer-names", breaks="MQSO-5.1.1.2-D05", blind=True)
class QueueManagerDeletionEmptiesQueuesWithLongerNames(Queues):
    """The deletion of a queue also removes the messages of queues whose names begin with its name."""

    def delete(self, queue: Queue, *arguments: object, **named: object) -> Result | None:
        for other in list(self.qm.adm.QueueCollection.values()):
            if other is not queue and other.Pathname.lower().startswith(queue.Pathname.lower()):
                for position in list(other.MessagePositionList):
                    self.qm.positions.delete_message(position, MessageClass.MQMSG_CLASS_NACK_Q_DELETED)
        return super().delete(queue, *arguments, **named)  # type: ignore[arg-type]


@fault("receiver-full-queue-stores-express-message", breaks="MQSO-5.1.1.2-D02", blind=True)
class ReceiverFullQueueStoresExpressMessage(Admission):
    """A full queue stores an express message of another queue manager."""

    def has_room(self, session: Session, packet: UserMessagePacket, queue: Queue, message: Message, now: Now) -> bool:
        return not packet.UserHeader.DM or super().has_room(session, packet, queue, message, now)


@fault("queue-manager-express-message-before-recoverable", breaks="MQSO-5.1.1.2-D01", blind=True)
class QueueManagerExpressMessageBeforeRecoverable(Positions):
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


@fault("queue-manager-closed-cursor-rewinds-others", breaks="MQSO-5.1.1.2-D06", blind=True)
class QueueManagerClosedCursorRewindsOthers(QueueOpening):
    """When a cursor is closed, the other cursors of its handle are at the start of the queue again."""

    def close_cursor(self, cursor: Cursor) -> None:
        descriptor = cursor.OpenQueueDescriptorReference
        super().close_cursor(cursor)
        for other in descriptor.CursorCollection.values():
            self.qm.cursors.rewind(other)
            other.CursorState = CursorState.UNREAD


@fault("queue-manager-second-resume-sends-nothing", breaks="MQSO-5.1.1.2-D10", blind=True)
class QueueManagerSecondResumeSendsNothing(Administering):
    """An outgoing queue that was paused and resumed before is not resumed a second time."""

    def resume_queue(self, queue: OutgoingQueue, now: Now) -> None:
        resumed: set[str] = getattr(self, "resumed", set())
        self.resumed = resumed
        if queue.DestinationFormatName not in resumed:
            resumed.add(queue.DestinationFormatName)
            super().resume_queue(queue, now)


@fault("queue-manager-order-queue-can-be-created", breaks="MQSO-5.1.1.2-D11", blind=True)
class QueueManagerOrderQueueCanBeCreated(Queues):
    """An application can create a queue with the name of the order queue."""

    def create_here(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        if queue.Pathname.lower() != "private$\\order_queue$":
            return super().create_here(queue, utc_s)
        status, created = super().create_here(replace(queue, Pathname="private$\\order-queue"), utc_s)
        if created is not None:
            self.qm.queues.forget(created)
            created.Pathname = queue.Pathname
            self.qm.queues.add(created)
        return status, created
