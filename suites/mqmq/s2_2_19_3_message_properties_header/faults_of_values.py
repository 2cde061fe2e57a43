"""Faults of MS-MQMQ 2.2.19.3 MessagePropertiesHeader that only some values of messages and queues reveal."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.queueing.positions import Positions
from reference_qm.model.adm import Message, MessagePosition, Queue


@fault("receiver-application-tag-of-extended-message-lost-in-journaling-queue", breaks="MQMQ-2.2.19.3-16")
class ReceiverApplicationTagOfExtendedMessageLostInJournalingQueue(Positions):
    """The receiver delivers a message without its ApplicationTag if the message has ExtensionData and its queue has
    journaling.
    """

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if queue.Journaling and message.Extension:
            message = replace(message, AppSpecific=0)
        return super().insert_message(queue, message)
