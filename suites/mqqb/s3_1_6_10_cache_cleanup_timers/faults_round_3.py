"""Faults that break rules of MS-MQQB 3.1.6.10 to 3.1.6.13, the cleanup timers of the caches."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.names.cache_timers import CacheTimers
from reference_qm.core.part import QM
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


@fault("receiver-receive-symmetric-key-cache-cleaned-up-until-empty-once", breaks="MQQB-3.1.6.10-01", blind=True)
class ReceiverReceiveSymmetricKeyCacheCleanedUpUntilEmptyOnce(CacheTimers):
    """The receiver does nothing when the ReceiveSymmetricKeyCache Cleanup Timer expires after an earlier cleanup has
    emptied the cache.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.emptied = False

    def on_cleanup_timer(self, name: TimerName, now: Now) -> None:
        if name is not TimerName.RECEIVE_SYMMETRIC_KEY_CACHE_CLEANUP:
            super().on_cleanup_timer(name, now)
        elif not self.emptied:
            super().on_cleanup_timer(name, now)
            self.emptied = not len(self.qm.caches.ReceiveSymmetricKeyCache)
