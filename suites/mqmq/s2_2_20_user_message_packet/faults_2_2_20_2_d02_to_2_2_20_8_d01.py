"""Faults that break the rules MQMQ-2.2.20.2-D02 to MQMQ-2.2.20.8-D01."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.fields import register_set_bit_faults, set_field_value
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import change_packets_of_kind, send_wrong_bytes
from harness.faults.registry import Install, add
from harness.faults.sent_messages import correct_packet_size, has_header
from reference_qm.codec import (
    NULL_GUID,
    DebugHeader,
    FormatError,
    MessagePropertiesHeader,
    MQFSignatureHeader,
    Packet,
    UserMessagePacket,
)
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.message_routing import MessageRouting
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import MessagePosition, Queue, RecoverableReceipt, Session
from reference_qm.surface.clock import Now
from suites.mqmq.s2_2_20_user_message_packet.fault_steps import (
    REMOVED_TRACE_QUEUE_FIELDS,
    change_received_fields,
    make_destination_list_length_condition,
)

DESTINATION_LIST_FIXED_BYTES = 12


def _put_count_before_header_id(packet: UserMessagePacket) -> bytes:
    """Put ElementCount before HeaderID and Reserved in the list of destinations."""
    header = packet.MultiQueueFormatHeader
    if header is None:
        return packet.build()
    data = header.Destination.build()
    return packet.build().replace(data, data[:4] + data[8:12] + data[4:8] + data[12:])


def _remove_destination_padding(packet: UserMessagePacket) -> bytes:
    """Remove the padding of the list of destinations."""
    header = packet.MultiQueueFormatHeader
    if header is None:
        return packet.build()
    data, padded = packet.build(), header.Destination.build()
    names = sum(len(one.build()) for one in header.Destination.FormatNameList)
    return correct_packet_size(data.replace(padded, padded[: DESTINATION_LIST_FIXED_BYTES + names]))


def _swap_signature_size_and_id(packet: UserMessagePacket) -> bytes:
    data = packet.build()
    return data[:-8] + data[-4:] + data[-8:-4]


for _name, _rule, _says, _change in (
    (
        "sender-list-element-count-before-header-id",
        "MQMQ-2.2.20.2-D02",
        "The sender's list of destinations has ElementCount before HeaderID.",
        _put_count_before_header_id,
    ),
    (
        "sender-list-names-unpadded",
        "MQMQ-2.2.20.2-D03",
        "The sender's list of destinations has no padding after its names.",
        _remove_destination_padding,
    ),
    (
        "sender-list-signature-size-before-id",
        "MQMQ-2.2.20.3-D01",
        "The sender's MQFSignatureHeader has Size before ID.",
        _swap_signature_size_and_id,
    ),
):
    add(_name, _rule, _says, change_packets_of_kind(UserMessagePacket, _change, has_header("MultiQueueFormatHeader")))


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
    "sender-mqf-address-header-of-three-names-not-padded",
    "MQMQ-2.2.20.2-D03",
    "The sender does not pad the list of destinations to a multiple of 4 bytes if the list has three names or more.",
    change_packets_of_kind(UserMessagePacket, omit_list_padding, make_destination_list_length_condition(3)),
)


@fault("receiver-skips-check-of-signature-header-with-nonzero-reserved", breaks="MQMQ-2.2.20.3-02", blind=True)
class ReceiverSkipsCheckOfSignatureHeaderWithNonzeroReserved(SecurityOnReceipt):
    """The receiver does not verify an MQFSignatureHeader whose Reserved is nonzero."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        several = packet.MultiQueueFormatHeader
        if several is None or not several.Signature.Reserved:
            return super().authenticate_packet(packet)
        unsigned = replace(packet, MultiQueueFormatHeader=replace(several, Signature=MQFSignatureHeader()))
        return replace(super().authenticate_packet(unsigned), MultiQueueFormatHeader=several)


@fault("receiver-ignores-debug-header-if-soap-reserved-is-nonzero", breaks="MQMQ-2.2.20.7-02", blind=True)
class ReceiverIgnoresDebugHeaderIfSoapReservedIsNonzero(MessageReceiving):
    """The receiver ignores the DebugHeader of a message whose SoapHeader has a nonzero Reserved."""

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        if packet.SoapHeader is not None and packet.SoapHeader.Reserved and packet.DebugHeader is not None:
            packet = replace(packet, DebugHeader=replace(packet.DebugHeader, QueueIdentifier=None, Flags=0))
        super().put_received_message_into_queue(session, packet, receipt, now)


def _refuse_soap_text_of_odd_length(text: str) -> Install:
    """Let the receiver refuse messages with a SoapHeader in which the field `text` has an odd number of WCHARs."""

    class OddSoapTextRefuser(Identifying):
        def check_field_values(self, packet: Packet) -> None:
            soap = getattr(packet, "SoapHeader", None)
            if soap is not None and getattr(soap, f"{text}DataLength") % 2:
                raise FormatError(f"SoapHeader.{text}", 0, "a fault", "the next header is not at its offset")
            super().check_field_values(packet)

    return replace_part(OddSoapTextRefuser)


add(
    "receiver-soap-header-with-odd-header-length-refused",
    ("MQMQ-2.2.20.7-03", "MQDMPR-3.1.1.12-65", "MQMQ-2.2.20.7-D01"),
    "The receiver refuses a SoapHeader whose HeaderDataLength is odd.",
    _refuse_soap_text_of_odd_length("Header"),
)


add(
    "receiver-soap-header-with-odd-body-length-refused",
    "MQMQ-2.2.20.7-06",
    "The receiver refuses a SoapHeader whose BodyDataLength is odd.",
    _refuse_soap_text_of_odd_length("Body"),
)


@fault("receiver-soap-body-over-32767-characters-refused", breaks="MQMQ-2.2.20.7-06", blind=True)
class ReceiverSoapBodyOver32767CharactersRefused(Identifying):
    """The receiver reads BodyDataLength as a signed number of 16 bits, and refuses a longer SOAP body."""

    def identify_packet(self, data: bytes) -> Packet:
        packet = super().identify_packet(data)
        soap = packet.SoapHeader if isinstance(packet, UserMessagePacket) else None
        if soap is not None and soap.BodyDataLength > 0x7FFF:
            raise FormatError("SoapHeader.BodyDataLength", 0, "a fault", "the value is negative")
        return packet


def _swap_soap_sections(packet: UserMessagePacket) -> bytes:
    soap = packet.SoapHeader
    if soap is None:
        return packet.build()
    swapped = replace(soap, Header=soap.Body, Body=soap.Header)
    return replace(packet, BaseHeader=replace(packet.BaseHeader, PacketSize=0), SoapHeader=swapped).build()


add(
    "sender-soap-header-sections-swapped",
    "MQMQ-2.2.20.7-D01",
    "The sender forwards a SoapHeader with the texts of its two sections swapped.",
    change_packets_of_kind(UserMessagePacket, _swap_soap_sections, has_header("SoapHeader")),
)


add(
    "sender-debug-header-qt-3-in-message-to-several-queues",
    "MQMQ-2.2.20.8-01",
    "The sender sets QT to 3 in the DebugHeader of a traced message to several queues.",
    set_field_value(UserMessagePacket, "DebugHeader.QT", 3, has_header("MultiQueueFormatHeader")),
)


register_set_bit_faults(
    UserMessagePacket,
    ("sender-debug-header-x2-set", "MQMQ-2.2.20.8-02", "DebugHeader.X2"),
    ("sender-debug-header-x3-set", "MQMQ-2.2.20.8-03", "DebugHeader.X3"),
    ("sender-debug-header-x4-set", "MQMQ-2.2.20.8-04", "DebugHeader.X4"),
    ("sender-debug-header-x5-set", "MQMQ-2.2.20.8-05", "DebugHeader.X5"),
    ("sender-debug-header-x6-set", "MQMQ-2.2.20.8-06", "DebugHeader.X6"),
    ("sender-debug-header-x7-set", "MQMQ-2.2.20.8-07", "DebugHeader.X7"),
    ("sender-debug-header-x8-set", "MQMQ-2.2.20.8-08", "DebugHeader.X8"),
    ("sender-debug-header-x9-set", "MQMQ-2.2.20.8-09", "DebugHeader.X9"),
    ("sender-debug-header-x10-set", "MQMQ-2.2.20.8-10", "DebugHeader.X10"),
    ("sender-debug-header-x11-set", "MQMQ-2.2.20.8-11", "DebugHeader.X11"),
    ("sender-debug-header-x12-set", "MQMQ-2.2.20.8-12", "DebugHeader.X12"),
    ("sender-debug-header-x13-set", "MQMQ-2.2.20.8-13", "DebugHeader.X13"),
    ("sender-debug-header-x14-set", "MQMQ-2.2.20.8-14", "DebugHeader.X14"),
    ("sender-debug-header-x15-set", "MQMQ-2.2.20.8-15", "DebugHeader.X15"),
)


for _number, _rule in ((2, "MQMQ-2.2.20.8-02"), (8, "MQMQ-2.2.20.8-08"), (14, "MQMQ-2.2.20.8-14")):
    _bit = 1 << _number
    add(
        f"receiver-debug-header-x{_number}-hides-queue",
        _rule,
        f"The receiver sends no report on a traced message whose DebugHeader has X{_number} set.",
        change_received_fields(
            lambda packet, bit=_bit: packet.DebugHeader is not None and packet.DebugHeader.Flags & bit,  # type: ignore[misc]
            REMOVED_TRACE_QUEUE_FIELDS,
        ),
    )


class ReceiverObeyingIgnoredDebugHeaderPart(MessageAdmission):
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
class ReceiverDebugHeaderX7SuppressesAcknowledgments(ReceiverObeyingIgnoredDebugHeaderPart):
    """The receiver sends no acknowledgments for a message when bit X7 of its DebugHeader is set."""

    def change(self, packet: Any) -> UserMessagePacket:
        header: MessagePropertiesHeader = packet.MessagePropertiesHeader
        flags = 0 if packet.DebugHeader.X7 else header.Flags
        return replace(packet, MessagePropertiesHeader=replace(header, Flags=flags))


def _remove_trace_queue(packet: Any) -> UserMessagePacket:
    header = packet.DebugHeader
    if header.QueueIdentifier is None:
        return packet
    return replace(packet, DebugHeader=replace(header, QueueIdentifier=NULL_GUID))


@fault("receiver-sends-no-report-for-transactional-message-with-x12", breaks="MQMQ-2.2.20.8-12")
class ReceiverSendsNoReportForTransactionalMessageWithX12(ReceiverObeyingIgnoredDebugHeaderPart):
    """The receiver sends no report about a transactional message when bit X12 of its DebugHeader is set."""

    def change(self, packet: Any) -> UserMessagePacket:
        hidden = packet.DebugHeader.X12 and packet.TransactionHeader is not None
        return _remove_trace_queue(packet) if hidden else packet


@fault("router-debug-header-x15-suppresses-report", breaks="MQMQ-2.2.20.8-15")
class RouterDebugHeaderX15SuppressesReport(MessageRouting):
    """A router sends no report about a traced message when bit X15 of the message's DebugHeader is set."""

    def forward_message(self, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
        if packet.DebugHeader is not None and packet.DebugHeader.X15:
            position.MessageReference = replace(position.MessageReference, TracingRequested=False)
        super().forward_message(position, packet, now)


@fault("receiver-sends-no-report-if-debug-reserved-is-above-0x7fff", breaks="MQMQ-2.2.20.8-16")
class ReceiverSendsNoReportIfDebugReservedIsAbove0x7fff(ReceiverObeyingIgnoredDebugHeaderPart):
    """The receiver sends no report about a message when Reserved of its DebugHeader is greater than 0x7FFF."""

    def change(self, packet: Any) -> UserMessagePacket:
        return _remove_trace_queue(packet) if packet.DebugHeader.Reserved > 0x7FFF else packet


add(
    "sender-debug-header-queue-identifier-missing-in-recoverable-message",
    "MQMQ-2.2.20.8-17",
    "The sender omits QueueIdentifier in the DebugHeader of a recoverable message, although QT is 1.",
    send_wrong_bytes(
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


def _put_trace_queue_before_flags(packet: UserMessagePacket) -> bytes:
    """Put QueueIdentifier before Flags and Reserved."""
    debug = (packet.DebugHeader or DebugHeader()).build()
    return packet.build().replace(debug, debug[4:] + debug[:4])


add(
    "sender-debug-header-queue-identifier-first",
    ("MQMQ-2.2.20.8-D01", "MQDMPR-3.1.7.1.32-D07"),
    "The sender's DebugHeader has QueueIdentifier before Flags.",
    change_packets_of_kind(UserMessagePacket, _put_trace_queue_before_flags, has_header("DebugHeader")),
)


add(
    "transactional-debug-header-with-qt-0",
    "MQMQ-2.2.20.8-D01",
    "The sender sets QT to 0 in the DebugHeader of a transactional message, although QueueIdentifier is present.",
    set_field_value(UserMessagePacket, "DebugHeader.QT", 0, when=has_header("TransactionHeader")),
)


@fault("sender-repeats-queue-identifier-of-first-traced-message", breaks="MQMQ-2.2.20.8-D01")
class SenderRepeatsQueueIdentifierOfFirstTracedMessage(MessageSending):
    """The sender sets QueueIdentifier of each later traced message to the queue of the first traced message."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        header = packet.DebugHeader
        if header is None or header.QueueIdentifier is None:
            return packet
        self.first = getattr(self, "first", header.QueueIdentifier)
        return replace(packet, DebugHeader=replace(header, QueueIdentifier=self.first))
