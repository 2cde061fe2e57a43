"""Faults of MS-MQMQ 2.2.19.2 that an author wrote without reading the checks."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import MessagePosition


@fault("sender-user-header-private-destination-guid-last-digit", breaks="MQMQ-2.2.19.2-02", blind=True)
class SenderUserHeaderPrivateDestinationGuidLastDigit(Sending):
    """The sender changes the last digit of UserHeader.QueueManagerAddress in messages to private queues."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet: UserMessagePacket = super().construct_user_message(position)
        if not position.MessageReference.DestinationQueueFormatName.upper().startswith("PRIVATE="):
            return packet
        user = packet.UserHeader
        return replace(
            packet, UserHeader=replace(user, QueueManagerAddress=UUID(int=user.QueueManagerAddress.int ^ 15))
        )
