"""Faults of the fifth round that break rules of MS-MQMQ 2.2.18.1 Packet data types."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import FormatError, ProviderInfo, SecurityHeader, UserMessagePacket
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.security.algorithms import PRIVACY_BY_LEVEL

_DEFAULT_PROVIDER_FLAG = SecurityHeader.flags(DE=1)


@fault(
    "receiver-provider-whose-name-begins-like-known-provider-not-refused",
    breaks="MQMQ-2.2.18.1.6-D04",
    blind=True,
)
class ReceiverProviderWhoseNameBeginsLikeKnownProviderNotRefused(SecurityOnReceipt):
    """The receiver sends no NACK_UNSUPPORTED_CRYPTO_PROVIDER for a signed message whose ProviderName begins with the
    name of a supported provider and continues with other characters.
    """

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        security = packet.SecurityHeader
        if security is None or security.DE or not _begins_like_known_provider(security.SecurityData.ProviderInfo):
            return super().authenticate_packet(packet)
        header = replace(security, Flags=security.Flags | _DEFAULT_PROVIDER_FLAG)
        found = super().authenticate_packet(replace(packet, SecurityHeader=header))
        assert found.SecurityHeader is not None
        header = replace(found.SecurityHeader, Flags=found.SecurityHeader.Flags & ~_DEFAULT_PROVIDER_FLAG)
        return replace(found, SecurityHeader=header)


def _begins_like_known_provider(info: bytes) -> bool:
    try:
        name = ProviderInfo.parse(info).ProviderName
    except FormatError:
        return False
    return any(name.startswith(privacy.provider) for privacy in PRIVACY_BY_LEVEL.values())
