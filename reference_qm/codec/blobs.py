"""Parses and builds cryptographic data structures. Spec: MS-MQQB 2.4."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from reference_qm.codec.cursor import ByteCursor
from reference_qm.codec.format_error import FormatError
from reference_qm.codec.layout import U32, Layout
from reference_qm.codec.record import Record

_PUBLIC_KEY_BLOB_SPEC_SECTION = "MS-MQQB 2.4.1"
_SIMPLE_BLOB_SPEC_SECTION = "MS-MQQB 2.4.2"
_PUBLIC_KEY_BLOB_FIXED_BYTES = bytes.fromhex("06 02 00 00 00 A4 00 00 52 53 41 31")
_SIMPLE_BLOB_FIXED_BYTES = bytes.fromhex("01 02 00 00"), bytes.fromhex("00 A4 00 00")
_PUBLIC_KEY_BLOB_LAYOUT = Layout("PUBLICKEYBLOB", _PUBLIC_KEY_BLOB_SPEC_SECTION, fixed="12s", bitLen=U32, pubExp=U32)
_SIMPLE_BLOB_LAYOUT = Layout(
    "SIMPLEBLOB", _SIMPLE_BLOB_SPEC_SECTION, fixed="4s", sessionKeyAlgorithm=U32, keyAlgorithm="4s", encryptedKey="256s"
)


@dataclass(frozen=True, slots=True)
class PublicKeyBlob(Record):
    """PUBLICKEYBLOB: an RSA public key.

    Spec: MS-MQQB 2.4.1. 20 bytes, then the modulus. bitLen u32 LE (computed); pubExp u32 LE; modulus bytes, LE.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQQB 2.4.1"

    pubExp: int = 65537
    modulus: bytes = b""

    @property
    def bitLen(self) -> int:  # noqa: N802 - the printed name
        """The size of the modulus in bits."""
        return 8 * len(self.modulus)

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        start = cursor.offset
        fixed, bits, exponent = cursor.unpack(_PUBLIC_KEY_BLOB_LAYOUT)
        _check_fixed_bytes(fixed, _PUBLIC_KEY_BLOB_FIXED_BYTES, "PUBLICKEYBLOB", start, _PUBLIC_KEY_BLOB_SPEC_SECTION)
        if bits % 8:
            raise FormatError(
                "PUBLICKEYBLOB.bitLen",
                start + 12,
                _PUBLIC_KEY_BLOB_SPEC_SECTION,
                f"{bits} bits are not a whole number of bytes",
            )
        return cls(exponent, cursor.read_bytes(bits // 8, "PUBLICKEYBLOB.modulus", _PUBLIC_KEY_BLOB_SPEC_SECTION))

    def build(self) -> bytes:
        return _PUBLIC_KEY_BLOB_LAYOUT.pack(_PUBLIC_KEY_BLOB_FIXED_BYTES, self.bitLen, self.pubExp) + self.modulus


@dataclass(frozen=True, slots=True)
class SimpleBlob(Record):
    """SIMPLEBLOB: an encrypted session key.

    Spec: MS-MQQB 2.4.2. 268 bytes. sessionKeyAlgorithm u32 LE; encryptedKey 256 bytes, LE.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQQB 2.4.2"

    sessionKeyAlgorithm: int = 0
    encryptedKey: bytes = bytes(256)

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        start = cursor.offset
        fixed, session_key, key, encrypted = cursor.unpack(_SIMPLE_BLOB_LAYOUT)
        _check_fixed_bytes(fixed, _SIMPLE_BLOB_FIXED_BYTES[0], "SIMPLEBLOB", start, _SIMPLE_BLOB_SPEC_SECTION)
        _check_fixed_bytes(key, _SIMPLE_BLOB_FIXED_BYTES[1], "SIMPLEBLOB", start + 8, _SIMPLE_BLOB_SPEC_SECTION)
        return cls(session_key, encrypted)

    def build(self) -> bytes:
        return _SIMPLE_BLOB_LAYOUT.pack(
            _SIMPLE_BLOB_FIXED_BYTES[0], self.sessionKeyAlgorithm, _SIMPLE_BLOB_FIXED_BYTES[1], self.encryptedKey
        )


def _check_fixed_bytes(found: bytes, printed: bytes, owner: str, offset: int, section: str) -> None:
    if found != printed:
        raise FormatError(
            owner, offset, section, f"the value is {found.hex(' ')} instead of the fixed bytes {printed.hex(' ')}"
        )
