"""MS-MQQB 3.1.6.10 to 3.1.6.13: the cleanup timers of the security caches in the core."""

import pytest
from core_secure import PLAIN_2, secure_pair

from reference_qm.core.names.cache_timers import CACHE_TIMERS
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.commands import SetTimers

MINUTE_MS = 60_000


def remaining(host, name):
    return host.core.timers.remaining_ms(TimerKey(name, 0), host.network.now.monotonic_ms)


@pytest.mark.parametrize(
    ("name", "who", "lifetime_ms"),
    [
        (TimerName.SEND_SYMMETRIC_KEY_CACHE_CLEANUP, 0, 600_000),
        (TimerName.RECEIVE_SYMMETRIC_KEY_CACHE_CLEANUP, 1, 600_000),
        (TimerName.USER_CERT_CACHE_CLEANUP, 1, 1_200_000),
    ],
)
def test_an_entry_leaves_its_cache_after_its_lifetime(name, who, lifetime_ms):
    hosts = secure_pair()
    host = hosts[who]
    cache = getattr(host.core.caches, CACHE_TIMERS[name])
    assert remaining(host, name) is None
    hosts[0].send(PLAIN_2, privacy_level="advanced", authentication_level="sig20")
    assert (len(cache), remaining(host, name)) == (1, lifetime_ms)
    host.network.advance(lifetime_ms)
    assert (len(cache), remaining(host, name)) == (1, MINUTE_MS), "exactly as old as the lifetime is not older"
    host.network.advance(MINUTE_MS)
    assert (len(cache), remaining(host, name)) == (0, None)


def test_timers_run_as_much_faster_as_the_scale_says():
    sender, _ = secure_pair()
    sender.ask(SetTimers(scale=20))
    sender.send(PLAIN_2, privacy_level="advanced")
    assert remaining(sender, TimerName.SEND_SYMMETRIC_KEY_CACHE_CLEANUP) == 30_000
    sender.network.advance(30_000 + 3_000)
    assert len(sender.core.caches.SendSymmetricKeyCache) == 0


def test_messages_without_security_start_no_timer():
    sender, receiver = secure_pair()
    sender.send(PLAIN_2)
    assert [remaining(host, name) for host in (sender, receiver) for name in CACHE_TIMERS] == [None] * 8


def test_a_restart_empties_the_caches():
    """3.1.3.1: they are initialized to be empty."""
    sender, _ = secure_pair()
    sender.send(PLAIN_2, privacy_level="advanced")
    sender.restart()
    assert len(sender.core.caches.SendSymmetricKeyCache) == 0
