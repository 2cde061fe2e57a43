"""Faults of MS-MQQB 3.1.7.15 Send Administration Acknowledgment: queues of other queue managers."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import (
    MessageClass,
    PrivateName,
    PrivateQueueFormatNameId,
    UserMessagePacket,
    parse_format_name,
)
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.model.adm import Message
from reference_qm.surface.clock import Now


@fault("router-ack-names-response-queue-on-router-itself", breaks="MQQB-3.1.7.15-21", blind=True)
class RouterAckNamesResponseQueueOnRouterItself(MessageAdmission):
    """If a router acknowledges the refusal of a packet with DQ 3, the response queue of the acknowledgment is a private
    queue of the router and not of QueueManagerAddress.
    """

    def build_message(self, packet: UserMessagePacket, now: Now) -> Message:
        message = super().build_message(packet, now)
        queue = packet.UserHeader.DestinationQueue
        if self.qm.message_receiving.is_for_this_queue_manager(packet) or not isinstance(
            queue, PrivateQueueFormatNameId
        ):
            return message
        name = PrivateName(self.qm.adm.Identifier, queue.PrivateQueueIdentifier)
        return replace(message, DestinationQueueFormatName=str(name))


@fault("receiver-acknowledgment-to-queue-of-third-computer-sent-to-source", breaks="MQQB-3.1.7.15-09", blind=True)
class ReceiverAcknowledgmentToQueueOfThirdComputerSentToSource(AdminAcks):
    """When a message leaves its queue and its administration queue is a private queue of a third queue manager, the
    receiver addresses the acknowledgment to the private queue of the same number on the source of the message.
    """

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        text, source = message.AdministrationQueueFormatName, message.Identifier.QueueManagerGuid
        name = parse_format_name(text) if text else None
        if isinstance(name, PrivateName) and name.ComputerGuid not in (source, self.qm.adm.Identifier):
            message = replace(message, AdministrationQueueFormatName=str(replace(name, ComputerGuid=source)))
        super().acknowledge_receive(message, reason, now)
