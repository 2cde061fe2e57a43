"""Faults of MS-MQQB 3.1.6.10 to 3.1.6.13 Cache Cleanup Timer Events that only special cases reveal: second occurrences,
other causes, boundary values.
"""

from __future__ import annotations

from harness.faults.registry import add
from harness.faults.timed_caches import Cache, replace_cache
from reference_qm.surface.clock import Now

RULES_OF_CACHES = {
    "ReceiveSymmetricKeyCache": "MQQB-3.1.6.10-04",
    "SendSymmetricKeyCache": "MQQB-3.1.6.11-04",
    "UserCertCache": "MQQB-3.1.6.13-04",
}
"""The rule about the next cleanup of each cache."""


class WholeLifetime(Cache):
    """Make the next cleanup of a cache follow one lifetime later, although the oldest entry of the cache
    may expire earlier.
    """

    def delete_old_entries(self, now: Now, scale: int = 1) -> int | None:
        """Delete the old entries; return the lifetime of an entry."""
        again_ms = super().delete_old_entries(now, scale)
        return None if again_ms is None or self.lifetime_ms is None else self.lifetime_ms // scale


for _cache, _next in RULES_OF_CACHES.items():
    _name = {"R": "received-keys", "S": "sent-keys", "U": "certificates"}[_cache[0]]
    add(
        f"cleanup-of-{_name}-after-whole-lifetime",
        _next,
        f"The queue manager always restarts the cleanup timer of {_cache} with the full lifetime, although the oldest "
        "entry may expire earlier.",
        replace_cache(_cache, WholeLifetime),
        blind=True,
    )
