"""Faults of a sender that does not follow later settings, or loses keys between sessions. Spec: MS-MQQB 3.1.7.1.5."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import change_core_at_restart
from harness.faults.registry import add
from harness.faults.timed_caches import AnyTimedCache, replace_cache
from reference_qm.codec import UserMessagePacket
from reference_qm.core.names.cache_timers import CacheTimers
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.model.adm import Message, Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.security import AES_PROVIDER, MqdsPublicKeys
from reference_qm.security.caches import CachedSymmetricKey
from reference_qm.surface.clock import Now

_SEND_KEY_CACHE_CLEANUP_TIMER = TimerKey(TimerName.SEND_SYMMETRIC_KEY_CACHE_CLEANUP, 0)


class _EncryptionWithFirstSetting(MessageSecuring):
    """Encrypts every message with the value that one setting had when the first message was encrypted."""

    name_of_setting_kept_from_first_message = ""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        if not packet.MessagePropertiesHeader.PrivacyLevel:
            return super().encrypt_body(session, message, packet, now)
        caches = self.qm.caches
        present = caches.settings
        first = self.__dict__.setdefault("first_settings", present)
        caches.settings = replace(
            present,
            **{
                self.name_of_setting_kept_from_first_message: getattr(
                    first, self.name_of_setting_kept_from_first_message
                )
            },
        )
        try:
            return super().encrypt_body(session, message, packet, now)
        finally:
            caches.settings = present


@fault(
    "sender-ignores-changed-preferred-advanced-algorithm",
    breaks=("MQQB-3.1.7.1.5-14", "MQQB-3.1.1.3-16"),
    blind=True,
)
class SenderIgnoresChangedPreferredAdvancedAlgorithm(_EncryptionWithFirstSetting):
    """The sender encrypts with the PreferredAdvancedAlgorithm that was set when it encrypted its first message."""

    name_of_setting_kept_from_first_message = "PreferredAdvancedAlgorithm"


@fault("sender-ignores-changed-preferred-enhanced-algorithm", breaks="MQQB-3.1.7.1.5-16", blind=True)
class SenderIgnoresChangedPreferredEnhancedAlgorithm(_EncryptionWithFirstSetting):
    """The sender encrypts with the PreferredEnhancedAlgorithm that was set when it encrypted its first message."""

    name_of_setting_kept_from_first_message = "PreferredEnhancedAlgorithm"


@fault("sender-ignores-changed-preferred-base-algorithm", breaks="MQQB-3.1.7.1.5-19", blind=True)
class SenderIgnoresChangedPreferredBaseAlgorithm(_EncryptionWithFirstSetting):
    """The sender encrypts with the PreferredBaseAlgorithm that was set when it encrypted its first message."""

    name_of_setting_kept_from_first_message = "PreferredBaseAlgorithm"


@fault("sender-ignores-changed-setting-of-40-bit-rc2-keys", breaks="MQQB-3.1.7.1.5-17", blind=True)
class SenderIgnoresChangedSettingOf40BitRc2Keys(_EncryptionWithFirstSetting):
    """The sender follows the value that SendEnhancedRC2Using40BitKeys had when it encrypted its first message."""

    name_of_setting_kept_from_first_message = "SendEnhancedRC2Using40BitKeys"


@fault("sender-symmetric-key-cache-emptied-when-session-closes", breaks="MQQB-3.1.7.1.5-21", blind=True)
class SenderSymmetricKeyCacheEmptiedWhenSessionCloses(SessionClosing):
    """The sender does not reuse a cached symmetric key on a later session, because it empties the cache when a session
    closes.
    """

    def close(self, session: Session, reason: str, now: Now) -> None:
        super().close(session, reason, now)
        self.qm.caches.SendSymmetricKeyCache.entries.clear()


@fault("sender-cached-time-of-new-key-is-sent-time-of-waiting-message", breaks="MQQB-3.1.7.1.5-31", blind=True)
class SenderCachedTimeOfNewKeyIsSentTimeOfWaitingMessage(MessageSecuring):
    """The sender sets CachedTime of a new symmetric key to SentTime of the message, which waited for its session."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        cache = self.qm.caches.SendSymmetricKeyCache
        before = list(cache.entries)
        encrypted = super().encrypt_body(session, message, packet, now)
        cache.entries[:] = [
            one if one in before else replace(one, CachedTime=packet.UserHeader.SentTime) for one in cache.entries
        ]
        return encrypted


class _CacheOfOneKey(AnyTimedCache):
    """A cache that takes no further entry while it has one."""

    def add(self, entry: CachedSymmetricKey) -> None:
        if not self.entries:
            super().add(entry)


add(
    "sender-symmetric-key-cache-second-key-omitted",
    ("MQQB-3.1.7.1.5-32", "MQQB-3.1.1.3-10"),
    "The sender adds no new symmetric key to SendSymmetricKeyCache while the cache has an entry.",
    replace_cache("SendSymmetricKeyCache", _CacheOfOneKey),
    blind=True,
)


@fault("sender-symmetric-key-cleanup-timer-restarted-by-second-entry", breaks="MQQB-3.1.7.1.5-34", blind=True)
class SenderSymmetricKeyCleanupTimerRestartedBySecondEntry(CacheTimers):
    """The sender restarts the cleanup timer of SendSymmetricKeyCache when it adds a second entry."""

    def start(self, now: Now) -> None:
        count = len(self.qm.caches.SendSymmetricKeyCache)
        if count > self.__dict__.get("entry_count", 0) > 0:
            self.qm.timers.stop(_SEND_KEY_CACHE_CLEANUP_TIMER)
        self.__dict__["entry_count"] = count
        super().start(now)


@fault("sender-symmetric-key-cleanup-timer-not-started-after-cleanup", breaks="MQQB-3.1.7.1.5-34", blind=True)
class SenderSymmetricKeyCleanupTimerNotStartedAfterCleanup(CacheTimers):
    """The sender does not start the cleanup timer of SendSymmetricKeyCache for a first entry after the timer had
    emptied the cache.
    """

    def on_cleanup_timer(self, name: TimerName, now: Now) -> None:
        super().on_cleanup_timer(name, now)
        if name is TimerName.SEND_SYMMETRIC_KEY_CACHE_CLEANUP and not len(self.qm.caches.SendSymmetricKeyCache):
            self.__dict__["has_message_expired"] = True

    def start(self, now: Now) -> None:
        super().start(now)
        if self.__dict__.get("has_message_expired"):
            self.qm.timers.stop(_SEND_KEY_CACHE_CLEANUP_TIMER)


def _remove_published_aes_key(qm: QueueManager) -> None:
    state = qm.enterprise.state
    published = state.LocalQueueManager.PublicEncryptionKeyList
    if published:
        keys = tuple(one for one in MqdsPublicKeys.parse(published).aPublicKeys if one.sProviderName != AES_PROVIDER)
        state.LocalQueueManager = replace(state.LocalQueueManager, PublicEncryptionKeyList=MqdsPublicKeys(keys).build())


def _swap_blobs_of_published_keys(qm: QueueManager) -> None:
    state = qm.enterprise.state
    published = state.LocalQueueManager.PublicEncryptionKeyList
    if published:
        keys = MqdsPublicKeys.parse(published).aPublicKeys
        blobs = [one.aBuf for one in keys][::-1]
        turned = tuple(replace(one, aBuf=blob) for one, blob in zip(keys, blobs, strict=True))
        state.LocalQueueManager = replace(
            state.LocalQueueManager, PublicEncryptionKeyList=MqdsPublicKeys(turned).build()
        )


add(
    "receiver-public-keys-aes-key-after-restart-omitted",
    "MQQB-3.1.7.1.5-10",
    "After a restart, the receiver has no public key for the AES provider.",
    change_core_at_restart(_remove_published_aes_key),
    blind=True,
)
add(
    "receiver-public-keys-after-restart-in-reverse",
    "MQQB-3.1.7.1.5-10",
    "After a restart, the receiver has the key of 512 bits for the AES provider and a key of 1024 bits for the Base "
    "provider.",
    change_core_at_restart(_swap_blobs_of_published_keys),
    blind=True,
)
