"""Encrypts and decrypts message bodies. Spec: MS-MQQB 3.1.7.1.5, 3.1.5.8.3, MS-MQMQ 2.2.19.3.

RC2 and AES are used in CBC mode with an initialization vector of zeros and PKCS #5 padding; RC4 has neither a mode
nor padding. The effective key length of RC2 (RFC 2268, T1) is the length of the key: 40 bits for 5 bytes, and 128
bits for 16 bytes, even if 88 of these bits are zeros. This is an assumption, because a packet does not contain the
effective key length.

``cryptography`` provides everything except 40-bit RC2, which pycryptodomex provides. RC2 and RC4 are weak; only
this module uses them.
"""

from __future__ import annotations

from typing import Any

from cryptography.hazmat.decrepit.ciphers.algorithms import ARC4, RC2
from cryptography.hazmat.primitives import padding
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC

from reference_qm.security.algorithms import EncryptionAlgorithm
from reference_qm.security.second_library import import_second_library_module
from reference_qm.security.security_error import SecurityError

_SPEC_SECTION = "MS-MQQB 3.1.7.1.5"
_REDUCED_KEY_BITS = 40
_KEY_BITS_BY_ALGORITHM = {
    EncryptionAlgorithm.RC2: (40, 128),
    EncryptionAlgorithm.RC4: (40, 128),
    EncryptionAlgorithm.AES128: (128,),
    EncryptionAlgorithm.AES192: (192,),
    EncryptionAlgorithm.AES256: (256,),
}
_BLOCK_SIZE_BY_ALGORITHM = {  # block size in bytes; RC4 has no blocks
    EncryptionAlgorithm.RC2: 8,
    EncryptionAlgorithm.AES128: 16,
    EncryptionAlgorithm.AES192: 16,
    EncryptionAlgorithm.AES256: 16,
}


def encrypt(algorithm: EncryptionAlgorithm, key: bytes, body: bytes) -> bytes:
    """Return the encrypted body. RC4 keeps the size of the body; the other algorithms pad the body to a multiple of
    the block size.
    """
    _check_key_size(algorithm, key)
    if algorithm not in _BLOCK_SIZE_BY_ALGORITHM:
        return _apply_rc4(key, body)
    padder = padding.PKCS7(8 * _BLOCK_SIZE_BY_ALGORITHM[algorithm]).padder()
    padded = padder.update(body) + padder.finalize()
    if _is_weak_rc2(algorithm, key):
        return bytes(_build_weak_rc2(key).encrypt(padded))
    return _run_cipher(_build_cipher(algorithm, key).encryptor(), padded)


def decrypt(algorithm: EncryptionAlgorithm, key: bytes, body: bytes) -> bytes:
    """Return the decrypted body. Raise SecurityError for an invalid body; RC4 cannot detect an invalid body."""
    _check_key_size(algorithm, key)
    if algorithm not in _BLOCK_SIZE_BY_ALGORITHM:
        return _apply_rc4(key, body)
    block = _BLOCK_SIZE_BY_ALGORITHM[algorithm]
    if not body or len(body) % block:
        raise _make_security_error(f"{len(body)} bytes are not a multiple of the block size {block}")
    padded = (
        bytes(_build_weak_rc2(key).decrypt(body))
        if _is_weak_rc2(algorithm, key)
        else _run_cipher(_build_cipher(algorithm, key).decryptor(), body)
    )
    unpadder = padding.PKCS7(8 * block).unpadder()
    try:
        return unpadder.update(padded) + unpadder.finalize()
    except ValueError as error:
        raise _make_security_error("the padding is not PKCS #5 padding") from error


def _check_key_size(algorithm: EncryptionAlgorithm, key: bytes) -> None:
    if 8 * len(key) not in _KEY_BITS_BY_ALGORITHM[algorithm]:
        allowed = " or ".join(map(str, _KEY_BITS_BY_ALGORITHM[algorithm]))
        raise SecurityError("SymmetricKey", _SPEC_SECTION, f"{algorithm.name} takes {allowed} bits, not {8 * len(key)}")


def _make_security_error(message: str) -> SecurityError:
    return SecurityError("MessagePropertiesHeader.MessageBody", "MS-MQQB 3.1.5.8.3", message)


def _build_cipher(algorithm: EncryptionAlgorithm, key: bytes) -> Cipher[CBC]:
    zeros = CBC(bytes(_BLOCK_SIZE_BY_ALGORITHM[algorithm]))
    return Cipher(RC2(key) if algorithm is EncryptionAlgorithm.RC2 else AES(key), zeros)


def _run_cipher(context: CipherContext, data: bytes) -> bytes:
    return context.update(data) + context.finalize()


def _apply_rc4(key: bytes, body: bytes) -> bytes:
    return _run_cipher(Cipher(ARC4(key), None).encryptor(), body)


def _is_weak_rc2(algorithm: EncryptionAlgorithm, key: bytes) -> bool:
    return algorithm is EncryptionAlgorithm.RC2 and 8 * len(key) == _REDUCED_KEY_BITS


def _build_weak_rc2(key: bytes) -> Any:
    rc2 = import_second_library_module("Cipher.ARC2")
    return rc2.new(key, rc2.MODE_CBC, iv=bytes(8), effective_keylen=_REDUCED_KEY_BITS)
