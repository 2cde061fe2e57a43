"""Faults that break rules of MS-MQQB 3.1.1.3 Queue Manager State: caches that do not list all their entries,
and a history that is not empty at the start.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.timed_caches import AnyTimedCache, replace_cache
from reference_qm.codec import NULL_GUID, MessageIdentifier, UserMessagePacket
from reference_qm.core.enterprise.queue_manager_initialization import QueueManagerInitialization
from reference_qm.core.part import QM
from reference_qm.core.transfer.message_history import MessageHistory
from reference_qm.model.adm import MessageIDHistoryEntry
from reference_qm.surface.clock import Now


class KeyOrCertificateCacheWithoutSecondEntry(AnyTimedCache):
    """A cache that stores no second entry."""

    def add(self, entry: Any) -> None:
        if not self.entries:
            super().add(entry)


class CacheWithOneSymmetricKeyPerQueueManager(AnyTimedCache):
    """A cache in which a new key replaces the other keys of its queue manager."""

    def add(self, entry: Any) -> None:
        self.entries = [kept for kept in self.entries if kept.RemoteQMGuid != entry.RemoteQMGuid]
        super().add(entry)


class CacheWithOneSymmetricKeyPerAlgorithm(AnyTimedCache):
    """A cache in which a new key replaces the other keys of its algorithm."""

    def add(self, entry: Any) -> None:
        self.entries = [kept for kept in self.entries if kept.CryptoAlgorithm != entry.CryptoAlgorithm]
        super().add(entry)


class KeyOrCertificateCacheLimitedToTwoEntries(AnyTimedCache):
    """A cache that removes its oldest entry when a third entry is added."""

    def add(self, entry: Any) -> None:
        del self.entries[: max(0, len(self.entries) - 1)]
        super().add(entry)


class CacheRepeatingFirstCertificate(AnyTimedCache):
    """A cache that stores the certificate of its first entry in every later entry."""

    def add(self, entry: Any) -> None:
        super().add(replace(entry, UserCert=self.entries[0].UserCert) if self.entries else entry)


for _cache, _rule, _cache_classes in (
    (
        "UserCertCache",
        "MQQB-3.1.1.3-02",
        (
            KeyOrCertificateCacheWithoutSecondEntry,
            KeyOrCertificateCacheLimitedToTwoEntries,
            CacheRepeatingFirstCertificate,
        ),
    ),
    (
        "ReceiveSymmetricKeyCache",
        "MQQB-3.1.1.3-06",
        (
            KeyOrCertificateCacheWithoutSecondEntry,
            CacheWithOneSymmetricKeyPerQueueManager,
            CacheWithOneSymmetricKeyPerAlgorithm,
        ),
    ),
    (
        "SendSymmetricKeyCache",
        "MQQB-3.1.1.3-10",
        (
            KeyOrCertificateCacheWithoutSecondEntry,
            CacheWithOneSymmetricKeyPerQueueManager,
            CacheWithOneSymmetricKeyPerAlgorithm,
        ),
    ),
):
    for _cache_class in _cache_classes:
        _words = {
            KeyOrCertificateCacheWithoutSecondEntry: ("first-entry-only", "stores no second entry"),
            CacheWithOneSymmetricKeyPerQueueManager: (
                "one-entry-per-queue-manager",
                "stores one key for each queue manager",
            ),
            CacheWithOneSymmetricKeyPerAlgorithm: ("one-entry-per-algorithm", "stores one key for each algorithm"),
            KeyOrCertificateCacheLimitedToTwoEntries: ("two-entries-at-most", "stores at most two entries"),
            CacheRepeatingFirstCertificate: ("certificate-of-first-user", "stores the certificate of the first entry"),
        }[_cache_class]
        _cache_words = {
            "UserCertCache": "user-cert-cache",
            "ReceiveSymmetricKeyCache": "receive-symmetric-key-cache",
            "SendSymmetricKeyCache": "send-symmetric-key-cache",
        }[_cache]
        add(
            f"{_cache_words}-{_words[0]}",
            _rule,
            f"{_cache} of the queue manager {_words[1]}, although the cache has room.",
            replace_cache(_cache, _cache_class),
            blind=True,
        )


@fault("receiver-history-contains-own-identifier-at-start", breaks="MQQB-3.1.1.3-21", blind=True)
class ReceiverHistoryContainsOwnIdentifierAtStart(QueueManagerInitialization):
    """The receiver starts with an entry of its own identifier and the ordinal 0 in MessageIDHistoryTable."""

    def initialize_globally(self, now: Now) -> None:
        if not len(self.qm.adm.MessageIDHistoryTable):
            identifier = MessageIdentifier(self.qm.adm.Identifier, 0)
            self.qm.adm.MessageIDHistoryTable.insert(MessageIDHistoryEntry(identifier, now.utc_s))
        super().initialize_globally(now)


@fault("receiver-history-contains-null-guid-after-restart", breaks="MQQB-3.1.1.3-21", blind=True)
class ReceiverHistoryContainsNullGuidAfterRestart(QueueManagerInitialization):
    """After a restart without a stored history, MessageIDHistoryTable contains an entry whose GUID is zero."""

    def initialize_globally(self, now: Now) -> None:
        if self.qm.disk.used and not len(self.qm.adm.MessageIDHistoryTable):
            identifier = MessageIdentifier(NULL_GUID, 1)
            self.qm.adm.MessageIDHistoryTable.insert(MessageIDHistoryEntry(identifier, now.utc_s))
        super().initialize_globally(now)


@fault("receiver-first-message-with-id-1-treated-as-duplicate", breaks="MQQB-3.1.1.3-21", blind=True)
class ReceiverFirstMessageWithId1TreatedAsDuplicate(MessageHistory):
    """The receiver discards the first message after its start as a duplicate if MessageID of the message is 1."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.is_first = True

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        is_first, self.is_first = self.is_first, False
        if is_first and packet.UserHeader.MessageID == 1:
            return MessageIDHistoryEntry(MessageIdentifier(packet.UserHeader.SourceQueueManager, 1), 0)
        return super().find_duplicate(packet)
