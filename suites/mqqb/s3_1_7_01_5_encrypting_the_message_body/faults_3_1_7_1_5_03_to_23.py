"""Faults that break the rules MQQB-3.1.7.1.5-03 to MQQB-3.1.7.1.5-23."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import PublicKeyBlob, UserMessagePacket
from reference_qm.core.names.security_lookup import SecurityLookup
from reference_qm.core.part import QM
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.model.adm import Message, Session
from reference_qm.security import EncryptionAlgorithm, MqdsPublicKeys, PrivacyLevel, SecurityError, SecuritySettings
from reference_qm.security.caches import CachedSymmetricKey
from reference_qm.security.key_exchange import encrypt_symmetric_key, parse_public_key
from reference_qm.security.sending import select_encryption
from reference_qm.surface.clock import Now
from reference_qm.surface.entropy import Entropy
from suites.mqqb.s3_1_7_01_5_encrypting_the_message_body.fault_steps import (
    change_encrypted_message,
    change_security_data,
    invert_lowest_bit_of_every_byte,
)


@fault(
    "sender-sends-body-unencrypted-when-encryption-fails",
    breaks=(
        "MQQB-3.1.7.1.5-03",
        "MQQB-3.1.7.1.5-09",
        "MQQB-3.1.7.1.5-15",
        "MQQB-3.1.7.1.5-18",
        "MQQB-3.1.7.1.5-20",
        "MQQB-3.1.7.1.5-39",
        "MQQB-3.1.7.1.5.1-01",
    ),
)
class SenderSendsBodyUnencryptedWhenEncryptionFails(MessageSecuring):
    """The sender sends a message unencrypted when it cannot encrypt the body."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        try:
            return super().encrypt_body(session, message, packet, now)
        except SecurityError:
            return packet


@fault("sender-recoverable-message-to-direct-name-sent-in-clear", breaks="MQQB-3.1.7.1.5-03", blind=True)
class SenderRecoverableMessageToDirectNameSentInClear(MessageSecuring):
    """The sender sends a recoverable message with a privacy level to a direct name unencrypted."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        if packet.UserHeader.DQ == 7 and packet.UserHeader.DM:
            return packet
        return super().encrypt_body(session, message, packet, now)


@fault("sender-public-keys-not-found", breaks=("MQQB-3.1.7.1.5-04", "MQQB-3.1.7.1.5-05"))
class SenderPublicKeysNotFound(SecurityLookup):
    """The sender never finds the public keys of the remote queue manager."""

    def find_public_keys(self, guid: UUID, now: Now) -> MqdsPublicKeys | None:
        return None


add(
    "sender-simple-blob-key-corrupt",
    (
        "MQQB-3.1.7.1.5-11",
        "MQQB-3.1.7.1.5-30",
        "MQDMPR-3.1.1.12-D55",
        "MQQB-3.1.7.1.5.2-03",
        "MQQB-3.1.7.1.5.2-04",
        "MQQB-3.1.7.1.5.2-05",
        "MQSO-7.4.1.4.3-D01",
    ),
    "The sender's EncryptionKey is a SIMPLEBLOB with corrupt key bytes.",
    change_encrypted_message(
        change_security_data(EncryptionKey=lambda blob: blob[:12] + invert_lowest_bit_of_every_byte(blob[12:]))
    ),
)


_PRIVACY_LEVEL_FIELD = "MessagePropertiesHeader.PrivacyLevel"


def _encrypt_for_wrong_privacy_level(level: PrivacyLevel, instead: tuple[PrivacyLevel, ...]) -> Install:
    """Make the sender encrypt for a wrong privacy level, but put the requested level into the packet."""

    class EncryptionForWrongLevel(MessageSecuring):
        def encrypt_body(
            self, session: Session, message: Message, packet: UserMessagePacket, now: Now
        ) -> UserMessagePacket:
            asked = packet.MessagePropertiesHeader.PrivacyLevel
            if asked not in instead:
                return super().encrypt_body(session, message, packet, now)
            encrypted = super().encrypt_body(
                session, message, set_fields(packet, {_PRIVACY_LEVEL_FIELD: int(level)}), now
            )
            sent: UserMessagePacket = set_fields(encrypted, {_PRIVACY_LEVEL_FIELD: asked})
            return sent

    return replace_part(EncryptionForWrongLevel)


add(
    "sender-encryption-provider-always-base",
    (
        "MQQB-3.1.7.1.5-12",
        "MQQB-3.1.7.1.5-13",
        "MQQB-3.1.7.1.5-14",
        "MQDMPR-3.1.1.12-08",
        "MQQB-3.1.7.1.5-16",
        "MQDMPR-3.1.1.12-07",
        "MQQB-3.1.7.1.5-28",
        "MQSO-6.1.5.5-01",
        "MQSO-7.4.1.4.3-01",
    ),
    "The sender encrypts with the Base provider at every privacy level.",
    _encrypt_for_wrong_privacy_level(PrivacyLevel.BASE, (PrivacyLevel.ENHANCED, PrivacyLevel.ADVANCED)),
)


add(
    "sender-encryption-provider-enhanced-for-level-base",
    ("MQQB-3.1.7.1.5-12", "MQQB-3.1.7.1.5-13", "MQQB-3.1.7.1.5-19", "MQDMPR-3.1.1.12-06", "MQQB-3.1.7.1.5-28"),
    "The sender encrypts with the Enhanced provider at level Base.",
    _encrypt_for_wrong_privacy_level(PrivacyLevel.ENHANCED, (PrivacyLevel.BASE,)),
)


def _encrypt_with_changed_security_settings(change: Callable[[SecuritySettings], SecuritySettings]) -> Install:
    """Make the sender encrypt with changed settings."""

    class EncryptionWithChangedSettings(MessageSecuring):
        def encrypt_body(
            self, session: Session, message: Message, packet: UserMessagePacket, now: Now
        ) -> UserMessagePacket:
            kept = self.qm.caches.settings
            self.qm.caches.settings = change(kept)
            try:
                return super().encrypt_body(session, message, packet, now)
            finally:
                self.qm.caches.settings = kept

    return replace_part(EncryptionWithChangedSettings)


add(
    "sender-preferred-encryption-algorithm-ignored",
    (
        "MQQB-3.1.7.1.5-14",
        "MQDMPR-3.1.1.12-08",
        "MQQB-3.1.7.1.5-16",
        "MQDMPR-3.1.1.12-07",
        "MQQB-3.1.7.1.5-19",
        "MQDMPR-3.1.1.12-06",
        "MQQB-3.1.1.3-16",
        "MQQB-3.1.1.3-17",
    ),
    "The sender ignores the configured encryption algorithms.",
    _encrypt_with_changed_security_settings(lambda settings: SecuritySettings()),
)


@fault(
    "sender-keeps-preferred-algorithms-of-first-encrypted-message",
    breaks=("MQQB-3.1.7.1.5-14", "MQQB-3.1.7.1.5-16", "MQQB-3.1.7.1.5-19"),
    blind=True,
)
class SenderKeepsPreferredAlgorithmsOfFirstEncryptedMessage(MessageSecuring):
    """The sender keeps the preferred algorithms that were configured when it first encrypted a message."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.settings: SecuritySettings | None = None

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        present = self.qm.caches.settings
        if message.security is not None and message.security.PrivacyLevel:
            self.settings = self.settings or present
            self.qm.caches.settings = self.settings
        try:
            return super().encrypt_body(session, message, packet, now)
        finally:
            self.qm.caches.settings = present


@fault(
    "sender-encrypts-at-level-base-when-key-of-level-is-missing",
    breaks=("MQQB-3.1.7.1.5-15", "MQQB-3.1.7.1.5-18"),
    blind=True,
)
class SenderEncryptsAtLevelBaseWhenKeyOfLevelIsMissing(MessageSecuring):
    """When the remote queue manager has no key for the level of a message, the sender encrypts for the level Base."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        try:
            return super().encrypt_body(session, message, packet, now)
        except SecurityError:
            properties = replace(packet.MessagePropertiesHeader, PrivacyLevel=1)
            if message.security is None or packet.MessagePropertiesHeader.PrivacyLevel < 3:
                raise
            security = replace(message.security, PrivacyLevel=1)
            return super().encrypt_body(
                session, replace(message, security=security), replace(packet, MessagePropertiesHeader=properties), now
            )


add(
    "sender-enhanced-rc2-key-never-reduced-to-40-bits",
    ("MQQB-3.1.7.1.5-17", "MQQB-3.1.7.1.5-29", "MQQB-3.1.1.3-18"),
    "The sender makes RC2 keys of 128 bits at level Enhanced although SendEnhancedRC2Using40BitKeys is TRUE.",
    _encrypt_with_changed_security_settings(lambda settings: replace(settings, SendEnhancedRC2Using40BitKeys=False)),
)


_SYMMETRIC_KEY_BYTES = 16


_REDUCED_KEY_BYTES = 5


class _ShortKeyEntropy:
    """Produce random bytes for keys. A key of 128 bits has only 40 random bits; the other bits are 0."""

    def __init__(self, source: Entropy) -> None:
        self._source = source

    def token(self, size: int) -> bytes:
        found = self._source.token(size)
        return found[:_REDUCED_KEY_BYTES].ljust(size, b"\0") if size == _SYMMETRIC_KEY_BYTES else found


@fault("sender-enhanced-rc4-key-of-40-bits", breaks="MQQB-3.1.7.1.5-17", blind=True)
class SenderEnhancedRc4KeyOf40Bits(MessageSecuring):
    """If SendEnhancedRC2Using40BitKeys is TRUE, the sender creates RC4 keys of the Enhanced provider with only 40
    random bits, although the setting applies only to RC2.
    """

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        settings, source = self.qm.caches.settings, self.qm.entropy
        enhanced = message.security is not None and message.security.PrivacyLevel == PrivacyLevel.ENHANCED
        rc4 = settings.PreferredEnhancedAlgorithm == EncryptionAlgorithm.RC4
        if enhanced and rc4 and settings.SendEnhancedRC2Using40BitKeys:
            self.qm.entropy = _ShortKeyEntropy(source)
        try:
            return super().encrypt_body(session, message, packet, now)
        finally:
            self.qm.entropy = source


@fault("sender-symmetric-key-cache-not-searched", breaks=("MQQB-3.1.7.1.5-21", "MQQB-3.1.1.3-10"))
class SenderSymmetricKeyCacheNotSearched(MessageSecuring):
    """The sender encrypts every message with a new symmetric key, and adds each of these keys to its cache."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        cache = self.qm.caches.SendSymmetricKeyCache
        kept, cache.entries = cache.entries, []
        try:
            return super().encrypt_body(session, message, packet, now)
        finally:
            cache.entries = kept + cache.entries


@fault("sender-cached-symmetric-key-not-used", breaks="MQQB-3.1.7.1.5-22")
class SenderCachedSymmetricKeyNotUsed(MessageSecuring):
    """The sender finds a cached symmetric key but encrypts with a new key."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        cache = self.qm.caches.SendSymmetricKeyCache
        kept, cache.entries = cache.entries, []
        try:
            return super().encrypt_body(session, message, packet, now)
        finally:
            known = {(entry.CryptoServiceProvider, entry.CryptoAlgorithm) for entry in kept}
            new = [one for one in cache.entries if (one.CryptoServiceProvider, one.CryptoAlgorithm) not in known]
            cache.entries = kept + new


@fault(
    "sender-sends-first-cached-key-in-every-encryption-key-field",
    breaks=("MQQB-3.1.7.1.5-23", "MQQB-3.1.7.1.5-24", "MQQB-3.1.7.1.5-30", "MQDMPR-3.1.1.12-D55", "MQQB-3.1.7.1.5-35"),
)
class SenderSendsFirstCachedKeyInEveryEncryptionKeyField(MessageSecuring):
    """The sender sends the first cached key as EncryptionKey of every message."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        encrypted = super().encrypt_body(session, message, packet, now)
        entries = self.qm.caches.SendSymmetricKeyCache.entries
        if encrypted is packet or not entries:
            return encrypted
        sent: UserMessagePacket = set_fields(
            encrypted, change_security_data(EncryptionKey=entries[0].EncryptedSymmetricKey)
        )
        return sent


MODULUS_BUFFER_BYTES = 128


def _truncate_modulus(key: bytes) -> bytes:
    header_bytes = len(PublicKeyBlob().build())
    return key[: header_bytes + MODULUS_BUFFER_BYTES].ljust(len(key), b"\0")


@fault("sender-encrypts-all-messages-with-public-key-of-first-provider", breaks="MQQB-3.1.7.1.5-12", blind=True)
class SenderEncryptsAllMessagesWithPublicKeyOfFirstProvider(MessageSecuring):
    """After the sender has encrypted the first message for a queue manager, it uses the public key of that message's
    provider for all later messages, even for a message that it encrypts with a different provider.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.used: dict[UUID, PublicKeyBlob] = {}

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        remote = packet.UserHeader.QueueManagerAddress
        keys = self.qm.security_lookup.find_public_keys(remote, now)
        if keys is not None and message.security is not None and message.security.PrivacyLevel:
            self._cache_key_of_first_provider(message.security.PrivacyLevel, remote, keys, now)
        return super().encrypt_body(session, message, packet, now)

    def _cache_key_of_first_provider(self, level: int, remote: UUID, keys: MqdsPublicKeys, now: Now) -> None:
        selection = select_encryption(level, keys, self.qm.caches.settings)
        chosen = self.used.setdefault(remote, selection.UsePublicKey)
        wanted = (remote, selection.UseCSP, selection.UseAlgorithm)
        cache = self.qm.caches.get_sending_cache(level)
        known = cache.find(lambda key: (key.RemoteQMGuid, key.CryptoServiceProvider, key.CryptoAlgorithm) == wanted)
        if known is None and chosen != selection.UsePublicKey:
            key = selection.make_key(self.qm.entropy)
            blob = encrypt_symmetric_key(parse_public_key(chosen), selection.UseAlgorithm, key, self.qm.entropy)
            cache.add(CachedSymmetricKey(*wanted, blob.build(), key, now.utc_s))


@fault("sender-public-key-blob-modulus-cut-to-1024-bits", breaks="MQQB-3.1.7.1.5.2-05", blind=True)
class SenderPublicKeyBlobModulusCutTo1024Bits(SecurityLookup):
    """The sender copies only the first 128 bytes of a published modulus into the PUBLICKEYBLOB, so that it cannot
    encrypt with a longer key.
    """

    def find_public_keys(self, guid: UUID, now: Now) -> MqdsPublicKeys | None:
        keys = super().find_public_keys(guid, now)
        if keys is None:
            return None
        return MqdsPublicKeys(tuple(replace(key, aBuf=_truncate_modulus(key.aBuf)) for key in keys.aPublicKeys))


@fault("sender-cached-key-of-other-provider-with-same-algorithm-used", breaks="MQQB-3.1.7.1.5-22", blind=True)
class SenderCachedKeyOfOtherProviderWithSameAlgorithmUsed(MessageSecuring):
    """The sender encrypts a body with the newest cached key for the destination and the algorithm, even if it found
    an older key of the right provider.
    """

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        level = packet.MessagePropertiesHeader.PrivacyLevel
        cache = self.qm.caches.get_sending_cache(level)
        before = list(cache.entries)
        encrypted = super().encrypt_body(session, message, packet, now)
        header = encrypted.SecurityHeader
        blob = b"" if header is None else header.SecurityData.EncryptionKey
        used = next((key for key in before if key.EncryptedSymmetricKey == blob), None)
        if used is None:
            return encrypted
        wanted = (used.RemoteQMGuid, used.CryptoAlgorithm)
        newest = next(key for key in reversed(before) if (key.RemoteQMGuid, key.CryptoAlgorithm) == wanted)
        cache.entries = [replace(newest, CryptoServiceProvider=used.CryptoServiceProvider)]
        encrypted = super().encrypt_body(session, message, packet, now)
        cache.entries = before
        return encrypted
