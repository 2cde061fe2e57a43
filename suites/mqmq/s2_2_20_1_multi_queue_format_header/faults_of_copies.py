"""Faults in the lists of single copies and of acknowledgments (MS-MQMQ 2.2.20.1)."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.sent_messages import change_constructed_packet
from reference_qm.codec import MessageClass, PrivateQueueFormatName, UserHeader, UserMessagePacket
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.model.adm import Message
from reference_qm.surface.clock import Now


def _omit_private_names(packet: UserMessagePacket, message: Message) -> UserMessagePacket:
    header = packet.MultiQueueFormatHeader
    if header is None:
        return packet
    kept = tuple(
        one for one in header.Destination.FormatNameList if not isinstance(one.FormatName, PrivateQueueFormatName)
    )
    listed = replace(header.Destination, FormatNameList=kept, HeaderSize=None, Padding=None)
    return replace(packet, MultiQueueFormatHeader=replace(header, Destination=listed))


def _omit_names_after_second(packet: UserMessagePacket, message: Message) -> UserMessagePacket:
    header = packet.MultiQueueFormatHeader
    if header is None or packet.TransactionHeader is None:
        return packet
    kept = header.Destination.FormatNameList[:2]
    listed = replace(header.Destination, FormatNameList=kept, HeaderSize=None, Padding=None)
    return replace(packet, MultiQueueFormatHeader=replace(header, Destination=listed))


def _omit_multi_queue_header_of_transactional_message(packet: UserMessagePacket, message: Message) -> UserMessagePacket:
    if packet.MultiQueueFormatHeader is None or packet.TransactionHeader is None:
        return packet
    flags = packet.UserHeader.Flags & ~UserHeader.flags(MQ=1)
    return replace(packet, MultiQueueFormatHeader=None, UserHeader=replace(packet.UserHeader, Flags=flags))


add(
    "sender-list-private-names-omitted",
    "MQMQ-2.2.20.1-01",
    "The sender omits private format names from Destination.",
    change_constructed_packet(_omit_private_names),
    blind=True,
)
add(
    "sender-list-of-transactional-message-third-name-omitted",
    "MQMQ-2.2.20.1-01",
    "The sender lists at most two names in Destination of a transactional message.",
    change_constructed_packet(_omit_names_after_second),
    blind=True,
)
add(
    "sender-list-of-transactional-message-header-omitted",
    "MQMQ-2.2.20.1-D01",
    "The sender omits the MultiQueueFormatHeader of a transactional message to several queues.",
    change_constructed_packet(_omit_multi_queue_header_of_transactional_message),
    blind=True,
)


@fault("receiver-copies-multi-queue-format-header-into-acknowledgment", breaks="MQMQ-2.2.20.1-D01", blind=True)
class ReceiverCopiesMultiQueueFormatHeaderIntoAcknowledgment(AdminAcks):
    """The receiver puts the MultiQueueFormatHeader of a message into its administration acknowledgment."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        made = super().build(message, message_class, now)
        return replace(made, DestinationMultiQueueFormatName=message.DestinationMultiQueueFormatName)
