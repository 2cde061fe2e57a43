"""Makes keys, certificates, accounts and messages for the tests of reference_qm.security."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from uuid import UUID

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding

from reference_qm.codec import (
    BaseHeader,
    DirectQueueFormatName,
    MessageClass,
    MessagePropertiesHeader,
    PrivateQueueFormatName,
    PrivateQueueFormatNameId,
    SecurityData,
    SecurityHeader,
    UserHeader,
    UserMessagePacket,
)
from reference_qm.security import (
    AES_PROVIDER,
    BASE_PROVIDER,
    ENHANCED_PROVIDER,
    EVERYONE_SID,
    Ace,
    AceType,
    Acl,
    MqdsPublicKey,
    MqdsPublicKeys,
    QueueAccess,
    ReceivedMessageRefused,
    ReceiverSecurityData,
    SecurityCaches,
    SecurityDescriptor,
    SecuritySettings,
    Sid,
    UserSignCert,
    UserSignCerts,
    authenticate_message,
    authorize_sender,
    build_public_key_blob,
    decrypt_message,
    identify_sender,
)
from reference_qm.surface.clock import Now
from reference_qm.surface.entropy import SeededEntropy

_PRIMES = {
    512: (
        0xA840DA5A24EA500A04D7A1BB3AEECBAC401A69BDBF7E454CFD56F89B99F257DD,
        0xF8E5FBD995B8F348914CBE11897AF19AA6BD40A4F1A18D83CB24830DDACAA0B3,
    ),
    1024: (
        0xDD74C74806F52942B856FCB63D3C0DF2FDAB6285ADD32A0C56F6BE76B8696A397DE4CC56520E71BD3BF1C0D9BB85AD147E42F225DCEAD9B2CBCF35ACA73D49F9,
        0xF4494E79A394C3046A754F3C4305E1FA777EBF7E23552EBFA3EB37A99ECD18701E1C6C895696BBED2C33367E48D6A1C8FB50C073C66E5A91761686301E6045FD,
    ),
    1023: (  # another key of 1024 bits
        0xE3D2C5ADCE30E599B67CB3AF4CFA9C67D7C46CD2E7AEC054E2A9F468270FC0A82E3AE05106832BEB2655230B2F4FE3BBCA6526B19C014AEAE2E652B3C97EA47F,
        0x9D97E9467A1A239A5E104AECBCFAE01DCCE0E767A929BD004DC9C4D04A974BC5316CB84614A622789B24089ECB4331EBF5C5F31A847401627381F4B2B7E56001,
    ),
}
OTHER = 1023
NOW = Now(1_000_000, 1_800_000_000)
SENDER_QM = UUID("11111111-2222-3333-4444-555555555555")
RECEIVER_QM = UUID("aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee")
USER = Sid.of("S-1-5-21-1-2-3-1000")
STAFF = Sid.of("S-1-5-21-1-2-3-513")
PROVIDERS = {BASE_PROVIDER: (0x01, 512), ENHANCED_PROVIDER: (0x01, 1024), AES_PROVIDER: (0x18, OTHER)}


@cache
def rsa_key(which: int) -> rsa.RSAPrivateKey:
    p, q = _PRIMES[which]
    d = pow(65537, -1, (p - 1) * (q - 1))
    parts = (rsa.rsa_crt_dmp1(d, p), rsa.rsa_crt_dmq1(d, q), rsa.rsa_crt_iqmp(p, q))
    return rsa.RSAPrivateNumbers(p, q, d, *parts, rsa.RSAPublicNumbers(65537, p * q)).private_key()


@cache
def certificate(which: int = 1024) -> bytes:
    return certificate_for(rsa_key(which).public_key())


def certificate_for(key: rsa.RSAPublicKey | ec.EllipticCurvePublicKey) -> bytes:
    """Return a certificate for a public key, issued with the first key of this module."""
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "MSMQ")])
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key)
    made = made.serial_number(1).not_valid_before(datetime(2026, 1, 1, tzinfo=UTC))
    made = made.not_valid_after(datetime(2027, 1, 1, tzinfo=UTC))
    return made.sign(rsa_key(1024), hashes.SHA256()).public_bytes(Encoding.DER)


ELLIPTIC = certificate_for(ec.derive_private_key(7, ec.SECP256R1()).public_key())


def remote_keys(*providers: str) -> MqdsPublicKeys:
    return MqdsPublicKeys(
        tuple(
            MqdsPublicKey(
                PROVIDERS[name][0], name, build_public_key_blob(rsa_key(PROVIDERS[name][1]).public_key()).build()
            )
            for name in providers or PROVIDERS
        )
    )


def message(*, level: int = 0, body: bytes = b"a body of no block", algorithm: int = 0x800C) -> UserMessagePacket:
    """Return a message from USER to a private queue, with SecurityHeader and certificate, but neither signed nor
    encrypted.
    """
    return UserMessagePacket(
        BaseHeader=BaseHeader(Flags=BaseHeader.flags(PR=3)),
        UserHeader=UserHeader(
            SourceQueueManager=SENDER_QM,
            QueueManagerAddress=RECEIVER_QM,
            MessageID=5,
            Flags=UserHeader.flags(DM=1, JN=1, DQ=3, AQ=7, RQ=6, SH=1, MP=1, CQ=1),
            DestinationQueue=PrivateQueueFormatNameId(9),
            AdminQueue=DirectQueueFormatName("OS:a\\private$\\adm"),
            ResponseQueue=PrivateQueueFormatName(SENDER_QM, 4),
            ConnectorType=UUID(int=3),
        ),
        SecurityHeader=SecurityHeader(
            SecurityHeader.flags(ST=1, DE=1, AI=1), SecurityData(SecurityID=USER.build(), SenderCert=certificate())
        ),
        MessagePropertiesHeader=MessagePropertiesHeader(
            Flags=0x0D,
            CorrelationID=bytes(range(20)),
            BodyType=8,
            ApplicationTag=0x01020304,
            PrivacyLevel=level,
            HashAlgorithm=algorithm,
            Label="label",
            ExtensionData=b"ext",
            MessageBody=body,
        ),
    )


def with_security(packet: UserMessagePacket, **data: bytes) -> UserMessagePacket:
    """Return the packet with changed items of SecurityData."""
    header = packet.SecurityHeader
    changed = replace(header, SecurityData=replace(header.SecurityData, **data, Padding=None))
    return replace(packet, BaseHeader=replace(packet.BaseHeader, PacketSize=0), SecurityHeader=changed)


def with_properties(packet: UserMessagePacket, **fields: object) -> UserMessagePacket:
    """Return the packet with changed fields of MessagePropertiesHeader."""
    changed = replace(packet.MessagePropertiesHeader, **fields, Padding=None)
    return replace(packet, BaseHeader=replace(packet.BaseHeader, PacketSize=0), MessagePropertiesHeader=changed)


def with_flags(packet: UserMessagePacket, flags: int) -> UserMessagePacket:
    """Return the packet with the given SecurityHeader.Flags."""
    return replace(packet, SecurityHeader=replace(packet.SecurityHeader, Flags=flags))


@dataclass
class MadeAccounts:
    """A directory of accounts that knows only USER, and counts the requests for certificates."""

    registered: tuple[bytes, ...] = field(default_factory=lambda: (certificate(),))
    asked: int = 0

    def certificates(self, security_id: bytes) -> UserSignCerts | None:
        self.asked += 1
        if security_id != USER.build():
            return None
        return UserSignCerts(tuple(UserSignCert.create_entry(UUID(int=7), der) for der in self.registered))

    def groups(self, sid: Sid) -> frozenset[Sid] | None:
        return frozenset({STAFF}) if sid == USER else None


def receiver(settings: SecuritySettings | None = None, accounts: MadeAccounts | None = None) -> ReceiverSecurityData:
    return ReceiverSecurityData(
        SecurityCaches(settings or SecuritySettings()),
        {name: rsa_key(which) for name, (_, which) in PROVIDERS.items()},
        accounts or MadeAccounts(),
    )


def sender(settings: SecuritySettings | None = None) -> SecurityCaches:
    return SecurityCaches(settings or SecuritySettings())


def queue_for(*aces: tuple[AceType, Sid, int], owner: Sid | None = None) -> SecurityDescriptor:
    return SecurityDescriptor(owner, None, Acl(tuple(Ace(kind, mask, sid) for kind, sid, mask in aces)))


OPEN_QUEUE = queue_for((AceType.ACCESS_ALLOWED, EVERYONE_SID, QueueAccess.MQSEC_WRITE_MESSAGE))


def entropy() -> SeededEntropy:
    return SeededEntropy("security")


@dataclass
class Accepted:
    packet: UserMessagePacket


@dataclass
class Refusal:
    message_class: MessageClass
    reason: str


def check_security(
    packet: UserMessagePacket, by: ReceiverSecurityData, queue: SecurityDescriptor, now: Now = NOW
) -> Accepted | Refusal:
    """Carry out the steps of MS-MQQB 3.1.5.8.3 in order; return the resulting packet, or the refusal."""
    try:
        packet = authenticate_message(decrypt_message(packet, by, now))
        identify_sender(packet, by, now)
        if packet.SecurityHeader is not None:
            authorize_sender(packet.SecurityHeader, by, queue)
    except ReceivedMessageRefused as refused:
        return Refusal(refused.message_class, str(refused))
    return Accepted(packet)
