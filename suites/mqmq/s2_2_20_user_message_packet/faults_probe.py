"""Faults of MS-MQMQ 2.2.20 that an author wrote without reading the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import MessagePosition

FIRST_PART_SIZE = 1000


@fault("sender-user-message-long-body-first-part-only", breaks="MQMQ-2.2.20-D01", blind=True)
class SenderUserMessageLongBodyFirstPartOnly(Sending):
    """The sender puts only the first 1000 bytes of a longer body into the UserMessage Packet."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet: UserMessagePacket = super().construct_user_message(position)
        properties = packet.MessagePropertiesHeader
        if len(properties.MessageBody) <= FIRST_PART_SIZE:
            return packet
        body = properties.MessageBody[:FIRST_PART_SIZE]
        return replace(packet, MessagePropertiesHeader=replace(properties, MessageBody=body))
