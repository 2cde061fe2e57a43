"""Faults that break rules of MS-MQDMPR 3.1.7.2 Events Consumed By Related Protocols."""

from __future__ import annotations

from operator import attrgetter

from harness.faults.parts import fault, faulty_only_if
from harness.faults.primitives import omit_step
from harness.faults.registry import add
from reference_qm.codec import MessageClass
from reference_qm.core.queueing.message_lifetimes import MessageLifetimes
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.core.transfer.message_expiring import MessageExpiring
from reference_qm.core.transfer.transfer_administering import TransferAdministering
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import MessagePosition, OutgoingQueue, Queue
from reference_qm.model.elements import WaitingMessageReadOperation
from reference_qm.model.enums import CursorState
from reference_qm.model.states import MessagePositionState, SessionState
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now


@fault("available-message-stays-locked", breaks=("MQDMPR-3.1.7.2.2-04", "MQDMPR-3.1.7.2-01"))
class AvailableMessageStaysLocked(MessagePositions):
    """A message that becomes available stays locked."""

    def on_message_available(self, position: MessagePosition) -> None:
        super().on_message_available(position)
        position.State = MessagePositionState.LOCKED


@fault(
    "received-message-stays-in-queue",
    breaks=("MQDMPR-3.1.7.2.1-05", "MQDMPR-3.1.7.2-01"),
)
class ReceivedMessageStaysInQueue(MessagePositions):
    """A received message stays in its queue."""

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        if reason is MessageClass.MQMSG_CLASS_ACK_RECEIVE:
            self.on_message_available(position)
        else:
            super().delete_message(position, reason)


@fault("size-of-deleted-message-stays-in-total-bytes", breaks="MQDMPR-3.1.7.2.1-03")
class SizeOfDeletedMessageStaysInTotalBytes(MessagePositions):
    """When a message is deleted, the queue manager does not subtract the size of the message from TotalBytes."""

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        positions = position.QueueReference.MessagePositionList
        before = positions.TotalBytes
        super().delete_message(position, reason)
        positions.TotalBytes = before


@fault("queue-manager-total-bytes-of-purged-subqueue-not-decreased", breaks="MQDMPR-3.1.7.2.1-03", blind=True)
class QueueManagerTotalBytesOfPurgedSubqueueNotDecreased(MessagePositions):
    """When a message is purged, the queue manager does not subtract the size of the message from TotalBytes of the
    queue.
    """

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        size = position.size
        super().delete_message(position, reason)
        if reason is MessageClass.MQMSG_CLASS_NACK_Q_PURGED:
            position.QueueReference.MessagePositionList.TotalBytes += size


@fault("purge-resets-cursor-at-purged-message", breaks="MQDMPR-3.1.7.2.1-04", blind=True)
class PurgeResetsCursorAtPurgedMessage(MessagePositions):
    """When a purge deletes the message of a cursor, the cursor moves to the start of the queue, so reads by the cursor
    do not report that its message was deleted.
    """

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        if reason is MessageClass.MQMSG_CLASS_NACK_Q_PURGED:
            for descriptor in position.QueueReference.OpenQueueDescriptorCollection.values():
                for cursor in descriptor.CursorCollection.values():
                    if cursor.MessagePositionReference is position:
                        self.qm.queue_cursors.move_cursor_to_start(cursor)
                        cursor.CursorState = CursorState.UNREAD
        super().delete_message(position, reason)


@fault("abort-of-receive-increases-total-bytes", breaks="MQDMPR-3.1.7.2.2-03")
class AbortOfReceiveIncreasesTotalBytes(MessagePositions):
    """When an aborted transaction returns a message to its queue, the queue manager adds the size of the message to
    TotalBytes again.
    """

    def unlock_message(self, position: MessagePosition) -> None:
        if position.State is MessagePositionState.LOCKED:
            position.QueueReference.MessagePositionList.TotalBytes += position.size
        super().unlock_message(position)


@fault("queue-manager-size-of-moved-message-not-added-to-total-bytes", breaks="MQDMPR-3.1.7.2.2-03", blind=True)
class QueueManagerSizeOfMovedMessageNotAddedToTotalBytes(MessagePositions):
    """When a message is moved, the queue manager does not add the size of the message to TotalBytes of the target
    queue.
    """

    def on_message_available(self, position: MessagePosition) -> None:
        super().on_message_available(position)
        if (
            position.QueueReference.parent is not None
            and position.position_list_that_counts_size is not None
            and not position.reader_hold_count
        ):
            position.QueueReference.MessagePositionList.TotalBytes -= position.size
            position.size = 0


@fault("available-message-completes-reads-of-first-handle-only", breaks="MQDMPR-3.1.7.2.2-07")
class AvailableMessageCompletesReadsOfFirstHandleOnly(WaitingReads):
    """A message that becomes available completes only pending reads with the handle that was opened first."""

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        first = next(iter(position.QueueReference.OpenQueueDescriptorCollection.values()))
        for reader in list(first.WaitingMessageReadOperationCollection):
            self.pass_message_to_waiting_reader(reader, position)


@fault("queue-manager-arriving-message-completes-reads-of-first-handle-only", breaks="MQDMPR-3.1.7.2.2-07")
class QueueManagerArrivingMessageCompletesReadsOfFirstHandleOnly(WaitingReads):
    """A message that becomes available completes a pending read only if the read uses the handle of its queue that was
    opened first.
    """

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        queue = position.QueueReference
        every = dict(queue.OpenQueueDescriptorCollection)
        first = next(iter(every), None)
        queue.OpenQueueDescriptorCollection = {key: one for key, one in every.items() if key == first}
        super().pass_new_message_to_waiting_readers(position)
        queue.OpenQueueDescriptorCollection = {**every} | {
            key: one for key, one in queue.OpenQueueDescriptorCollection.items() if key not in every
        }


@fault(
    "available-message-completes-all-receives",
    breaks=("MQQP-3.1.4.1-D15", "MQQP-3.1.4.1-D02", "MQQP-3.1.4.10-31", "MQQP-3.1.4.10-D01", "MQDMPR-3.1.7.2.2-11"),
)
class AvailableMessageCompletesAllReceives(WaitingReads):
    """A message that becomes available completes all pending receives."""

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        for descriptor in list(position.QueueReference.OpenQueueDescriptorCollection.values()):
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                self.pass_message_to_waiting_reader(reader, position)


@fault("queue-manager-arriving-message-completes-peek-behind-receive", breaks="MQDMPR-3.1.7.2.2-11")
class QueueManagerArrivingMessageCompletesPeekBehindReceive(WaitingReads):
    """A message that completes a pending receive also completes a pending peek that began to wait later."""

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        for descriptor in list(position.QueueReference.OpenQueueDescriptorCollection.values()):
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                if not reader.DestructiveRead and reader.CursorReference is None:
                    self.pass_message_to_waiting_reader(reader, position)
        super().pass_new_message_to_waiting_readers(position)


@fault("available-message-ends-other-receives", breaks="MQDMPR-3.1.7.2.2-12")
class AvailableMessageEndsOtherReceives(WaitingReads):
    """When a message completes one of several pending receives, the other receives end without a message."""

    def pass_message_to_waiting_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        super().pass_message_to_waiting_reader(reader, position)
        for descriptor in list(position.QueueReference.OpenQueueDescriptorCollection.values()):
            for other in list(descriptor.WaitingMessageReadOperationCollection):
                self.end_wait_without_message(other, Status.MQ_ERROR_MESSAGE_NOT_FOUND)


@fault("queue-manager-arriving-message-completes-every-receive", breaks="MQDMPR-3.1.7.2.2-12")
class QueueManagerArrivingMessageCompletesEveryReceive(WaitingReads):
    """A message that completes a pending receive ends the next pending receive without a message."""

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        descriptors = position.QueueReference.OpenQueueDescriptorCollection.values()
        receives = [
            one for each in descriptors for one in each.WaitingMessageReadOperationCollection if one.DestructiveRead
        ]
        super().pass_new_message_to_waiting_readers(position)
        if receives and receives[0].number not in self.qm.readers:
            for one in receives[1:]:
                if one.number in self.qm.readers:
                    self.on_waiting_message_read_timer(one.number)


@fault("available-message-completes-one-peek-per-handle", breaks="MQDMPR-3.1.7.2.2-14")
class AvailableMessageCompletesOnePeekPerHandle(WaitingReads):
    """A message that becomes available completes only the first pending read of each handle, even if that read is a
    peek.
    """

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        for descriptor in list(position.QueueReference.OpenQueueDescriptorCollection.values()):
            for reader in list(descriptor.WaitingMessageReadOperationCollection)[:1]:
                self.pass_message_to_waiting_reader(reader, position)


@fault("queue-manager-completed-peek-releases-reads-of-its-handle-only", breaks="MQDMPR-3.1.7.2.2-14")
class QueueManagerCompletedPeekReleasesReadsOfItsHandleOnly(WaitingReads):
    """A message that completes a pending peek completes the next pending read with the same handle, but no pending read
    with another handle.
    """

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        queue = position.QueueReference
        every = dict(queue.OpenQueueDescriptorCollection)
        waiting = [key for key, one in every.items() if one.WaitingMessageReadOperationCollection]
        for key in waiting[1:]:
            del queue.OpenQueueDescriptorCollection[key]
        super().pass_new_message_to_waiting_readers(position)
        for key in waiting[1:]:
            queue.OpenQueueDescriptorCollection[key] = every[key]


@fault("sender-paused-queue-without-session-not-on-hold", breaks="MQDMPR-3.1.7.2.3-03")
class SenderPausedQueueWithoutSessionNotOnHold(TransferAdministering):
    """The State of a paused outgoing queue becomes OnHold only if the queue has an open session."""

    def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
        state = queue.State
        super().pause_queue(queue, now)
        if queue.session.SessionState is not SessionState.OPEN:
            queue.State = state


@fault("outgoing-queue-state-stays-on-hold-after-resume", breaks=("MQDMPR-3.1.4.15-03", "MQDMPR-3.1.7.2.4-03"))
class OutgoingQueueStateStaysOnHoldAfterResume(TransferAdministering):
    """A resumed outgoing queue stays in the State OnHold."""

    def resume_queue(self, queue: OutgoingQueue, now: Now) -> None:
        """Ignore the request to resume the outgoing queue."""


@fault("receiver-expired-message-deleted-without-acknowledgment", breaks="MQDMPR-3.1.7.2.7-12")
class ReceiverExpiredMessageDeletedWithoutAcknowledgment(MessageExpiring):
    """A message whose TimeToBeReceived has expired is deleted without an acknowledgment."""

    def delete_messages_not_received_in_time(self, positions: list[MessagePosition], now: Now) -> None:
        for position in positions:
            if position.State is MessagePositionState.AVAILABLE:
                self.qm.message_positions.delete_message(position, MessageClass.MQMSG_CLASS_NORMAL)


add(
    "expired-message-stays-in-queue",
    "MQDMPR-3.1.7.2.7-12",
    "The queue manager leaves a message whose TimeToBeReceived has expired in its queue.",
    omit_step(MessageExpiring.delete_messages_not_received_in_time),
)


@fault("receiver-second-message-of-same-lifetime-never-expires", breaks="MQDMPR-3.1.7.2.7-12")
class ReceiverSecondMessageOfSameLifetimeNeverExpires(MessageLifetimes):
    """If several messages expire in the same second, only one of them is removed from its queue."""

    @faulty_only_if(
        lambda part, position: (
            part.qm.to_be_received.earliest_s
            == position.MessageReference.SentTime + position.MessageReference.TimeToBeReceived
        )
    )
    def start_time_to_be_received_timer(self, position: MessagePosition) -> None:
        return


COUNT_OF_READS_THAT_MESSAGE_COMPLETES = 2


@fault("queue-manager-moved-message-not-in-total-bytes", breaks="MQDMPR-3.1.7.2.2-03", blind=True)
class QueueManagerMovedMessageNotInTotalBytes(MessagePositions):
    """The TotalBytes of a queue or subqueue does not increase when a message is moved to it."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        target = super().move_message(position, queue)
        if (
            target is not None
            and target.position_list_that_counts_size is not None
            and queue.QueueType is not QueueType.SYSTEM
        ):
            target.position_list_that_counts_size.TotalBytes -= target.size
            target.position_list_that_counts_size.storage.used_bytes -= target.size
            target.size = 0
        return target


@fault("queue-manager-message-of-peek-completes-one-further-read-only", breaks="MQDMPR-3.1.7.2.2-14", blind=True)
class QueueManagerMessageOfPeekCompletesOneFurtherReadOnly(WaitingReads):
    """A message that completes a pending peek completes only one further pending read, even if that read is a
    peek.
    """

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        released = 0
        for descriptor in list(position.QueueReference.OpenQueueDescriptorCollection.values()):
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                if reader.number in self.qm.readers:
                    found = self._find_message_for_reader(reader, position)
                    if found is None or released == COUNT_OF_READS_THAT_MESSAGE_COMPLETES:
                        return
                    released += 1
                    self.pass_message_to_waiting_reader(reader, found)


@fault("queue-manager-message-completes-peeks-before-earlier-receive", breaks="MQDMPR-3.1.7.2.2-11", blind=True)
class QueueManagerMessageCompletesPeeksBeforeEarlierReceive(WaitingReads):
    """A message first completes all pending peeks of a handle, including the peeks that began to wait after a pending
    receive.
    """

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        for descriptor in list(position.QueueReference.OpenQueueDescriptorCollection.values()):
            for reader in sorted(descriptor.WaitingMessageReadOperationCollection, key=attrgetter("DestructiveRead")):
                if reader.number in self.qm.readers:
                    found = self._find_message_for_reader(reader, position)
                    if found is None:
                        return
                    self.pass_message_to_waiting_reader(reader, found)
