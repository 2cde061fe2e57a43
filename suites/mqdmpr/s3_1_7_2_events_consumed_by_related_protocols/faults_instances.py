"""Faults that break rules of MS-MQDMPR 3.1.7.2 only for some messages, queues, readers or repetitions."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.core.queueing.queue_cursors import CursorResult, QueueCursors
from reference_qm.core.queueing.queue_quotas import QueueQuotas
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.core.transfer.transfer_administering import TransferAdministering
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue, Queue
from reference_qm.model.elements import Cursor, WaitingMessageReadOperation
from reference_qm.model.enums import CursorState, MessageSeekAction
from reference_qm.model.states import MessagePositionState, OutgoingQueueState
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now

RECEIVE_ACK_CLASS, PURGED_NACK_CLASS = MessageClass.MQMSG_CLASS_ACK_RECEIVE, MessageClass.MQMSG_CLASS_NACK_Q_PURGED


@fault("queue-manager-purged-message-at-cursor-stays-in-queue", breaks="MQDMPR-3.1.7.2.1-05")
class QueueManagerPurgedMessageAtCursorStaysInQueue(MessagePositions):
    """A purge leaves a message in the queue if a cursor is at the message."""

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        if reason is PURGED_NACK_CLASS and position.reader_hold_count and position.State is MessagePositionState.LOCKED:
            position.State = MessagePositionState.AVAILABLE
        else:
            super().delete_message(position, reason)


@fault("queue-manager-does-not-delete-journal-message-at-receive", breaks="MQDMPR-3.1.7.2.1-05")
class QueueManagerDoesNotDeleteJournalMessageAtReceive(MessagePositions):
    """A message that is received from a journal stays in the journal."""

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        parent = position.QueueReference.parent
        if (
            reason is RECEIVE_ACK_CLASS
            and parent is not None
            and parent.JournalQueueReference is position.QueueReference
        ):
            self.unlock_message(position)
        else:
            super().delete_message(position, reason)


@fault("queue-manager-lookup-peek-returns-deleted-message", breaks="MQDMPR-3.1.7.2.1-05")
class QueueManagerLookupPeekReturnsDeletedMessage(MessageSearch):
    """A peek by LookupIdentifier returns a message that an earlier search by LookupIdentifier found and that was
    deleted since then.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        known: dict[int, MessagePosition] = self.__dict__.setdefault("known", {})
        status, position = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        if position is not None:
            known[position.LookupIdentifier] = position
        elif lookup_action is MessageSeekAction.CURRENT and peek_operation and lookup_id in known:
            deleted = known[lookup_id]
            if deleted.QueueReference is queue and deleted.State is MessagePositionState.DELETED:
                return Status.MQ_OK, deleted
        return status, position


@fault("queue-manager-message-unlocked-twice-stays-locked", breaks="MQDMPR-3.1.7.2.2-04")
class QueueManagerMessageUnlockedTwiceStaysLocked(MessagePositions):
    """A message that is locked and unlocked for the second time stays locked."""

    def unlock_message(self, position: MessagePosition) -> None:
        unlocked: set[MessagePosition] = self.__dict__.setdefault("unlocked", set())
        if position in unlocked and position.State is MessagePositionState.LOCKED:
            return
        unlocked.add(position)
        super().unlock_message(position)


@fault("queue-manager-message-moved-to-subqueue-stays-locked", breaks="MQDMPR-3.1.7.2.2-04")
class QueueManagerMessageMovedToSubqueueStaysLocked(MessagePositions):
    """A message that is moved into a subqueue stays locked."""

    def on_message_available(self, position: MessagePosition) -> None:
        super().on_message_available(position)
        parent = position.QueueReference.parent
        if parent is not None and position.QueueReference in parent.SubqueueCollection.values():
            position.State = MessagePositionState.LOCKED


@fault("queue-manager-second-message-of-transaction-stays-locked", breaks="MQDMPR-3.1.7.2.2-04")
class QueueManagerSecondMessageOfTransactionStaysLocked(MessagePositions):
    """Of the messages of a transaction, only the first message becomes available."""

    def on_message_available(self, position: MessagePosition) -> None:
        super().on_message_available(position)
        message = position.MessageReference
        if message.TransactionIdentifier is not None and not message.FirstInTransaction:
            position.State = MessagePositionState.LOCKED


@fault("queue-manager-resumed-empty-queue-stays-on-hold", breaks="MQDMPR-3.1.7.2.4-03")
class QueueManagerResumedEmptyQueueStaysOnHold(TransferAdministering):
    """A resumed outgoing queue without messages stays OnHold."""

    def resume_queue(self, queue: OutgoingQueue, now: Now) -> None:
        if len(queue.session.OutgoingMessageTable):
            super().resume_queue(queue, now)


@fault("queue-manager-queue-resumed-twice-stays-on-hold", breaks="MQDMPR-3.1.7.2.4-03")
class QueueManagerQueueResumedTwiceStaysOnHold(TransferAdministering):
    """An outgoing queue that was paused and resumed before stays OnHold when it is resumed again."""

    def resume_queue(self, queue: OutgoingQueue, now: Now) -> None:
        resumed: set[OutgoingQueue] = self.__dict__.setdefault("resumed", set())
        if queue in resumed:
            return
        if queue.State is OutgoingQueueState.ON_HOLD:
            resumed.add(queue)
        super().resume_queue(queue, now)


@fault("queue-manager-second-paused-queue-stays-on-hold", breaks="MQDMPR-3.1.7.2.4-03")
class QueueManagerSecondPausedQueueStaysOnHold(TransferAdministering):
    """A resumed outgoing queue stays OnHold if another outgoing queue is OnHold."""

    def resume_queue(self, queue: OutgoingQueue, now: Now) -> None:
        held = [one for one in self.qm.adm.OutgoingQueues.values() if one.State is OutgoingQueueState.ON_HOLD]
        if len(held) < 2:
            super().resume_queue(queue, now)


@fault("queue-manager-second-flow-control-does-not-throttle", breaks="MQDMPR-3.1.7.2.5-03")
class QueueManagerSecondFlowControlDoesNotThrottle(QueueQuotas):
    """The queue manager does not set Throttled when flow control begins a second time."""

    def begin_flow_control(self) -> None:
        if not self.__dict__.get("begun"):
            super().begin_flow_control()
        self.__dict__["begun"] = True


@fault("queue-manager-with-stored-messages-not-throttled", breaks="MQDMPR-3.1.7.2.5-03")
class QueueManagerWithStoredMessagesNotThrottled(QueueQuotas):
    """The queue manager does not set Throttled when flow control begins while a queue has messages."""

    def begin_flow_control(self) -> None:
        if not any(len(queue.MessagePositionList) for queue in self.qm.queue_names.list_every_queue()):
            super().begin_flow_control()


@fault("queue-manager-with-open-session-not-throttled", breaks="MQDMPR-3.1.7.2.5-03")
class QueueManagerWithOpenSessionNotThrottled(QueueQuotas):
    """The queue manager does not set Throttled when flow control begins while a session is open."""

    def begin_flow_control(self) -> None:
        if not self.qm.sessions:
            super().begin_flow_control()


@fault("queue-manager-stays-throttled-after-second-flow-control", breaks="MQDMPR-3.1.7.2.6-03")
class QueueManagerStaysThrottledAfterSecondFlowControl(QueueQuotas):
    """The queue manager leaves Throttled at True when flow control ends a second time."""

    def end_flow_control(self) -> None:
        if not self.__dict__.get("ended"):
            super().end_flow_control()
            self.__dict__["ended"] = True


@fault("queue-manager-that-refused-message-stays-throttled", breaks="MQDMPR-3.1.7.2.6-03")
class QueueManagerThatRefusedMessageStaysThrottled(QueueQuotas):
    """The queue manager leaves Throttled at True when flow control ends if it has refused a message."""

    def check_room_for_message(self, queue: Queue, message: Message) -> object:  # type: ignore[override]
        status = super().check_room_for_message(queue, message)
        if self.qm.adm.Throttled:
            self.__dict__["refused"] = True
        return status

    def end_flow_control(self) -> None:
        if not self.__dict__.get("refused"):
            super().end_flow_control()


@fault("queue-manager-purge-subtracts-only-first-message-from-total-bytes", breaks="MQDMPR-3.1.7.2.1-03")
class QueueManagerPurgeSubtractsOnlyFirstMessageFromTotalBytes(MessagePositions):
    """A purge decreases the TotalBytes of the queue only by the size of the first message."""

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        messages = position.QueueReference.MessagePositionList
        present = position.State is not MessagePositionState.DELETED
        super().delete_message(position, reason)
        purged: set[Queue] = self.__dict__.setdefault("purged", set())
        if present and reason is PURGED_NACK_CLASS:
            if position.QueueReference in purged:
                messages.TotalBytes += position.size
            purged.add(position.QueueReference)


@fault("queue-manager-total-bytes-keeps-extension-size-of-deleted-message", breaks="MQDMPR-3.1.7.2.1-03")
class QueueManagerTotalBytesKeepsExtensionSizeOfDeletedMessage(MessagePositions):
    """When a message is deleted, the TotalBytes of the queue decreases without the size of the extension."""

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        present = position.State is not MessagePositionState.DELETED
        super().delete_message(position, reason)
        if present:
            position.QueueReference.MessagePositionList.TotalBytes += len(position.MessageReference.Extension)


@fault("queue-manager-receive-by-cursor-at-deleted-message-takes-next", breaks="MQDMPR-3.1.7.2.1-04")
class QueueManagerReceiveByCursorAtDeletedMessageTakesNext(QueueCursors):
    """A receive by a cursor at a deleted message receives the next message."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        at = cursor.MessagePositionReference
        if isinstance(at, MessagePosition) and at.State is MessagePositionState.DELETED:
            cursor.CursorState = CursorState.UNREAD
        return super().get_next_message_for_dequeue(cursor, no_wait)


@fault("queue-manager-second-cursor-at-deleted-message-reads-next", breaks="MQDMPR-3.1.7.2.1-04")
class QueueManagerSecondCursorAtDeletedMessageReadsNext(QueueCursors):
    """A peek by the second cursor at a deleted message returns the next message."""

    def get_message_for_peek(self, cursor: Cursor) -> CursorResult:
        at = cursor.MessagePositionReference
        if isinstance(at, MessagePosition) and at.State is MessagePositionState.DELETED:
            known: set[MessagePosition] = self.__dict__.setdefault("known", set())
            if at in known:
                cursor.CursorState = CursorState.UNREAD
            known.add(at)
        return super().get_message_for_peek(cursor)


@fault("queue-manager-arriving-message-ends-receives-of-other-handles", breaks="MQDMPR-3.1.7.2.2-12")
class QueueManagerArrivingMessageEndsReceivesOfOtherHandles(WaitingReads):
    """A message that completes a receive ends the pending receives of other handles of the queue."""

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        taken = position.State
        super().pass_new_message_to_waiting_readers(position)
        if position.State is taken:
            return
        for descriptor in list(position.QueueReference.OpenQueueDescriptorCollection.values())[1:]:
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                if reader.number in self.qm.readers:
                    self.end_wait_without_message(reader, Status.MQ_ERROR_IO_TIMEOUT)


@fault("queue-manager-second-message-completes-no-pending-receive", breaks="MQDMPR-3.1.7.2.2-12")
class QueueManagerSecondMessageCompletesNoPendingReceive(WaitingReads):
    """A pending receive that did not get the first message that arrives does not get the next message either."""

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        passed: set[WaitingMessageReadOperation] = self.__dict__.setdefault("passed", set())
        super().pass_new_message_to_waiting_readers(position)
        for descriptor in position.QueueReference.OpenQueueDescriptorCollection.values():
            passed.update(one for one in descriptor.WaitingMessageReadOperationCollection if one.DestructiveRead)

    def pass_message_to_waiting_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        if reader not in self.__dict__.setdefault("passed", set()):
            super().pass_message_to_waiting_reader(reader, position)
