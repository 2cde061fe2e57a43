"""MS-MQQB 3.1.1.3.3, 3.1.1.3.4, 3.1.3.1, 3.1.6.10 to 3.1.6.13: sizes and lifetimes of the caches."""

from dataclasses import dataclass

import pytest

from reference_qm.codec import MisuseError
from reference_qm.security import CachedSymmetricKey, SecurityCaches, SecuritySettings
from reference_qm.security.caches import TimedCache
from reference_qm.surface.clock import Now


@dataclass(frozen=True)
class Entry:
    name: int
    CachedTime: int


def at(seconds: int) -> Now:
    return Now(5_000 + 1_000 * seconds, 1_000_000 + seconds)


def put(cache: TimedCache, name: int, seconds: int) -> None:
    cache.add(Entry(name, at(seconds).utc_s))


def has(cache: TimedCache, name: int) -> bool:
    return cache.find(lambda entry: entry.name == name) is not None


def names(cache: TimedCache) -> set[int]:
    return {name for name in range(300) if has(cache, name)}


def test_security_settings_have_documented_defaults():
    settings = SecuritySettings()
    assert (settings.UserCertCacheSize, settings.UserCertLifetime) == (53, 1_200_000)
    assert (settings.ReceiveSymmetricKeyCacheSize, settings.SendSymmetricKeyCacheSize) == (127, 53)
    assert (settings.SymmetricKeyShortLifetime, settings.SymmetricKeyLongLifetime) == (600_000, 43_200_000)
    assert settings.PreferredAdvancedAlgorithm == 0x6610
    assert (settings.PreferredEnhancedAlgorithm, settings.PreferredBaseAlgorithm) == (0x6801, 0x6801)
    assert not settings.SendEnhancedRC2Using40BitKeys
    assert not settings.RejectEnhancedRC2Using40BitKeys


@pytest.mark.parametrize(("size", "discarded"), [(53, 26), (127, 63), (2, 1), (1, 1)])
def test_full_key_cache_discards_its_oldest_half(size, discarded):
    cache = TimedCache[Entry](size, 1_000)
    for number in range(size):
        put(cache, number, seconds=size - number)  # the first is the youngest
    assert len(cache) == size
    put(cache, 200, seconds=500)
    assert names(cache) == set(range(size - discarded)) | {200}


def test_key_cache_cleanup_deletes_expired_entries():
    cache = TimedCache[Entry](10, 600_000)
    for number, seconds in enumerate((0, 1, 300)):
        put(cache, number, seconds)
    cache.delete_old_entries(at(600))
    assert names(cache) == {0, 1, 2}, "exactly as old as the lifetime is not older"
    assert cache.delete_old_entries(at(601)) == 600_000 + 60_000 - 600_000
    assert names(cache) == {1, 2}
    assert cache.delete_old_entries(at(661)) == 600_000 + 60_000 - 361_000
    assert names(cache) == {2}
    assert cache.delete_old_entries(at(961)) is None
    assert names(cache) == set()


def test_timer_scale_shortens_every_key_cache_duration():
    cache = TimedCache[Entry](10, 600_000)
    put(cache, 1, seconds=0)
    put(cache, 2, seconds=10)
    assert cache.delete_old_entries(at(31), scale=20) == 30_000 + 3_000 - 21_000
    assert names(cache) == {2}


def test_key_cache_entry_is_found_until_the_cleanup():
    cache = TimedCache[Entry](10, 1_000)
    put(cache, 1, seconds=0)
    assert cache.find(lambda entry: entry.CachedTime < at(100).utc_s) == Entry(1, at(0).utc_s)


def test_key_cache_without_lifetime_keeps_its_entries():
    cache = TimedCache[Entry](10, None)
    put(cache, 1, seconds=0)
    assert cache.delete_old_entries(at(10**9)) is None
    assert names(cache) == {1}


def test_key_cache_has_room_for_at_least_one_entry():
    with pytest.raises(MisuseError, match="at least"):
        TimedCache[Entry](0, 1)


KEYED = (
    "ReceiveSymmetricKeyCache",
    "ReceiveBaseSymmetricKeyCache",
    "SendSymmetricKeyCache",
    "SendBaseSymmetricKeyCache",
)


@pytest.mark.parametrize(
    ("settings", "lifetimes_ms"),
    [
        ({}, (600_000, None, 600_000, 600_000)),
        ({"keeps_received_keys_forever": True}, (None, None, 600_000, 600_000)),
        ({"gives_sent_keys_long_lifetime": True}, (600_000, None, 43_200_000, 600_000)),
    ],
)
def test_key_caches_have_documented_lifetimes(settings, lifetimes_ms):
    """The caches of keys have the lifetimes of the notes <22>, <61>, <63>, <64> and <69> of MS-MQQB."""
    caches = SecurityCaches(SecuritySettings(**settings))
    for name, lifetime_ms in zip(KEYED, lifetimes_ms, strict=True):
        assert getattr(caches, name).lifetime_ms == lifetime_ms


@pytest.mark.parametrize(
    ("base_caches", "level", "receiving", "sending"),
    [
        (False, 1, "ReceiveSymmetricKeyCache", "SendSymmetricKeyCache"),
        (False, 5, "ReceiveSymmetricKeyCache", "SendSymmetricKeyCache"),
        (True, 1, "ReceiveBaseSymmetricKeyCache", "SendBaseSymmetricKeyCache"),
        (True, 3, "ReceiveSymmetricKeyCache", "SendSymmetricKeyCache"),
    ],
)
def test_privacy_level_selects_the_key_cache(base_caches, level, receiving, sending):
    """The privacy level of a message selects the cache of its key, by the notes <59>, <60>, <67> and <68>
    of MS-MQQB.
    """
    caches = SecurityCaches(SecuritySettings(has_separate_base_caches=base_caches))
    assert caches.get_receiving_cache(level) is getattr(caches, receiving)
    assert caches.get_sending_cache(level) is getattr(caches, sending)


def test_repr_of_a_cached_key_contains_no_key_bytes():
    key = CachedSymmetricKey(None, "CSP", 1, b"blob", b"top secret", 0)
    assert "secret" not in repr(key)
