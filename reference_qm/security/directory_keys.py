"""Parses and builds the keys and certificates that a directory contains. Spec: MS-MQMQ 2.2.1, 2.2.2, 2.2.21,
2.2.22.

The ``parse`` methods never read past the available bytes, and raise only FormatError.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self
from uuid import UUID

from reference_qm.codec import NULL_GUID, FormatError, PublicKeyBlob
from reference_qm.codec import text as wchars
from reference_qm.codec.cursor import ByteCursor
from reference_qm.codec.layout import GUID, U32, Layout
from reference_qm.codec.record import Record
from reference_qm.security.algorithms import HashAlgorithm
from reference_qm.security.hashing import compute_digest

_PUBLIC_KEY_LAYOUT = Layout("MQDSPUBLICKEY", "MS-MQMQ 2.2.1", ulKeyLen=U32, ulProviderLen=U32, ulProviderType=U32)
_PUBLIC_KEYS_LAYOUT = Layout("MQDSPUBLICKEYS", "MS-MQMQ 2.2.2", ulLen=U32, cNumofKeys=U32)
_CERTIFICATE_LAYOUT = Layout("MQUSERSIGNCERT", "MS-MQMQ 2.2.22", Digest="16s", Identifier=GUID, CertificateLength=U32)
_CERTIFICATES_LAYOUT = Layout("MQUSERSIGNCERTS", "MS-MQMQ 2.2.21", CertificateCount=U32)


@dataclass(frozen=True, slots=True)
class MqdsPublicKey(Record):
    """An MQDSPUBLICKEY: the public key of a provider.

    Spec: MS-MQMQ 2.2.1. 12 bytes, the name and the key. ulKeyLen and ulProviderLen u32 LE (computed); ulProviderType
    u32 LE; sProviderName text without its terminating null; aBuf bytes: BLOBHEADER and RSAPUBKEY.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQMQ 2.2.1"

    ulProviderType: int
    sProviderName: str
    aBuf: bytes

    @property
    def ulKeyLen(self) -> int:  # noqa: N802 - the printed name
        """The size of aBuf in bytes."""
        return len(self.aBuf)

    @property
    def ulProviderLen(self) -> int:  # noqa: N802 - the printed name
        """The size of sProviderName in bytes, including its terminating null."""
        return len(wchars.append_terminator(self.sProviderName, terminated=True))

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        key_size, name_size, kind = cursor.unpack(_PUBLIC_KEY_LAYOUT)
        field = "MQDSPUBLICKEY.sProviderName"
        name = cursor.take_subcursor(name_size, field, cls.SPEC_SECTION)
        provider = wchars.decode_wchars(name.read_wchars_up_to_marker(wchars.NULL_WCHAR, field, cls.SPEC_SECTION))
        name.require_end(field, cls.SPEC_SECTION)
        return cls(kind, provider, cursor.read_bytes(key_size, "MQDSPUBLICKEY.aBuf", cls.SPEC_SECTION))

    def build(self) -> bytes:
        return (
            _PUBLIC_KEY_LAYOUT.build(self) + wchars.append_terminator(self.sProviderName, terminated=True) + self.aBuf
        )

    def to_public_key_blob(self) -> PublicKeyBlob:
        """Return the key as a PUBLICKEYBLOB. Spec: MS-MQQB 3.1.7.1.5.2.

        Raise FormatError if aBuf does not contain an RSA public key.
        """
        return PublicKeyBlob.parse(self.aBuf)


@dataclass(frozen=True, slots=True)
class MqdsPublicKeys(Record):
    """MQDSPUBLICKEYS: the public keys of a queue manager. Spec: MS-MQMQ 2.2.2. 8 bytes (two u32 LE) and the keys."""

    SPEC_SECTION: ClassVar[str] = "MS-MQMQ 2.2.2"

    aPublicKeys: tuple[MqdsPublicKey, ...] = ()

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        start = cursor.offset
        size, count = cursor.unpack(_PUBLIC_KEYS_LAYOUT)
        if size < _PUBLIC_KEYS_LAYOUT.size:
            raise FormatError(
                "MQDSPUBLICKEYS.ulLen",
                start,
                cls.SPEC_SECTION,
                f"{size} is below the minimum {_PUBLIC_KEYS_LAYOUT.size}",
            )
        listed = cursor.take_subcursor(size - _PUBLIC_KEYS_LAYOUT.size, "MQDSPUBLICKEYS.aPublicKeys", cls.SPEC_SECTION)
        keys = tuple(MqdsPublicKey.read(listed) for _ in range(count))
        listed.require_end("MQDSPUBLICKEYS.ulLen", cls.SPEC_SECTION)
        return cls(keys)

    def build(self) -> bytes:
        keys = b"".join(key.build() for key in self.aPublicKeys)
        return _PUBLIC_KEYS_LAYOUT.pack(_PUBLIC_KEYS_LAYOUT.size + len(keys), len(self.aPublicKeys)) + keys

    def find(self, provider: str) -> MqdsPublicKey | None:
        """Return the key of the provider with the given name."""
        return next((key for key in self.aPublicKeys if key.sProviderName == provider), None)


@dataclass(frozen=True, slots=True)
class UserSignCert(Record):
    """MQUSERSIGNCERT: a certificate that a user has registered.

    Spec: MS-MQMQ 2.2.22. 36 bytes and the certificate. Digest 16 bytes; Identifier 16-byte GUID; CertificateLength u32
    LE (computed); Certificate bytes (DER X.509).
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQMQ 2.2.22"

    Digest: bytes = bytes(16)
    Identifier: UUID = NULL_GUID
    Certificate: bytes = b""

    @property
    def CertificateLength(self) -> int:  # noqa: N802 - the printed name
        """The size of Certificate in bytes."""
        return len(self.Certificate)

    @classmethod
    def create_entry(cls, identifier: UUID, certificate: bytes) -> Self:
        """Return the entry of a certificate. The Digest of the entry is the MD5 hash of the certificate."""
        return cls(compute_digest(HashAlgorithm.MD5, certificate), identifier, certificate)

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        made, identifier, size = cursor.unpack(_CERTIFICATE_LAYOUT)
        return cls(made, identifier, cursor.read_bytes(size, "MQUSERSIGNCERT.Certificate", cls.SPEC_SECTION))

    def build(self) -> bytes:
        return _CERTIFICATE_LAYOUT.build(self) + self.Certificate


@dataclass(frozen=True, slots=True)
class UserSignCerts(Record):
    """MQUSERSIGNCERTS: the certificates of a user. Spec: MS-MQMQ 2.2.21. 4 bytes and the entries (count u32 LE)."""

    SPEC_SECTION: ClassVar[str] = "MS-MQMQ 2.2.21"

    Certificates: tuple[UserSignCert, ...] = ()

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        (count,) = cursor.unpack(_CERTIFICATES_LAYOUT)
        return cls(tuple(UserSignCert.read(cursor) for _ in range(count)))

    def build(self) -> bytes:
        return _CERTIFICATES_LAYOUT.pack(len(self.Certificates)) + b"".join(
            entry.build() for entry in self.Certificates
        )
