"""For any bytes, the structures of reference_qm.security raise only FormatError, and the check of a received message
reaches a decision.
"""

from datetime import UTC, datetime
from functools import cache
from uuid import UUID

import core_bridge  # noqa: F401
import pytest
from budgets import FEW, MANY, budget
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding
from hypothesis import given
from hypothesis import strategies as st
from security_made import Accepted, Refusal, check_security

from reference_qm.codec import (
    BaseHeader,
    FormatError,
    MessageClass,
    MessagePropertiesHeader,
    PrivateQueueFormatNameId,
    ProviderInfo,
    PublicKeyBlob,
    SecurityData,
    SecurityHeader,
    UserHeader,
    UserMessagePacket,
)
from reference_qm.security import (
    AES_PROVIDER,
    EVERYONE_SID,
    Ace,
    AceType,
    Acl,
    EncryptionAlgorithm,
    HashAlgorithm,
    MqdsPublicKey,
    MqdsPublicKeys,
    ReceiverSecurityData,
    SecurityCaches,
    SecurityDescriptor,
    SecurityError,
    SecuritySettings,
    Sid,
    UserSignCert,
    UserSignCerts,
    build_public_key_blob,
    parse_public_key,
)
from reference_qm.security.ciphers import decrypt
from reference_qm.security.hashing import is_valid_signature, read_certificate_key
from reference_qm.security.key_exchange import decrypt_symmetric_key, encrypt_symmetric_key
from reference_qm.surface.clock import Now
from reference_qm.surface.entropy import SeededEntropy

LITTLE = budget(FEW)
RECORDS = (Sid, Ace, Acl, SecurityDescriptor, MqdsPublicKey, MqdsPublicKeys, UserSignCert, UserSignCerts)
ALLOWED = SecurityDescriptor(EVERYONE_SID, EVERYONE_SID, Acl((Ace(AceType.ACCESS_ALLOWED, 4, EVERYONE_SID),)))
REFUSALS = {
    MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE,
    MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION,
    MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED,
    MessageClass.MQMSG_CLASS_NACK_UNSUPPORTED_CRYPTO_PROVIDER,
}


@cache
def key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 1024)


@cache
def certificate() -> bytes:
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "MSMQ")])
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key().public_key())
    made = made.serial_number(1).not_valid_before(datetime(2026, 1, 1, tzinfo=UTC))
    made = made.not_valid_after(datetime(2027, 1, 1, tzinfo=UTC))
    return made.sign(key(), hashes.SHA256()).public_bytes(Encoding.DER)


@cache
def samples() -> tuple[bytes, ...]:
    """Return valid bytes of every structure, from which the tests make invalid bytes."""
    stored = MqdsPublicKey(1, "CSP", build_public_key_blob(key().public_key()).build())
    entry = UserSignCert.create_entry(UUID(int=1), certificate())
    return (
        Sid.of("S-1-5-21-1-2-3-1000").build(),
        ALLOWED.build(),
        ALLOWED.Dacl.build(),
        stored.build(),
        MqdsPublicKeys((stored, stored)).build(),
        UserSignCerts((entry,)).build(),
        encrypt_symmetric_key(key().public_key(), EncryptionAlgorithm.AES256, bytes(32), SeededEntropy("x")).build(),
        certificate(),
    )


@st.composite
def broken(draw, good=None):
    """Draw arbitrary bytes, or valid bytes with a few bytes changed or removed."""
    if draw(st.integers(0, 4)) == 0:
        return draw(st.binary(max_size=200))
    wire = bytearray(draw(st.sampled_from(samples()) if good is None else st.just(good)))
    for _ in range(draw(st.integers(0, 3))):
        wire[draw(st.integers(0, len(wire) - 1))] = draw(st.integers(0, 255))
    return bytes(wire[: draw(st.integers(0, len(wire)))] if draw(st.booleans()) else wire)


@pytest.mark.parametrize("record", RECORDS)
@LITTLE
@given(data=st.data())
def test_arbitrary_security_structures_raise_only_typed_error(record, data):
    wire = data.draw(broken())
    try:
        read = record.parse(wire)
    except FormatError as error:
        assert error.section.startswith("MS-")
        assert "\n" not in str(error)
    else:
        assert record.parse(read.build()) == read


@LITTLE
@given(blob=st.builds(PublicKeyBlob, st.integers(0, 0xFFFFFFFF), st.binary(max_size=300)))
def test_arbitrary_public_keys_raise_only_typed_error(blob):
    try:
        found = parse_public_key(blob)
    except SecurityError as error:
        assert "\n" not in str(error)
    else:
        assert build_public_key_blob(found) == blob


@LITTLE
@given(data=st.data())
def test_arbitrary_simple_blobs_raise_only_typed_errors(data):
    blob = data.draw(broken(samples()[6]))
    try:
        found = decrypt_symmetric_key(key(), EncryptionAlgorithm.AES256, blob, 256)
    except (SecurityError, FormatError) as error:
        assert "\n" not in str(error)
    else:
        assert len(found) == 32


@LITTLE
@given(data=st.data())
def test_arbitrary_certificates_raise_only_typed_error(data):
    der = data.draw(broken(certificate()))
    try:
        found = read_certificate_key(der)
    except SecurityError as error:
        assert str(error).startswith("SecurityHeader.SecurityData.SenderCert: ")
    else:
        assert not any(is_valid_signature(found, algorithm, b"text", bytes(128)) for algorithm in HashAlgorithm)


@LITTLE
@given(
    algorithm=st.sampled_from(EncryptionAlgorithm),
    size=st.sampled_from([0, 5, 8, 16, 24, 32]),
    body=st.binary(max_size=64),
)
def test_arbitrary_encrypted_bodies_raise_only_typed_error(algorithm, size, body):
    try:
        clear = decrypt(algorithm, bytes(size), body)
    except SecurityError as error:
        assert "\n" not in str(error)
    else:
        assert len(clear) <= len(body)


class Nobody:
    def certificates(self, security_id: bytes) -> UserSignCerts | None:
        return None

    def groups(self, sid: Sid) -> frozenset[Sid] | None:
        return frozenset()


@budget(MANY)
@given(data=st.data())
def test_any_message_is_accepted_or_refused_by_security_check(data):
    security = SecurityData(
        SecurityID=data.draw(broken(samples()[0])),
        EncryptionKey=data.draw(broken(samples()[6])),
        Signature=data.draw(st.sampled_from([b"", bytes(128), bytes(300)])),
        SenderCert=data.draw(broken(certificate())),
        ProviderInfo=data.draw(st.just(b"") | st.binary(max_size=20) | broken(ProviderInfo(1, "CSP").build())),
    )
    numbers = st.integers(0, 0xFFFFFFFF)
    packet = UserMessagePacket(
        BaseHeader=BaseHeader(),
        UserHeader=UserHeader(Flags=UserHeader.flags(DQ=3, SH=1, MP=1), DestinationQueue=PrivateQueueFormatNameId(1)),
        SecurityHeader=SecurityHeader(data.draw(st.integers(0, 0xFFFF)), security),
        MessagePropertiesHeader=MessagePropertiesHeader(
            PrivacyLevel=data.draw(st.sampled_from([1, 3, 5]) | numbers),
            HashAlgorithm=data.draw(st.sampled_from([int(known) for known in HashAlgorithm]) | numbers),
            EncryptionAlgorithm=data.draw(st.sampled_from([int(known) for known in EncryptionAlgorithm]) | numbers),
            MessageBody=data.draw(st.binary(max_size=40)),
        ),
    )
    by = ReceiverSecurityData(SecurityCaches(SecuritySettings()), {AES_PROVIDER: key()}, Nobody())
    decision = check_security(packet, by, ALLOWED, Now(0, 0))
    if isinstance(decision, Accepted):
        assert decision.packet.SecurityHeader.AS == 0
        assert not security.Signature
    else:
        assert isinstance(decision, Refusal)
        assert decision.message_class in REFUSALS
        assert "\n" not in decision.reason
