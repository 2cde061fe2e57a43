"""Faults of MS-MQQB 3.1.7.1.5 Encrypting the Message Body that depend on the published keys, the cache or a setting."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from harness.faults.parts import fault
from reference_qm.codec import PublicKeyBlob, UserMessagePacket
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.model.adm import Message, Session
from reference_qm.security import (
    AES_PROVIDER,
    BASE_PROVIDER,
    ENHANCED_PROVIDER,
    MqdsPublicKey,
    MqdsPublicKeys,
    PrivacyLevel,
)
from reference_qm.surface.clock import Now
from reference_qm.surface.entropy import Entropy

AES_PROVIDER_TYPE = 0x18
RSA_PROVIDER_TYPE = 0x01
STAND_IN_PUBLIC_KEY = MqdsPublicKey(AES_PROVIDER_TYPE, AES_PROVIDER, PublicKeyBlob(65537, b"\xff" * 128).build())
"""A key that takes the place of a missing key. No symmetric key is encrypted with it."""


class EncryptionWithChangedPublicKeys(MessageSecuring):
    """Encrypts bodies with changed public keys of the remote queue manager. The session keeps the published keys."""

    def change_keys(self, keys: MqdsPublicKeys, packet: UserMessagePacket) -> MqdsPublicKeys:
        """Return the keys with which the body is encrypted."""
        return keys

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        if message.security is None or not message.security.PrivacyLevel:
            return packet
        if not any(session.RemoteQMPublicKey):
            found = self.qm.security_lookup.find_public_keys(packet.UserHeader.QueueManagerAddress, now)
            if found is not None:
                session.RemoteQMPublicKey = found.build()
        published = session.RemoteQMPublicKey
        if any(published):
            session.RemoteQMPublicKey = self.change_keys(MqdsPublicKeys.parse(published), packet).build()
        try:
            return super().encrypt_body(session, message, packet, now)
        finally:
            session.RemoteQMPublicKey = published


@fault("sender-public-key-blob-pub-exp-taken-from-first-listed-key", breaks="MQQB-3.1.7.1.5.2-04", blind=True)
class SenderPublicKeyBlobPubExpTakenFromFirstListedKey(EncryptionWithChangedPublicKeys):
    """The sender copies pubExp of every PUBLICKEYBLOB from the first key in the published list."""

    def change_keys(self, keys: MqdsPublicKeys, packet: UserMessagePacket) -> MqdsPublicKeys:
        if not keys.aPublicKeys:
            return keys
        exponent = keys.aPublicKeys[0].to_public_key_blob().pubExp
        return MqdsPublicKeys(
            tuple(
                replace(key, aBuf=replace(key.to_public_key_blob(), pubExp=exponent).build())
                for key in keys.aPublicKeys
            )
        )


@fault("sender-bit-len-of-public-key-blob-is-default-of-provider", breaks="MQQB-3.1.7.1.5.2-03", blind=True)
class SenderBitLenOfPublicKeyBlobIsDefaultOfProvider(EncryptionWithChangedPublicKeys):
    """The sender sets bitLen of a PUBLICKEYBLOB to 512 for the Base provider and to 1024 for the other providers, even
    if the published key has a different length.
    """

    def change_keys(self, keys: MqdsPublicKeys, packet: UserMessagePacket) -> MqdsPublicKeys:
        return MqdsPublicKeys(tuple(map(_set_usual_bit_length_of_blob, keys.aPublicKeys)))


def _set_usual_bit_length_of_blob(key: MqdsPublicKey) -> MqdsPublicKey:
    size = 64 if key.sProviderName == BASE_PROVIDER else 128
    blob = key.to_public_key_blob()
    return replace(key, aBuf=replace(blob, modulus=blob.modulus[:size].ljust(size, b"\0")).build())


@fault("sender-advanced-message-without-aes-key-sent-with-cached-key", breaks="MQQB-3.1.7.1.5-15", blind=True)
class SenderAdvancedMessageWithoutAesKeySentWithCachedKey(EncryptionWithChangedPublicKeys):
    """The sender sends a message of privacy level Advanced to a queue manager that no longer has a key of the AES
    provider, if SendSymmetricKeyCache contains a key of this provider for the queue manager.
    """

    def change_keys(self, keys: MqdsPublicKeys, packet: UserMessagePacket) -> MqdsPublicKeys:
        level = packet.MessagePropertiesHeader.PrivacyLevel
        if level != PrivacyLevel.ADVANCED or keys.find(AES_PROVIDER) is not None:
            return keys
        wanted: tuple[UUID, str, int] = (
            packet.UserHeader.QueueManagerAddress,
            AES_PROVIDER,
            self.qm.caches.settings.PreferredAdvancedAlgorithm,
        )
        cached = self.qm.caches.get_sending_cache(level).find(
            lambda key: (key.RemoteQMGuid, key.CryptoServiceProvider, key.CryptoAlgorithm) == wanted
        )
        return keys if cached is None else MqdsPublicKeys((*keys.aPublicKeys, STAND_IN_PUBLIC_KEY))


@fault("sender-enhanced-message-without-enhanced-key-sent-with-aes-key", breaks="MQQB-3.1.7.1.5-18", blind=True)
class SenderEnhancedMessageWithoutEnhancedKeySentWithAesKey(EncryptionWithChangedPublicKeys):
    """If a queue manager has no key of the Enhanced provider, the sender nevertheless sends a message of privacy level
    Enhanced: it encrypts the symmetric key with the queue manager's key of the AES provider.
    """

    def change_keys(self, keys: MqdsPublicKeys, packet: UserMessagePacket) -> MqdsPublicKeys:
        other = keys.find(AES_PROVIDER)
        enhanced = packet.MessagePropertiesHeader.PrivacyLevel == PrivacyLevel.ENHANCED
        if not enhanced or other is None or keys.find(ENHANCED_PROVIDER) is not None:
            return keys
        return MqdsPublicKeys((*keys.aPublicKeys, MqdsPublicKey(RSA_PROVIDER_TYPE, ENHANCED_PROVIDER, other.aBuf)))


class SevenByteKeyEntropy:
    """A source of random bytes that returns seven bytes instead of five."""

    def __init__(self, entropy: Entropy) -> None:
        self.entropy = entropy

    def token(self, size: int) -> bytes:
        """Return ``size`` unpredictable bytes, or seven if ``size`` is five."""
        return self.entropy.token(7 if size == 5 else size)


@fault("sender-reduced-rc2-key-of-enhanced-provider-56-bits-long", breaks="MQQB-3.1.7.1.5-17", blind=True)
class SenderReducedRc2KeyOfEnhancedProvider56BitsLong(MessageSecuring):
    """With SendEnhancedRC2Using40BitKeys, the sender generates an RC2 key of 56 bits for the Enhanced provider."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        enhanced = packet.MessagePropertiesHeader.PrivacyLevel == PrivacyLevel.ENHANCED
        if not enhanced or not self.qm.caches.settings.SendEnhancedRC2Using40BitKeys:
            return super().encrypt_body(session, message, packet, now)
        kept = self.qm.entropy
        self.qm.entropy = SevenByteKeyEntropy(kept)
        try:
            return super().encrypt_body(session, message, packet, now)
        finally:
            self.qm.entropy = kept
