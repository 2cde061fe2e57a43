"""Faults that break the rule MQDMPR-3.1.7.1.30-03 only under certain conditions."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import BaseHeader, UserMessagePacket
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import MessagePosition

_DEBUG_HEADER_FLAG = BaseHeader.flags(DH=1)


@fault("sender-debug-header-omitted-in-transactional-packet", breaks="MQDMPR-3.1.7.1.30-03", blind=True)
class SenderDebugHeaderOmittedInTransactionalPacket(MessageSending):
    """The sender builds the packet of a traced transactional message without the DebugHeader."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        if packet.DebugHeader is None or packet.TransactionHeader is None:
            return packet
        return set_fields(packet, {"DebugHeader": None, "BaseHeader.Flags": lambda flags: flags & ~_DEBUG_HEADER_FLAG})


@fault("sender-omits-label-and-extension-of-message-without-body", breaks="MQDMPR-3.1.7.1.30-03", blind=True)
class SenderOmitsLabelAndExtensionOfMessageWithoutBody(MessageSending):
    """The sender builds the packet of a message without a body as if the message had no label and no extension."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        properties = packet.MessagePropertiesHeader
        if properties.MessageBody or properties.MessageClass:
            return packet
        return replace(packet, MessagePropertiesHeader=replace(properties, Label=None, ExtensionData=b""))
