"""Faults that break rules of MS-MQQB 3.1.7.11."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import MessagePosition


@fault("sender-application-tag-cut-to-16-bits", breaks="MQQB-3.1.7.11-01", blind=True)
class SenderApplicationTagCutTo16Bits(Sending):
    """The sender puts only the low 16 bits of Message.AppSpecific into ApplicationTag of the packet."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        properties = packet.MessagePropertiesHeader
        low = replace(properties, ApplicationTag=properties.ApplicationTag & 0xFFFF)
        return replace(packet, MessagePropertiesHeader=low)
