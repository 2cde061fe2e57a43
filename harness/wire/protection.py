"""Sign and encrypt messages, as specified in MS-MQMQ 2.5 and MS-MQQB 2.4, 3.1.7.1.4, 3.1.7.1.5.

The module is written independently of ``reference_qm.security``. It computes RSA with Python integers (RFC 8017
7.2, 8.2, 9.2), so that keys of any size and any wrong value can be created. For ambiguous passages, see
suites/errata.toml E81, E82.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from Cryptodome.Cipher import AES, ARC2, ARC4
from Cryptodome.Hash import MD2, MD4
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from harness.wire.blobs import RSA_KEY_EXCHANGE_ALGORITHM, PublicKeyBlob, SimpleBlob
from harness.wire.packets import dissect
from harness.wire.queues import DirectQueueFormatName
from harness.wire.wire_error import WireError

SIG10, SIG20, SIG30 = 1, 2, 3
"""The types of MSMQ digital signatures, for MSMQ 1.0, 2.0 and 3.0."""
BASE_PROVIDER = "Microsoft Base Cryptographic Provider v1.0"
ENHANCED_PROVIDER = "Microsoft Enhanced Cryptographic Provider v1.0"
ADVANCED_PROVIDER = "Microsoft Enhanced RSA and AES Cryptographic Provider"
PROVIDER_TYPE_BY_NAME = {BASE_PROVIDER: 0x01, ENHANCED_PROVIDER: 0x01, ADVANCED_PROVIDER: 0x18}
PROVIDER_BY_PRIVACY_LEVEL = {1: BASE_PROVIDER, 3: ENHANCED_PROVIDER, 5: ADVANCED_PROVIDER}
"""The cryptographic provider of each PrivacyLevel (MS-MQQB 3.1.5.8.3)."""
RC2, RC4, AES_128, AES_192, AES_256 = 0x6602, 0x6801, 0x660E, 0x660F, 0x6610
CIPHER_BLOCK_SIZE_BY_ALGORITHM_ID = {RC2: 8, AES_128: 16, AES_192: 16, AES_256: 16}
"""The block size of each block cipher in bytes. The stream cipher RC4 has no block size."""
DEFAULT_RSA_PUBLIC_EXPONENT = 65537

_SIGNING_KEY_TYPE = 0x2400
_HASH_BY_ALGORITHM: Mapping[int, tuple[Callable[[bytes], bytes], str]] = {
    0x8001: (lambda data: bytes(MD2.new(data).digest()), "3020300c06082a864886f70d020205000410"),  # noqa: S303
    0x8002: (lambda data: bytes(MD4.new(data).digest()), "3020300c06082a864886f70d020405000410"),  # noqa: S303
    0x8003: (lambda data: hashlib.md5(data, usedforsecurity=False).digest(), "3020300c06082a864886f70d020505000410"),
    0x8004: (lambda data: hashlib.sha1(data, usedforsecurity=False).digest(), "3021300906052b0e03021a05000414"),
    0x800C: (lambda data: hashlib.sha256(data).digest(), "3031300d060960864801650304020105000420"),
    0x800E: (lambda data: hashlib.sha512(data).digest(), "3051300d060960864801650304020305000440"),
}
"""For each HashAlgorithm (MS-MQMQ 2.2.19.3), the hash function, and the first bytes of its DigestInfo (RFC 8017
9.2, note 1).
"""
HASH_ALGORITHM_IDS = tuple(_HASH_BY_ALGORITHM)


@dataclass(frozen=True, slots=True)
class RsaKey:
    """An RSA key as integers. ``private_exponent`` is the private exponent d; a key without it is a public key.

    ``primes`` contains the two primes of the modulus if they are known. With them, an operation with the private
    key takes a third of the time.
    """

    modulus: int
    public_exponent: int = DEFAULT_RSA_PUBLIC_EXPONENT
    private_exponent: int | None = None
    primes: tuple[int, int] | None = None

    @property
    def size(self) -> int:
        """The size of the modulus in bytes."""
        return -(-self.modulus.bit_length() // 8)

    def apply_private_exponent(self, number: int) -> int:
        """Apply the private exponent to a number, which decrypts or signs it."""
        if self.private_exponent is None:
            raise WireError("RsaKey.private is missing: the key is only a public key")
        if self.primes is None:
            return pow(number, self.private_exponent, self.modulus)
        p, q = self.primes  # RFC 8017 5.1.2, 2.b
        of_p, of_q = (pow(number, self.private_exponent % (prime - 1), prime) for prime in self.primes)
        return of_q + q * ((of_p - of_q) * pow(q, -1, p) % p)

    def apply_public_exponent(self, number: int) -> int:
        """Apply the public exponent to a number, which encrypts it or verifies a signature."""
        return pow(number, self.public_exponent, self.modulus)


def read_private_key(pem: bytes) -> RsaKey:
    """Read a private RSA key in PEM format."""
    key = load_pem_private_key(pem, None)
    if not isinstance(key, rsa.RSAPrivateKey):
        raise WireError(f"RsaKey: {type(key).__name__} is not an RSA key")
    numbers = key.private_numbers()
    return RsaKey(numbers.public_numbers.n, numbers.public_numbers.e, numbers.d, (numbers.p, numbers.q))


def read_certificate_key(der: bytes) -> RsaKey:
    """Return the public key of an X.509 certificate. Raise WireError if the certificate has no RSA key."""
    try:
        key = x509.load_der_x509_certificate(der).public_key()
    except ValueError as error:
        raise WireError(f"SenderCert is not an X.509 certificate: {error}") from error
    if not isinstance(key, rsa.RSAPublicKey):
        raise WireError(f"SenderCert: {type(key).__name__} is not an RSA key")
    numbers = key.public_numbers()
    return RsaKey(numbers.n, numbers.e)


# -- signatures --------------------------------------------------------------------------------------------------


def _build_field_bytes(layer: Any, name: str) -> bytes:
    value = layer.getfieldval(name)
    return bytes(layer.get_field(name).i2m(layer, value))


def _get_name_without_padding(queue: Any) -> bytes:
    """Return the bytes of a queue name in a header, without the padding that follows the name."""
    if queue is None:
        return b""
    if isinstance(queue, DirectQueueFormatName):
        return struct.pack("<H", queue.Count) + _build_field_bytes(queue, "DirectFormatName")
    return bytes(queue)


def _get_destination_list(packet: Any) -> bytes:
    """Return the bytes of the FormatNameList of the destinations, with the padding set to zero."""
    if not packet.haslayer("MultiQueueFormatHeader"):
        return b""
    data = bytes(12)
    for element in packet["MultiQueueFormatHeader"].Destination.FormatNameList:
        data += struct.pack("<H", element.FormatType)
        boundary = {1: 1, 2: 4, 3: 2, 6: 4}[element.FormatType]
        data += bytes(-len(data) % boundary) + bytes(element.FormatName)
    return data[12:]


def get_signed_octets(packet: Any, version: int) -> bytes:
    """Return the octets of a message that its signature covers. Spec: MS-MQMQ 2.5.1, 2.5.2, 2.5.3."""
    packet = dissect(bytes(packet))
    base, user, properties = (packet[name] for name in ("BaseHeader", "UserHeader", "MessagePropertiesHeader"))
    first = (
        properties.CorrelationID,
        struct.pack("<I", properties.ApplicationTag),
        properties.MessageBody,
        _build_field_bytes(properties, "Label"),
        _get_name_without_padding(user.ResponseQueue),
        _get_name_without_padding(user.AdminQueue),
    )
    last = (
        UUID(str(user.SourceQueueManager)).bytes_le,
        bytes([user.DM, base.PR, user.JP << 1 | user.JN, properties.Flags & 0x0F]),
        struct.pack("<HI", properties.MessageClass, properties.BodyType),
        UUID(str(user.ConnectorType)).bytes_le if user.CQ else b"",
    )
    whole = {
        SIG10: first,
        SIG20: (*first, *last, _get_name_without_padding(user.DestinationQueue)),
        SIG30: (*first, properties.ExtensionData, _get_destination_list(packet), *last),
    }
    return b"".join(bytes(part) for part in whole[version])


def _encode_pkcs1(octets: bytes, algorithm: int, size: int) -> int:
    """Return the EMSA-PKCS1-v1_5 encoding (RFC 8017 9.2) as an integer."""
    digest, prefix = _HASH_BY_ALGORITHM[algorithm]
    info = bytes.fromhex(prefix) + digest(octets)
    return int.from_bytes(b"\0\1" + b"\xff" * (size - len(info) - 3) + b"\0" + info, "big")


def compute_signature(packet: Any, version: int, key: RsaKey) -> bytes:
    """Sign a message, and return the signature as little-endian bytes. The HashAlgorithm of the message selects the
    hash. Spec: MS-MQQB 3.1.7.1.4.
    """
    algorithm = dissect(bytes(packet))["MessagePropertiesHeader"].HashAlgorithm
    encoded = _encode_pkcs1(get_signed_octets(packet, version), algorithm, key.size)
    return key.apply_private_exponent(encoded).to_bytes(key.size, "little")


def is_signature(value: bytes, packet: Any, version: int, certificate: bytes) -> bool:
    """Return whether the given bytes are a signature of the message that was made with the key of the certificate.

    Spec: MS-MQQB 3.1.5.8.3.
    """
    key = read_certificate_key(certificate)
    algorithm = dissect(bytes(packet))["MessagePropertiesHeader"].HashAlgorithm
    if len(value) != key.size or algorithm not in _HASH_BY_ALGORITHM:
        return False
    return key.apply_public_exponent(int.from_bytes(value, "little")) == _encode_pkcs1(
        get_signed_octets(packet, version), algorithm, key.size
    )


# -- encryption --------------------------------------------------------------------------------------------------


def _create_cipher(algorithm: int, key: bytes, effective_bits: int | None) -> Any:
    zeros = bytes(CIPHER_BLOCK_SIZE_BY_ALGORITHM_ID.get(algorithm, 0))
    if algorithm == RC4:
        return ARC4.new(key)
    if algorithm == RC2:
        bits = effective_bits or 8 * len(key)
        return ARC2.new(key, ARC2.MODE_CBC, iv=zeros, effective_keylen=bits)  # type: ignore[call-arg]  # noqa: S304
    return AES.new(key, AES.MODE_CBC, iv=zeros)


def encrypt_body(body: bytes, algorithm: int, key: bytes, effective_bits: int | None = None) -> bytes:
    """Encrypt a body: either with RC4, or in CBC mode with a zero initialization vector and PKCS #5 padding. Spec:
    MS-MQQB 3.1.7.1.5.
    """
    if block := CIPHER_BLOCK_SIZE_BY_ALGORITHM_ID.get(algorithm):
        missing = block - len(body) % block
        body += bytes([missing]) * missing
    return bytes(_create_cipher(algorithm, key, effective_bits).encrypt(body))


def decrypt_body(body: bytes, algorithm: int, key: bytes, effective_bits: int | None = None) -> bytes | None:
    """Decrypt a body, or return None if the body was encrypted in a different way. Spec: MS-MQQB 3.1.5.8.3."""
    block = CIPHER_BLOCK_SIZE_BY_ALGORITHM_ID.get(algorithm)
    if block and (not body or len(body) % block):
        return None
    clear = bytes(_create_cipher(algorithm, key, effective_bits).decrypt(body))
    if not block:
        return clear
    missing = clear[-1]
    return clear[:-missing] if 1 <= missing <= block and clear.endswith(bytes([missing]) * missing) else None


def encrypt_session_key(algorithm: int, key: bytes, receiver: RsaKey) -> bytes:
    """Encrypt a session key with the public key of a receiver (RFC 8017 7.2.1). Spec: MS-MQQB 2.4.2.

    The padding should be random, but is constant here, because the packets of a check must be repeatable.
    """
    padded = b"\0\2" + b"\xa5" * (receiver.size - len(key) - 3) + b"\0" + key
    number = receiver.apply_public_exponent(int.from_bytes(padded, "big"))
    return bytes(SimpleBlob(sessionKeyAlgorithm=algorithm, encryptedKey=number.to_bytes(256, "little")))


def decrypt_session_key(blob: bytes, receiver: RsaKey) -> bytes | None:
    """Decrypt the session key in a SIMPLEBLOB (RFC 8017 7.2.2), or return None if the blob was not encrypted for
    this key. Spec: MS-MQQB 2.4.2.
    """
    number = int.from_bytes(SimpleBlob(blob).encryptedKey, "little")
    if number >= receiver.modulus:
        return None
    padded = receiver.apply_private_exponent(number).to_bytes(receiver.size, "big")
    end = padded.find(b"\0", 2)
    return padded[end + 1 :] if padded[:2] == b"\0\2" and end >= 10 else None


# -- lists of keys -----------------------------------------------------------------------------------------------


def build_public_key_list(keys: Mapping[str, RsaKey]) -> bytes:
    """Build the MQDSPUBLICKEYS that contain the given public keys, which are given by provider. Spec: MS-MQMQ
    2.2.1, 2.2.2.
    """
    entries = b""
    for provider, key in keys.items():
        name = provider.encode("utf-16-le") + b"\0\0"
        blob = bytes(PublicKeyBlob(pubExp=key.public_exponent, modulus=key.modulus.to_bytes(key.size, "little")))
        entries += struct.pack("<III", len(blob), len(name), PROVIDER_TYPE_BY_NAME[provider]) + name + blob
    return struct.pack("<II", 8 + len(entries), len(keys)) + entries


def read_listed_blobs(data: bytes) -> dict[str, bytes]:
    """Return the keys in MQDSPUBLICKEYS as bytes, by provider. Raise WireError if the structure is malformed."""
    if len(data) < 8 or struct.unpack_from("<I", data)[0] != len(data):
        raise WireError(f"MQDSPUBLICKEYS.ulLen differs from the size of the value, {len(data)} bytes")
    found: dict[str, bytes] = {}
    at = 8
    for _ in range(struct.unpack_from("<I", data, 4)[0]):
        if at + 12 > len(data):
            raise WireError(f"MQDSPUBLICKEYS.cNumofKeys is too large: there are only {len(found)} keys")
        key_size, name_size, _ = struct.unpack_from("<III", data, at)
        at += 12
        name, blob = data[at : at + name_size], data[at + name_size : at + name_size + key_size]
        at += name_size + key_size
        if at > len(data):
            raise WireError("MQDSPUBLICKEY.ulKeyLen: the key ends after the end of the list")
        found[name.decode("utf-16-le", "replace").rstrip("\0")] = blob
    return found


def _set_encryption_key_type(blob: bytes) -> bytes:
    """Return the blob of a signing key, changed into the blob of an encryption key. Any other blob is returned
    unchanged.
    """
    is_signing_key = blob[4:8] == _SIGNING_KEY_TYPE.to_bytes(4, "little")
    return blob[:4] + RSA_KEY_EXCHANGE_ALGORITHM.to_bytes(4, "little") + blob[8:] if is_signing_key else blob


def read_listed_keys(data: bytes) -> dict[str, RsaKey]:
    """Return the keys in MQDSPUBLICKEYS, by provider. Raise WireError if the structure is malformed.

    The field Key Type of a blob may also be that of a key for signing (MS-MQMQ 2.2.20.6).
    """
    blobs = {name: PublicKeyBlob(_set_encryption_key_type(blob)) for name, blob in read_listed_blobs(data).items()}
    return {name: RsaKey(int.from_bytes(blob.modulus, "little"), blob.pubExp) for name, blob in blobs.items()}
