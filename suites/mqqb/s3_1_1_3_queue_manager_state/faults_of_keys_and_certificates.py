"""Faults in the caches and the settings for keys and certificates (MS-MQQB 3.1.1.3)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.registry import add
from harness.faults.timed_caches import AnyTimedCache, replace_cache
from reference_qm.codec import UserMessagePacket
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Message, Session
from reference_qm.surface.clock import Now


@fault("receiver-user-cert-cache-emptied-when-session-closes", breaks="MQQB-3.1.1.3-03", blind=True)
class ReceiverUserCertCacheEmptiedWhenSessionCloses(SessionClosing):
    """The receiver removes all entries from UserCertCache when a session is closed."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        super().close(session, reason, now)
        self.qm.caches.UserCertCache.entries.clear()


@fault("receiver-user-cert-cache-without-certificates-of-transactional-messages", breaks="MQQB-3.1.1.3-03", blind=True)
class ReceiverUserCertCacheWithoutCertificatesOfTransactionalMessages(SecurityOnReceipt):
    """The receiver does not put the certificate of a transactional message into UserCertCache."""

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        cache = self.qm.caches.UserCertCache
        kept = list(cache.entries)
        super().verify_sender(packet, now)
        if packet.TransactionHeader is not None:
            cache.entries[:] = kept


class _CacheWithRoomForOneEntryMore(AnyTimedCache):
    """A cache that may contain one entry more than its configured size allows."""

    def add(self, entry: Any) -> None:
        if len(self.entries) == self._size:
            self.entries.append(entry)
        else:
            super().add(entry)


class _CacheWithRoomForAtLeast8Entries(AnyTimedCache):
    """A cache that may contain eight entries, even if its configured size is smaller."""

    def add(self, entry: Any) -> None:
        size = self._size
        self._size = max(size, 8)
        super().add(entry)
        self._size = size


add(
    "receiver-user-cert-cache-one-entry-more-than-size",
    "MQQB-3.1.1.3-04",
    "The receiver puts one entry more than UserCertCacheSize into UserCertCache.",
    replace_cache("UserCertCache", _CacheWithRoomForOneEntryMore),
    blind=True,
)
add(
    "receiver-user-cert-cache-at-least-8-entries",
    "MQQB-3.1.1.3-04",
    "The receiver puts 8 entries into UserCertCache although UserCertCacheSize is lower.",
    replace_cache("UserCertCache", _CacheWithRoomForAtLeast8Entries),
    blind=True,
)
add(
    "sender-send-symmetric-key-cache-one-entry-more-than-size",
    "MQQB-3.1.1.3-13",
    "The sender puts one entry more than SendSymmetricKeyCacheSize into SendSymmetricKeyCache.",
    replace_cache("SendSymmetricKeyCache", _CacheWithRoomForOneEntryMore),
    blind=True,
)


class _CacheWithSizeLimitPerProvider(AnyTimedCache):
    """A cache whose configured size limits the entries of each cryptographic provider separately, instead of all
    entries together.
    """

    def add(self, entry: Any) -> None:
        same = [kept for kept in self.entries if kept.CryptoServiceProvider == entry.CryptoServiceProvider]
        if len(same) >= self._size:
            super().add(entry)
        else:
            self.entries.append(entry)


add(
    "sender-send-symmetric-key-cache-size-counted-per-provider",
    "MQQB-3.1.1.3-13",
    "The sender puts SendSymmetricKeyCacheSize entries of each provider into SendSymmetricKeyCache.",
    replace_cache("SendSymmetricKeyCache", _CacheWithSizeLimitPerProvider),
    blind=True,
)


class _CacheRenewingLifetimesAtEachAddition(AnyTimedCache):
    """A cache in which the lifetime of an existing entry restarts whenever another entry is added."""

    def add(self, entry: Any) -> None:
        self.entries = [replace(kept, CachedTime=entry.CachedTime) for kept in self.entries]
        super().add(entry)


add(
    "receiver-symmetric-key-lifetime-begins-again-with-next-key",
    "MQQB-3.1.1.3-14",
    "The receiver begins the lifetime of all keys in ReceiveSymmetricKeyCache again when it adds another key.",
    replace_cache("ReceiveSymmetricKeyCache", _CacheRenewingLifetimesAtEachAddition),
    blind=True,
)
add(
    "sender-symmetric-key-lifetime-begins-again-with-next-key",
    "MQQB-3.1.1.3-14",
    "The sender begins the lifetime of all keys in SendSymmetricKeyCache again when it adds another key.",
    replace_cache("SendSymmetricKeyCache", _CacheRenewingLifetimesAtEachAddition),
    blind=True,
)


@fault("sender-enhanced-rc2-40-bit-keys-only-for-first-destination", breaks="MQQB-3.1.1.3-18", blind=True)
class SenderEnhancedRc240BitKeysOnlyForFirstDestination(MessageSecuring):
    """The sender uses a 128-bit RC2 key for a message of privacy level Enhanced when another key is cached."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        caches = self.qm.caches
        kept = caches.settings
        if len(caches.SendSymmetricKeyCache):
            caches.settings = replace(kept, SendEnhancedRC2Using40BitKeys=False)
        try:
            return super().encrypt_body(session, message, packet, now)
        finally:
            caches.settings = kept


class _Accepting40BitRc2KeysFault(SecurityOnReceipt):
    """A receiver that accepts 40-bit RC2 keys, although they are forbidden, in the messages that a subclass selects."""

    def is_40_bit_key_accepted(self, packet: UserMessagePacket) -> bool:
        raise NotImplementedError

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        caches = self.qm.caches
        kept = caches.settings
        if self.is_40_bit_key_accepted(packet):
            caches.settings = replace(kept, RejectEnhancedRC2Using40BitKeys=False)
        try:
            return super().decrypt_body(packet, now)
        finally:
            caches.settings = kept


class _Accepting40BitCachedRc2KeyFault(_Accepting40BitRc2KeysFault):
    """The receiver accepts a 40-bit RC2 key, although it is forbidden, if the key is in its cache."""

    def is_40_bit_key_accepted(self, packet: UserMessagePacket) -> bool:
        assert packet.SecurityHeader is not None
        blob = packet.SecurityHeader.SecurityData.EncryptionKey
        return any(key.EncryptedSymmetricKey == blob for key in self.qm.caches.ReceiveSymmetricKeyCache.entries)


class _Accepting40BitKeyOfTransactionalMessageFault(_Accepting40BitRc2KeysFault):
    """The receiver accepts 40-bit RC2 keys, although they are forbidden, in transactional messages."""

    def is_40_bit_key_accepted(self, packet: UserMessagePacket) -> bool:
        return packet.TransactionHeader is not None


add(
    "receiver-enhanced-rc2-40-bit-key-accepted-when-repeated",
    "MQQB-3.1.1.3-19",
    "The receiver accepts a second message with a 40-bit RC2 key that it has refused in an earlier message.",
    replace_part(_Accepting40BitCachedRc2KeyFault),
    blind=True,
)
add(
    "receiver-enhanced-rc2-40-bit-key-of-transactional-message-accepted",
    "MQQB-3.1.1.3-19",
    "The receiver accepts a transactional message with a 40-bit RC2 key.",
    replace_part(_Accepting40BitKeyOfTransactionalMessageFault),
    blind=True,
)
