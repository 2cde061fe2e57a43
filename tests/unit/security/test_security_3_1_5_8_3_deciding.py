"""MS-MQQB 3.1.5.8.3: whether a received message that has a SecurityHeader is accepted or refused."""

from dataclasses import replace

import pytest
from security_made import (
    ELLIPTIC,
    NOW,
    OPEN_QUEUE,
    OTHER,
    RECEIVER_QM,
    SENDER_QM,
    STAFF,
    USER,
    Accepted,
    MadeAccounts,
    Refusal,
    certificate,
    check_security,
    entropy,
    message,
    queue_for,
    receiver,
    remote_keys,
    rsa_key,
    sender,
    with_flags,
    with_properties,
    with_security,
)

from harness.capture.golden import load_golden_capture
from reference_qm.codec import MessageClass, ProviderInfo, SecurityHeader, parse_packet
from reference_qm.security import (
    ANONYMOUS_SID,
    BASE_PROVIDER,
    ENHANCED_PROVIDER,
    EVERYONE_SID,
    AceType,
    CachedSymmetricKey,
    EncryptionAlgorithm,
    QueueAccess,
    ReceiverSecurityData,
    SecurityDescriptor,
    SecuritySettings,
    Sid,
    SignatureType,
    encrypt_message,
    sign_message,
)
from reference_qm.security.key_exchange import encrypt_symmetric_key

BAD_SIGNATURE = MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE
BAD_ENCRYPTION = MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION
UNSUPPORTED = MessageClass.MQMSG_CLASS_NACK_UNSUPPORTED_CRYPTO_PROVIDER
RPC_ACCESS_DENIED_STATUS = MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED
FRAME_7 = parse_packet(load_golden_capture().frames[6].data)
WRITE = QueueAccess.MQSEC_WRITE_MESSAGE
LEVELS = (1, 3, 5)
EB, AS3 = SecurityHeader.flags(EB=1), SecurityHeader.flags(AS=3)


def decide(packet, by=None, queue=OPEN_QUEUE):
    """Build and parse a packet; return the decision about it."""
    return check_security(parse_packet(packet.build()), by or receiver(), queue, NOW)


def refusal(packet, by=None, queue=OPEN_QUEUE):
    decision = decide(packet, by, queue)
    assert isinstance(decision, Refusal)
    assert "\n" not in decision.reason
    return decision


def accepted(packet, by=None, queue=OPEN_QUEUE):
    decision = decide(packet, by, queue)
    assert isinstance(decision, Accepted), decision
    return decision.packet


def signed(packet=None, kind=SignatureType.SIG20, which=1024):
    return sign_message(packet or message(), kind, rsa_key(which))


def encrypted(level=5, settings=None, packet=None):
    return encrypt_message(packet or message(level=level), RECEIVER_QM, remote_keys(), sender(settings), entropy(), NOW)


def test_message_without_security_header_is_accepted_unchecked():
    packet = message()
    flags = packet.UserHeader.Flags & ~(1 << 19)
    packet = replace(packet, UserHeader=replace(packet.UserHeader, Flags=flags), SecurityHeader=None)
    assert accepted(packet, queue=queue_for()).SecurityHeader is None


def test_frame_7_of_the_document_passes_the_security_check():
    """Frame 7 of the document passes the security check, although it has ST 1 and a SID but neither certificate nor
    signature (ambiguity 6).
    """

    class Windows(MadeAccounts):
        def groups(self, sid: Sid) -> frozenset[Sid] | None:
            return frozenset() if str(sid).startswith("S-1-5-21-") else None

    accounts = Windows()
    assert accepted(FRAME_7, receiver(accounts=accounts)) == FRAME_7
    assert accounts.asked == 0


@pytest.mark.parametrize(
    ("kind", "noted"), [(SignatureType.SIG10, 1), (SignatureType.SIG20, 3)], ids=["MSMQ 1.0", "MSMQ 2.0"]
)
def test_received_message_records_how_it_was_authenticated(kind, noted):
    assert noted == accepted(signed(kind=kind)).SecurityHeader.AS


def test_authenticated_flag_of_sender_is_ignored():
    claimed = message()
    assert accepted(with_flags(claimed, claimed.SecurityHeader.Flags | AS3)).SecurityHeader.AS == 0


@pytest.mark.parametrize(
    "packet",
    [
        with_properties(signed(), MessageBody=b"another"),
        with_properties(signed(), HashAlgorithm=0x8005),
        with_security(signed(), Signature=b"\1"),
        with_security(signed(), SenderCert=b""),
        with_security(signed(), SenderCert=b"\x30\x82"),
        with_security(signed(), SenderCert=certificate(OTHER)),
        with_security(signed(), SenderCert=ELLIPTIC),
    ],
    ids=["body", "hash", "signature", "no certificate", "cut certificate", "other certificate", "elliptic"],
)
def test_message_with_wrong_signature_is_refused(packet):
    assert refusal(packet).message_class is BAD_SIGNATURE


def test_certificate_of_message_must_be_registered_for_its_sender():
    by = receiver(accounts=MadeAccounts(registered=(certificate(OTHER),)))
    assert refusal(signed(), by).message_class is BAD_SIGNATURE
    unknown = with_security(message(), SecurityID=STAFF.build())
    assert refusal(signed(unknown)).message_class is BAD_SIGNATURE


def test_directory_is_queried_once_for_a_certificate():
    accounts = MadeAccounts(registered=(certificate(OTHER), certificate()))
    by = receiver(accounts=accounts)
    accepted(signed(), by)
    accepted(signed(), by)
    assert (accounts.asked, len(by.caches.UserCertCache)) == (1, 1)
    cached = by.caches.UserCertCache.find(lambda entry: entry.SecurityID == USER.build())
    assert (cached.UserCert.Certificate, cached.CachedTime) == (certificate(), NOW.utc_s)


def test_a_cached_certificate_counts_for_its_own_sender_only():
    by = receiver()
    accepted(signed(), by)
    other_sender = with_security(message(), SecurityID=STAFF.build())
    assert refusal(signed(other_sender), by).message_class is BAD_SIGNATURE


def test_signed_message_without_sender_id_has_no_sender_permissions():
    accounts = MadeAccounts(registered=())
    nobody = with_security(with_flags(message(), SecurityHeader.flags(AI=1)), SecurityID=b"")
    assert refusal(signed(nobody), receiver(accounts=accounts)).message_class is RPC_ACCESS_DENIED_STATUS
    assert accounts.asked == 0


@pytest.mark.parametrize("level", LEVELS)
def test_encrypted_message_body_is_decrypted(level):
    packet = accepted(encrypted(level))
    assert packet.MessagePropertiesHeader.MessageBody == b"a body of no block"
    assert parse_packet(packet.build()).MessagePropertiesHeader.MessageBody == b"a body of no block"


@pytest.mark.parametrize("kind", [SignatureType.SIG10, SignatureType.SIG20])
@pytest.mark.parametrize("level", LEVELS)
def test_message_signed_before_encryption_is_authenticated(level, kind):
    packet = accepted(encrypted(packet=signed(message(level=level), kind)))
    assert (packet.SecurityHeader.AS, packet.MessagePropertiesHeader.MessageBody) == (kind, b"a body of no block")


@pytest.mark.parametrize("level", LEVELS)
def test_received_symmetric_key_is_cached(level):
    by = receiver()
    accepted(encrypted(level), by)
    blind = ReceiverSecurityData(by.caches, {}, by.accounts)
    accepted(encrypted(level), blind)
    assert (len(by.caches.ReceiveSymmetricKeyCache), len(by.caches.ReceiveBaseSymmetricKeyCache)) == (1, 0)
    other_source = encrypted(level)
    user = replace(other_source.UserHeader, SourceQueueManager=RECEIVER_QM)
    assert refusal(replace(other_source, UserHeader=user), blind).message_class is BAD_ENCRYPTION


def _with_algorithm(level, algorithm):
    return with_properties(encrypted(level), EncryptionAlgorithm=algorithm)


@pytest.mark.parametrize(
    "packet",
    [
        *(with_properties(encrypted(5), PrivacyLevel=level) for level in (0, 2, 4, 6, 0xFFFFFFFF)),
        *(with_properties(encrypted(sent), PrivacyLevel=got) for sent in LEVELS for got in LEVELS if sent != got),
        _with_algorithm(5, 0x6601),
        _with_algorithm(5, 0x6602),
        _with_algorithm(5, 0x660E),
        _with_algorithm(3, 0x6610),
        with_security(encrypted(5), EncryptionKey=b""),
        with_security(encrypted(5), EncryptionKey=b"\1\2"),
        with_security(encrypted(5), EncryptionKey=bytes(268)),
        with_security(encrypted(5), EncryptionKey=encrypted(3).SecurityHeader.SecurityData.EncryptionKey),
        with_properties(encrypted(5), MessageBody=b"no whole block"),
        with_properties(encrypted(5), MessageBody=bytes(32)),
        with_properties(encrypted(5), MessageBody=b""),
        with_flags(message(level=5), message().SecurityHeader.Flags | EB),
    ],
)
def test_message_whose_body_cannot_be_decrypted_is_refused(packet):
    by = receiver()
    assert refusal(packet, by).message_class is BAD_ENCRYPTION


def test_encrypted_message_for_provider_without_private_key_is_refused():
    by = receiver()
    assert refusal(encrypted(5), ReceiverSecurityData(by.caches, {}, by.accounts)).message_class is BAD_ENCRYPTION


REDUCED = SecuritySettings(PreferredEnhancedAlgorithm=0x6602, SendEnhancedRC2Using40BitKeys=True)
FULL = SecuritySettings(PreferredEnhancedAlgorithm=0x6602)
STRICT = SecuritySettings(RejectEnhancedRC2Using40BitKeys=True)


def test_rc2_keys_reduced_to_40_bits_are_rejected_when_configured():
    assert refusal(encrypted(3, REDUCED), receiver(STRICT)).message_class is BAD_ENCRYPTION
    assert accepted(encrypted(3, REDUCED)).MessagePropertiesHeader.MessageBody == b"a body of no block"
    accepted(encrypted(3, FULL), receiver(STRICT))
    accepted(encrypted(1, SecuritySettings(PreferredBaseAlgorithm=0x6602)), receiver(STRICT))


def _with_key(level, provider, which, key):
    """Return a message encrypted by RC2 with the given key."""
    rc2 = EncryptionAlgorithm.RC2
    caches = sender(SecuritySettings(PreferredEnhancedAlgorithm=rc2, PreferredBaseAlgorithm=rc2))
    blob = encrypt_symmetric_key(rsa_key(which).public_key(), rc2, key, entropy()).build()
    caches.get_sending_cache(level).add(CachedSymmetricKey(RECEIVER_QM, provider, rc2, blob, key, NOW.utc_s))
    return encrypt_message(message(level=level), RECEIVER_QM, remote_keys(), caches, entropy(), NOW)


def test_only_enhanced_provider_keys_with_88_zero_bits_are_rejected():
    accepted(_with_key(3, ENHANCED_PROVIDER, 1024, b"123456".ljust(16, b"\0")), receiver(STRICT))
    accepted(_with_key(1, BASE_PROVIDER, 512, bytes(5)), receiver(STRICT))
    weak = _with_key(3, ENHANCED_PROVIDER, 1024, b"12345".ljust(16, b"\0"))
    assert refusal(weak, receiver(STRICT)).message_class is BAD_ENCRYPTION


def test_body_is_not_decrypted_without_eb_flag():
    packet = message(level=5)
    assert accepted(packet).MessagePropertiesHeader.MessageBody == b"a body of no block"


@pytest.mark.parametrize(
    ("queue", "granted"),
    [
        (OPEN_QUEUE, True),
        (queue_for(), False),
        (SecurityDescriptor(), True),
        (queue_for((AceType.ACCESS_ALLOWED, USER, WRITE)), True),
        (queue_for((AceType.ACCESS_ALLOWED, STAFF, WRITE)), True),
        (queue_for((AceType.ACCESS_ALLOWED, USER, QueueAccess.MQSEC_PEEK_MESSAGE)), False),
        (queue_for((AceType.ACCESS_DENIED, STAFF, WRITE), (AceType.ACCESS_ALLOWED, EVERYONE_SID, WRITE)), False),
        (queue_for((AceType.ACCESS_ALLOWED, Sid.of("S-1-5-21-9-9-9-9"), WRITE)), False),
        (queue_for(owner=USER), False),
    ],
)
def test_sender_without_write_permission_is_refused(queue, granted):
    decision = decide(message(), queue=queue)
    assert isinstance(decision, Accepted) is granted
    assert granted or decision.message_class is RPC_ACCESS_DENIED_STATUS


def test_queue_manager_as_sender_has_the_permissions_of_everyone():
    packet = with_security(
        with_flags(message(), SecurityHeader.flags(ST=2, AI=1)), SecurityID=SENDER_QM.bytes_le, SenderCert=b""
    )
    accepted(packet, queue=OPEN_QUEUE)
    users = queue_for((AceType.ACCESS_ALLOWED, USER, WRITE))
    assert refusal(packet, queue=users).message_class is RPC_ACCESS_DENIED_STATUS


@pytest.mark.parametrize("security_id", [b"\1", USER.build()[:-1], USER.build() + b"\0", Sid.of("S-1-5-7").build()])
def test_sender_id_that_is_no_account_is_denied(security_id):
    assert refusal(with_security(message(), SecurityID=security_id)).message_class is RPC_ACCESS_DENIED_STATUS


def test_message_without_sender_id_counts_as_from_the_anonymous_user():
    """A message without a sender identifier counts as a message of the anonymous user, which does not have the rights
    of Everyone (MS-MQDMPR 3.1.1.12 SenderIdentifierType).
    """
    nobody = with_security(with_flags(message(), SecurityHeader.flags(AI=1)), SecurityID=b"")
    accepted(nobody, queue=queue_for((AceType.ACCESS_ALLOWED, ANONYMOUS_SID, WRITE)))
    assert refusal(nobody, queue=OPEN_QUEUE).message_class is RPC_ACCESS_DENIED_STATUS


@pytest.mark.parametrize(
    ("name", "refused"),
    [("Contoso Provider", UNSUPPORTED), (BASE_PROVIDER, None), (None, BAD_SIGNATURE)],
)
def test_signature_of_an_unknown_provider_is_refused(name, refused):
    info = b"\1\0" if name is None else ProviderInfo(1, name).build()
    packet = signed(with_security(with_flags(message(), SecurityHeader.flags(ST=1, AI=1)), ProviderInfo=info))
    assert (refusal(packet).message_class if refused else accepted(packet) and None) is refused
    accepted(with_flags(packet, packet.SecurityHeader.Flags | SecurityHeader.flags(DE=1)))


def test_refusal_class_of_first_failed_check_is_returned():
    """Of two failed checks, the first determines the class of the refusal: the decryption precedes the signature, and
    the signature precedes the access right.
    """
    both = with_properties(encrypted(packet=signed(message(level=5))), MessageBody=b"x")
    assert refusal(both, queue=queue_for()).message_class is BAD_ENCRYPTION
    assert refusal(with_properties(signed(), Label="x"), queue=queue_for()).message_class is BAD_SIGNATURE
