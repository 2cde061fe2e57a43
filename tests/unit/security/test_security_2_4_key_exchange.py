"""MS-MQQB 2.4 PUBLICKEYBLOB and SIMPLEBLOB, 3.1.7.1.5.2, and the structures of the directory in MS-MQMQ 2.2."""

from dataclasses import replace
from uuid import UUID

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from security_made import OTHER, certificate, entropy, remote_keys, rsa_key

from reference_qm.codec import FormatError, PublicKeyBlob, SimpleBlob
from reference_qm.security import (
    BASE_PROVIDER,
    ENHANCED_PROVIDER,
    MqdsPublicKey,
    MqdsPublicKeys,
    SecurityError,
    UserSignCert,
    UserSignCerts,
    build_public_key_blob,
    parse_public_key,
)
from reference_qm.security.algorithms import EncryptionAlgorithm
from reference_qm.security.key_exchange import decrypt_symmetric_key, encrypt_symmetric_key

RC4 = EncryptionAlgorithm.RC4


@pytest.mark.parametrize("which", [512, 1024])
def test_public_key_round_trips_through_its_key_blob(which):
    key = rsa_key(which).public_key()
    blob = build_public_key_blob(key)
    assert blob.build()[:12].hex(" ") == "06 02 00 00 00 a4 00 00 52 53 41 31"
    assert (blob.bitLen, blob.pubExp) == (which, 65537)
    assert int.from_bytes(blob.modulus, "little") == key.public_numbers().n
    assert parse_public_key(PublicKeyBlob.parse(blob.build())).public_numbers() == key.public_numbers()


@pytest.mark.parametrize(
    "blob",
    [
        PublicKeyBlob(65537, b""),
        PublicKeyBlob(65537, bytes(64)),
        PublicKeyBlob(65537, b"\xff" * 63 + b"\x00"),
        PublicKeyBlob(65536, b"\xff" * 64),
        PublicKeyBlob(1, b"\xff" * 64),
    ],
)
def test_numbers_that_form_no_rsa_key_are_refused(blob):
    with pytest.raises(SecurityError, match="PUBLICKEYBLOB"):
        parse_public_key(blob)


@pytest.mark.parametrize(("which", "size"), [(512, 64), (1024, 128)])
def test_symmetric_key_round_trips_through_its_key_blob(which, size):
    blob = encrypt_symmetric_key(rsa_key(which).public_key(), RC4, b"12345", entropy()).build()
    assert (len(blob), blob[:12].hex(" ")) == (268, "01 02 00 00 01 68 00 00 00 a4 00 00")
    assert not any(blob[12 + size :])
    assert decrypt_symmetric_key(rsa_key(which), RC4, blob, 40) == b"12345"
    assert decrypt_symmetric_key(rsa_key(which), RC4, blob[: 12 + size], 40) == b"12345"


def test_encrypted_symmetric_key_is_little_endian_rsaes_pkcs1():
    """The encrypted symmetric key consists of 00 02, at least eight nonzero bytes, 00 and the unchanged key (RFC 8017
    7.2.1), in little-endian order.
    """
    numbers = rsa_key(1024).private_numbers()
    blob = encrypt_symmetric_key(rsa_key(1024).public_key(), RC4, b"0123456789abcdef", entropy())
    encoded = pow(int.from_bytes(blob.encryptedKey, "little"), numbers.d, numbers.public_numbers.n).to_bytes(128, "big")
    assert encoded.startswith(b"\x00\x02")
    assert encoded.endswith(b"\x00" + b"0123456789abcdef")
    assert encoded.index(b"\x00", 2) == 111


def test_key_exchange_uses_injected_randomness():
    key = rsa_key(1024).public_key()
    assert encrypt_symmetric_key(key, RC4, b"12345", entropy()) == encrypt_symmetric_key(key, RC4, b"12345", entropy())


def test_key_blob_of_wrong_purpose_is_refused():
    blob = encrypt_symmetric_key(rsa_key(1024).public_key(), RC4, b"12345", entropy()).build()
    simple = SimpleBlob.parse(blob)
    tampered = bytes((simple.encryptedKey[0] ^ 1,)) + simple.encryptedKey[1:]
    refused = [
        (rsa_key(OTHER), RC4, blob, 40),
        (rsa_key(512), RC4, blob, 40),
        (rsa_key(1024), EncryptionAlgorithm.RC2, blob, 40),
        (rsa_key(1024), RC4, blob, 128),
        (rsa_key(1024), RC4, replace(simple, encryptedKey=b"\xff" * 256).build(), 40),
        (rsa_key(1024), RC4, replace(simple, encryptedKey=b"\xff" * 128 + bytes(128)).build(), 40),
        (rsa_key(1024), RC4, replace(simple, encryptedKey=tampered).build(), 40),
        (rsa_key(1024), RC4, replace(simple, encryptedKey=bytes(256)).build(), 40),
        (rsa_key(1024), RC4, replace(simple, encryptedKey=simple.encryptedKey[:255] + b"\1").build(), 40),
    ]
    for arguments in refused:
        with pytest.raises(SecurityError, match="SIMPLEBLOB"):
            decrypt_symmetric_key(*arguments)


@pytest.mark.parametrize("blob", [b"", b"\x01\x02", bytes(12), bytes(268), bytes(300)])
def test_invalid_key_blob_is_a_format_error(blob):
    with pytest.raises(FormatError, match="SIMPLEBLOB"):
        decrypt_symmetric_key(rsa_key(1024), RC4, blob, 40)


def test_public_key_that_does_not_fit_its_key_blob_is_refused():
    with pytest.raises(SecurityError, match="2056 bits does not fit"):
        encrypt_symmetric_key(rsa.RSAPublicNumbers(65537, 2**2055 + 1).public_key(), RC4, b"12345", entropy())


def test_public_key_too_small_for_the_symmetric_key_is_refused():
    with pytest.raises(SecurityError, match="cannot be encrypted"):
        encrypt_symmetric_key(rsa_key(512).public_key(), RC4, bytes(54), entropy())


def test_mqdspublickeys_round_trip_and_convert_to_keys():
    """MS-MQMQ 2.2.1, 2.2.2; MS-MQQB 3.1.7.1.5.2."""
    keys = remote_keys(BASE_PROVIDER, ENHANCED_PROVIDER)
    wire = keys.build()
    assert int.from_bytes(wire[:4], "little") == len(wire)
    assert wire[4:8] == b"\x02\0\0\0"
    assert MqdsPublicKeys.parse(wire) == keys
    found = keys.find(ENHANCED_PROVIDER)
    assert found.to_public_key_blob() == build_public_key_blob(rsa_key(1024).public_key())
    assert keys.find("another") is None
    assert (found.ulProviderType, found.ulKeyLen, found.ulProviderLen) == (1, 148, 2 * len(ENHANCED_PROVIDER) + 2)


@pytest.mark.parametrize(
    ("wire", "field"),
    [
        ("07000000 00000000", "ulLen"),
        ("08000000 01000000", "MQDSPUBLICKEY"),
        ("09000000 00000000 00", "ulLen"),
        ("14000000 01000000 00000000 00000000 01000000", "sProviderName"),
        ("15000000 01000000 00000000 01000000 01000000 00", "sProviderName"),
        ("18000000 01000000 00000000 04000000 01000000 00000000", "sProviderName"),
        ("16000000 01000000 FFFFFFFF 02000000 01000000 0000", "aBuf"),
    ],
)
def test_mqdspublickeys_beyond_the_limit_are_refused(wire, field):
    with pytest.raises(FormatError, match=field):
        MqdsPublicKeys.parse(bytes.fromhex(wire))


def test_malformed_stored_key_is_a_format_error():
    with pytest.raises(FormatError, match="PUBLICKEYBLOB"):
        MqdsPublicKey(1, BASE_PROVIDER, bytes(20)).to_public_key_blob()


def test_mqusersigncerts_round_trip():
    """A MQUSERSIGNCERTS keeps its certificates in a round trip, and the digest of a certificate is its MD5 (MS-MQMQ
    2.2.21, 2.2.22).
    """
    certs = UserSignCerts((UserSignCert.create_entry(UUID(int=1), certificate()), UserSignCert()))
    assert UserSignCerts.parse(certs.build()) == certs
    assert UserSignCert.create_entry(UUID(int=1), b"abc").Digest.hex() == "900150983cd24fb0d6963f7d28e17f72"
    with pytest.raises(FormatError, match="MQUSERSIGNCERT"):
        UserSignCerts.parse(b"\xff\xff\xff\xff")
