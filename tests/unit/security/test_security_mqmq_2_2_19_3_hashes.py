"""MS-MQMQ 2.2.19.3 HashAlgorithm: published vectors of each hash, and RSA signatures over them."""

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from security_made import ELLIPTIC, OTHER, certificate, certificate_for, rsa_key

from reference_qm.security.algorithms import HashAlgorithm, parse_hash_algorithm
from reference_qm.security.hashing import compute_digest, is_valid_signature, read_certificate_key, sign_data
from reference_qm.security.security_error import SecurityError

ALPHABET = b"abcdefghijklmnopqrstuvwxyz"
MILLION = b"a" * 1_000_000

VECTORS = [
    # RFC 1319 A.5
    (HashAlgorithm.MD2, b"", "8350e5a3e24c153df2275c9f80692773"),
    (HashAlgorithm.MD2, b"abc", "da853b0d3f88d99b30283a69e6ded6bb"),
    (HashAlgorithm.MD2, ALPHABET, "4e8ddff3650292ab5a4108c3aa47940b"),
    # RFC 1320 A.5
    (HashAlgorithm.MD4, b"", "31d6cfe0d16ae931b73c59d7e0c089c0"),
    (HashAlgorithm.MD4, b"abc", "a448017aaf21d8525fc10ae87aa6729d"),
    (HashAlgorithm.MD4, ALPHABET, "d79e1c308aa5bbcdeea8ed63df412da9"),
    # RFC 1321 A.5
    (HashAlgorithm.MD5, b"", "d41d8cd98f00b204e9800998ecf8427e"),
    (HashAlgorithm.MD5, b"abc", "900150983cd24fb0d6963f7d28e17f72"),
    (HashAlgorithm.MD5, ALPHABET, "c3fcd3d76192e4007dfb496cca67e13b"),
    # FIPS 180-2 A.1, A.3, B.1, B.3, C.1
    (HashAlgorithm.SHA1, b"abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
    (HashAlgorithm.SHA1, MILLION, "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
    (HashAlgorithm.SHA256, b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (HashAlgorithm.SHA256, MILLION, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    (
        HashAlgorithm.SHA512,
        b"abc",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
    ),
]


@pytest.mark.parametrize(("algorithm", "data", "expected"), VECTORS)
def test_hash_matches_published_vector(algorithm, data, expected):
    assert compute_digest(algorithm, data).hex() == expected


def test_every_hash_algorithm_has_a_published_vector():
    assert {algorithm for algorithm, _, _ in VECTORS} == set(HashAlgorithm)


@pytest.mark.parametrize("value", [0, 0x8005, 0x800D, 0xFFFFFFFF])
def test_unknown_hash_algorithm_is_refused(value):
    with pytest.raises(SecurityError, match=f"HashAlgorithm: 0x{value:08X}"):
        parse_hash_algorithm(value)


@pytest.mark.parametrize("algorithm", HashAlgorithm)
def test_signature_verifies_only_with_its_key_and_text(algorithm):
    signature = sign_data(rsa_key(1024), algorithm, b"text")
    assert len(signature) == 128
    assert is_valid_signature(rsa_key(1024).public_key(), algorithm, b"text", signature)
    assert not is_valid_signature(rsa_key(1024).public_key(), algorithm, b"Text", signature)
    assert not is_valid_signature(rsa_key(OTHER).public_key(), algorithm, b"text", signature)
    assert not is_valid_signature(rsa_key(1024).public_key(), algorithm, b"text", signature[::-1])
    assert not is_valid_signature(rsa_key(1024).public_key(), algorithm, b"text", b"")


@pytest.mark.parametrize(
    ("algorithm", "digest_info"),
    [  # RFC 8017 9.2 note 1
        (HashAlgorithm.MD2, "3020300c06082a864886f70d020205000410"),
        (HashAlgorithm.MD5, "3020300c06082a864886f70d020505000410"),
        (HashAlgorithm.SHA1, "3021300906052b0e03021a05000414"),
        (HashAlgorithm.SHA256, "3031300d060960864801650304020105000420"),
        (HashAlgorithm.SHA512, "3051300d060960864801650304020305000440"),
    ],
)
def test_a_signature_is_little_endian_pkcs1_of_the_digest_info(algorithm, digest_info):
    numbers = rsa_key(1024).public_key().public_numbers()
    signature = int.from_bytes(sign_data(rsa_key(1024), algorithm, b"text"), "little")
    encoded = pow(signature, numbers.e, numbers.n).to_bytes(128, "big")
    payload = bytes.fromhex(digest_info) + compute_digest(algorithm, b"text")
    assert encoded == b"\x00\x01" + b"\xff" * (125 - len(payload)) + b"\x00" + payload


def test_signing_key_too_small_for_the_hash_is_refused():
    with pytest.raises(SecurityError, match="SHA512 does not fit the key"):
        sign_data(rsa_key(512), HashAlgorithm.SHA512, b"text")


def test_public_key_is_read_from_a_certificate():
    assert read_certificate_key(certificate()).public_numbers() == rsa_key(1024).public_key().public_numbers()


@pytest.mark.parametrize(
    ("der", "message"),
    [
        (b"", "not an X.509 certificate"),
        (b"no certificate", "not an X.509 certificate"),
        (certificate()[:-1], "not an X.509 certificate"),
        (ELLIPTIC, "instead of an RSA key"),
    ],
)
def test_a_certificate_without_an_rsa_key_is_an_error(der, message):
    with pytest.raises(SecurityError, match=message):
        read_certificate_key(der)


def test_certificate_key_above_the_size_limit_is_refused():
    for exponent, modulus in ((2**32 + 1, rsa_key(1024).public_key().public_numbers().n), (3, 2**16392 + 1)):
        with pytest.raises(SecurityError, match="larger than the accepted maximum"):
            read_certificate_key(certificate_for(rsa.RSAPublicNumbers(exponent, modulus).public_key()))


def test_certificate_with_nonpositive_serial_number_is_accepted():
    der = certificate()
    zero = der.replace(bytes.fromhex("a003020102020101"), bytes.fromhex("a003020102020100"))
    assert zero != der
    assert read_certificate_key(zero).public_numbers() == read_certificate_key(der).public_numbers()
