"""Signatures and encryption of the harness: MS-MQMQ 2.5, MS-MQQB 2.4.1, 2.4.2, 3.1.7.1.4, 3.1.7.1.5.

The tests compare with published vectors (RFC 2268, RFC 6229, SP 800-38A), and for RSA and DigestInfo with the library
``cryptography``.
"""

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from harness.wire import (
    DirectQueueFormatName,
    MQFDirectQueueFormatName,
    MQFFormatNameElement,
    PrivateQueueFormatName,
    WireError,
    user_message,
)
from harness.wire.protection import (
    ADVANCED_PROVIDER,
    AES_256,
    BASE_PROVIDER,
    HASH_ALGORITHM_IDS,
    RC2,
    RC4,
    SIG10,
    SIG20,
    SIG30,
    RsaKey,
    build_public_key_list,
    compute_signature,
    decrypt_body,
    decrypt_session_key,
    encrypt_body,
    encrypt_session_key,
    get_signed_octets,
    is_signature,
    read_listed_blobs,
    read_listed_keys,
)
from harness.wire.protection import _encode_pkcs1 as encoded

SENDER = "11111111-2222-3333-4444-555555555555"
CONNECTOR = "00000000-0000-0000-0000-000000000003"
LE = "11111111222233334444555555555555"


@pytest.fixture(scope="module")
def other() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 1024)


def key_of(other: rsa.RSAPrivateKey) -> RsaKey:
    numbers = other.private_numbers()
    return RsaKey(numbers.public_numbers.n, numbers.public_numbers.e, numbers.d)


def test_primes_of_a_key_only_speed_up_signing(other):
    slow, numbers = key_of(other), other.private_numbers()
    quick = RsaKey(slow.modulus, slow.public_exponent, slow.private_exponent, (numbers.p, numbers.q))
    for number in (0, 1, 2**500 + 7, slow.modulus - 1, numbers.p, 3 * numbers.q):
        assert quick.apply_private_exponent(number) == slow.apply_private_exponent(number)
        assert quick.apply_public_exponent(quick.apply_private_exponent(number)) == number


def message(**more):
    user = {
        "SourceQueueManager": SENDER,
        "JP": 1,
        "AdminQueue": DirectQueueFormatName(DirectFormatName="OS:a\\q"),
        "ResponseQueue": PrivateQueueFormatName(SourceQueueManager=SENDER, PrivateQueueIdentifier=4),
        "ConnectorType": CONNECTOR,
    }
    fields = {
        "CorrelationID": bytes(range(20)),
        "ApplicationTag": 0x01020304,
        "BodyType": 8,
        "Flags": 0x0D,
        "ExtensionData": b"ext",
    }
    return user_message(user=user, body=b"body", label="lb", destination="OS:d\\q", **fields, **more)


FIRST = bytes(range(20)) + bytes.fromhex("04030201") + b"body" + "lb\0".encode("utf-16-le")
FIRST += bytes.fromhex(LE + "04000000") + b"\x0e\0" + "OS:a\\q\0".encode("utf-16-le")
LAST = bytes.fromhex(LE + "00 03 02 0D 0000 08000000" + "00" * 15 + "03")


def test_signed_octets_of_a_message_equal_the_specified_ones():
    assert get_signed_octets(message(), SIG10) == FIRST
    assert get_signed_octets(message(), SIG20) == FIRST + LAST + b"\x0e\0" + "OS:d\\q\0".encode("utf-16-le")


def test_a_list_of_destinations_is_signed_without_its_padding():
    names = [
        MQFFormatNameElement(FormatName=MQFDirectQueueFormatName(DirectFormatName="OS:b\\q")),
        MQFFormatNameElement(FormatName=PrivateQueueFormatName(SourceQueueManager=SENDER, PrivateQueueIdentifier=6)),
    ]
    direct = b"\3\0" + "OS:b\\q\0".encode("utf-16-le")
    private = b"\2\0" + bytes(-(12 + len(direct) + 2) % 4) + bytes.fromhex(LE + "06000000")
    assert get_signed_octets(message(mqf={"Destination": names}), SIG30) == FIRST + b"ext" + direct + private + LAST


def test_missing_fields_of_a_message_add_zero_octets():
    assert get_signed_octets(user_message(), SIG10) == bytes(24)


@pytest.mark.parametrize("algorithm", HASH_ALGORITHM_IDS)
def test_signature_verifies_with_the_key_of_its_certificate(other, algorithm, monkeypatch):
    monkeypatch.setattr("harness.wire.protection.read_certificate_key", lambda der: key_of(other))
    signed = message(HashAlgorithm=algorithm)
    made = compute_signature(signed, SIG20, key_of(other))
    assert len(made) == 128
    assert is_signature(made, signed, SIG20, b"")
    assert not is_signature(made, signed, SIG10, b"")
    assert not is_signature(made[:-1] + bytes([made[-1] ^ 1]), signed, SIG20, b"")


@pytest.mark.parametrize(
    ("algorithm", "known"),
    [(0x8003, hashes.MD5()), (0x8004, hashes.SHA1()), (0x800C, hashes.SHA256()), (0x800E, hashes.SHA512())],
)
def test_signatures_verify_with_the_cryptography_library(other, algorithm, known):
    made = compute_signature(message(HashAlgorithm=algorithm), SIG10, key_of(other))
    other.public_key().verify(made[::-1], FIRST, padding.PKCS1v15(), known)
    with pytest.raises(InvalidSignature):
        other.public_key().verify(made[::-1], FIRST + b"x", padding.PKCS1v15(), known)


@pytest.mark.parametrize(
    ("algorithm", "digest"),
    [
        (0x8001, "da853b0d3f88d99b30283a69e6ded6bb"),  # RFC 1319 A.5, "abc"
        (0x8002, "a448017aaf21d8525fc10ae87aa6729d"),  # RFC 1320 A.5
    ],
)
def test_md2_and_md4_match_published_vectors(algorithm, digest):
    assert f"{encoded(b'abc', algorithm, 64):x}".endswith("0410" + digest)


@pytest.mark.parametrize(
    ("algorithm", "key", "bits", "clear", "secret"),
    [
        (RC2, "88bca90e90875a7f0f79c384627bafb2", 128, "0000000000000000", "2269552ab0f85ca6"),  # RFC 2268 5
        (RC4, "0102030405", None, "00" * 16, "b2396305f03dc027ccc3524a0a1118a8"),  # RFC 6229 2
    ],
)
def test_wire_ciphers_match_published_vectors(algorithm, key, bits, clear, secret):
    assert encrypt_body(bytes.fromhex(clear), algorithm, bytes.fromhex(key), bits).hex().startswith(secret)


def test_aes_runs_in_cbc_mode_from_zeros():
    """AES runs in CBC mode with an initial value of zeros: the first block equals FIPS 197 C.3, and the second block
    shows the chaining.
    """
    key = bytes(range(32))
    block = bytes.fromhex("00112233445566778899aabbccddeeff")
    first = bytes.fromhex("8ea2b7ca516745bfeafc49904b496089")
    made = encrypt_body(block + bytes(a ^ b for a, b in zip(block, first, strict=True)), AES_256, key)
    assert (made[:16], made[16:32], len(made)) == (first, first, 48)
    assert decrypt_body(made[:32] + bytes(16), AES_256, key) is None
    assert decrypt_body(made[:-1], AES_256, key) is None


@pytest.mark.parametrize("algorithm", [RC2, RC4, AES_256])
def test_encrypted_bodies_are_decrypted(algorithm):
    key = bytes(range(32 if algorithm == AES_256 else 16))
    for body in (b"", b"x" * 15, b"y" * 16):
        assert decrypt_body(encrypt_body(body, algorithm, key), algorithm, key) == body


def test_simple_blob_has_printed_layout_and_decrypts_with_its_key(other):
    made = encrypt_session_key(AES_256, bytes(32), key_of(other))
    assert made[:12].hex() == "010200001066000000a40000"
    assert len(made) == 12 + 256
    assert other.decrypt(made[12 : 12 + 128][::-1], padding.PKCS1v15()) == bytes(32)
    assert decrypt_session_key(made, key_of(other)) == bytes(32)
    secret = other.public_key().encrypt(b"\1" * 16, padding.PKCS1v15())
    assert decrypt_session_key(made[:12] + secret[::-1] + bytes(128), key_of(other)) == b"\1" * 16


def test_simple_blob_encrypted_for_a_different_key_is_reported(other):
    other_key = key_of(rsa.generate_private_key(65537, 1024))
    assert (
        decrypt_session_key(bytes(encrypt_session_key(RC4, b"12345", other_key)[:12]) + b"\xff" * 256, other_key)
        is None
    )


def test_public_key_list_builds_and_parses(other):
    keys = {BASE_PROVIDER: RsaKey(key_of(other).modulus), ADVANCED_PROVIDER: RsaKey(key_of(other).modulus)}
    data = build_public_key_list(keys)
    assert read_listed_keys(data) == keys
    assert read_listed_blobs(data)[BASE_PROVIDER][:16].hex() == "0602000000a400005253413100040000"
    for broken in (b"", data[:-1], data + b"\0", data[:4] + b"\3\0\0\0" + data[8:]):
        with pytest.raises(WireError):
            read_listed_keys(broken)


def test_public_key_cannot_sign(other):
    with pytest.raises(WireError, match="the key is only a public key"):
        RsaKey(key_of(other).modulus).apply_private_exponent(2)
