"""Faults of the SequentialID and of the Time To Be Received Timer for messages of one kind."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.events import MessageDeadlinesChanged
from reference_qm.core.queueing.message_lifetimes import MessageLifetimes, is_message_still_in_queue
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.model.adm import INFINITE_TIMEOUT, Message, MessagePosition, Queue
from reference_qm.model.deadlines import DeadlineCollection
from reference_qm.model.states import DeliveryGuarantee


class SequentialIdIncrementOmitter(MessagePositions):
    """A part of the queue manager that does not increment the SequentialID for some messages; a subclass selects
    which.
    """

    def is_sequential_id_increment_omitted(self, queue: Queue, message: Message) -> bool:
        raise NotImplementedError

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if self.is_sequential_id_increment_omitted(queue, message):
            self.qm.adm.SequentialID -= 1
        return super().insert_message(queue, message)


@fault("queue-manager-sequential-id-not-incremented-for-express-message", breaks="MQDMPR-3.1.7.1.9-10", blind=True)
class QueueManagerSequentialIdNotIncrementedForExpressMessage(SequentialIdIncrementOmitter):
    """The queue manager does not increment its SequentialID for an express message."""

    def is_sequential_id_increment_omitted(self, queue: Queue, message: Message) -> bool:
        return message.DeliveryGuarantee is not DeliveryGuarantee.RECOVERABLE


@fault(
    "queue-manager-sequential-id-not-incremented-for-first-message-of-queue", breaks="MQDMPR-3.1.7.1.9-10", blind=True
)
class QueueManagerSequentialIdNotIncrementedForFirstMessageOfQueue(SequentialIdIncrementOmitter):
    """The queue manager does not increment its SequentialID for a message that enters an empty queue."""

    def is_sequential_id_increment_omitted(self, queue: Queue, message: Message) -> bool:
        return not len(queue.MessagePositionList)


@fault("queue-manager-returned-message-restarts-time-to-be-received", breaks="MQDMPR-3.1.7.1.9-15", blind=True)
class QueueManagerReturnedMessageRestartsTimeToBeReceived(MessageLifetimes):
    """The timer of TimeToBeReceived starts again when a received message returns to its queue."""

    def start_time_to_be_received_timer(self, position: MessagePosition) -> None:
        started = self.__dict__.setdefault("started", {})
        started[position] = started.get(position, 0) + 1
        if started[position] > 1 and position.MessageReference.TimeToBeReceived != INFINITE_TIMEOUT:
            self.qm.to_be_received = DeadlineCollection(is_message_still_in_queue)
            for one in [one for queue in self.qm.queue_names.list_every_queue() for one in queue.MessagePositionList]:
                message = one.MessageReference
                if message.TimeToBeReceived != INFINITE_TIMEOUT:
                    lives = 4 if started.get(one, 0) > 1 else 1
                    self.qm.to_be_received.add(one, message.SentTime + lives * message.TimeToBeReceived)
            self.qm.post_event(MessageDeadlinesChanged())
        else:
            super().start_time_to_be_received_timer(position)


@fault("queue-manager-starts-time-to-be-received-only-for-first-message", breaks="MQDMPR-3.1.7.1.9-15", blind=True)
class QueueManagerStartsTimeToBeReceivedOnlyForFirstMessage(MessageLifetimes):
    """The queue manager starts the timer of TimeToBeReceived only for a message that enters its queue as the first
    message.
    """

    def start_time_to_be_received_timer(self, position: MessagePosition) -> None:
        if len(position.QueueReference.MessagePositionList) == 1:
            super().start_time_to_be_received_timer(position)
