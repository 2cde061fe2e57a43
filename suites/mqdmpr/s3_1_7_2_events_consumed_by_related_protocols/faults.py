"""Faults of MS-MQDMPR 3.1.7.2 Events Consumed By Related Protocols."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import skip
from harness.faults.registry import add
from reference_qm.codec import MessageClass
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.core.transfer.administering import Administering
from reference_qm.core.transfer.expiring import Expiring
from reference_qm.model.adm import MessagePosition, OutgoingQueue
from reference_qm.model.elements import WaitingMessageReadOperation
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now

# -- messages that become available --------------------------------------------------------------------------------


@fault("available-message-stays-locked", breaks=("MQDMPR-3.1.7.2.2-04", "MQDMPR-3.1.7.2-01"))
class AvailableMessageStaysLocked(Positions):
    """A message that becomes available stays locked."""

    def message_available(self, position: MessagePosition) -> None:
        super().message_available(position)
        position.State = MessagePositionState.LOCKED


@fault("abort-of-receive-increases-total-bytes", breaks="MQDMPR-3.1.7.2.2-03")
class AbortOfReceiveIncreasesTotalBytes(Positions):
    """When an aborted transaction returns a message to its queue, the queue manager adds the size of the message to
    TotalBytes again.
    """

    def unlock_message(self, position: MessagePosition) -> None:
        if position.State is MessagePositionState.LOCKED:
            position.QueueReference.MessagePositionList.TotalBytes += position.size
        super().unlock_message(position)


@fault("available-message-for-first-handle-only", breaks="MQDMPR-3.1.7.2.2-07")
class AvailableMessageForFirstHandleOnly(Waiting):
    """A message that becomes available completes only pending reads with the handle that was opened first."""

    def release_readers(self, position: MessagePosition) -> None:
        first = next(iter(position.QueueReference.OpenQueueDescriptorCollection.values()))
        for reader in list(first.WaitingMessageReadOperationCollection):
            self.satisfy_reader(reader, position)


@fault("available-message-completes-one-peek-per-handle", breaks="MQDMPR-3.1.7.2.2-14")
class AvailableMessageCompletesOnePeekPerHandle(Waiting):
    """A message that becomes available completes only the first pending read of each handle, even if that read is a
    peek.
    """

    def release_readers(self, position: MessagePosition) -> None:
        for descriptor in list(position.QueueReference.OpenQueueDescriptorCollection.values()):
            for reader in list(descriptor.WaitingMessageReadOperationCollection)[:1]:
                self.satisfy_reader(reader, position)


@fault("available-message-ends-other-receives", breaks="MQDMPR-3.1.7.2.2-12")
class AvailableMessageEndsOtherReceives(Waiting):
    """When a message completes one of several pending receives, the other receives end without a message."""

    def satisfy_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        super().satisfy_reader(reader, position)
        for descriptor in list(position.QueueReference.OpenQueueDescriptorCollection.values()):
            for other in list(descriptor.WaitingMessageReadOperationCollection):
                self.stop_reader(other, Status.MQ_ERROR_MESSAGE_NOT_FOUND)


# -- messages that are deleted -------------------------------------------------------------------------------------


@fault("deleted-message-still-in-bytes", breaks="MQDMPR-3.1.7.2.1-03")
class DeletedMessageStillInBytes(Positions):
    """When a message is deleted, the queue manager does not subtract the size of the message from TotalBytes."""

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        positions = position.QueueReference.MessagePositionList
        before = positions.TotalBytes
        super().delete_message(position, reason)
        positions.TotalBytes = before


@fault(
    "received-message-stays-in-queue",
    breaks=("MQDMPR-3.1.7.2.1-05", "MQDMPR-3.1.7.2-01"),
)
class ReceivedMessageStaysInQueue(Positions):
    """A received message stays in its queue."""

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        if reason is MessageClass.MQMSG_CLASS_ACK_RECEIVE:
            self.message_available(position)
        else:
            super().delete_message(position, reason)


@fault("expired-message-not-acknowledged", breaks="MQDMPR-3.1.7.2.7-12")
class ExpiredMessageNotAcknowledged(Expiring):
    """A message whose TimeToBeReceived has expired is deleted without an acknowledgment."""

    def delete_not_received(self, positions: list[MessagePosition], now: Now) -> None:
        for position in positions:
            if position.State is MessagePositionState.AVAILABLE:
                self.qm.positions.delete_message(position, MessageClass.MQMSG_CLASS_NORMAL)


add(
    "expired-message-stays-in-queue",
    "MQDMPR-3.1.7.2.7-12",
    "The queue manager leaves a message whose TimeToBeReceived has expired in its queue.",
    skip(Expiring.delete_not_received),
)


@fault(
    "available-message-completes-all-receives",
    breaks=("MQQP-3.1.4.1-D15", "MQQP-3.1.4.1-D02", "MQQP-3.1.4.10-31", "MQQP-3.1.4.10-D01", "MQDMPR-3.1.7.2.2-11"),
)
class AvailableMessageCompletesAllReceives(Waiting):
    """A message that becomes available completes all pending receives."""

    def release_readers(self, position: MessagePosition) -> None:
        for descriptor in list(position.QueueReference.OpenQueueDescriptorCollection.values()):
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                self.satisfy_reader(reader, position)


@fault("resumed-queue-stays-on-hold", breaks=("MQDMPR-3.1.4.15-03", "MQDMPR-3.1.7.2.4-03"))
class ResumedQueueStaysOnHold(Administering):
    """A resumed outgoing queue stays in the State OnHold."""

    def resume_queue(self, queue: OutgoingQueue, now: Now) -> None:
        """Ignore the request."""
