"""Faults of MS-MQMQ 2.2.20.1 that an author wrote without reading the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.store.messages import serialize_message
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import MessagePosition


@fault("sender-multi-queue-format-header-missing-in-encrypted", breaks="MQMQ-2.2.20.1-D01", blind=True)
class SenderMultiQueueFormatHeaderMissingInEncrypted(Sending):
    """The sender adds no MultiQueueFormatHeader to a message for several queues whose body is encrypted."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet: UserMessagePacket = super().construct_user_message(position)
        message = position.MessageReference
        if message.DestinationMultiQueueFormatName is None or message.security is None:
            return packet
        if not message.security.PrivacyLevel:
            return packet
        return serialize_message(replace(message, DestinationMultiQueueFormatName=None))
