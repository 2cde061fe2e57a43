"""MS-MQQB 3.1.7.1.5, MS-MQMQ 2.2.19.3 EncryptionAlgorithm: published vectors of each cipher, the padding, and refused
inputs.
"""

import pytest

from reference_qm.security.algorithms import EncryptionAlgorithm
from reference_qm.security.ciphers import decrypt, encrypt
from reference_qm.security.security_error import SecurityError

FIPS197 = bytes.fromhex("00112233445566778899aabbccddeeff")
KEYS = {
    EncryptionAlgorithm.RC2: (5, 16),
    EncryptionAlgorithm.RC4: (5, 16),
    EncryptionAlgorithm.AES128: (16,),
    EncryptionAlgorithm.AES192: (24,),
    EncryptionAlgorithm.AES256: (32,),
}
PAIRS = [(algorithm, size) for algorithm, sizes in KEYS.items() for size in sizes]

BLOCK_VECTORS = [
    # RFC 2268 section 5: effective length 128
    (EncryptionAlgorithm.RC2, "88bca90e90875a7f0f79c384627bafb2", bytes(8), "2269552ab0f85ca6"),
    # 40 bits: no vector is published; OpenSSL 3.0 `enc -rc2-40-cbc` of 8 zeros
    (EncryptionAlgorithm.RC2, "88bca90e90", bytes(8), "116a3d8017ae1fd8"),
    # FIPS 197 C.1 to C.3
    (EncryptionAlgorithm.AES128, bytes(range(16)).hex(), FIPS197, "69c4e0d86a7b0430d8cdb78070b4c55a"),
    (EncryptionAlgorithm.AES192, bytes(range(24)).hex(), FIPS197, "dda97ca4864cdfe06eaf70a0ec0d7191"),
    (EncryptionAlgorithm.AES256, bytes(range(32)).hex(), FIPS197, "8ea2b7ca516745bfeafc49904b496089"),
]
STREAM_VECTORS = [  # RFC 6229 section 2
    ("0102030405", "b2396305f03dc027ccc3524a0a1118a8"),
    ("0102030405060708090a0b0c0d0e0f10", "9ac7cc9a609d1ef7b2932899cde41b97"),
]


@pytest.mark.parametrize(("algorithm", "key", "block", "expected"), BLOCK_VECTORS)
def test_block_cipher_matches_published_vector_in_its_first_block(algorithm, key, block, expected):
    """With an initial value of zeros, the first block in CBC mode equals the published vector of the plain cipher."""
    assert encrypt(algorithm, bytes.fromhex(key), block)[: len(block)].hex() == expected


@pytest.mark.parametrize(("key", "expected"), STREAM_VECTORS)
def test_rc4_matches_published_key_stream(key, expected):
    assert encrypt(EncryptionAlgorithm.RC4, bytes.fromhex(key), bytes(16)).hex() == expected


def test_block_ciphers_chain_their_blocks():
    """Block ciphers chain their blocks as in SP 800-38A F.2.1. The test combines the printed initial value with the
    first block, because the initial value of MSMQ is zero.
    """
    key = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
    vector = bytes(range(16))
    first = bytes.fromhex("6bc1bee22e409f96e93d7e117393172a")
    second = bytes.fromhex("ae2d8a571e03ac9c9eb76fac45af8e51")
    masked = bytes(left ^ right for left, right in zip(first, vector, strict=True))
    encrypted = encrypt(EncryptionAlgorithm.AES128, key, masked + second)
    assert encrypted[:32].hex() == "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"


@pytest.mark.parametrize(("algorithm", "size"), PAIRS)
def test_block_cipher_padding_fills_the_last_block(algorithm, size):
    block = {EncryptionAlgorithm.RC4: 1, EncryptionAlgorithm.RC2: 8}.get(algorithm, 16)
    for length in (0, 1, 15, 16, 17):
        whole = length if block == 1 else (length // block + 1) * block
        assert len(encrypt(algorithm, b"k" * size, bytes(length))) == whole


@pytest.mark.parametrize("algorithm", EncryptionAlgorithm)
def test_cipher_key_of_wrong_length_is_refused(algorithm):
    for size in {0, 1, 5, 7, 16, 24, 32, 33} - set(KEYS[algorithm]):
        with pytest.raises(SecurityError, match=f"{algorithm.name} takes"):
            encrypt(algorithm, bytes(size), b"body")


@pytest.mark.parametrize("algorithm", set(EncryptionAlgorithm) - {EncryptionAlgorithm.RC4})
def test_invalid_encrypted_body_is_an_error(algorithm):
    key = b"k" * KEYS[algorithm][-1]
    encrypted = encrypt(algorithm, key, b"body")
    with pytest.raises(SecurityError, match="not a multiple of the block size"):
        decrypt(algorithm, key, encrypted[:-1])
    with pytest.raises(SecurityError, match="not a multiple of the block size"):
        decrypt(algorithm, key, b"")
    with pytest.raises(SecurityError, match="padding"):
        decrypt(algorithm, bytes(len(key)), encrypted)


def test_rc2_uses_the_88_zero_bits_of_a_reduced_key_as_key_bits():
    """RC2 uses all 128 bits of a reduced key, although 88 of them are zero and only 40 are secret; the effective length
    of RFC 2268 stays 128.
    """
    reduced = b"12345".ljust(16, b"\0")
    assert encrypt(EncryptionAlgorithm.RC2, reduced, b"body") != encrypt(EncryptionAlgorithm.RC2, b"12345", b"body")
