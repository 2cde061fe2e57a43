"""Implements the security checks of a received message that has a SecurityHeader. Spec: MS-MQQB 3.1.5.8.3.

The functions are in the order of the steps of the section; each function raises Refused. The module follows these
readings:

- The sender signs, then encrypts (3.1.7.1). As printed, the receiver verifies the signature of the encrypted body,
  which no sender creates. This module decrypts first; a message with both defects is refused with BAD_ENCRYPTION.
- A PrivacyLevel outside the table is refused with BAD_ENCRYPTION if EB is set (ambiguity 49).
- Only the sender of a signed message is verified, because the steps are printed below "to authenticate the packet"; the
  message in frame 7 of section 4 has a SID, ST 1 and no signature, and is accepted (ambiguity 6).
- With ST 0 the SID is not looked up. The sender is the anonymous user (MS-MQDMPR 3.1.1.12 SenderIdentifierType). This
  user is not in the group Everyone, because MS-MQDMPR 3.1.7.1.3.1 grants rights to both separately.
- A signature of a provider that is not one of the three providers of 3.1.7.1.5 cannot be validated. The message is
  refused with UNSUPPORTED_CRYPTO_PROVIDER, as MS-MQDMPR 3.1.1.12 defines that class; 3.1.5.8.3 never uses it.
- The receiver computes AS, and clears an AS that arrives with the message.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from typing import Protocol

from cryptography.hazmat.primitives.asymmetric import rsa

from reference_qm.codec import FormatError, MessageClass, ProviderInfo, SecurityHeader, UserMessagePacket
from reference_qm.security.access import QueueAccess, is_access_granted
from reference_qm.security.algorithms import (
    ENHANCED_PROVIDER,
    PRIVACY_BY_LEVEL,
    EncryptionAlgorithm,
    PrivacyProvider,
    get_provider_and_key_size,
    parse_encryption_algorithm,
)
from reference_qm.security.caches import CachedSymmetricKey, CachedUserCert, SecurityCaches
from reference_qm.security.ciphers import decrypt
from reference_qm.security.descriptor import SecurityDescriptor
from reference_qm.security.directory_keys import UserSignCerts
from reference_qm.security.key_exchange import decrypt_symmetric_key
from reference_qm.security.security_error import SecurityError
from reference_qm.security.sid import ANONYMOUS_SID, EVERYONE_SID, Sid
from reference_qm.security.signatures import (
    SignedContentBuilder,
    build_signed_content,
    find_valid_signature_type,
    is_signed,
)
from reference_qm.surface.clock import Now

_SPEC_SECTION = "MS-MQQB 3.1.5.8.3"
_KNOWN_PROVIDERS = frozenset(privacy.provider for privacy in PRIVACY_BY_LEVEL.values())
_ZERO_KEY_BITS = 88
SENDER_TYPE_NONE, SENDER_TYPE_SID, SENDER_TYPE_QUEUE_MANAGER = 0, 1, 2
"""The values of SecurityHeader.Flags.ST. Spec: MS-MQMQ 2.2.20.6."""


class UserAccountFinder(Protocol):
    """The interface through which the receiver looks up users in the directory and in the local security authority."""

    def certificates(self, security_id: bytes) -> UserSignCerts | None:
        """Return User.Certificates of the user with a SecurityID, or None if the directory fails."""
        ...

    def groups(self, sid: Sid) -> Set[Sid] | None:
        """Return the groups of an account, including its primary group, or None for an unknown account."""
        ...


@dataclass(frozen=True, slots=True)
class ReceiverSecurityData:
    """The security data of the receiving queue manager. ``private_keys``: the private keys of the queue manager, by
    the name of the provider.
    """

    caches: SecurityCaches
    private_keys: Mapping[str, rsa.RSAPrivateKey]
    accounts: UserAccountFinder


class ReceivedMessageRefused(Exception):
    """Raised when the receiver refuses a message. If NA is set in the message, its sender gets a Nack of the given
    class. The sender of a transactional message also gets a FinalAck.
    """

    def __init__(self, message_class: MessageClass, reason: str) -> None:
        super().__init__(reason)
        self.message_class = message_class


def decrypt_message(packet: UserMessagePacket, receiver: ReceiverSecurityData, now: Now) -> UserMessagePacket:
    """Return the packet with its body decrypted. Spec: MS-MQQB 3.1.5.8.3 for a message in which EB is set."""
    security, properties = packet.SecurityHeader, packet.MessagePropertiesHeader
    if security is None or not security.EB:
        return packet
    try:
        privacy = get_provider_and_key_size(properties.PrivacyLevel)
        algorithm = parse_encryption_algorithm(privacy, properties.EncryptionAlgorithm)
        key = _find_symmetric_key(packet, security, privacy, algorithm, receiver, now)
        _check_key_strength(privacy.provider, algorithm, key, receiver)
        body = decrypt(algorithm, key, properties.MessageBody)
    except (SecurityError, FormatError) as error:
        raise ReceivedMessageRefused(MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION, str(error)) from error
    return replace(
        packet,
        BaseHeader=replace(packet.BaseHeader, PacketSize=0),
        MessagePropertiesHeader=replace(properties, MessageBody=body, AllocationBodySize=len(body), Padding=None),
    )


def _find_symmetric_key(
    packet: UserMessagePacket,
    security: SecurityHeader,
    privacy: PrivacyProvider,
    algorithm: EncryptionAlgorithm,
    receiver: ReceiverSecurityData,
    now: Now,
) -> bytes:
    """Return the symmetric key of the message, either from the cache or by decrypting the SIMPLEBLOB in the message."""
    blob = security.SecurityData.EncryptionKey
    wanted = (packet.UserHeader.SourceQueueManager, privacy.provider, algorithm, blob)
    cache = receiver.caches.get_receiving_cache(packet.MessagePropertiesHeader.PrivacyLevel)
    found = cache.find(
        lambda key: (
            (key.RemoteQMGuid, key.CryptoServiceProvider, key.CryptoAlgorithm, key.EncryptedSymmetricKey) == wanted
        )
    )
    if found is not None:
        return found.SymmetricKey
    private_key = receiver.private_keys.get(privacy.provider)
    if private_key is None:
        raise SecurityError(
            "SelectedCSP", _SPEC_SECTION, f"this queue manager has no private key for {privacy.provider}"
        )
    key = decrypt_symmetric_key(private_key, algorithm, blob, privacy.key_bits[algorithm])
    cache.add(CachedSymmetricKey(*wanted, key, now.utc_s))
    return key


def _check_key_strength(
    provider: str, algorithm: EncryptionAlgorithm, key: bytes, receiver: ReceiverSecurityData
) -> None:
    if not receiver.caches.settings.RejectEnhancedRC2Using40BitKeys:
        return
    if provider == ENHANCED_PROVIDER and algorithm is EncryptionAlgorithm.RC2 and not any(key[-_ZERO_KEY_BITS // 8 :]):
        raise SecurityError(
            "SymmetricKey",
            _SPEC_SECTION,
            "the final 88 bits are 0, so this is a 40-bit RC2 key, which this queue manager rejects",
        )


def authenticate_message(
    packet: UserMessagePacket, content: SignedContentBuilder = build_signed_content
) -> UserMessagePacket:
    """Return the packet with the kind of its signature in AS, which is 0 if the packet has no signature. The body
    must already be decrypted.
    """
    security = packet.SecurityHeader
    if security is None:
        return packet
    kind = 0
    if is_signed(packet):
        _check_signature_provider(security)
        try:
            kind = find_valid_signature_type(packet, content)
        except SecurityError as error:
            raise ReceivedMessageRefused(MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE, str(error)) from error
    flags = security.Flags & ~(SecurityHeader.AS.mask << SecurityHeader.AS.shift) | SecurityHeader.flags(AS=kind)
    return replace(packet, SecurityHeader=replace(security, Flags=flags))


def _check_signature_provider(security: SecurityHeader) -> None:
    """Check that the provider of a signature is supported. Spec: MS-MQMQ 2.2.20.6 DE, ProviderInfo."""
    if security.DE or not security.ProviderInfoSize:
        return
    try:
        name = ProviderInfo.parse(security.SecurityData.ProviderInfo).ProviderName
    except FormatError as error:
        raise ReceivedMessageRefused(MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE, str(error)) from error
    if name not in _KNOWN_PROVIDERS:
        reason = f"SecurityData.ProviderInfo: {name!a} is not a provider of this queue manager (MS-MQDMPR 3.1.1.12)"
        raise ReceivedMessageRefused(MessageClass.MQMSG_CLASS_NACK_UNSUPPORTED_CRYPTO_PROVIDER, reason)


def identify_sender(packet: UserMessagePacket, receiver: ReceiverSecurityData, now: Now) -> None:
    """Check that the certificate of an authenticated message belongs to the sender of the message, according to the
    cache or the directory.
    """
    security = packet.SecurityHeader
    if security is None or not security.AS or security.ST == SENDER_TYPE_NONE:
        return
    certificate, security_id = security.SecurityData.SenderCert, security.SecurityData.SecurityID
    cache = receiver.caches.UserCertCache
    if cache.find(lambda known: (known.UserCert.Certificate, known.SecurityID) == (certificate, security_id)):
        return
    registered = receiver.accounts.certificates(security_id)
    entries = () if registered is None else registered.Certificates
    matching = next((entry for entry in entries if entry.Certificate == certificate), None)
    if matching is None:
        raise ReceivedMessageRefused(
            MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE,
            "SecurityHeader.SecurityData.SenderCert: the certificate is not registered for its SecurityID "
            f"({_SPEC_SECTION})",
        )
    cache.add(CachedUserCert(matching, security_id, now.utc_s))


def authorize_sender(security: SecurityHeader, receiver: ReceiverSecurityData, queue: SecurityDescriptor) -> None:
    """Check that the sender may write to a queue with the given security descriptor."""
    try:
        user, sids = _build_access_token(security, receiver.accounts)
    except FormatError as error:
        raise ReceivedMessageRefused(MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED, str(error)) from error
    if sids is None or not is_access_granted(queue, sids, QueueAccess.MQSEC_WRITE_MESSAGE):
        lacks = "is not an account" if sids is None else "does not have MQSEC_WRITE_MESSAGE"
        raise ReceivedMessageRefused(
            MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED, f"SecurityID: {user} {lacks} ({_SPEC_SECTION})"
        )


def _build_access_token(security: SecurityHeader, accounts: UserAccountFinder) -> tuple[Sid, Set[Sid] | None]:
    """Return the userSID and the Sids of a user's token, or None for an unknown account. The Sids always include the
    group Everyone.
    """
    if security.ST == SENDER_TYPE_NONE:
        return ANONYMOUS_SID, frozenset({ANONYMOUS_SID})
    if security.ST == SENDER_TYPE_QUEUE_MANAGER:
        return EVERYONE_SID, frozenset({EVERYONE_SID})
    user = Sid.parse(security.SecurityData.SecurityID)
    groups = accounts.groups(user)
    return user, None if groups is None else groups | {user, EVERYONE_SID}
