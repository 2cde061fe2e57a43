"""Signs messages and verifies signatures. Spec: MS-MQMQ 2.5, MS-MQQB 3.1.7.1.4, 3.1.5.8.3.

Section 2.5 leaves open what exactly a signature covers. This module makes the following assumptions. "The values of the
following fields" are the bytes of the fields in the packet, little-endian, in the printed order. Label includes its
terminating null, as on the wire. A queue name is the printed structure without the padding after it; inside a list,
zeros replace the padding, because padding may have any value (notes <1>, <2>). A field that is missing from the packet
adds no bytes. FormatNameList is the list of MultiQueueFormatHeader.Destination, at the place that DestinationQueue has
in 2.5.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import IntEnum

from cryptography.hazmat.primitives.asymmetric import rsa

from reference_qm.codec import (
    DirectQueueFormatName,
    MultiQueueFormatHeader,
    QueueName,
    SecurityHeader,
    UserMessagePacket,
)
from reference_qm.codec import text as wchars
from reference_qm.security.algorithms import parse_hash_algorithm
from reference_qm.security.hashing import is_valid_signature, read_certificate_key, sign_data
from reference_qm.security.security_error import SecurityError

_SIGNING_SPEC_SECTION = "MS-MQQB 3.1.7.1.4"
_AUTHENTICATION_SPEC_SECTION = "MS-MQQB 3.1.5.8.3"


class SignatureType(IntEnum):
    """The values of Message.AuthenticationLevel, and of SecurityHeader.Flags.AS after receipt. Spec: 3.1.5.8.3."""

    SIG10 = 0x1
    SIG20 = 0x3
    SIG30 = 0x5


def _build_label_content(packet: UserMessagePacket) -> bytes:
    properties = packet.MessagePropertiesHeader
    return b"" if properties.Label is None else wchars.append_terminator(properties.Label, properties.LabelTerminated)


def _build_queue_content(name: QueueName | None) -> bytes:
    if name is None:
        return b""
    if isinstance(name, DirectQueueFormatName):
        return name.Count.to_bytes(2, "little") + wchars.append_terminator(name.DirectFormatName, name.Terminated)
    return name.build()


def _build_format_name_content(packet: UserMessagePacket) -> bytes:
    header = packet.MultiQueueFormatHeader
    if header is None:
        return b""
    wire = bytearray(12)  # the fixed part of MQFAddressHeader, from which alignment counts
    for element in header.Destination.FormatNameList:
        wire += replace(element, Padding=None).build(len(wire))
    return bytes(wire[12:])


def _encode_journaling_bits(packet: UserMessagePacket) -> bytes:
    return bytes((packet.UserHeader.JP << 1 | packet.UserHeader.JN,))


def _encode_connector_type(packet: UserMessagePacket) -> bytes:
    connector = packet.UserHeader.ConnectorType
    return b"" if connector is None else connector.bytes_le


_SignedFieldEncoder = Callable[[UserMessagePacket], bytes]
_FIRST_SIGNED_FIELDS: tuple[_SignedFieldEncoder, ...] = (
    lambda packet: packet.MessagePropertiesHeader.CorrelationID,
    lambda packet: packet.MessagePropertiesHeader.ApplicationTag.to_bytes(4, "little"),
    lambda packet: packet.MessagePropertiesHeader.MessageBody,
    _build_label_content,
    lambda packet: _build_queue_content(packet.UserHeader.ResponseQueue),
    lambda packet: _build_queue_content(packet.UserHeader.AdminQueue),
)
_LAST_SIGNED_FIELDS: tuple[_SignedFieldEncoder, ...] = (
    lambda packet: packet.UserHeader.SourceQueueManager.bytes_le,
    lambda packet: bytes((packet.UserHeader.DM,)),
    lambda packet: bytes((packet.BaseHeader.PR,)),
    _encode_journaling_bits,
    lambda packet: bytes((packet.MessagePropertiesHeader.Flags & 0x0F,)),
    lambda packet: packet.MessagePropertiesHeader.MessageClass.to_bytes(2, "little"),
    lambda packet: packet.MessagePropertiesHeader.BodyType.to_bytes(4, "little"),
    _encode_connector_type,
)
_FIELDS_BY_SIGNATURE_TYPE: Mapping[SignatureType, tuple[_SignedFieldEncoder, ...]] = {
    SignatureType.SIG10: _FIRST_SIGNED_FIELDS,
    SignatureType.SIG20: (
        *_FIRST_SIGNED_FIELDS,
        *_LAST_SIGNED_FIELDS,
        lambda packet: _build_queue_content(packet.UserHeader.DestinationQueue),
    ),
    SignatureType.SIG30: (
        *_FIRST_SIGNED_FIELDS,
        lambda packet: packet.MessagePropertiesHeader.ExtensionData,
        _build_format_name_content,
        *_LAST_SIGNED_FIELDS,
    ),
}


def build_signed_content(packet: UserMessagePacket, kind: SignatureType) -> bytes:
    """Return the octets that a signature covers. Spec: MS-MQMQ 2.5.1, 2.5.2, 2.5.3."""
    return b"".join(field(packet) for field in _FIELDS_BY_SIGNATURE_TYPE[kind])


SignedContentBuilder = Callable[[UserMessagePacket, SignatureType], bytes]
"""The type of a function that returns the octets to be hashed, such as ``build_signed_content``."""


def sign_message(
    packet: UserMessagePacket,
    kind: SignatureType,
    key: rsa.RSAPrivateKey,
    content: SignedContentBuilder = build_signed_content,
) -> UserMessagePacket:
    """Return the signed packet. The body of ``packet`` must not be encrypted.

    Spec: MS-MQQB 3.1.7.1.4. ``kind`` is Message.AuthenticationLevel; with a MultiQueueFormatHeader it is always
    SIG30. SIG30 without a MultiQueueFormatHeader is refused, because 3.1.5.8.3 reads such a signature only from
    that header. A SecurityHeader with SenderCert is required. Raise SecurityError if the message cannot be signed.
    """
    security = packet.SecurityHeader
    if security is None or not security.SecurityData.SenderCert:
        raise SecurityError(
            "SecurityHeader.SecurityData.SenderCert", _SIGNING_SPEC_SECTION, "the field must be present before signing"
        )
    algorithm = parse_hash_algorithm(packet.MessagePropertiesHeader.HashAlgorithm)
    several = packet.MultiQueueFormatHeader
    if several is not None:
        made = sign_data(key, algorithm, content(packet, SignatureType.SIG30))
        return _replace_packet_headers(
            packet, security, replace(several, Signature=replace(several.Signature, Signature=made))
        )
    if kind is SignatureType.SIG30:
        raise SecurityError(
            "MultiQueueFormatHeader",
            _SIGNING_SPEC_SECTION,
            "the field is missing, but an MSMQ 3.0 signature requires it",
        )
    data = replace(security.SecurityData, Signature=sign_data(key, algorithm, content(packet, kind)), Padding=None)
    return _replace_packet_headers(packet, replace(security, SecurityData=data), None)


def _replace_packet_headers(
    packet: UserMessagePacket, security: SecurityHeader, several: MultiQueueFormatHeader | None
) -> UserMessagePacket:
    """Return a copy of the packet with the given headers; ``build`` computes PacketSize."""
    flagged = replace(security, Flags=security.Flags | SecurityHeader.flags(AI=1))
    return replace(
        packet,
        BaseHeader=replace(packet.BaseHeader, PacketSize=0),
        SecurityHeader=flagged,
        MultiQueueFormatHeader=several,
    )


def is_signed(packet: UserMessagePacket) -> bool:
    """Return whether a packet is signed, that is, whether SecurityData or MultiQueueFormatHeader contains a signature.
    Spec: MS-MQQB 3.1.5.8.3.
    """
    return any(_get_signatures(packet))


def find_valid_signature_type(
    packet: UserMessagePacket, content: SignedContentBuilder = build_signed_content
) -> SignatureType:
    """Return the kind of the valid signature of a packet. Raise SecurityError if no signature is valid.

    Spec: MS-MQQB 3.1.5.8.3. SecurityData.Signature is verified as an MSMQ 2.0 signature, then as an MSMQ 1.0
    signature. MultiQueueFormatHeader.Signature is verified as an MSMQ 3.0 signature only if SecurityData.Signature
    is not set.
    """
    security = packet.SecurityHeader
    if security is None:
        raise SecurityError(
            "SecurityHeader", _AUTHENTICATION_SPEC_SECTION, "the field is missing, so there is no certificate"
        )
    algorithm = parse_hash_algorithm(packet.MessagePropertiesHeader.HashAlgorithm)
    key = read_certificate_key(security.SecurityData.SenderCert)
    single, several = _get_signatures(packet)
    signature = single or several
    for kind in (SignatureType.SIG20, SignatureType.SIG10) if single else (SignatureType.SIG30,):
        if is_valid_signature(key, algorithm, content(packet, kind), signature):
            return kind
    raise SecurityError(
        "Signature",
        _AUTHENTICATION_SPEC_SECTION,
        f"the value is not the signature of the message with {algorithm.name}",
    )


def _get_signatures(packet: UserMessagePacket) -> tuple[bytes, bytes]:
    """Return SecurityData.Signature and MultiQueueFormatHeader.Signature. A signature that is not set is empty."""
    security, several = packet.SecurityHeader, packet.MultiQueueFormatHeader
    return (
        b"" if security is None else security.SecurityData.Signature,
        b"" if several is None else several.Signature.Signature,
    )
