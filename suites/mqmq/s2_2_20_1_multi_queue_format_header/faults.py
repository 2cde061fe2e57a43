"""Faults of MS-MQMQ 2.2.20.1 MultiQueueFormatHeader."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.protocol.sending import Sending
from reference_qm.model.adm import MessagePosition


@fault("handed-one-destination", breaks="MQMQ-2.2.20.1-01")
class OneDestination(Sending):
    """Destination lists only the queue that the copy goes to."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        message = position.MessageReference
        if message.DestinationMultiQueueFormatName is not None:
            alone = replace(message, DestinationMultiQueueFormatName=message.DestinationQueueFormatName)
            position = replace(position, MessageReference=alone)
        return super().construct_user_message(position)
