"""Encrypts the body of a message before the message is sent. Spec: MS-MQQB 3.1.7.1.5.

This module deviates from the printed steps in two points. First, these steps use the strongest provider of the remote
queue manager for every PrivacyLevel. However, the receiver chooses its private key and algorithms by PrivacyLevel
(3.1.5.8.3, MS-MQMQ 2.2.19.3), and could never decrypt such a message. Here the PrivacyLevel determines the provider, as
in note <66>. Second, the section names the field SecurityHeader.ProviderName, which does not exist. This module takes
it to mean SecurityData.ProviderInfo; DE is clear if this field is present (MS-MQMQ 2.2.20.6).

Every failure is a SecurityError or a FormatError; the caller handles it as in 3.1.7.1.5.1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from uuid import UUID

from reference_qm.codec import (
    PrivateQueueFormatNameId,
    ProviderInfo,
    PublicKeyBlob,
    PublicQueueFormatName,
    SecurityHeader,
    UserHeader,
    UserMessagePacket,
)
from reference_qm.security.algorithms import (
    EncryptionAlgorithm,
    PrivacyLevel,
    PrivacyProvider,
    get_provider_and_key_size,
    parse_encryption_algorithm,
)
from reference_qm.security.caches import CachedSymmetricKey, SecurityCaches, SecuritySettings
from reference_qm.security.ciphers import encrypt
from reference_qm.security.directory_keys import MqdsPublicKeys
from reference_qm.security.key_exchange import encrypt_symmetric_key, parse_public_key
from reference_qm.security.security_error import SecurityError
from reference_qm.surface.clock import Now
from reference_qm.surface.entropy import Entropy

_SPEC_SECTION = "MS-MQQB 3.1.7.1.5"
_REDUCED_KEY_BITS = 40


@dataclass(frozen=True, slots=True)
class SelectedEncryption:
    """The selected encryption of a message. Spec: MS-MQQB 3.1.7.1.5.

    ``key_size``: the size of the key in bytes, including the 88 zero bits if the key has them.
    """

    UseCSP: str
    UseAlgorithm: EncryptionAlgorithm
    UseSymmKeyLength: int
    UsePublicKey: PublicKeyBlob
    key_size: int

    def make_key(self, entropy: Entropy) -> bytes:
        """Return a new symmetric key. If it is a 40-bit RC2 key for the Enhanced provider, 88 zero bits are appended to
        it.
        """
        return entropy.token(self.UseSymmKeyLength // 8).ljust(self.key_size, b"\0")


def select_encryption(level: int, remote_keys: MqdsPublicKeys, settings: SecuritySettings) -> SelectedEncryption:
    """Select the provider, algorithm, key length and public key according to the PrivacyLevel (u32) and the keys of
    the remote queue manager.
    """
    privacy = get_provider_and_key_size(level)
    key = remote_keys.find(privacy.provider)
    if key is None:
        raise SecurityError(
            "MQDSPUBLICKEYS", _SPEC_SECTION, f"the remote queue manager has no key for {privacy.provider}"
        )
    preferred = {
        PrivacyLevel.BASE: settings.PreferredBaseAlgorithm,
        PrivacyLevel.ENHANCED: settings.PreferredEnhancedAlgorithm,
        PrivacyLevel.ADVANCED: settings.PreferredAdvancedAlgorithm,
    }
    algorithm = parse_encryption_algorithm(privacy, preferred[PrivacyLevel(level)])
    bits = privacy.key_bits[algorithm]
    reduced = algorithm is EncryptionAlgorithm.RC2 and settings.SendEnhancedRC2Using40BitKeys
    return SelectedEncryption(
        privacy.provider, algorithm, _REDUCED_KEY_BITS if reduced else bits, key.to_public_key_blob(), bits // 8
    )


def encrypt_message(
    packet: UserMessagePacket,
    remote: UUID,
    remote_keys: MqdsPublicKeys,
    caches: SecurityCaches,
    entropy: Entropy,
    now: Now,
) -> UserMessagePacket:
    """Return the packet with its body encrypted for a queue manager. With PrivacyLevel 0 the packet stays
    unchanged.

    ``remote``: RemoteQMGuid. ``remote_keys``: RemoteQMPublicKey. A missing SecurityHeader is added.
    """
    level = packet.MessagePropertiesHeader.PrivacyLevel
    if level == PrivacyLevel.NONE:
        return packet
    if not isinstance(packet.UserHeader.DestinationQueue, PublicQueueFormatName | PrivateQueueFormatNameId):
        raise SecurityError(
            "UserHeader.DestinationQueue",
            _SPEC_SECTION,
            "the destination is neither a public nor a private format name, so its encryption key cannot be found",
        )
    selection = select_encryption(level, remote_keys, caches.settings)
    cached = _find_or_make_key(selection, level, remote, caches, entropy, now)
    body = encrypt(selection.UseAlgorithm, cached.SymmetricKey, packet.MessagePropertiesHeader.MessageBody)
    return replace(
        packet,
        BaseHeader=replace(packet.BaseHeader, PacketSize=0),
        UserHeader=replace(packet.UserHeader, Flags=packet.UserHeader.Flags | UserHeader.flags(SH=1)),
        SecurityHeader=_describe_encryption(
            packet.SecurityHeader or SecurityHeader(), get_provider_and_key_size(level), cached
        ),
        MessagePropertiesHeader=replace(
            packet.MessagePropertiesHeader,
            MessageBody=body,
            AllocationBodySize=len(body),
            EncryptionAlgorithm=selection.UseAlgorithm,
            Padding=None,
        ),
    )


def _find_or_make_key(
    selection: SelectedEncryption, level: int, remote: UUID, caches: SecurityCaches, entropy: Entropy, now: Now
) -> CachedSymmetricKey:
    """Return the cached key for the remote queue manager, or make and cache a new key."""
    cache = caches.get_sending_cache(level)
    wanted = (remote, selection.UseCSP, selection.UseAlgorithm)
    found = cache.find(lambda key: (key.RemoteQMGuid, key.CryptoServiceProvider, key.CryptoAlgorithm) == wanted)
    if found is not None:
        return found
    key = selection.make_key(entropy)
    blob = encrypt_symmetric_key(parse_public_key(selection.UsePublicKey), selection.UseAlgorithm, key, entropy)
    made = CachedSymmetricKey(*wanted, blob.build(), key, now.utc_s)
    cache.add(made)
    return made


def _describe_encryption(
    header: SecurityHeader, privacy: PrivacyProvider, cached: CachedSymmetricKey
) -> SecurityHeader:
    """Return the SecurityHeader that describes the encryption of the body."""
    data = replace(
        header.SecurityData,
        EncryptionKey=cached.EncryptedSymmetricKey,
        ProviderInfo=ProviderInfo(privacy.provider_type, privacy.provider).build(),
        Padding=None,
    )
    flags = header.Flags & ~SecurityHeader.flags(DE=1) | SecurityHeader.flags(EB=1, AI=1)
    return replace(header, Flags=flags, SecurityData=data)
