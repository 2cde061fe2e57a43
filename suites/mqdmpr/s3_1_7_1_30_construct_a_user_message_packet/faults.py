"""Faults that break rules of MS-MQDMPR 3.1.7.1.30 Construct a UserMessage Packet."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.fields import clear_bits
from harness.faults.parts import fault
from harness.faults.primitives import change_packets_of_kind
from harness.faults.registry import add
from reference_qm.codec import BaseHeader, DebugHeader, UserHeader, UserMessagePacket
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.core.store.messages import serialize_message
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import MessagePosition, OutgoingMessagePosition, Session

USER_MESSAGE_TYPE = UserMessagePacket


def _remove_transaction_header(packet: UserMessagePacket) -> bytes:
    flags = packet.UserHeader.Flags & ~UserHeader.flags(TH=1)
    base = replace(packet.BaseHeader, PacketSize=0)
    user = replace(packet.UserHeader, Flags=flags)
    return replace(packet, BaseHeader=base, UserHeader=user, TransactionHeader=None).build()


add(
    "sender-transaction-header-missing",
    ("MQDMPR-3.1.7.1.30-05", "MQDMPR-3.1.7.1.30-06", "MQDMPR-3.1.7.1.30-D01"),
    "The sender sends a transactional message without a TransactionHeader and with TH 0.",
    change_packets_of_kind(
        USER_MESSAGE_TYPE, _remove_transaction_header, lambda packet: packet.TransactionHeader is not None
    ),
)


def _remove_debug_header(packet: UserMessagePacket) -> bytes:
    base = replace(packet.BaseHeader, Flags=packet.BaseHeader.Flags & ~BaseHeader.flags(DH=1), PacketSize=0)
    return replace(packet, BaseHeader=base, DebugHeader=None).build()


add(
    "sender-debug-header-missing",
    ("MQDMPR-3.1.7.1.30-05", "MQDMPR-3.1.7.1.30-06", "MQDMPR-3.1.7.1.30-D04"),
    "The sender sends a traced message without a DebugHeader and with DH 0.",
    change_packets_of_kind(USER_MESSAGE_TYPE, _remove_debug_header, lambda packet: packet.DebugHeader is not None),
)


def _add_debug_header(packet: UserMessagePacket) -> bytes:
    base = replace(packet.BaseHeader, Flags=packet.BaseHeader.Flags | BaseHeader.flags(DH=1), PacketSize=0)
    return replace(packet, BaseHeader=base, DebugHeader=DebugHeader()).build()


add(
    "sender-debug-header-in-untraced-message",
    ("MQDMPR-3.1.7.1.30-05", "MQDMPR-3.1.7.1.30-06", "MQDMPR-3.1.7.1.30-D04"),
    "The sender sends an untraced message with a DebugHeader that contains no queue.",
    change_packets_of_kind(
        USER_MESSAGE_TYPE, _add_debug_header, lambda packet: packet.DebugHeader is None and packet.SessionHeader is None
    ),
)


@fault("sender-transaction-header-of-later-message-omitted", breaks="MQDMPR-3.1.7.1.30-D01", blind=True)
class SenderTransactionHeaderOfLaterMessageOmitted(MessageSending):
    """The sender omits the TransactionHeader of each message of a transaction except the first."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        header = packet.TransactionHeader
        if header is not None and not header.FM:
            flags = packet.UserHeader.Flags & ~UserHeader.flags(TH=1)
            base = replace(packet.BaseHeader, PacketSize=0)
            packet = replace(
                packet,
                BaseHeader=base,
                UserHeader=replace(packet.UserHeader, Flags=flags),
                TransactionHeader=None,
            )
        super().transmit(session, position, packet)


def _remove_security_header(packet: UserMessagePacket) -> bytes:
    user = replace(packet.UserHeader, Flags=packet.UserHeader.Flags & ~UserHeader.flags(SH=1))
    base = replace(packet.BaseHeader, PacketSize=0)
    return replace(packet, BaseHeader=base, UserHeader=user, SecurityHeader=None).build()


add(
    "sender-security-header-missing",
    "MQDMPR-3.1.7.1.30-D02",
    "The sender sends a signed message without a SecurityHeader.",
    change_packets_of_kind(
        USER_MESSAGE_TYPE, _remove_security_header, lambda packet: packet.SecurityHeader is not None
    ),
)


@fault("sender-security-header-of-transactional-message-omitted", breaks="MQDMPR-3.1.7.1.30-D02", blind=True)
class SenderSecurityHeaderOfTransactionalMessageOmitted(MessageSending):
    """The sender omits the SecurityHeader of a signed transactional message."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        if packet.TransactionHeader is not None and packet.SecurityHeader is not None:
            flags = packet.UserHeader.Flags & ~UserHeader.flags(SH=1)
            base = replace(packet.BaseHeader, PacketSize=0)
            packet = replace(
                packet, BaseHeader=base, UserHeader=replace(packet.UserHeader, Flags=flags), SecurityHeader=None
            )
        super().transmit(session, position, packet)


add(
    "sender-mp-clear-with-properties-header",
    "MQDMPR-3.1.7.1.30-D03",
    "The sender sends a message with a MessagePropertiesHeader but with MP 0.",
    clear_bits(USER_MESSAGE_TYPE, "UserHeader.MP"),
)


@fault("sender-debug-header-of-transactional-message-omitted", breaks="MQDMPR-3.1.7.1.30-D04")
class SenderDebugHeaderOfTransactionalMessageOmitted(MessageSending):
    """The sender omits the DebugHeader of a transactional message."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        if packet.TransactionHeader is None or packet.DebugHeader is None:
            return packet
        flags = packet.BaseHeader.Flags & ~BaseHeader.flags(DH=1)
        return replace(packet, DebugHeader=None, BaseHeader=replace(packet.BaseHeader, Flags=flags))


@fault("sender-debug-header-of-message-to-several-queues-omitted", breaks="MQDMPR-3.1.7.1.30-D04", blind=True)
class SenderDebugHeaderOfMessageToSeveralQueuesOmitted(MessageSending):
    """The sender omits the DebugHeader of a message to several queues."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        if packet.MultiQueueFormatHeader is None or packet.DebugHeader is None:
            return packet
        flags = packet.BaseHeader.Flags & ~BaseHeader.flags(DH=1)
        return replace(packet, DebugHeader=None, BaseHeader=replace(packet.BaseHeader, Flags=flags))


@fault("sender-second-traced-message-has-no-debug-header", breaks="MQDMPR-3.1.7.1.30-D04")
class SenderSecondTracedMessageHasNoDebugHeader(MessageSending):
    """The packets of all traced messages after the first have no DebugHeader."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        first = getattr(self, "first", None)
        if packet.DebugHeader is None:
            return packet
        if first in (None, position):
            self.first = position
            return packet
        flags = packet.BaseHeader.Flags & ~BaseHeader.flags(DH=1)
        return replace(packet, DebugHeader=None, BaseHeader=replace(packet.BaseHeader, Flags=flags))


@fault("sender-multi-queue-header-of-transactional-message-omitted", breaks="MQDMPR-3.1.7.1.30-D05")
class SenderMultiQueueHeaderOfTransactionalMessageOmitted(MessageSending):
    """The sender omits the MultiQueueFormatHeader of a transactional message to several queues."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        if packet.TransactionHeader is None or packet.MultiQueueFormatHeader is None:
            return packet
        flags = packet.UserHeader.Flags & ~UserHeader.flags(MQ=1)
        return replace(packet, MultiQueueFormatHeader=None, UserHeader=replace(packet.UserHeader, Flags=flags))


@fault("sender-repeats-multi-queue-format-header-in-later-message", breaks="MQDMPR-3.1.7.1.30-D05")
class SenderRepeatsMultiQueueFormatHeaderInLaterMessage(MessageSending):
    """The sender adds the MultiQueueFormatHeader of an earlier message to a later message that is addressed to a single
    queue.
    """

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        if packet.MultiQueueFormatHeader is not None:
            self.listed = packet.MultiQueueFormatHeader
        elif getattr(self, "listed", None) is not None:
            flags = packet.UserHeader.Flags | UserHeader.flags(MQ=1)
            header = replace(packet.UserHeader, Flags=flags)
            return replace(packet, UserHeader=header, MultiQueueFormatHeader=self.listed)
        return packet


@fault("server-omits-security-header-of-signed-message-to-reader", breaks="MQDMPR-3.1.7.1.30-D02", blind=True)
class ServerOmitsSecurityHeaderOfSignedMessageToReader(RemoteReads):
    """The packet of a signed message that the server returns to a remote reader has no SecurityHeader."""

    def serialize_remote_message(self, position: MessagePosition) -> bytes:
        message = position.MessageReference
        if message.security is None or not message.security.AuthenticationLevel:
            return super().serialize_remote_message(position)
        return serialize_message(replace(message, security=None)).build()
