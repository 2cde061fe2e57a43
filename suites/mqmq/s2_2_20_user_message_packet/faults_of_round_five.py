"""Faults of the fifth round that break rules of MS-MQMQ 2.2.20 UserMessage Packet."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from harness.faults.primitives import change_packets_of_kind, set_fields
from harness.faults.registry import add
from harness.faults.sent_messages import correct_packet_size
from reference_qm.codec import BaseHeader, MQFDirectQueueFormatName, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import OutgoingMessagePosition, RecoverableReceipt, Session
from reference_qm.surface.clock import Now

_FLAGS_OFFSET = 2
_DEBUG_HEADER_FLAG = BaseHeader.flags(DH=1)
_NULL_WCHAR = b"\0\0"


def _omit_terminator_of_last_element(packet: Any) -> bytes:
    header = packet.MultiQueueFormatHeader
    listed = header.Destination
    right = listed.build()
    content = right[: len(right) - _count_padding_bytes(listed)].removesuffix(_NULL_WCHAR)
    wrong = len(content).to_bytes(4, "little") + content[4:] + bytes(-len(content) % 4)
    data: bytes = packet.build()
    return correct_packet_size(data.replace(right, wrong, 1))


def _count_padding_bytes(listed: Any) -> int:
    end = 12
    for element in listed.FormatNameList:
        end += len(element.build(end))
    return -end % 4


def _has_direct_name_as_last_element(packet: Any) -> bool:
    header = packet.MultiQueueFormatHeader
    if header is None or not header.Destination.FormatNameList:
        return False
    return isinstance(header.Destination.FormatNameList[-1].FormatName, MQFDirectQueueFormatName)


add(
    "sender-format-name-list-last-direct-element-not-terminated",
    "MQMQ-2.2.20.2-05",
    "The sender omits the terminating null of the last element in FormatNameList of the destination list if this "
    "element is a direct format name.",
    change_packets_of_kind(UserMessagePacket, _omit_terminator_of_last_element, _has_direct_name_as_last_element),
    blind=True,
)


@fault("sender-debug-header-of-repeated-message-missing", breaks="MQMQ-2.2.20-06", blind=True)
class SenderDebugHeaderOfRepeatedMessageMissing(MessageSending):
    """The sender omits the DebugHeader of a message that it sends again, but leaves BaseHeader.Flags.DH set."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.sent_messages: set[tuple[UUID, int]] = set()

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        key = (packet.UserHeader.SourceQueueManager, packet.UserHeader.MessageID)
        again = key in self.sent_messages
        self.sent_messages.add(key)
        if not again or packet.DebugHeader is None:
            super().transmit(session, position, packet)
            return
        base = replace(packet.BaseHeader, Flags=packet.BaseHeader.Flags & ~_DEBUG_HEADER_FLAG, PacketSize=0)
        data = replace(packet, BaseHeader=base, DebugHeader=None).build()
        flags = data[_FLAGS_OFFSET] | _DEBUG_HEADER_FLAG
        self.qm.session_connecting.send(session, data[:_FLAGS_OFFSET] + bytes((flags,)) + data[_FLAGS_OFFSET + 1 :])
        position.Transmitted = True


@fault("receiver-debug-header-bit-x4-prevents-report", breaks="MQMQ-2.2.20.8-04", blind=True)
class ReceiverDebugHeaderBitX4PreventsReport(MessageReceiving):
    """The receiver accepts a traced message with bit X4 of DebugHeader.Flags set, but sends no report about the
    message.
    """

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        if packet.DebugHeader is not None and packet.DebugHeader.X4:
            untraced = packet.BaseHeader.Flags & ~BaseHeader.flags(TR=1)
            packet = set_fields(packet, {"BaseHeader.Flags": untraced})
        super().put_received_message_into_queue(session, packet, receipt, now)
