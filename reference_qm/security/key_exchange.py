"""Encrypts and decrypts symmetric keys with RSA (SIMPLEBLOB and PUBLICKEYBLOB). Spec: MS-MQQB 2.4, 3.1.7.1.5,
3.1.5.8.3.

The document prints encryptedKey with 256 bytes, but the keys of 3.1.7.1.5 have 512 and 1024 bits. The two sizes do
not contradict each other, because the field is little-endian: zeros after the 64 or 128 bytes do not change the
number. Therefore this module writes 256 bytes, and also accepts a blob that ends after its 64 or 128 bytes.

pycryptodomex does the RSAES-PKCS1-v1_5 part. ``cryptography`` is not used for this part for two reasons. It takes
its padding bytes from the system, but here the caller passes the entropy. It returns random bytes for an invalid
blob, which 3.1.5.8.3 refuses.
"""

from __future__ import annotations

from cryptography.hazmat.primitives.asymmetric import rsa

from reference_qm.codec import PublicKeyBlob, SimpleBlob
from reference_qm.security.algorithms import EncryptionAlgorithm
from reference_qm.security.second_library import convert_private_key, convert_public_key, import_second_library_module
from reference_qm.security.security_error import SecurityError
from reference_qm.surface.entropy import Entropy

_CIPHER_MODULE = "Cipher.PKCS1_v1_5"
_ENCRYPTED_KEY_BITS = 256
_BLOB_HEADER_BYTES = 12
_SIMPLE_BLOB_SPEC_SECTION = "MS-MQQB 2.4.2"
_PUBLIC_KEY_BLOB_SPEC_SECTION = "MS-MQQB 2.4.1"


def parse_public_key(blob: PublicKeyBlob) -> rsa.RSAPublicKey:
    """Return the key that a PUBLICKEYBLOB contains. Raise SecurityError for invalid numbers."""
    modulus = int.from_bytes(blob.modulus, "little")
    if modulus.bit_length() != blob.bitLen:
        raise SecurityError(
            "PUBLICKEYBLOB.modulus",
            _PUBLIC_KEY_BLOB_SPEC_SECTION,
            f"the modulus has {modulus.bit_length()} bits, but bitLen is {blob.bitLen}",
        )
    try:
        return rsa.RSAPublicNumbers(blob.pubExp, modulus).public_key()
    except ValueError as error:
        raise SecurityError(
            "PUBLICKEYBLOB", _PUBLIC_KEY_BLOB_SPEC_SECTION, f"the value is not an RSA key: {error}"
        ) from error


def build_public_key_blob(key: rsa.RSAPublicKey) -> PublicKeyBlob:
    """Return the PUBLICKEYBLOB of a key. The size of the key's modulus is a whole number of bytes."""
    numbers = key.public_numbers()
    return PublicKeyBlob(numbers.e, numbers.n.to_bytes(-(-key.key_size // 8), "little"))


def encrypt_symmetric_key(
    key: rsa.RSAPublicKey, algorithm: EncryptionAlgorithm, symmetric_key: bytes, entropy: Entropy
) -> SimpleBlob:
    """Return the SIMPLEBLOB of a symmetric key. Raise SecurityError if the RSA key is too small or too large."""
    if key.key_size > 8 * _ENCRYPTED_KEY_BITS:
        raise SecurityError(
            "SIMPLEBLOB.encryptedKey",
            _SIMPLE_BLOB_SPEC_SECTION,
            f"a key encrypted with an RSA key of {key.key_size} bits does not fit into the field",
        )
    try:
        encrypted = bytes(
            import_second_library_module(_CIPHER_MODULE)
            .new(convert_public_key(key), randfunc=entropy.token)
            .encrypt(symmetric_key)
        )
    except ValueError as error:
        raise SecurityError(
            "SIMPLEBLOB.encryptedKey", _SIMPLE_BLOB_SPEC_SECTION, f"the key cannot be encrypted: {error}"
        ) from error
    return SimpleBlob(algorithm, encrypted[::-1].ljust(_ENCRYPTED_KEY_BITS, b"\0"))


def decrypt_symmetric_key(key: rsa.RSAPrivateKey, algorithm: EncryptionAlgorithm, blob: bytes, bits: int) -> bytes:
    """Return the symmetric key of ``bits`` bits that a SIMPLEBLOB contains.

    Raise FormatError for a malformed blob, and SecurityError for a blob with a different algorithm, RSA key or key
    length.
    """
    size = -(-key.key_size // 8)
    whole = (
        blob.ljust(_BLOB_HEADER_BYTES + _ENCRYPTED_KEY_BITS, b"\0") if len(blob) >= _BLOB_HEADER_BYTES + size else blob
    )
    simple = SimpleBlob.parse(whole)
    if simple.sessionKeyAlgorithm != algorithm:
        raise SecurityError(
            "SIMPLEBLOB.sessionKeyAlgorithm",
            _SIMPLE_BLOB_SPEC_SECTION,
            f"0x{simple.sessionKeyAlgorithm:08X} is not {algorithm.name}",
        )
    if any(simple.encryptedKey[size:]):
        raise SecurityError(
            "SIMPLEBLOB.encryptedKey",
            _SIMPLE_BLOB_SPEC_SECTION,
            f"the value was not encrypted with an RSA key of {key.key_size} bits",
        )
    found = _decrypt_key(key, simple.encryptedKey[:size][::-1], bits // 8)
    if not found:
        raise SecurityError(
            "SIMPLEBLOB.encryptedKey",
            _SIMPLE_BLOB_SPEC_SECTION,
            f"the value contains no key of {bits} bits that this RSA key can decrypt",
        )
    return found


def _decrypt_key(key: rsa.RSAPrivateKey, encrypted: bytes, size: int) -> bytes:
    """Return the decrypted key of ``size`` bytes, or no bytes if the decryption fails."""
    try:
        return bytes(
            import_second_library_module(_CIPHER_MODULE)
            .new(convert_private_key(key))
            .decrypt(encrypted, b"", expected_pt_len=size)
        )
    except ValueError:  # the number exceeds the modulus
        return b""
