"""Converts the security of a message from attributes to headers and back. Spec: MS-MQDMPR 3.1.1.12, 3.1.7.1.30 to
3.1.7.1.32.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from reference_qm.codec import (
    FormatError,
    ProviderInfo,
    SecurityData,
    SecurityHeader,
    UserHeader,
    UserMessagePacket,
)
from reference_qm.security.algorithms import EncryptionAlgorithm, HashAlgorithm


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageSecurity:
    """The security attributes of a Message. A Message without security attributes has no MessageSecurity.

    Spec: MS-MQDMPR 3.1.1.12. PrivacyLevel, AuthenticationLevel, HashAlgorithm and EncryptionAlgorithm have the
    values that they have in packets, u32 (MS-MQMQ 2.2.19.3, SecurityHeader.AS). SenderIdentifierType has the value
    of SecurityHeader.ST.
    """

    PrivacyLevel: int = 0
    AuthenticationLevel: int = 0
    HashAlgorithm: int = HashAlgorithm.SHA512
    EncryptionAlgorithm: int = EncryptionAlgorithm.RC4
    SenderIdentifierType: int = 0
    SenderIdentifier: bytes = b""
    SenderCertificate: bytes = b""
    SymmetricKey: bytes = b""
    Signature: bytes = b""
    AuthenticationProviderType: int = 0
    AuthenticationProviderName: str = ""

    @property
    def needs_header(self) -> bool:
        """Whether a packet needs a SecurityHeader to contain these attributes. The algorithms alone need no
        SecurityHeader, because every MessagePropertiesHeader names them. Spec: MS-MQMQ 2.2.19.3.
        """
        named = MessageSecurity(HashAlgorithm=self.HashAlgorithm, EncryptionAlgorithm=self.EncryptionAlgorithm)
        return self != named


ATTRIBUTES_OF_UNPROTECTED_MESSAGE = (0, HashAlgorithm.SHA512, EncryptionAlgorithm.RC4)
"""The PrivacyLevel, HashAlgorithm and EncryptionAlgorithm of a message without MessageSecurity."""


def add_security_attributes(packet: UserMessagePacket, security: MessageSecurity) -> UserMessagePacket:
    """Return the packet of a message with the message's security attributes, before signature and encryption.

    Spec: MS-MQDMPR 3.1.7.1.30, 3.1.7.1.32. The document adds a SecurityHeader only to signed messages. But an
    encrypted message needs the header for its key, and the message in frame 7 of MS-MQQB 4.1.7 has a SecurityHeader
    only for its SID. AU and AS are 0.
    """
    packet = replace(
        packet,
        MessagePropertiesHeader=replace(
            packet.MessagePropertiesHeader,
            PrivacyLevel=security.PrivacyLevel,
            HashAlgorithm=security.HashAlgorithm,
            EncryptionAlgorithm=security.EncryptionAlgorithm,
        ),
    )
    if not security.needs_header:
        return packet
    provider = security.AuthenticationProviderName
    header = SecurityHeader(
        SecurityHeader.flags(
            ST=security.SenderIdentifierType,
            EB=int(bool(security.PrivacyLevel)),
            DE=int(not provider),
            AI=1,
        ),
        SecurityData(
            SecurityID=security.SenderIdentifier,
            EncryptionKey=security.SymmetricKey,
            Signature=security.Signature,
            SenderCert=security.SenderCertificate,
            ProviderInfo=ProviderInfo(security.AuthenticationProviderType, provider).build() if provider else b"",
        ),
    )
    return replace(
        packet,
        UserHeader=replace(packet.UserHeader, Flags=packet.UserHeader.Flags | UserHeader.flags(SH=1)),
        SecurityHeader=header,
    )


def read_security_attributes(packet: UserMessagePacket) -> MessageSecurity:
    """Return the security attributes of a packet. Spec: MS-MQDMPR 3.1.7.1.31.

    AuthenticationLevel is AS, which the receiver set (MS-MQQB 3.1.5.8.3). The table of the document names AU, but
    AU has one bit, which is always 0, and the printed values are those of AS. A malformed ProviderInfo names no
    provider.
    """
    header, properties = packet.SecurityHeader, packet.MessagePropertiesHeader
    if header is None:
        return MessageSecurity(
            PrivacyLevel=properties.PrivacyLevel,
            HashAlgorithm=properties.HashAlgorithm,
            EncryptionAlgorithm=properties.EncryptionAlgorithm,
        )
    data = header.SecurityData
    provider = _parse_privacy_provider(data.ProviderInfo)
    return MessageSecurity(
        PrivacyLevel=properties.PrivacyLevel,
        AuthenticationLevel=header.AS,
        HashAlgorithm=properties.HashAlgorithm,
        EncryptionAlgorithm=properties.EncryptionAlgorithm,
        SenderIdentifierType=header.ST,
        SenderIdentifier=data.SecurityID,
        SenderCertificate=data.SenderCert,
        SymmetricKey=data.EncryptionKey,
        Signature=data.Signature,
        AuthenticationProviderType=provider.ProviderType,
        AuthenticationProviderName=provider.ProviderName,
    )


def _parse_privacy_provider(info: bytes) -> ProviderInfo:
    try:
        return ProviderInfo.parse(info) if info else ProviderInfo()
    except FormatError:
        return ProviderInfo()
