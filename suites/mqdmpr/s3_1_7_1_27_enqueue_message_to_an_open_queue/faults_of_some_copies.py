"""Faults of the status of some sends, and of the lists of queues in some copies of a message."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.transfer.message_enqueueing import MessageEnqueueing
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("queue-manager-local-copies-list-no-destination-queues", breaks="MQDMPR-3.1.7.1.27-10", blind=True)
class QueueManagerLocalCopiesListNoDestinationQueues(MessagePositions):
    """The copies of a message in local queues do not list the queues."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, DestinationMultiQueueFormatName=None))


@fault("queue-manager-copies-list-at-most-three-queues", breaks="MQDMPR-3.1.7.1.27-10", blind=True)
class QueueManagerCopiesListAtMostThreeQueues(MessageSending):
    """The copies of a message to more than three queues list only the first three queues."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        message = position.MessageReference
        listed = message.DestinationMultiQueueFormatName
        if listed is not None:
            listed = ",".join(listed.split(",")[:3])
            position.MessageReference = replace(message, DestinationMultiQueueFormatName=listed)
        return super().construct_user_message(position)


@fault("queue-manager-transactional-copies-list-no-destination-queues", breaks="MQDMPR-3.1.7.1.27-10", blind=True)
class QueueManagerTransactionalCopiesListNoDestinationQueues(MessageSending):
    """The copies of a message that is sent in a transaction do not list the queues."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        message = position.MessageReference
        if message.TransactionIdentifier is not None:
            position.MessageReference = replace(message, DestinationMultiQueueFormatName=None)
        return super().construct_user_message(position)


@fault("queue-manager-send-of-large-express-message-lost", breaks="MQDMPR-3.1.7.1.27-08", blind=True)
class QueueManagerSendOfLargeExpressMessageLost(MessagePositions):
    """The send of a large express message to a local queue succeeds, but the queue does not store the message."""

    def on_message_available(self, position: MessagePosition) -> None:
        super().on_message_available(position)
        message = position.MessageReference
        express = message.DeliveryGuarantee is not DeliveryGuarantee.RECOVERABLE
        if express and len(message.Body) > 2_000 and position.State is MessagePositionState.AVAILABLE:
            self.delete_message(position, MessageClass.MQMSG_CLASS_NACK_DELETED)


@fault("queue-manager-second-send-to-full-queue-succeeds", breaks="MQDMPR-3.1.7.1.27-08", blind=True)
class QueueManagerSecondSendToFullQueueSucceeds(MessageEnqueueing):
    """After a queue has refused a message, the next send to the full queue succeeds, but stores no message."""

    def admit_message(self, queue: Queue, message: Message, now: Now) -> EnqueueStatus:
        status = super().admit_message(queue, message, now)
        if status is EnqueueStatus.NO_ERROR:
            return status
        refused = self.__dict__.setdefault("refused", set())
        if queue not in refused:
            refused.add(queue)
            return status
        self.__dict__["dropped"] = True
        return EnqueueStatus.NO_ERROR

    def put_message(self, queue: Queue, message: Message, token: int | None, result: Result, now: Now) -> Result | None:
        if self.__dict__.pop("dropped", False):
            return result
        return super().put_message(queue, message, token, result, now)
