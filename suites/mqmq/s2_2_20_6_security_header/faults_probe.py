"""Faults of MS-MQMQ 2.2.20.6 that an author wrote without reading the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import SecurityHeader, UserMessagePacket
from reference_qm.codec.security import ProviderInfo
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import MessagePosition


@fault("sender-security-header-st-4-for-certificate-only", breaks="MQMQ-2.2.20.6-01", blind=True)
class SenderSecurityHeaderSt4ForCertificateOnly(Sending):
    """The sender sets SecurityHeader.Flags.ST to 4 in messages with a SenderCert and without a SecurityID."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet: UserMessagePacket = super().construct_user_message(position)
        header = packet.SecurityHeader
        if header is None or header.ST or not header.SecurityData.SenderCert:
            return packet
        return replace(packet, SecurityHeader=replace(header, Flags=header.Flags | SecurityHeader.flags(ST=4)))


@fault("sender-security-header-provider-info-in-spite-of-de", breaks="MQMQ-2.2.20.6-37", blind=True)
class SenderSecurityHeaderProviderInfoInSpiteOfDe(Sending):
    """The sender adds ProviderInfo to SecurityData although SecurityHeader.Flags.DE is set."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet: UserMessagePacket = super().construct_user_message(position)
        header = packet.SecurityHeader
        if header is None or not header.DE or not header.SecurityData.SenderCert:
            return packet
        info = ProviderInfo(1, "Microsoft Base Cryptographic Provider v1.0").build()
        return replace(
            packet, SecurityHeader=replace(header, SecurityData=replace(header.SecurityData, ProviderInfo=info))
        )
