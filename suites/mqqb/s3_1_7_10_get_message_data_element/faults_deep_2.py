"""Faults of MS-MQQB 3.1.7.10 Get Message Data Element From Buffer that occur only with large values or a
second message.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.queueing.positions import Positions
from reference_qm.model.adm import Message, MessagePosition, Queue


@fault("receiver-extension-above-255-bytes-cut", breaks="MQQB-3.1.7.10-03", blind=True)
class ReceiverExtensionAbove255BytesCut(Positions):
    """The receiver cuts an extension that is longer than 255 bytes."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, Extension=message.Extension[:255]))


@fault("receiver-body-above-64-kilobytes-cut", breaks="MQQB-3.1.7.10-03", blind=True)
class ReceiverBodyAbove64KilobytesCut(Positions):
    """The receiver cuts a body that is longer than 65,535 bytes."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, Body=message.Body[:0xFFFF]))


@fault("receiver-label-of-preceding-message-for-message-without-label", breaks="MQQB-3.1.7.10-03", blind=True)
class ReceiverLabelOfPrecedingMessageForMessageWithoutLabel(Positions):
    """The receiver gives a message without a label the label of the preceding message in its queue."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if not message.Label:
            for last in list(queue.MessagePositionList)[-1:]:
                message = replace(message, Label=last.MessageReference.Label)
        return super().insert_message(queue, message)


@fault("receiver-correlation-identifier-of-priority-7-lost", breaks="MQQB-3.1.7.10-03", blind=True)
class ReceiverCorrelationIdentifierOfPriority7Lost(Positions):
    """The receiver gives a message with priority 7 to an application without the CorrelationIdentifier
    of the message.
    """

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if message.Priority == 7:
            message = replace(message, CorrelationIdentifier=bytes(20))
        return super().insert_message(queue, message)


@fault("receiver-second-equal-message-discarded", breaks="MQQB-3.1.7.10-02", blind=True)
class ReceiverSecondEqualMessageDiscarded(Positions):
    """The receiver drops a message whose label and body equal those of the preceding message in the queue."""

    def message_available(self, position: MessagePosition) -> None:
        super().message_available(position)
        message, queue = position.MessageReference, position.QueueReference
        for other in list(queue.MessagePositionList):
            same = (other.MessageReference.Label, other.MessageReference.Body) == (message.Label, message.Body)
            if other is not position and same:
                queue.MessagePositionList.remove(position)
                return
