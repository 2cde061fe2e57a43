"""Faults of MS-MQMQ 2.5.2 MSMQ 2.0 Digital Signature Properties, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import DirectQueueFormatName, UserMessagePacket
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.security import SignatureType


@fault("signature-2-0-label-covered-up-to-124-characters", breaks="MQMQ-2.5.2-05", blind=True)
class LongLabelUncovered(SecurityOnReceipt):
    """An MSMQ 2.0 signature covers only the first 124 characters of a label."""

    def signed_properties(self, packet: UserMessagePacket, kind: SignatureType) -> bytes:
        header = packet.MessagePropertiesHeader
        if kind is SignatureType.SIG20 and header.Label is not None:
            packet = replace(packet, MessagePropertiesHeader=replace(header, Label=header.Label[:124]))
        return super().signed_properties(packet, kind)


@fault("signature-2-0-negative-acknowledgment-bits-not-covered", breaks="MQMQ-2.5.2-12", blind=True)
class NegativeBitsUncovered(SecurityOnReceipt):
    """An MSMQ 2.0 signature covers the acknowledgment bits PA and PR, but not NA and NR."""

    def signed_properties(self, packet: UserMessagePacket, kind: SignatureType) -> bytes:
        header = packet.MessagePropertiesHeader
        if kind is SignatureType.SIG20:
            packet = replace(packet, MessagePropertiesHeader=replace(header, Flags=header.Flags & 0x03))
        return super().signed_properties(packet, kind)


@fault("signature-2-0-administration-queue-covered-only-if-direct", breaks="MQMQ-2.5.2-07", blind=True)
class OnlyDirectAdminQueueCovered(SecurityOnReceipt):
    """An MSMQ 2.0 signature covers an administration queue only when the message gives it by a direct name."""

    def signed_properties(self, packet: UserMessagePacket, kind: SignatureType) -> bytes:
        header = packet.UserHeader
        if kind is SignatureType.SIG20 and not isinstance(header.AdminQueue, DirectQueueFormatName):
            packet = replace(packet, UserHeader=replace(header, AdminQueue=None))
        return super().signed_properties(packet, kind)
