"""Steps that checks of the security caches share: they read the entries and the cleanup timers."""

from __future__ import annotations

from typing import Any

from harness.errors import ConformanceFailure
from harness.expectations import Expectation, between
from harness.sut.provisioning import USERS
from harness.sut.sut import Sut
from suites.mqqb.steps.opening import CLOCK_TOLERANCE_S

RECEIVE, SEND, CERTIFICATES = "ReceiveSymmetricKeyCache", "SendSymmetricKeyCache", "UserCertCache"


class Caches:
    """The security caches in the SUT's abstract data model."""

    RECEIVED_KEYS, SENT_KEYS, CERTIFICATES = RECEIVE, SEND, CERTIFICATES

    def __init__(self, sut: Sut) -> None:
        self.sut = sut

    def entries(self, name: str) -> list[dict[str, Any]]:
        """Return the entries of a cache."""
        entries = inspect_queue_manager(self.sut)[name]
        if not isinstance(entries, list):
            raise ConformanceFailure(f"the SUT shows no entries of {name}")
        return entries

    def users(self) -> list[str]:
        """Return the names of the users in UserCertCache, in the order of the cache."""
        known = {user.security_id.hex(): user.name for user in USERS}
        return [known.get(entry["SecurityID"], "?") for entry in self.entries(CERTIFICATES)]

    def remaining_ms(self, name: str) -> int | None:
        """Return the remaining time of a cache's cleanup timer in ms, or None if the timer does not run."""
        left = inspect_queue_manager(self.sut)["timers"][f"{name}Cleanup"]
        return None if left is None else int(left)


def inspect_queue_manager(sut: Sut) -> dict[str, Any]:
    """Return the elements of MS-MQQB 3.1.1.3 that the SUT shows."""
    return sut.inspect()["QueueManager"]


def read_cache_entries(sut: Sut, name: str) -> list[dict[str, Any]]:
    """Return the entries of a cache."""
    return Caches(sut).entries(name)


def read_cached_users(sut: Sut) -> list[str]:
    """Return the names of the users in UserCertCache, in the order of the cache."""
    return Caches(sut).users()


def remaining_ms(sut: Sut, name: str) -> int | None:
    """Return the remaining time of a cache's cleanup timer in ms, or None if the timer does not run."""
    return Caches(sut).remaining_ms(name)


def expect_current_time(now_s: int) -> Expectation:
    """Return an expectation of the current time, in seconds since 1970, with a tolerance."""
    return between(now_s - CLOCK_TOLERANCE_S, now_s + CLOCK_TOLERANCE_S)
