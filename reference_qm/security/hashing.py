"""Computes hashes of data, and makes RSA signatures of hashes as a cryptographic service provider (CSP) of Windows
does. Spec: MS-MQMQ 2.2.19.3, MS-MQQB 3.1.7.1.4, 3.1.5.8.3.

The documents say only "the hash encrypted using RSA and the private key". The assumption here is RSASSA-PKCS1-v1_5
with the DigestInfo of the hash (RFC 8017 9.2), in the little-endian byte order of the other RSA values of MS-MQQB
2.4.

``cryptography`` provides most algorithms; pycryptodomex provides MD2 and MD4. MD2, MD4 and MD5 are broken, and are
supported only because old releases sign with them.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.utils import CryptographyDeprecationWarning

from reference_qm.security.algorithms import HashAlgorithm
from reference_qm.security.second_library import convert_private_key, convert_public_key, import_second_library_module
from reference_qm.security.security_error import SecurityError

_SIGNING_SPEC_SECTION = "MS-MQQB 3.1.7.1.4"
_AUTHENTICATION_SPEC_SECTION = "MS-MQQB 3.1.5.8.3"
_CRYPTOGRAPHY_HASHES: Mapping[HashAlgorithm, hashes.HashAlgorithm] = {
    HashAlgorithm.MD5: hashes.MD5(),  # noqa: S303 - what the message names
    HashAlgorithm.SHA1: hashes.SHA1(),  # noqa: S303 - what the message names
    HashAlgorithm.SHA256: hashes.SHA256(),
    HashAlgorithm.SHA512: hashes.SHA512(),
}
_PYCRYPTODOMEX_HASHES = {HashAlgorithm.MD2: "Hash.MD2", HashAlgorithm.MD4: "Hash.MD4"}

MAX_MODULUS_BITS = 16384
MAX_EXPONENT = 0xFFFFFFFF
"""The maximum value of pubExp, which is a u32 (MS-MQQB 2.4.1, MS-MQMQ 2.2.20.6)."""


def compute_digest(algorithm: HashAlgorithm, data: bytes) -> bytes:
    """Return the hash of ``data``: 16, 20, 32 or 64 bytes."""
    if algorithm in _PYCRYPTODOMEX_HASHES:
        old: bytes = import_second_library_module(_PYCRYPTODOMEX_HASHES[algorithm]).new(data).digest()
        return old
    made = hashes.Hash(_CRYPTOGRAPHY_HASHES[algorithm])
    made.update(data)
    return made.finalize()


def sign_data(key: rsa.RSAPrivateKey, algorithm: HashAlgorithm, data: bytes) -> bytes:
    """Return the signature of ``data`` as little-endian bytes, which have the size of the modulus. Raise
    SecurityError if the key is too small.

    Spec: MS-MQQB 3.1.7.1.4.
    """
    try:
        if algorithm in _PYCRYPTODOMEX_HASHES:
            signature = bytes(
                _build_second_library_signer(convert_private_key(key)).sign(
                    import_second_library_module(_PYCRYPTODOMEX_HASHES[algorithm]).new(data)
                )
            )
        else:
            signature = key.sign(data, padding.PKCS1v15(), _CRYPTOGRAPHY_HASHES[algorithm])
    except ValueError as error:
        raise SecurityError(
            "Signature", _SIGNING_SPEC_SECTION, f"{algorithm.name} does not fit the key: {error}"
        ) from error
    return signature[::-1]


def is_valid_signature(key: rsa.RSAPublicKey, algorithm: HashAlgorithm, data: bytes, signature: bytes) -> bool:
    """Return whether ``signature`` (little-endian bytes) is a valid signature of ``data``. Spec: MS-MQQB 3.1.5.8.3."""
    big_endian = signature[::-1]
    try:
        if algorithm in _PYCRYPTODOMEX_HASHES:
            _build_second_library_signer(convert_public_key(key)).verify(
                import_second_library_module(_PYCRYPTODOMEX_HASHES[algorithm]).new(data), big_endian
            )
        else:
            key.verify(big_endian, data, padding.PKCS1v15(), _CRYPTOGRAPHY_HASHES[algorithm])
    except (InvalidSignature, ValueError):
        return False
    return True


def _build_second_library_signer(key: Any) -> Any:
    return import_second_library_module("Signature.pkcs1_15").new(key)


def read_certificate_key(certificate: bytes) -> rsa.RSAPublicKey:
    """Return the public key of a DER X.509 certificate. Raise SecurityError for a certificate without a usable RSA
    key.

    Spec: MS-MQMQ 2.2.20.6 SenderCert, MS-MQQB 3.1.5.8.3. Only the key matters: the section does not check validity
    dates, issuer, serial number or usage.
    """
    subject = "SecurityHeader.SecurityData.SenderCert"
    try:
        with warnings.catch_warnings():  # warnings about serial numbers that RFC 5280 forbids and old certificates have
            warnings.simplefilter("ignore", CryptographyDeprecationWarning)
            key = x509.load_der_x509_certificate(certificate).public_key()
    except (ValueError, TypeError, UnsupportedAlgorithm, x509.InvalidVersion) as error:
        raise SecurityError(
            subject, _AUTHENTICATION_SPEC_SECTION, f"the value is not an X.509 certificate with a usable key: {error}"
        ) from error
    if not isinstance(key, rsa.RSAPublicKey):
        raise SecurityError(
            subject, _AUTHENTICATION_SPEC_SECTION, f"the value contains an {type(key).__name__} instead of an RSA key"
        )
    if key.key_size > MAX_MODULUS_BITS or key.public_numbers().e > MAX_EXPONENT:
        raise SecurityError(
            subject,
            _AUTHENTICATION_SPEC_SECTION,
            "the value contains an RSA key that is larger than the accepted maximum",
        )
    return key
