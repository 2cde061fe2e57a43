"""Faults that break rules of MS-MQMQ 2.2.20 UserMessage Packet, written without knowledge of the checks."""

from __future__ import annotations

from harness.faults.fields import refuse_packets_unless_field_is_zero, send_wrong_size
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.codec import BaseHeader, FormatError, Packet, UserMessagePacket
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import OutgoingMessagePosition, Session

BASE_FLAGS_OFFSET = 2
"""The offset in bytes of BaseHeader.Flags in a packet."""
HIGHEST_BYTE_VALUE = 0xFF
FIXED_ADDRESS_HEADER_BYTES = 12
FIXED_SIGNATURE_HEADER_BYTES = 8


@fault("sender-resent-message-has-sh-set-without-session-header", breaks="MQMQ-2.2.20-09", blind=True)
class SenderResentMessageHasShSetWithoutSessionHeader(MessageSending):
    """The sender leaves BaseHeader.Flags.SH set in a message that was first sent with a SessionHeader and is sent
    again without one.
    """

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        flagged: set[OutgoingMessagePosition] = vars(self).setdefault("flagged_positions", set())
        if packet.SessionHeader is not None:
            flagged.add(position)
        if packet.SessionHeader is not None or position not in flagged:
            super().transmit(session, position, packet)
            return
        data = bytearray(packet.build())
        data[BASE_FLAGS_OFFSET] |= BaseHeader.flags(SH=1)
        self.qm.session_connecting.send(session, bytes(data))
        position.Transmitted = True


def _lists_no_administration_queue(packet: UserMessagePacket) -> bool:
    several = packet.MultiQueueFormatHeader
    return several is not None and not several.Administration.FormatNameList


add(
    "sender-message-empty-administration-list-header-size-0",
    "MQMQ-2.2.20.2-01",
    "The sender sets HeaderSize of the MQFAddressHeader for the administration queues to 0 if the list is empty.",
    send_wrong_size(
        UserMessagePacket,
        "MultiQueueFormatHeader.Administration.HeaderSize",
        -FIXED_ADDRESS_HEADER_BYTES,
        _lists_no_administration_queue,
    ),
    blind=True,
)

add(
    "receiver-message-response-list-reserved-not-zero-refused",
    "MQMQ-2.2.20.2-03",
    "The receiver refuses a message in which Reserved of the MQFAddressHeader for the response queues is not zero.",
    refuse_packets_unless_field_is_zero(UserMessagePacket, "MultiQueueFormatHeader.Response.Reserved"),
    blind=True,
)


@fault("receiver-message-signature-header-reserved-above-0xff-refused", breaks="MQMQ-2.2.20.3-02", blind=True)
class ReceiverMessageSignatureHeaderReservedAbove0xffRefused(Identifying):
    """The receiver refuses a message in which Reserved of the MQFSignatureHeader is greater than 0xFF."""

    def check_field_values(self, packet: Packet) -> None:
        super().check_field_values(packet)
        several = packet.MultiQueueFormatHeader if isinstance(packet, UserMessagePacket) else None
        if several is not None and several.Signature.Reserved > HIGHEST_BYTE_VALUE:
            raise FormatError("MQFSignatureHeader.Reserved", 0, "a fault", "the high byte is not zero")


add(
    "sender-message-signature-header-size-of-whole-header",
    "MQMQ-2.2.20.3-04",
    "The sender sets Size of an MQFSignatureHeader to the size of the whole header, which is 8 bytes larger "
    "than Signature.",
    send_wrong_size(UserMessagePacket, "MultiQueueFormatHeader.Signature.Size", FIXED_SIGNATURE_HEADER_BYTES),
    blind=True,
)
