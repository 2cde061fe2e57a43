"""Faults of MS-MQDMPR 3.1.7.1.30 Construct a UserMessage Packet that only special cases reveal: several optional
headers in one packet.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import BaseHeader, UserHeader, UserMessagePacket
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import MessagePosition


@fault("sender-debug-header-of-transactional-message-omitted", breaks="MQDMPR-3.1.7.1.30-D04")
class TransactionalWithoutDebugHeader(Sending):
    """The sender omits the DebugHeader of a transactional message."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        if packet.TransactionHeader is None or packet.DebugHeader is None:
            return packet
        flags = packet.BaseHeader.Flags & ~BaseHeader.flags(DH=1)
        return replace(packet, DebugHeader=None, BaseHeader=replace(packet.BaseHeader, Flags=flags))


@fault("sender-multi-queue-header-of-transactional-message-omitted", breaks="MQDMPR-3.1.7.1.30-D05")
class TransactionalWithoutList(Sending):
    """The sender omits the MultiQueueFormatHeader of a transactional message to several queues."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        if packet.TransactionHeader is None or packet.MultiQueueFormatHeader is None:
            return packet
        flags = packet.UserHeader.Flags & ~UserHeader.flags(MQ=1)
        return replace(packet, MultiQueueFormatHeader=None, UserHeader=replace(packet.UserHeader, Flags=flags))
