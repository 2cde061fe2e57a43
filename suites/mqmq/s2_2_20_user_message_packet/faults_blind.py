"""Faults of MS-MQMQ 2.2.20, 2.2.20.3 and 2.2.20.7, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import FormatError, MQFSignatureHeader, Packet, UserMessagePacket
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.surface.clock import Now

LARGEST_PACKET = 0x200000


@fault("receiver-message-over-two-megabytes-refused", breaks="MQMQ-2.2.20-D01", blind=True)
class ReceiverMessageOverTwoMegabytesRefused(Identifying):
    """The receiver refuses a message of more than 2 MB in one packet."""

    def identify_packet(self, data: bytes) -> Packet:
        packet = super().identify_packet(data)
        if isinstance(packet, UserMessagePacket) and len(data) > LARGEST_PACKET:
            raise FormatError("BaseHeader.PacketSize", 0, "a fault", "is too large")
        return packet


@fault("receiver-signature-header-reserved-disables-authentication", breaks="MQMQ-2.2.20.3-02", blind=True)
class ReceiverSignatureHeaderReservedDisablesAuthentication(SecurityOnReceipt):
    """The receiver does not verify an MQFSignatureHeader whose Reserved is nonzero."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        several = packet.MultiQueueFormatHeader
        if several is None or not several.Signature.Reserved:
            return super().authenticate_packet(packet)
        unsigned = replace(packet, MultiQueueFormatHeader=replace(several, Signature=MQFSignatureHeader()))
        return replace(super().authenticate_packet(unsigned), MultiQueueFormatHeader=several)


@fault("receiver-soap-body-over-32767-characters-refused", breaks="MQMQ-2.2.20.7-06", blind=True)
class ReceiverSoapBodyOver32767CharactersRefused(Identifying):
    """The receiver reads BodyDataLength as a signed number of 16 bits, and refuses a longer SOAP body."""

    def identify_packet(self, data: bytes) -> Packet:
        packet = super().identify_packet(data)
        soap = packet.SoapHeader if isinstance(packet, UserMessagePacket) else None
        if soap is not None and soap.BodyDataLength > 0x7FFF:
            raise FormatError("SoapHeader.BodyDataLength", 0, "a fault", "is negative")
        return packet


@fault("receiver-soap-reserved-hides-debug-header", breaks="MQMQ-2.2.20.7-02", blind=True)
class ReceiverSoapReservedHidesDebugHeader(Receiving):
    """The receiver ignores the DebugHeader of a message whose SoapHeader has a nonzero Reserved."""

    def take_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        if packet.SoapHeader is not None and packet.SoapHeader.Reserved and packet.DebugHeader is not None:
            packet = replace(packet, DebugHeader=replace(packet.DebugHeader, QueueIdentifier=None, Flags=0))
        super().take_message(session, packet, receipt, now)
