"""Faults in which the packets of some messages omit an optional header, or contain an unnecessary one."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import BaseHeader, DebugHeader, UserHeader, UserMessagePacket
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import MessagePosition
from reference_qm.model.states import DeliveryGuarantee


class ConstructedPacketReplacer(MessageSending):
    """A part of the queue manager that changes the packets of some messages when it constructs them; a subclass selects
    which.
    """

    def change_packet(self, packet: UserMessagePacket, position: MessagePosition) -> UserMessagePacket:
        raise NotImplementedError

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        return self.change_packet(super().construct_user_message(position), position)


def drop_debug_header(packet: UserMessagePacket) -> UserMessagePacket:
    """Return a packet without its DebugHeader."""
    flags = packet.BaseHeader.Flags & ~BaseHeader.flags(DH=1)
    return replace(packet, BaseHeader=replace(packet.BaseHeader, Flags=flags), DebugHeader=None)


def drop_security_header(packet: UserMessagePacket) -> UserMessagePacket:
    """Return a packet without its SecurityHeader."""
    flags = packet.UserHeader.Flags & ~UserHeader.flags(SH=1)
    return replace(packet, UserHeader=replace(packet.UserHeader, Flags=flags), SecurityHeader=None)


def drop_destination_lists(packet: UserMessagePacket) -> UserMessagePacket:
    """Return a packet without its MultiQueueFormatHeader."""
    flags = packet.UserHeader.Flags & ~UserHeader.flags(MQ=1)
    return replace(packet, UserHeader=replace(packet.UserHeader, Flags=flags), MultiQueueFormatHeader=None)


@fault("sender-multi-queue-format-header-of-express-message-omitted", breaks="MQDMPR-3.1.7.1.30-05", blind=True)
class SenderMultiQueueFormatHeaderOfExpressMessageOmitted(ConstructedPacketReplacer):
    """The packet of an express message to several queues contains no MultiQueueFormatHeader."""

    def change_packet(self, packet: UserMessagePacket, position: MessagePosition) -> UserMessagePacket:
        express = position.MessageReference.DeliveryGuarantee is not DeliveryGuarantee.RECOVERABLE
        return drop_destination_lists(packet) if express else packet


@fault("sender-message-after-traced-message-has-debug-header", breaks="MQDMPR-3.1.7.1.30-06", blind=True)
class SenderMessageAfterTracedMessageHasDebugHeader(ConstructedPacketReplacer):
    """The packet of a message that is sent after a traced message contains a DebugHeader."""

    def change_packet(self, packet: UserMessagePacket, position: MessagePosition) -> UserMessagePacket:
        if packet.DebugHeader is not None:
            self.__dict__["traced"] = True
        elif self.__dict__.pop("traced", False):
            flags = packet.BaseHeader.Flags | BaseHeader.flags(DH=1)
            return replace(packet, BaseHeader=replace(packet.BaseHeader, Flags=flags), DebugHeader=DebugHeader())
        return packet


@fault("sender-multi-queue-format-header-of-traced-message-omitted", breaks="MQDMPR-3.1.7.1.30-06", blind=True)
class SenderMultiQueueFormatHeaderOfTracedMessageOmitted(ConstructedPacketReplacer):
    """The packet of a traced message to several queues contains no MultiQueueFormatHeader."""

    def change_packet(self, packet: UserMessagePacket, position: MessagePosition) -> UserMessagePacket:
        return packet if packet.DebugHeader is None else drop_destination_lists(packet)


@fault("sender-security-header-of-signed-express-message-omitted", breaks="MQDMPR-3.1.7.1.30-D02", blind=True)
class SenderSecurityHeaderOfSignedExpressMessageOmitted(ConstructedPacketReplacer):
    """The packet of an express message with an AuthenticationLevel contains no SecurityHeader."""

    def change_packet(self, packet: UserMessagePacket, position: MessagePosition) -> UserMessagePacket:
        express = position.MessageReference.DeliveryGuarantee is not DeliveryGuarantee.RECOVERABLE
        return drop_security_header(packet) if express else packet


@fault("sender-security-header-of-signed-transactional-message-omitted", breaks="MQDMPR-3.1.7.1.30-D02", blind=True)
class SenderSecurityHeaderOfSignedTransactionalMessageOmitted(ConstructedPacketReplacer):
    """The packet of a transactional message with an AuthenticationLevel contains no SecurityHeader."""

    def change_packet(self, packet: UserMessagePacket, position: MessagePosition) -> UserMessagePacket:
        return packet if packet.TransactionHeader is None else drop_security_header(packet)
