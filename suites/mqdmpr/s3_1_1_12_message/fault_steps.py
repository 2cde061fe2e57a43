"""Steps that several fault files of this section share."""

from __future__ import annotations

from dataclasses import replace

from reference_qm.codec import MessageClass, MessagePropertiesHeader
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.model.adm import Message, MessagePosition, Queue

RECEIVE_ACK_CLASS = MessageClass.MQMSG_CLASS_ACK_RECEIVE


def clear_negative_receive_ack_request(position: MessagePosition) -> None:
    """Remove from a message the request for a negative receive acknowledgment."""
    message = position.MessageReference
    requested = message.AcknowledgementsRequested & ~MessagePropertiesHeader.flags(NR=1)
    position.MessageReference = replace(message, AcknowledgementsRequested=requested)


class ArrivedMessageChanger(MessagePositions):
    """Change the messages that other queue managers sent."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if message.Identifier.QueueManagerGuid != self.qm.adm.Identifier:
            message = self.change_message(message)
        return super().insert_message(queue, message)

    def change_message(self, message: Message) -> Message:
        """Return the message that the queue manager inserts into the queue."""
        raise NotImplementedError


RECEIVE_TIMEOUT_NACK_CLASS = MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT


class InsertedMessageChanger(MessagePositions):
    """Change the messages of other queue managers and of local applications when they enter a queue."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, self.change_message(message))

    def change_message(self, message: Message) -> Message:
        """Return the message that the queue manager inserts into the queue."""
        raise NotImplementedError


class LocalMessageChanger(MessagePositions):
    """Change the messages that local applications send to local queues."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if message.Identifier.QueueManagerGuid == self.qm.adm.Identifier:
            message = self.change_message(message)
        return super().insert_message(queue, message)

    def change_message(self, message: Message) -> Message:
        """Return the message that the queue manager inserts into the queue."""
        raise NotImplementedError


class MovedMessageChanger(MessagePositions):
    """Change the messages that are moved between a queue and its subqueues, or into a system queue."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        position.MessageReference = self.change_message(position.MessageReference, queue)
        return super().move_message(position, queue)

    def change_message(self, message: Message, queue: Queue) -> Message:
        """Return the message that the queue manager moves."""
        raise NotImplementedError
