"""Define the structures in which keys are published and sent.

The specification prints the constant values without names, so this module uses the names of the Windows structures.
"""

from __future__ import annotations

from scapy.fields import LEIntField, XByteField, XLEIntField, XLEShortField
from scapy.packet import Packet

from harness.wire.fields import BytesField, ComputedField
from harness.wire.layer import Structure
from harness.wire.wire_error import WireError

RSA_KEY_EXCHANGE_ALGORITHM = 0x0000_A400
RSA1_MAGIC = 0x3141_5352


def _count_whole_bytes(blob: Packet) -> int:
    if blob.bitLen % 8:
        raise WireError(f"PublicKeyBlob.bitLen: {blob.bitLen} bits are not a whole number of bytes")
    return int(blob.bitLen) // 8


class Blob(Structure):
    """A structure with constant fields. Dissection raises WireError if one of these fields has a different value."""

    def post_dissect(self, s: bytes) -> bytes:
        for name in ("bType", "bVersion", "reserved", "aiKeyAlg", "magic"):
            found, printed = self.fields.get(name), self.default_fields.get(name)
            if found != printed:
                raise WireError(f"{type(self).__name__}.{name} is {found:#x} instead of {printed:#x}")
        return s


# [MS-MQQB] sect 2.4.1
class PublicKeyBlob(Blob):
    """PUBLICKEYBLOB: 20 bytes and an RSA modulus of ``bitLen`` bits, little-endian."""

    fields_desc = (
        XByteField("bType", 0x06),
        XByteField("bVersion", 0x02),
        XLEShortField("reserved", 0),
        XLEIntField("aiKeyAlg", RSA_KEY_EXCHANGE_ALGORITHM),
        XLEIntField("magic", RSA1_MAGIC),
        ComputedField("bitLen", "I", lambda layer: 8 * len(layer.modulus)),
        LEIntField("pubExp", 65537),
        BytesField("modulus", _count_whole_bytes),
    )


# [MS-MQQB] sect 2.4.2
class SimpleBlob(Blob):
    """SIMPLEBLOB: a session key that is encrypted with the public key of a receiver; 12 bytes and 256 bytes of
    encrypted data.
    """

    fields_desc = (
        XByteField("bType", 0x01),
        XByteField("bVersion", 0x02),
        XLEShortField("reserved", 0),
        XLEIntField("sessionKeyAlgorithm", 0x0000_6610),
        XLEIntField("aiKeyAlg", RSA_KEY_EXCHANGE_ALGORITHM),
        BytesField("encryptedKey", 256, bytes(256)),
    )
