"""What becomes of a received message that has a SecurityHeader. Spec: MS-MQQB 3.1.5.8.3.

Readings that had to be chosen:
- The sender signs, then encrypts (3.1.7.1); the receiver, as printed, verifies the signature of the encrypted body,
  which no sender makes. Here the body is decrypted first, and a message that is wrong in both ways is BAD_ENCRYPTION.
- PrivacyLevel outside of the table is BAD_ENCRYPTION when EB is set (ambiguity 49).
- The identity of the sender is verified for signed messages only, as the steps are printed below "to authenticate the
  packet"; frame 7 of section 4 has a SID, ST 1 and no signature, and is accepted (ambiguity 6).
- Without a SID there is no account name, hence no token: ACCESS_DENIED.
- AS is the receiver's finding: one that comes in with the message is cleared.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from typing import Protocol

from cryptography.hazmat.primitives.asymmetric import rsa

from reference_qm.clock import Now
from reference_qm.codec import FormatError, MessageClass, SecurityHeader, UserMessagePacket
from reference_qm.security.access import QueueAccess, is_granted
from reference_qm.security.algorithms import (
    ENHANCED_PROVIDER,
    EncryptionAlgorithm,
    Privacy,
    encryption_algorithm,
    privacy_of,
)
from reference_qm.security.caches import CachedSymmetricKey, CachedUserCert, SecurityCaches
from reference_qm.security.ciphers import decrypt
from reference_qm.security.descriptor import SecurityDescriptor
from reference_qm.security.directory_keys import UserSignCerts
from reference_qm.security.errors import SecurityError
from reference_qm.security.key_exchange import unwrap
from reference_qm.security.sid import EVERYONE, Sid
from reference_qm.security.signatures import authenticate, is_signed

_SECTION = "MS-MQQB 3.1.5.8.3"
_ST_NONE, _ST_QUEUE_MANAGER = 0, 2
_ZERO_BITS = 88


class Accounts(Protocol):
    """What the receiver asks the directory and the local security authority."""

    def certificates(self, security_id: bytes) -> UserSignCerts | None:
        """Return User.Certificates of a SecurityID; None when the directory does not succeed."""
        ...

    def groups(self, sid: Sid) -> Set[Sid] | None:
        """Return the groups of an account, its primary group among them; None when there is no such account."""
        ...


@dataclass(frozen=True, slots=True)
class Receiver:
    """The queue manager that decides. ``private_keys``: by the name of the provider."""

    caches: SecurityCaches
    private_keys: Mapping[str, rsa.RSAPrivateKey]
    accounts: Accounts


@dataclass(frozen=True, slots=True)
class Accepted:
    """The message goes on: its body is in clear and SecurityHeader.Flags.AS says how it was authenticated."""

    packet: UserMessagePacket


@dataclass(frozen=True, slots=True)
class Refused:
    """The message is disregarded: a Nack of this class when NA is set, and a FinalAck when it is transactional."""

    message_class: MessageClass
    reason: str


class _Denied(Exception):
    """A check that failed, and the class of its refusal."""

    def __init__(self, message_class: MessageClass, reason: str) -> None:
        super().__init__(reason)
        self.message_class = message_class


def check_security(
    packet: UserMessagePacket, receiver: Receiver, queue: SecurityDescriptor, now: Now
) -> Accepted | Refused:
    """Decide about a message whose destination is here: QueueManagerAddress is this one's (or zeros, ambiguity 28).

    ``queue``: the security descriptor of the destination queue, from the directory when it is public.
    """
    security = packet.SecurityHeader
    if security is None:
        return Accepted(packet)
    try:
        clear = _decrypted(packet, security, receiver, now)
        kind = _authenticated(clear, security, receiver, now)
        _authorize(security, receiver, queue)
    except _Denied as denied:
        return Refused(denied.message_class, str(denied))
    flags = security.Flags & ~(SecurityHeader.AS.mask << SecurityHeader.AS.shift) | SecurityHeader.flags(AS=kind)
    return Accepted(replace(clear, SecurityHeader=replace(security, Flags=flags)))


def _decrypted(packet: UserMessagePacket, security: SecurityHeader, receiver: Receiver, now: Now) -> UserMessagePacket:
    if not security.EB:
        return packet
    properties = packet.MessagePropertiesHeader
    try:
        privacy = privacy_of(properties.PrivacyLevel)
        algorithm = encryption_algorithm(privacy, properties.EncryptionAlgorithm)
        key = _key_of(packet, security, privacy, algorithm, receiver, now)
        _check_strength(privacy.provider, algorithm, key, receiver)
        body = decrypt(algorithm, key, properties.MessageBody)
    except (SecurityError, FormatError) as error:
        raise _Denied(MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION, str(error)) from error
    return replace(
        packet,
        BaseHeader=replace(packet.BaseHeader, PacketSize=0),
        MessagePropertiesHeader=replace(properties, MessageBody=body, Padding=None),
    )


def _key_of(
    packet: UserMessagePacket,
    security: SecurityHeader,
    privacy: Privacy,
    algorithm: EncryptionAlgorithm,
    receiver: Receiver,
    now: Now,
) -> bytes:
    """Return the symmetric key that the message names: a cached one, or that of its SIMPLEBLOB, which is cached."""
    blob = security.SecurityData.EncryptionKey
    wanted = (packet.UserHeader.SourceQueueManager, privacy.provider, algorithm, blob)
    cache = receiver.caches.receiving(packet.MessagePropertiesHeader.PrivacyLevel)
    found = cache.find(
        lambda key: (
            (key.RemoteQMGuid, key.CryptoServiceProvider, key.CryptoAlgorithm, key.EncryptedSymmetricKey) == wanted
        )
    )
    if found is not None:
        return found.SymmetricKey
    private_key = receiver.private_keys.get(privacy.provider)
    if private_key is None:
        raise SecurityError("SelectedCSP", _SECTION, f"no private key of {privacy.provider} is here")
    key = unwrap(private_key, algorithm, blob, privacy.key_bits[algorithm])
    cache.add(CachedSymmetricKey(*wanted, key, now.utc_s), now)
    return key


def _check_strength(provider: str, algorithm: EncryptionAlgorithm, key: bytes, receiver: Receiver) -> None:
    if not receiver.caches.settings.RejectEnhancedRC2Using40BitKeys:
        return
    if provider == ENHANCED_PROVIDER and algorithm is EncryptionAlgorithm.RC2 and not any(key[-_ZERO_BITS // 8 :]):
        raise SecurityError("SymmetricKey", _SECTION, "its final 88 bits are 0: RC2 with 40 bits is rejected here")


def _authenticated(packet: UserMessagePacket, security: SecurityHeader, receiver: Receiver, now: Now) -> int:
    """Return the value for AS: 0 when the message is not signed."""
    if not is_signed(packet):
        return 0
    try:
        kind = authenticate(packet)
    except SecurityError as error:
        raise _Denied(MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE, str(error)) from error
    if security.ST != _ST_NONE:
        _identify(security, receiver, now)
    return kind


def _identify(security: SecurityHeader, receiver: Receiver, now: Now) -> None:
    """Check that the certificate is one of the sender's, in the cache or else in the directory."""
    certificate, security_id = security.SecurityData.SenderCert, security.SecurityData.SecurityID
    cache = receiver.caches.UserCertCache
    if cache.find(lambda known: (known.UserCert.Certificate, known.SecurityID) == (certificate, security_id)):
        return
    registered = receiver.accounts.certificates(security_id)
    entries = () if registered is None else registered.Certificates
    matching = next((entry for entry in entries if entry.Certificate == certificate), None)
    if matching is None:
        raise _Denied(
            MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE,
            f"SecurityHeader.SecurityData.SenderCert: not registered for its SecurityID ({_SECTION})",
        )
    cache.add(CachedUserCert(matching, security_id, now.utc_s), now)


def _authorize(security: SecurityHeader, receiver: Receiver, queue: SecurityDescriptor) -> None:
    """Check that the sender may write to the queue. Everybody is in the group Everyone besides those of the PAC."""
    try:
        user = EVERYONE if security.ST == _ST_QUEUE_MANAGER else Sid.parse(security.SecurityData.SecurityID)
    except FormatError as error:
        raise _Denied(MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED, str(error)) from error
    groups = frozenset[Sid]() if user == EVERYONE else receiver.accounts.groups(user)
    if groups is None or not is_granted(queue, groups | {user, EVERYONE}, QueueAccess.MQSEC_WRITE_MESSAGE):
        lacks = "is no account" if groups is None else "lacks MQSEC_WRITE_MESSAGE"
        raise _Denied(MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED, f"SecurityID: {user} {lacks} ({_SECTION})")
