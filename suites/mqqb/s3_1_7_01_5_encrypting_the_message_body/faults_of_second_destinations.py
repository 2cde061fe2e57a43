"""Faults of a sender that encrypts for several queue managers, on several sessions or with several keys. Spec:
MS-MQQB 3.1.7.1.5.
"""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID
from weakref import WeakKeyDictionary

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from harness.faults.registry import add
from harness.faults.timed_caches import AnyTimedCache, replace_cache
from reference_qm.codec import PublicKeyBlob, UserMessagePacket
from reference_qm.core.names.security_lookup import SecurityLookup
from reference_qm.core.part import QM
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.model.adm import Message, Session
from reference_qm.security import (
    BASE_PROVIDER,
    ENHANCED_PROVIDER,
    EncryptionAlgorithm,
    MqdsPublicKeys,
    PrivacyLevel,
    SecurityError,
)
from reference_qm.security.caches import CachedSymmetricKey
from reference_qm.security.ciphers import encrypt
from reference_qm.surface.clock import Now
from suites.mqqb.s3_1_7_01_5_encrypting_the_message_body.fault_steps import (
    EncryptedMessageContext,
    change_encrypted_message,
    change_result_of_encryption,
    change_security_data,
    encrypt_body_with_chosen_symmetric_key,
    replace_encrypted_body,
)


class _LookupWithChangedPublicKeys(SecurityLookup):
    """Changes the public keys that the sender looks up for any queue manager except the first."""

    def change_keys(self, keys: MqdsPublicKeys, first: MqdsPublicKeys) -> MqdsPublicKeys | None:
        return keys

    def find_public_keys(self, guid: UUID, now: Now) -> MqdsPublicKeys | None:
        keys = super().find_public_keys(guid, now)
        if keys is None:
            return None
        first_guid, first = self.__dict__.setdefault("first_keys", (guid, keys))
        return keys if guid == first_guid else self.change_keys(keys, first)


@fault("sender-public-keys-of-first-queue-manager-used-for-others", breaks="MQQB-3.1.7.1.5-05", blind=True)
class SenderPublicKeysOfFirstQueueManagerUsedForOthers(_LookupWithChangedPublicKeys):
    """The sender uses the public keys of the first queue manager also for other queue managers."""

    def change_keys(self, keys: MqdsPublicKeys, first: MqdsPublicKeys) -> MqdsPublicKeys | None:
        return first


@fault("sender-public-keys-on-later-session-not-read", breaks="MQQB-3.1.7.1.5-05", blind=True)
class SenderPublicKeysOnLaterSessionNotRead(SecurityLookup):
    """On a later session with a queue manager, the sender does not look up the public keys of this queue manager, and
    sends no encrypted message on the session.
    """

    def find_public_keys(self, guid: UUID, now: Now) -> MqdsPublicKeys | None:
        asked = self.__dict__.setdefault("asked", set())
        if guid in asked:
            return None
        asked.add(guid)
        return super().find_public_keys(guid, now)


def _has_key_of_base_provider(step: EncryptedMessageContext) -> bool:
    return step.key.CryptoServiceProvider == BASE_PROVIDER


add(
    "sender-base-rc2-key-128-bits",
    ("MQQB-3.1.7.1.5-12", "MQQB-3.1.7.1.5-19"),
    "The sender uses a 128-bit key with the Base provider when PreferredBaseAlgorithm is RC2.",
    encrypt_body_with_chosen_symmetric_key(
        lambda step: (
            step.key.SymmetricKey.ljust(16, b"\x11")
            if _has_key_of_base_provider(step) and step.key.CryptoAlgorithm == EncryptionAlgorithm.RC2
            else None
        )
    ),
    blind=True,
)
add(
    "sender-enhanced-key-of-second-message-40-bits",
    ("MQQB-3.1.7.1.5-12", "MQQB-3.1.7.1.5-16"),
    "The sender uses a 40-bit RC4 key with the Enhanced provider for each encrypted message after the first.",
    encrypt_body_with_chosen_symmetric_key(
        lambda step: (
            step.key.SymmetricKey[:5]
            if step.number
            and step.key.CryptoServiceProvider == ENHANCED_PROVIDER
            and step.key.CryptoAlgorithm == EncryptionAlgorithm.RC4
            else None
        )
    ),
    blind=True,
)


@fault(
    "sender-encryption-provider-of-first-message-kept",
    breaks=("MQQB-3.1.7.1.5-13", "MQQB-3.1.7.1.5-41"),
    blind=True,
)
class SenderEncryptionProviderOfFirstMessageKept(MessageSecuring):
    """The sender encrypts each later message of a session with the provider that it chose for the first message, even
    if PrivacyLevel differs.
    """

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        level = packet.MessagePropertiesHeader.PrivacyLevel
        if not level:
            return super().encrypt_body(session, message, packet, now)
        first = self.__dict__.setdefault("first_levels", {}).setdefault(session.transport, level)
        properties = replace(packet.MessagePropertiesHeader, PrivacyLevel=first)
        encrypted = super().encrypt_body(session, message, replace(packet, MessagePropertiesHeader=properties), now)
        properties = replace(encrypted.MessagePropertiesHeader, PrivacyLevel=level)
        return replace(encrypted, MessagePropertiesHeader=properties)


@fault(
    "sender-provider-for-second-queue-manager-chosen-by-keys-of-first",
    breaks=("MQQB-3.1.7.1.5-13", "MQQB-3.1.7.1.5-05"),
    blind=True,
)
class SenderProviderForSecondQueueManagerChosenByKeysOfFirst(_LookupWithChangedPublicKeys):
    """If a second queue manager has no key for a provider, the sender uses the first queue manager's key for this
    provider, and so chooses a provider that the second queue manager does not support.
    """

    def change_keys(self, keys: MqdsPublicKeys, first: MqdsPublicKeys) -> MqdsPublicKeys | None:
        added = tuple(one for one in first.aPublicKeys if keys.find(one.sProviderName) is None)
        return MqdsPublicKeys(keys.aPublicKeys + added)


add(
    "sender-aes-192-key-128-bits",
    ("MQQB-3.1.7.1.5-14", "MQQB-3.1.7.1.5-40"),
    "The sender encrypts with AES and a 128-bit key when PreferredAdvancedAlgorithm is AES with 192 bits.",
    change_result_of_encryption(
        lambda step: (
            step.encrypted_packet
            if step.key.CryptoAlgorithm != EncryptionAlgorithm.AES192
            else set_fields(
                step.encrypted_packet,
                {
                    "MessagePropertiesHeader.EncryptionAlgorithm": EncryptionAlgorithm.AES128,
                    "MessagePropertiesHeader.MessageBody": encrypt(
                        EncryptionAlgorithm.AES128,
                        step.key.SymmetricKey[:16],
                        step.clear_packet.MessagePropertiesHeader.MessageBody,
                    ),
                },
            )
        )
    ),
    blind=True,
)


class _SendingAdvancedMessagesWithoutAesKey(MessageSecuring):
    """If the remote queue manager has no key of the AES provider, the sender nevertheless sends those messages of
    privacy level Advanced that a subclass selects.
    """

    def is_sent_without_aes_key(self, session: Session, packet: UserMessagePacket) -> bool:
        raise NotImplementedError

    def build_packet_without_aes_key(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        raise NotImplementedError

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        try:
            return super().encrypt_body(session, message, packet, now)
        except SecurityError:
            if packet.MessagePropertiesHeader.PrivacyLevel != PrivacyLevel.ADVANCED or not self.is_sent_without_aes_key(
                session, packet
            ):
                raise
        return self.build_packet_without_aes_key(session, message, packet, now)


@fault(
    "sender-transactional-advanced-message-without-aes-key-sent",
    breaks=("MQQB-3.1.7.1.5-15", "MQQB-3.1.7.1.5.1-01"),
    blind=True,
)
class SenderTransactionalAdvancedMessageWithoutAesKeySent(_SendingAdvancedMessagesWithoutAesKey):
    """The sender sends a transactional message of privacy level Advanced in clear when the remote queue manager has no
    key of the AES provider.
    """

    def is_sent_without_aes_key(self, session: Session, packet: UserMessagePacket) -> bool:
        return packet.TransactionHeader is not None

    def build_packet_without_aes_key(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        return packet


@fault(
    "sender-second-advanced-message-without-aes-key-sent",
    breaks=("MQQB-3.1.7.1.5-15", "MQQB-3.1.7.1.5.1-01"),
    blind=True,
)
class SenderSecondAdvancedMessageWithoutAesKeySent(_SendingAdvancedMessagesWithoutAesKey):
    """The sender sends the second message of privacy level Advanced with a key of the Base provider when the remote
    queue manager has no key of the AES provider.
    """

    def is_sent_without_aes_key(self, session: Session, packet: UserMessagePacket) -> bool:
        refused = self.__dict__.setdefault("refused", [])
        refused.append(packet.UserHeader.MessageID)
        return len(refused) > 1

    def build_packet_without_aes_key(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        properties = replace(packet.MessagePropertiesHeader, PrivacyLevel=PrivacyLevel.BASE)
        return super().encrypt_body(session, message, replace(packet, MessagePropertiesHeader=properties), now)


add(
    "sender-40-bit-rc2-key-of-later-message-128-bits",
    "MQQB-3.1.7.1.5-17",
    "Although SendEnhancedRC2Using40BitKeys is TRUE, the sender uses a 128-bit RC2 key for each encrypted message "
    "after the first.",
    encrypt_body_with_chosen_symmetric_key(
        lambda step: (
            bytes(range(1, 17))
            if step.number
            and step.key.CryptoAlgorithm == EncryptionAlgorithm.RC2
            and not any(step.key.SymmetricKey[5:])
            else None
        )
    ),
    blind=True,
)


@fault("sender-symmetric-key-of-other-queue-not-reused", breaks="MQQB-3.1.7.1.5-21", blind=True)
class SenderSymmetricKeyOfOtherQueueNotReused(MessageSecuring):
    """The sender does not reuse a cached symmetric key for a message to a second queue of the same queue manager."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        cache = self.qm.caches.SendSymmetricKeyCache
        queue = message.DestinationQueueFormatName
        owners = self.__dict__.setdefault("owners", {})
        hidden = [one for one in cache.entries if owners.get(one.EncryptedSymmetricKey, queue) != queue]
        cache.entries = [one for one in cache.entries if one not in hidden]
        try:
            encrypted = super().encrypt_body(session, message, packet, now)
        finally:
            for one in cache.entries:
                owners.setdefault(one.EncryptedSymmetricKey, queue)
            cache.entries = hidden + cache.entries
        return encrypted


def _encrypt_with_newest_key(step: EncryptedMessageContext) -> bytes:
    algorithm = step.key.CryptoAlgorithm
    keys = [one for one in step.queue_manager.caches.SendSymmetricKeyCache.entries if one.CryptoAlgorithm == algorithm]
    newest = keys[-1] if keys else step.key
    body = step.clear_packet.MessagePropertiesHeader.MessageBody
    return encrypt(EncryptionAlgorithm(algorithm), newest.SymmetricKey, body)


add(
    "sender-cached-key-newest-of-algorithm-used",
    "MQQB-3.1.7.1.5-22",
    "The sender encrypts the body with the newest cached symmetric key of the algorithm instead of the key that it "
    "found for the queue manager.",
    replace_encrypted_body(_encrypt_with_newest_key),
    blind=True,
)


def _encrypt_with_key_of_first_session(step: EncryptedMessageContext) -> bytes:
    body = step.clear_packet.MessagePropertiesHeader.MessageBody
    key = step.key.SymmetricKey
    transports = _FIRST_CONNECTION_BY_KEY.setdefault(step.queue_manager, {})
    first = transports.setdefault(step.key.EncryptedSymmetricKey, step.session.transport)
    return encrypt(
        EncryptionAlgorithm(step.key.CryptoAlgorithm), key if first == step.session.transport else key[::-1], body
    )


_FIRST_CONNECTION_BY_KEY: WeakKeyDictionary[QM, dict[bytes, str | None]] = WeakKeyDictionary()
add(
    "sender-cached-key-on-later-session-reversed",
    "MQQB-3.1.7.1.5-22",
    "On a later session, the sender encrypts the body with the cached symmetric key with its bytes reversed.",
    replace_encrypted_body(_encrypt_with_key_of_first_session),
    blind=True,
)


class _KeyCacheWithFirstGuidOfProvider(AnyTimedCache):
    """A cache that stores every key for a provider under the queue manager of its first key."""

    def add(self, entry: CachedSymmetricKey) -> None:
        for one in self.entries:
            if one.CryptoServiceProvider == entry.CryptoServiceProvider:
                entry = replace(entry, RemoteQMGuid=one.RemoteQMGuid)
                break
        super().add(entry)


add(
    "sender-cached-key-guid-of-second-queue-manager-first",
    "MQQB-3.1.7.1.5-25",
    "The sender sets RemoteQMGuid of a new cached symmetric key to the GUID of the queue manager for which it cached "
    "the first key of the provider.",
    replace_cache("SendSymmetricKeyCache", _KeyCacheWithFirstGuidOfProvider),
    blind=True,
)


@fault("sender-remote-qm-guid-of-cached-key-is-guid-of-public-queue", breaks="MQQB-3.1.7.1.5-25", blind=True)
class SenderRemoteQmGuidOfCachedKeyIsGuidOfPublicQueue(MessageSecuring):
    """The sender sets RemoteQMGuid of a new cached symmetric key to the GUID of the public queue of the message."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        cache = self.qm.caches.SendSymmetricKeyCache
        before = list(cache.entries)
        encrypted = super().encrypt_body(session, message, packet, now)
        queue = getattr(packet.UserHeader.DestinationQueue, "PublicQueueIdentifier", None)
        if queue is not None:
            cache.entries = [one if one in before else replace(one, RemoteQMGuid=queue) for one in cache.entries]
        return encrypted


class _KeyCacheWithTimeOfFirstKeyOfProvider(AnyTimedCache):
    """A cache in which a new key gets the CachedTime of the first cached key of the same queue manager."""

    def add(self, entry: CachedSymmetricKey) -> None:
        times = [one.CachedTime for one in self.entries if one.RemoteQMGuid == entry.RemoteQMGuid]
        super().add(replace(entry, CachedTime=times[0]) if times else entry)


add(
    "sender-cached-key-time-of-second-algorithm-first",
    "MQQB-3.1.7.1.5-31",
    "The sender sets CachedTime of a further symmetric key for a queue manager to CachedTime of its first key.",
    replace_cache("SendSymmetricKeyCache", _KeyCacheWithTimeOfFirstKeyOfProvider),
    blind=True,
)


class _KeyCacheWithOneKeyPerQueueManager(AnyTimedCache):
    """A cache with at most one entry for each queue manager: a new entry replaces the earlier one."""

    def add(self, entry: CachedSymmetricKey) -> None:
        self.entries = [one for one in self.entries if one.RemoteQMGuid != entry.RemoteQMGuid]
        super().add(entry)


add(
    "sender-symmetric-key-cache-one-key-of-queue-manager",
    ("MQQB-3.1.7.1.5-32", "MQQB-3.1.1.3-10"),
    "When the sender caches a symmetric key, it removes the queue manager's other keys from SendSymmetricKeyCache.",
    replace_cache("SendSymmetricKeyCache", _KeyCacheWithOneKeyPerQueueManager),
    blind=True,
)


def _set_provider_of_first_message(step: EncryptedMessageContext) -> UserMessagePacket:
    packet = step.encrypted_packet
    assert packet.SecurityHeader is not None
    info = packet.SecurityHeader.SecurityData.ProviderInfo
    first = _FIRST_PROVIDER_BY_QUEUE_MANAGER.setdefault(step.queue_manager, info)
    changed: UserMessagePacket = set_fields(packet, change_security_data(ProviderInfo=first))
    return changed


_FIRST_PROVIDER_BY_QUEUE_MANAGER: WeakKeyDictionary[QM, bytes] = WeakKeyDictionary()
add(
    "sender-provider-info-of-later-provider-first",
    "MQQB-3.1.7.1.5-41",
    "In each later encrypted message, the sender sets ProviderInfo to the provider of its first encrypted message.",
    change_result_of_encryption(_set_provider_of_first_message),
    blind=True,
)
add(
    "sender-provider-info-for-public-queue-without-name",
    "MQQB-3.1.7.1.5-41",
    "In an encrypted message to a public queue, the sender sets ProviderInfo to an empty provider name.",
    change_encrypted_message(
        change_security_data(ProviderInfo=lambda old: old[:4] + bytes(2)),
        lambda packet: packet.UserHeader.DQ == 5,
    ),
    blind=True,
)


class _LookupWithChangedKeyBlobs(SecurityLookup):
    """Changes the blobs of public keys before they are used."""

    def change_blob(self, blob: PublicKeyBlob, first: PublicKeyBlob) -> bytes | None:
        raise NotImplementedError

    def find_public_keys(self, guid: UUID, now: Now) -> MqdsPublicKeys | None:
        keys = super().find_public_keys(guid, now)
        if keys is None:
            return None
        firsts = self.__dict__.setdefault("first_blobs", {})
        changed = []
        for one in keys.aPublicKeys:
            blob = PublicKeyBlob.parse(one.aBuf)
            new = self.change_blob(blob, firsts.setdefault(one.sProviderName, blob))
            changed.append(one if new is None else replace(one, aBuf=new))
        return MqdsPublicKeys(tuple(changed))


@fault("sender-public-key-blob-bitlen-above-1024-bits-cut", breaks="MQQB-3.1.7.1.5.2-03", blind=True)
class SenderPublicKeyBlobBitlenAbove1024BitsCut(_LookupWithChangedKeyBlobs):
    """The sender sets bitLen of a PUBLICKEYBLOB to 1024 when the published key is longer."""

    def change_blob(self, blob: PublicKeyBlob, first: PublicKeyBlob) -> bytes | None:
        return replace(blob, modulus=blob.modulus[:128]).build() if blob.bitLen > 1024 else None


@fault("sender-public-key-blob-bit-len-taken-from-first-queue-manager", breaks="MQQB-3.1.7.1.5.2-03", blind=True)
class SenderPublicKeyBlobBitLenTakenFromFirstQueueManager(_LookupWithChangedKeyBlobs):
    """The sender sets bitLen of a PUBLICKEYBLOB to bitLen of the first published key of the provider."""

    def change_blob(self, blob: PublicKeyBlob, first: PublicKeyBlob) -> bytes | None:
        size = first.bitLen // 8
        return replace(blob, modulus=blob.modulus[:size].ljust(size, b"\0")).build()


@fault("sender-public-key-blob-exponent-cut-to-16-bits", breaks="MQQB-3.1.7.1.5.2-04", blind=True)
class SenderPublicKeyBlobExponentCutTo16Bits(_LookupWithChangedKeyBlobs):
    """The sender copies only the lower 17 bits of pubExp from the published key."""

    def change_blob(self, blob: PublicKeyBlob, first: PublicKeyBlob) -> bytes | None:
        return replace(blob, pubExp=blob.pubExp & 0x1FFFF).build()


@fault("sender-public-key-blob-exponent-taken-from-first-queue-manager", breaks="MQQB-3.1.7.1.5.2-04", blind=True)
class SenderPublicKeyBlobExponentTakenFromFirstQueueManager(_LookupWithChangedKeyBlobs):
    """The sender sets pubExp of a PUBLICKEYBLOB to pubExp of the first published key of the provider."""

    def change_blob(self, blob: PublicKeyBlob, first: PublicKeyBlob) -> bytes | None:
        return replace(blob, pubExp=first.pubExp).build()
