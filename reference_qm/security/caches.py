"""Implements the caches of symmetric keys and user certificates.

Spec: MS-MQQB 3.1.1.3, 3.1.1.3.3, 3.1.1.3.4, 3.1.3.1, 3.1.6.10 to 3.1.6.13.

The caller passes the time. CachedTime is in s since 1970 UTC, like the time that events receive. Entries are removed
only by the cleanup event and when a cache is full, never by a lookup.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar
from uuid import UUID

from reference_qm.codec import MisuseError
from reference_qm.security.algorithms import PrivacyLevel
from reference_qm.security.directory_keys import UserSignCert
from reference_qm.surface.clock import Now

MS_PER_MINUTE = 60_000


@dataclass(frozen=True, slots=True)
class SecuritySettings:
    """The settings that MS-MQQB 3.1.3.1 initializes when the queue manager starts. Sizes are numbers of entries, and
    lifetimes are in ms. Three settings depend on the release of Windows. ``has_separate_base_caches``: the keys of the
    Base provider are in separate caches (notes <22>, <23>, <59>, <60>, <67> to <69>). ``keeps_received_keys_forever``:
    the caches for received messages are never cleaned up (<61>). ``gives_sent_keys_long_lifetime``: the keys in
    SendSymmetricKeyCache live for SymmetricKeyLongLifetime (<63>, <64>, <69>).
    """

    UserCertCacheSize: int = 53
    UserCertLifetime: int = 1_200_000
    ReceiveSymmetricKeyCacheSize: int = 127
    SendSymmetricKeyCacheSize: int = 53
    SymmetricKeyShortLifetime: int = 600_000
    SymmetricKeyLongLifetime: int = 43_200_000
    PreferredAdvancedAlgorithm: int = 0x6610
    PreferredEnhancedAlgorithm: int = 0x6801
    PreferredBaseAlgorithm: int = 0x6801
    SendEnhancedRC2Using40BitKeys: bool = False
    RejectEnhancedRC2Using40BitKeys: bool = False
    has_separate_base_caches: bool = False
    keeps_received_keys_forever: bool = False
    gives_sent_keys_long_lifetime: bool = False


@dataclass(frozen=True, slots=True)
class CachedSymmetricKey:
    """A symmetric key and its SIMPLEBLOB. Spec: MS-MQQB 3.1.1.3.3. CachedTime is in s UTC. ``repr`` does not show
    the key.
    """

    RemoteQMGuid: UUID
    CryptoServiceProvider: str
    CryptoAlgorithm: int
    EncryptedSymmetricKey: bytes
    SymmetricKey: bytes
    CachedTime: int

    def __repr__(self) -> str:
        return f"CachedSymmetricKey({self.RemoteQMGuid}, {self.CryptoServiceProvider!r}, 0x{self.CryptoAlgorithm:04X})"


@dataclass(frozen=True, slots=True)
class CachedUserCert:
    """A certificate that, according to the directory, belongs to a user. Spec: MS-MQQB 3.1.1.3.4. SecurityID is bytes,
    and CachedTime is in s.
    """

    UserCert: UserSignCert
    SecurityID: bytes
    CachedTime: int


class _TimedCacheEntry(Protocol):
    @property
    def CachedTime(self) -> int: ...  # noqa: N802 - the printed name


Entry = TypeVar("Entry", bound=_TimedCacheEntry)


class TimedCache(Generic[Entry]):
    """A list of entries with a size limit and, unless ``lifetime_ms`` is None, a lifetime.

    Spec: MS-MQQB 3.1.5.8.3, 3.1.7.1.5 (size), 3.1.6.10 to 3.1.6.13 (lifetime). After an addition, the caller starts
    the cleanup timer with the duration ``lifetime_ms`` if the timer is not running. ``scale`` divides every
    duration, as for timers.
    """

    __slots__ = ("_size", "entries", "lifetime_ms")

    def __init__(self, size: int, lifetime_ms: int | None) -> None:
        self.entries: list[Entry] = []
        self.resize(size, lifetime_ms)

    def resize(self, size: int, lifetime_ms: int | None) -> None:
        """Change the maximum size and the lifetime of the cache. The entries stay in the cache."""
        if size < 1:
            raise MisuseError(f"a cache must have room for at least 1 entry, not {size}")
        self._size = size
        self.lifetime_ms = lifetime_ms

    def __len__(self) -> int:
        return len(self.entries)

    def find(self, matches: Callable[[Entry], bool]) -> Entry | None:
        """Return the first entry that meets a condition, or None if no entry meets it."""
        return next((entry for entry in self.entries if matches(entry)), None)

    def add(self, entry: Entry) -> None:
        """Add an entry. If the cache is full, remove the oldest half of its entries first."""
        if len(self.entries) >= self._size:
            self.entries.sort(key=lambda kept: kept.CachedTime)
            del self.entries[: max(1, self._size // 2)]
        self.entries.append(entry)

    def delete_old_entries(self, now: Now, scale: int = 1) -> int | None:
        """Delete the entries that are older than the lifetime.

        Return the duration of the next cleanup timer in ms, or None if no entry is left.
        """
        if self.lifetime_ms is None:
            return None
        lifetime_ms, now_ms = self.lifetime_ms // scale, 1000 * now.utc_s
        self.entries = [entry for entry in self.entries if 1000 * entry.CachedTime >= now_ms - lifetime_ms]
        if not self.entries:
            return None
        oldest_ms = 1000 * min(entry.CachedTime for entry in self.entries)
        return lifetime_ms + MS_PER_MINUTE // scale - (now_ms - oldest_ms)


class SecurityCaches:
    """The five caches of a queue manager, which are empty at the start. Spec: MS-MQQB 3.1.1.3, 3.1.3.1."""

    __slots__ = (
        "ReceiveBaseSymmetricKeyCache",
        "ReceiveSymmetricKeyCache",
        "SendBaseSymmetricKeyCache",
        "SendSymmetricKeyCache",
        "UserCertCache",
        "settings",
    )

    def __init__(self, settings: SecuritySettings) -> None:
        self.UserCertCache = TimedCache[CachedUserCert](1, None)
        self.ReceiveSymmetricKeyCache = TimedCache[CachedSymmetricKey](1, None)
        self.ReceiveBaseSymmetricKeyCache = TimedCache[CachedSymmetricKey](1, None)
        self.SendSymmetricKeyCache = TimedCache[CachedSymmetricKey](1, None)
        self.SendBaseSymmetricKeyCache = TimedCache[CachedSymmetricKey](1, None)
        self.configure(settings)

    def configure(self, settings: SecuritySettings) -> None:
        """Change the sizes and lifetimes of the caches, and the settings that depend on the release of Windows."""
        self.settings = settings
        short, received = settings.SymmetricKeyShortLifetime, settings.ReceiveSymmetricKeyCacheSize
        sent = settings.SendSymmetricKeyCacheSize
        self.UserCertCache.resize(settings.UserCertCacheSize, settings.UserCertLifetime)
        self.ReceiveSymmetricKeyCache.resize(received, None if settings.keeps_received_keys_forever else short)
        self.ReceiveBaseSymmetricKeyCache.resize(received, None)
        long = settings.SymmetricKeyLongLifetime
        self.SendSymmetricKeyCache.resize(sent, long if settings.gives_sent_keys_long_lifetime else short)
        self.SendBaseSymmetricKeyCache.resize(sent, short)

    def get_receiving_cache(self, level: int) -> TimedCache[CachedSymmetricKey]:
        """Return the cache for the keys of received messages with the given PrivacyLevel (u32)."""
        base = self.settings.has_separate_base_caches and level == PrivacyLevel.BASE
        return self.ReceiveBaseSymmetricKeyCache if base else self.ReceiveSymmetricKeyCache

    def get_sending_cache(self, level: int) -> TimedCache[CachedSymmetricKey]:
        """Return the cache for the keys of sent messages with the given PrivacyLevel (u32)."""
        base = self.settings.has_separate_base_caches and level == PrivacyLevel.BASE
        return self.SendBaseSymmetricKeyCache if base else self.SendSymmetricKeyCache
