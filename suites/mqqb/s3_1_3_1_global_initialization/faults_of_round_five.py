"""Blind violations of round five: MS-MQQB 3.1.3.1 Global Initialization."""

from __future__ import annotations

from typing import Any

from harness.faults.registry import FaultyCore, add
from reference_qm.security.caches import TimedCache


def _keep_newest_base_key_at_restart(faulty: FaultyCore) -> None:
    newest: list[Any] = []

    class KeyKeepingCache(TimedCache[Any]):
        """A cache whose newest entry survives a restart."""

        def add(self, entry: Any) -> None:
            super().add(entry)
            newest[:] = [entry]

    def install_cache(faulty: FaultyCore) -> None:
        caches = faulty.core.caches
        caches.ReceiveBaseSymmetricKeyCache = KeyKeepingCache(1, None)
        caches.configure(caches.settings)
        caches.ReceiveBaseSymmetricKeyCache.entries = list(newest)

    install_cache(faulty)
    faulty.actions_at_restart.append(install_cache)


add(
    "receiver-newest-base-key-in-cache-after-restart",
    "MQQB-3.1.3.1-12",
    "After a restart, ReceiveBaseSymmetricKeyCache of the receiver contains the newest key from before the restart.",
    _keep_newest_base_key_at_restart,
    blind=True,
)
