"""Faults of MS-MQMQ 2.2.20.2, 2.2.20.3 and 2.2.20.8 that only special cases reveal: later elements, other roles, and
effects other than a refusal.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.fields import field_is, off_by, size_wrong
from harness.faults.parts import fault
from harness.faults.primitives import packets, wrong_bytes
from harness.faults.registry import add
from harness.faults.sent_messages import correct_packet_size, has_header
from reference_qm.codec import NULL_GUID, MessagePropertiesHeader, UserMessagePacket
from reference_qm.core.transfer.admission import Admission
from reference_qm.core.transfer.routing import Routing
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import MessagePosition, Queue, Session
from reference_qm.surface.clock import Now


def has_list_of(least: int) -> Any:
    """Return a condition that selects messages whose list of destinations has at least the given number of names."""

    def is_listed(packet: Any) -> bool:
        lists = packet.MultiQueueFormatHeader
        return lists is not None and len(lists.Destination.FormatNameList) >= least

    return is_listed


def omit_list_padding(packet: Any) -> bytes:
    """Return the bytes of a message without the padding at the end of the list of destinations."""
    listed = packet.MultiQueueFormatHeader.Destination
    built = listed.build()
    end = 12
    for element in listed.FormatNameList:
        end += len(element.build(end))
    cut = end.to_bytes(4, "little") + built[4:end]
    return correct_packet_size(packet.build().replace(built, cut))


add(
    "sender-mqf-address-header-size-of-three-names-too-small",
    "MQMQ-2.2.20.2-01",
    "The sender writes a HeaderSize that is 4 too small if the list of destinations has three names or more.",
    size_wrong(UserMessagePacket, "MultiQueueFormatHeader.Destination.HeaderSize", -4, has_list_of(3)),
)
add(
    "sender-mqf-address-header-element-count-of-four-names-three",
    ("MQMQ-2.2.20.2-04", "MQMQ-2.2.20.2-06"),
    "The sender writes an ElementCount that is one too low if the list of destinations has four names or more.",
    off_by(UserMessagePacket, "MultiQueueFormatHeader.Destination.ElementCount", -1, has_list_of(4)),
)
add(
    "sender-mqf-address-header-id-of-responses-in-signed-message-administration",
    "MQMQ-2.2.20.2-D01",
    "The sender sets HeaderID of the list of response queues to 0xC8 if MQFSignatureHeader has a signature.",
    field_is(
        UserMessagePacket,
        "MultiQueueFormatHeader.Response.HeaderID",
        0xC8,
        lambda packet: packet.MultiQueueFormatHeader is not None and packet.MultiQueueFormatHeader.Signature.Size > 0,
    ),
)
add(
    "sender-mqf-address-header-of-three-names-not-padded",
    "MQMQ-2.2.20.2-D03",
    "The sender does not pad the list of destinations to a multiple of 4 bytes if the list has three names or more.",
    packets(UserMessagePacket, omit_list_padding, has_list_of(3)),
)
add(
    "sender-debug-header-qt-3-in-message-to-several-queues",
    "MQMQ-2.2.20.8-01",
    "The sender sets QT to 3 in the DebugHeader of a traced message to several queues.",
    field_is(UserMessagePacket, "DebugHeader.QT", 3, has_header("MultiQueueFormatHeader")),
)
add(
    "sender-debug-header-queue-identifier-missing-in-recoverable-message",
    "MQMQ-2.2.20.8-17",
    "The sender omits QueueIdentifier in the DebugHeader of a recoverable message, although QT is 1.",
    wrong_bytes(
        UserMessagePacket,
        lambda data: correct_packet_size(data[:-16]),
        lambda packet: (
            packet.DebugHeader is not None
            and packet.DebugHeader.QT == 1
            and packet.UserHeader.DM == 1
            and packet.SoapHeader is packet.MultiQueueFormatHeader is packet.SessionHeader is None
        ),
    ),
)


@fault("sender-debug-header-queue-identifier-of-earlier-message", breaks="MQMQ-2.2.20.8-D01")
class SenderDebugHeaderQueueIdentifierOfEarlierMessage(Sending):
    """The sender sets QueueIdentifier of each later traced message to the queue of the first traced message."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        header = packet.DebugHeader
        if header is None or header.QueueIdentifier is None:
            return packet
        self.first = getattr(self, "first", header.QueueIdentifier)
        return replace(packet, DebugHeader=replace(header, QueueIdentifier=self.first))


@fault("receiver-mqf-response-header-reserved-disables-authentication", breaks="MQMQ-2.2.20.2-03")
class ReceiverMqfResponseHeaderReservedDisablesAuthentication(SecurityOnReceipt):
    """The receiver does not verify the signature of a message when Reserved of its list of response queues is not 0."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        lists = packet.MultiQueueFormatHeader
        return packet if lists is not None and lists.Response.Reserved else super().authenticate_packet(packet)


@fault("router-debug-header-x15-suppresses-report", breaks="MQMQ-2.2.20.8-15")
class RouterDebugHeaderX15SuppressesReport(Routing):
    """A router sends no report about a traced message when bit X15 of the message's DebugHeader is set."""

    def forward_message(self, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
        if packet.DebugHeader is not None and packet.DebugHeader.X15:
            position.MessageReference = replace(position.MessageReference, TracingRequested=False)
        super().forward_message(position, packet, now)


class ChangedByDebugHeader(Admission):
    """The receiver changes a message because of a part of the DebugHeader that the receiver must ignore."""

    def admit(
        self, session: Session, packet: UserMessagePacket, queue: Queue | None, now: Now
    ) -> UserMessagePacket | None:
        admitted = super().admit(session, packet, queue, now)
        return admitted if admitted is None or admitted.DebugHeader is None else self.change(admitted)

    def change(self, packet: Any) -> UserMessagePacket:
        """Return the packet as it is stored."""
        return packet


@fault("receiver-debug-header-x7-suppresses-acknowledgments", breaks="MQMQ-2.2.20.8-07")
class ReceiverDebugHeaderX7SuppressesAcknowledgments(ChangedByDebugHeader):
    """The receiver sends no acknowledgments for a message when bit X7 of its DebugHeader is set."""

    def change(self, packet: Any) -> UserMessagePacket:
        header: MessagePropertiesHeader = packet.MessagePropertiesHeader
        flags = 0 if packet.DebugHeader.X7 else header.Flags
        return replace(packet, MessagePropertiesHeader=replace(header, Flags=flags))


@fault("receiver-debug-header-x12-of-transactional-message-hides-queue", breaks="MQMQ-2.2.20.8-12")
class ReceiverDebugHeaderX12OfTransactionalMessageHidesQueue(ChangedByDebugHeader):
    """The receiver sends no report about a transactional message when bit X12 of its DebugHeader is set."""

    def change(self, packet: Any) -> UserMessagePacket:
        hidden = packet.DebugHeader.X12 and packet.TransactionHeader is not None
        return _hide_queue(packet) if hidden else packet


@fault("receiver-debug-header-reserved-above-0x7fff-hides-queue", breaks="MQMQ-2.2.20.8-16")
class ReceiverDebugHeaderReservedAbove0x7fffHidesQueue(ChangedByDebugHeader):
    """The receiver sends no report about a message when Reserved of its DebugHeader is greater than 0x7FFF."""

    def change(self, packet: Any) -> UserMessagePacket:
        return _hide_queue(packet) if packet.DebugHeader.Reserved > 0x7FFF else packet


def _hide_queue(packet: Any) -> UserMessagePacket:
    header = packet.DebugHeader
    if header.QueueIdentifier is None:
        return packet
    return replace(packet, DebugHeader=replace(header, QueueIdentifier=NULL_GUID))
