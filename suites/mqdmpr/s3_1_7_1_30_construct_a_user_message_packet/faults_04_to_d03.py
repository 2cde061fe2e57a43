"""Faults that break the rules MQDMPR-3.1.7.1.30-04 and MQDMPR-3.1.7.1.30-D03."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.fields import clear_bits
from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from harness.faults.registry import add
from reference_qm.codec import UserHeader, UserMessagePacket
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import MessagePosition

LARGE_BODY_BYTES = 1_000


@fault("queue-manager-later-message-sent-with-body-of-first", breaks="MQDMPR-3.1.7.1.30-04", blind=True)
class QueueManagerLaterMessageSentWithBodyOfFirst(MessageSending):
    """The queue manager sends each later recoverable message to a queue with the body of the first message."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        bodies = self.__dict__.setdefault("bodies", {})
        to = position.MessageReference.DestinationQueueFormatName
        body = bodies.setdefault(to, packet.MessagePropertiesHeader.MessageBody)
        return packet if not packet.UserHeader.DM else set_fields(packet, {"MessagePropertiesHeader.MessageBody": body})


@fault("queue-manager-remote-reader-gets-packet-without-application-tag", breaks="MQDMPR-3.1.7.1.30-04", blind=True)
class QueueManagerRemoteReaderGetsPacketWithoutApplicationTag(RemoteReads):
    """The packet that the queue manager returns to a remote reader does not contain the message's application tag."""

    def serialize_remote_message(self, position: MessagePosition) -> bytes:
        message = replace(position.MessageReference, AppSpecific=0)
        return super().serialize_remote_message(MessagePosition(message, position.QueueReference))


@fault("queue-manager-large-body-cut-in-packet", breaks="MQDMPR-3.1.7.1.30-04", blind=True)
class QueueManagerLargeBodyCutInPacket(MessageSending):
    """The packet of a message with a large body contains only the first 1,000 bytes of the body."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        cut = {"MessagePropertiesHeader.MessageBody": lambda body: body[:LARGE_BODY_BYTES]}
        return set_fields(packet, cut)


for _name, _says, _when in (
    (
        "sender-mp-of-message-without-label-and-body-clear",
        "The sender sends a message without a label and a body with MP 0.",
        lambda packet: not (packet.MessagePropertiesHeader.Label or packet.MessagePropertiesHeader.MessageBody),
    ),
    (
        "sender-mp-of-transactional-message-clear",
        "The sender sends a transactional message with MP 0.",
        lambda packet: packet.TransactionHeader is not None,
    ),
    (
        "sender-mp-of-message-with-extension-only-clear",
        "The sender sends a message that has an extension, but no body and no label, with MP 0.",
        lambda packet: (
            bool(packet.MessagePropertiesHeader.ExtensionData)
            and not (packet.MessagePropertiesHeader.Label or packet.MessagePropertiesHeader.MessageBody)
        ),
    ),
):
    add(_name, "MQDMPR-3.1.7.1.30-D03", _says, clear_bits(UserMessagePacket, "UserHeader.MP", _when), blind=True)


@fault("sender-transaction-header-of-large-message-omitted", breaks="MQDMPR-3.1.7.1.30-D01", blind=True)
class SenderTransactionHeaderOfLargeMessageOmitted(MessageSending):
    """The sender omits the TransactionHeader of a transactional message with a body of more than 1,000 bytes."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        if packet.TransactionHeader is None or len(packet.MessagePropertiesHeader.MessageBody) <= LARGE_BODY_BYTES:
            return packet
        cleared = set_fields(packet, {"UserHeader.Flags": lambda flags: flags & ~UserHeader.flags(TH=1)})
        return replace(cleared, TransactionHeader=None)


@fault("sender-transaction-header-of-message-without-label-omitted", breaks="MQDMPR-3.1.7.1.30-D01", blind=True)
class SenderTransactionHeaderOfMessageWithoutLabelOmitted(MessageSending):
    """The sender omits the TransactionHeader of a transactional message without a label."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        if packet.TransactionHeader is None or packet.MessagePropertiesHeader.Label:
            return packet
        cleared = set_fields(packet, {"UserHeader.Flags": lambda flags: flags & ~UserHeader.flags(TH=1)})
        return replace(cleared, TransactionHeader=None)
