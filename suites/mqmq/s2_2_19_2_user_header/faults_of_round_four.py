"""Faults that break rules of MS-MQMQ 2.2.19.2 UserHeader, written without knowledge of the checks."""

from __future__ import annotations

from harness.faults.fields import clear_bits
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.codec import PrivateQueueFormatNameId, UserHeader, UserMessagePacket
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.core.transfer.message_arrival import MessageArrival
from reference_qm.model.adm import MessagePosition, Queue

USER_HEADER_FLAGS_OFFSET = 16 + 44
"""The offset in bytes of UserHeader.Flags in a packet."""
SECURITY_HEADER_FLAG = UserHeader.flags(SH=1)


@fault("server-clears-sh-of-remotely-read-message-with-security-header", breaks="MQMQ-2.2.19.2-18", blind=True)
class ServerClearsShOfRemotelyReadMessageWithSecurityHeader(RemoteReads):
    """The server clears UserHeader.Flags.SH of a message with a SecurityHeader that it returns to a remote reader."""

    def serialize_remote_message(self, position: MessagePosition) -> bytes:
        data = super().serialize_remote_message(position)
        end = USER_HEADER_FLAGS_OFFSET + 4
        flags = int.from_bytes(data[USER_HEADER_FLAGS_OFFSET:end], "little") & ~SECURITY_HEADER_FLAG
        return data[:USER_HEADER_FLAGS_OFFSET] + flags.to_bytes(4, "little") + data[end:]


def _has_neither_label_nor_body(packet: UserMessagePacket) -> bool:
    return not packet.MessagePropertiesHeader.Label and not packet.MessagePropertiesHeader.MessageBody


add(
    "sender-message-without-label-and-body-mp-clear",
    "MQMQ-2.2.19.2-21",
    "The sender clears UserHeader.Flags.MP of a message that has neither a label nor a body.",
    clear_bits(UserMessagePacket, "UserHeader.MP", _has_neither_label_nor_body),
    blind=True,
)


def _lists_one_destination(packet: UserMessagePacket) -> bool:
    several = packet.MultiQueueFormatHeader
    return several is not None and several.Destination.ElementCount == 1


add(
    "sender-message-multi-queue-format-header-of-one-destination-mq-clear",
    "MQMQ-2.2.19.2-23",
    "The sender clears UserHeader.Flags.MQ of a message whose MultiQueueFormatHeader lists a single destination.",
    clear_bits(UserMessagePacket, "UserHeader.MQ", _lists_one_destination),
    blind=True,
)


@fault("receiver-reads-2-bytes-of-destination-queue-number-with-dq-3", breaks="MQMQ-2.2.19.2-D06", blind=True)
class ReceiverReads2BytesOfDestinationQueueNumberWithDq3(MessageArrival):
    """The receiver uses only the 2 low bytes of the number in DestinationQueue of a message with DQ 3."""

    def find_destination(self, packet: UserMessagePacket) -> Queue | None:
        queue = packet.UserHeader.DestinationQueue
        if isinstance(queue, PrivateQueueFormatNameId):
            return self.qm.adm.QueueCollection.find_private_queue(queue.PrivateQueueIdentifier & 0xFFFF)
        return super().find_destination(packet)
