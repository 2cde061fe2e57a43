"""Faults of MS-MQMQ 2.2.18.1, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import (
    FormatError,
    MessageClass,
    MessageIdentifier,
    MQFDirectQueueFormatName,
    Packet,
    UserMessagePacket,
)
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import Message, MessagePosition
from reference_qm.surface.clock import Now

LONGEST_NAME = 128


@fault("receiver-ack-correlation-number-cut-to-two-bytes", breaks="MQMQ-2.2.18.1.3-D01", blind=True)
class ReceiverAckCorrelationNumberCutToTwoBytes(AdminAcks):
    """The receiver sends an acknowledgment whose CorrelationID contains only the lower two bytes of a message number
    above 0xFFFF.
    """

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        number = message.Identifier.Ordinal & 0xFFFF
        short = MessageIdentifier(message.Identifier.QueueManagerGuid, number)
        return replace(super().build(message, message_class, now), CorrelationIdentifier=short.build())


@fault("receiver-list-direct-name-over-128-characters-refused", breaks="MQMQ-2.2.18.1.4.1-D01", blind=True)
class ReceiverListDirectNameOver128CharactersRefused(Identifying):
    """The receiver refuses a list of queues with a direct name whose null is beyond the 128th character."""

    def identify_packet(self, data: bytes) -> Packet:
        packet = super().identify_packet(data)
        if isinstance(packet, UserMessagePacket) and packet.MultiQueueFormatHeader is not None:
            header = packet.MultiQueueFormatHeader
            for element in (*header.Destination.FormatNameList, *header.Administration.FormatNameList):
                name = element.FormatName
                if isinstance(name, MQFDirectQueueFormatName) and len(name.DirectFormatName) > LONGEST_NAME:
                    raise FormatError("MQFDirectQueueFormatName.DirectFormatName", 0, "a fault", "is too long")
        return packet


@fault("receiver-message-purged-from-subqueue-nack-queue-deleted", breaks="MQMQ-2.2.18.1.6-D01", blind=True)
class ReceiverMessagePurgedFromSubqueueNackQueueDeleted(Positions):
    """When a message is purged from a subqueue, the receiver sends an acknowledgment with the class for a deleted
    queue.
    """

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        queue = position.QueueReference
        if (
            reason is MessageClass.MQMSG_CLASS_NACK_Q_PURGED
            and queue.parent is not None
            and queue.QueueType is not QueueType.SYSTEM
        ):
            reason = MessageClass.MQMSG_CLASS_NACK_Q_DELETED
        super().delete_message(position, reason)
