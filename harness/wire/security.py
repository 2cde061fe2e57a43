"""Define the SecurityHeader, which contains the sender of a message, a key, a signature and a certificate."""

from __future__ import annotations

from scapy.fields import Field, LEIntField
from scapy.packet import Packet

from harness.wire.fields import BytesField, ComputedField, PaddingField, WideStringField, compute_length_of
from harness.wire.layer import Layer, Structure
from harness.wire.words import WordOfBitFields

SIZE_FIELD_BY_ITEM = {
    "SecurityID": ("SenderIdSize", "H"),
    "EncryptionKey": ("EncryptionKeySize", "H"),
    "Signature": ("SignatureSize", "H"),
    "SenderCert": ("SenderCertSize", "I"),
    "ProviderInfo": ("ProviderInfoSize", "I"),
}
"""The items of SecurityData in wire order, each with the name of the field that contains its size."""


def _build_item_fields(name: str) -> tuple[Field, Field]:
    size, _ = SIZE_FIELD_BY_ITEM[name]
    return BytesField(name, lambda layer: layer.getfieldval(size)), PaddingField(f"{name}Padding")


def _has_security_data(layer: Packet) -> bool:
    return any(layer.getfieldval(name) for name in SIZE_FIELD_BY_ITEM)


# [MS-MQMQ] sect 2.2.20.6
class SecurityHeader(Layer):
    """The header of 16 bytes and the items of SecurityData, each padded to a multiple of 4 bytes.

    The sizes, not AI, determine which items are present: real Windows sends a SecurityID even when AI is not set
    (MS-MQQB 4.1.7).
    """

    Flags = WordOfBitFields(2, "ST:4 AU EB DE AI AS:4 X12 X13 X14 X15", AI=_has_security_data)

    fields_desc = (
        *Flags.fields,
        *(ComputedField(size, fmt, compute_length_of(name)) for name, (size, fmt) in SIZE_FIELD_BY_ITEM.items()),
        *(part for name in SIZE_FIELD_BY_ITEM for part in _build_item_fields(name)),
    )


# [MS-MQMQ] sect 2.2.20.6
class ProviderInfo(Structure):
    """The item ProviderInfo of SecurityData: the type and the name of a cryptographic provider."""

    fields_desc = (LEIntField("ProviderType", 0), WideStringField("ProviderName", None))
