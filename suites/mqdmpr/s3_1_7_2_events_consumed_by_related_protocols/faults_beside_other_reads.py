"""Faults in the sizes of queues, in the release of pending reads, and in the states of queues and of flow control."""

from __future__ import annotations

from harness.faults.neighbouring_reads import list_waiting_reads
from harness.faults.parts import fault
from harness.faults.primitives import change_core_at_restart
from harness.faults.registry import add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.queue_quotas import QueueQuotas
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.core.transfer.transfer_administering import TransferAdministering
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue, Queue
from reference_qm.model.elements import WaitingMessageReadOperation
from reference_qm.model.enums import QueueAccessType
from reference_qm.model.states import OutgoingQueueState
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.surface.clock import Now


def _subtract_size_of_message(position: MessagePosition) -> None:
    """Subtract the size of a message from the size of its queue."""
    position.QueueReference.MessagePositionList.TotalBytes -= position.size
    position.size = 0


@fault("queue-manager-committed-message-does-not-increase-total-bytes", breaks="MQDMPR-3.1.7.2.2-03", blind=True)
class QueueManagerCommittedMessageDoesNotIncreaseTotalBytes(MessagePositions):
    """The TotalBytes of a queue does not increase when a transactional message becomes available."""

    def on_message_available(self, position: MessagePosition) -> None:
        if (
            position.MessageReference.TransactionIdentifier is not None
            and position.position_list_that_counts_size is not None
        ):
            _subtract_size_of_message(position)
        super().on_message_available(position)


@fault("queue-manager-moved-message-does-not-increase-total-bytes", breaks="MQDMPR-3.1.7.2.2-03", blind=True)
class QueueManagerMovedMessageDoesNotIncreaseTotalBytes(MessagePositions):
    """The TotalBytes of a queue does not increase when a message is moved into the queue."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        moved = super().move_message(position, queue)
        if moved is not None and moved.position_list_that_counts_size is not None:
            _subtract_size_of_message(moved)
        return moved


def _subtract_sizes_of_restored_messages(qm: QueueManager) -> None:
    for queue in qm.queue_names.list_every_queue():
        for position in queue.MessagePositionList:
            _subtract_size_of_message(position)


add(
    "queue-manager-size-of-restored-messages-not-counted",
    "MQDMPR-3.1.7.2.2-03",
    "After a restart, the TotalBytes of a queue does not include the messages that were restored.",
    change_core_at_restart(_subtract_sizes_of_restored_messages),
    blind=True,
)


class PendingReadHider(WaitingReads):
    """A part of the queue manager that hides some pending reads from a message that becomes available; a subclass
    selects which.
    """

    def is_pending_read_hidden(self, reader: WaitingMessageReadOperation, place: int) -> bool:
        """Return whether a pending read is hidden from the message. ``place`` is the position of its descriptor in the
        list of descriptors.
        """
        raise NotImplementedError

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        descriptors = list(position.QueueReference.OpenQueueDescriptorCollection.values())
        hidden: dict[int, WaitingMessageReadOperation] = {}
        for place, descriptor in enumerate(descriptors):
            for reader in descriptor.WaitingMessageReadOperationCollection:
                if reader.number in self.qm.readers and self.is_pending_read_hidden(reader, place):
                    hidden[reader.number] = self.qm.readers.pop(reader.number)
        super().pass_new_message_to_waiting_readers(position)
        self.qm.readers.update(hidden)


@fault("queue-manager-pending-read-of-third-handle-not-completed", breaks="MQDMPR-3.1.7.2.2-07", blind=True)
class QueueManagerPendingReadOfThirdHandleNotCompleted(PendingReadHider):
    """A message that becomes available completes only pending reads of the first two descriptors of the queue."""

    def is_pending_read_hidden(self, reader: WaitingMessageReadOperation, place: int) -> bool:
        return place > 1


@fault("queue-manager-pending-read-of-handle-opened-to-peek-not-completed", breaks="MQDMPR-3.1.7.2.2-07", blind=True)
class QueueManagerPendingReadOfHandleOpenedToPeekNotCompleted(PendingReadHider):
    """A message that becomes available does not complete the pending reads of a descriptor with PeekAccess if the queue
    is also open with ReceiveAccess.
    """

    def is_pending_read_hidden(self, reader: WaitingMessageReadOperation, place: int) -> bool:
        queue = reader.descriptor.QueueReference
        assert queue is not None
        opened = {one.AccessType for one in queue.OpenQueueDescriptorCollection.values()}
        return reader.descriptor.AccessType is QueueAccessType.PEEK and QueueAccessType.RECEIVE in opened


class PeekCompleterBehindCompletedReceive(WaitingReads):
    """A part of the queue manager in which a message that completes some receives also completes the pending peeks
    behind them; a subclass selects which.
    """

    def are_peeks_behind_receive_completed(self, reader: WaitingMessageReadOperation) -> bool:
        raise NotImplementedError

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        waiting = list_waiting_reads(position.QueueReference)
        super().pass_new_message_to_waiting_readers(position)
        receives = [one for one in waiting if one.DestructiveRead and one.number not in self.qm.readers]
        if receives and self.are_peeks_behind_receive_completed(receives[0]):
            for one in waiting[waiting.index(receives[0]) :]:
                if not one.DestructiveRead and one.number in self.qm.readers:
                    self.pass_message_to_waiting_reader(one, position)


@fault("queue-manager-message-of-cursor-receive-also-completes-later-peeks", breaks="MQDMPR-3.1.7.2.2-11", blind=True)
class QueueManagerMessageOfCursorReceiveAlsoCompletesLaterPeeks(PeekCompleterBehindCompletedReceive):
    """A message that completes a pending receive by a cursor also completes the peeks that began to wait later."""

    def are_peeks_behind_receive_completed(self, reader: WaitingMessageReadOperation) -> bool:
        return reader.CursorReference is not None


@fault("queue-manager-message-of-second-receive-also-completes-later-peeks", breaks="MQDMPR-3.1.7.2.2-11", blind=True)
class QueueManagerMessageOfSecondReceiveAlsoCompletesLaterPeeks(PeekCompleterBehindCompletedReceive):
    """A message that completes the second pending receive of the queue manager also completes the peeks behind it."""

    def are_peeks_behind_receive_completed(self, reader: WaitingMessageReadOperation) -> bool:
        count = self.__dict__["count"] = self.__dict__.get("count", 0) + 1
        return count > 1


@fault("queue-manager-message-of-cursor-peek-completes-no-later-read", breaks="MQDMPR-3.1.7.2.2-14", blind=True)
class QueueManagerMessageOfCursorPeekCompletesNoLaterRead(PendingReadHider):
    """A message that completes a pending peek by a cursor completes no read that began to wait later."""

    def is_pending_read_hidden(self, reader: WaitingMessageReadOperation, place: int) -> bool:
        queue = reader.descriptor.QueueReference
        assert queue is not None
        for one in list_waiting_reads(queue):
            if one is reader:
                return False
            if one.CursorReference is not None and not one.DestructiveRead and one.number < reader.number:
                return True
        return False


@fault("queue-manager-message-completes-at-most-two-pending-reads", breaks="MQDMPR-3.1.7.2.2-14", blind=True)
class QueueManagerMessageCompletesAtMostTwoPendingReads(PendingReadHider):
    """A message that completes two pending peeks does not complete the read behind them."""

    def is_pending_read_hidden(self, reader: WaitingMessageReadOperation, place: int) -> bool:
        queue = reader.descriptor.QueueReference
        assert queue is not None
        return reader in list_waiting_reads(queue)[2:]


@fault("sender-connected-queue-not-on-hold-after-pause", breaks="MQDMPR-3.1.7.2.3-03", blind=True)
class SenderConnectedQueueNotOnHoldAfterPause(TransferAdministering):
    """If a session of an outgoing queue is open, the State of the queue remains Connected when the queue is paused."""

    def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
        connected = queue.State is OutgoingQueueState.CONNECTED
        super().pause_queue(queue, now)
        if connected:
            queue.State = OutgoingQueueState.CONNECTED


@fault("sender-second-pause-sets-queue-state-inactive", breaks="MQDMPR-3.1.7.2.3-03", blind=True)
class SenderSecondPauseSetsQueueStateInactive(TransferAdministering):
    """If an outgoing queue is paused while it is paused, its State changes to Inactive."""

    def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
        again = queue.State is OutgoingQueueState.ON_HOLD
        super().pause_queue(queue, now)
        if again:
            queue.State = OutgoingQueueState.INACTIVE


@fault("queue-manager-stays-throttled-after-refusing-a-message", breaks="MQDMPR-3.1.7.2.6-03", blind=True)
class QueueManagerStaysThrottledAfterRefusingAMessage(QueueQuotas):
    """Throttled remains True at the end of flow control if the queue manager has refused a message meanwhile."""

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        if self.qm.adm.Throttled:
            self.__dict__["refused"] = True
        return super().check_room_for_message(queue, message)

    def end_flow_control(self) -> None:
        if not self.__dict__.get("refused"):
            super().end_flow_control()
