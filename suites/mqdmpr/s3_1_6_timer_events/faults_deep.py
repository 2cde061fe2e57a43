"""Faults of MS-MQDMPR 3.1.6 Timer Events with several sites, gates and expirations."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


@fault("sites-update-timer-runs-once", breaks="MQDMPR-3.1.6.1-10", blind=True)
class SitesUpdateTimerRunsOnce(DirectoryClient):
    """The queue manager updates its sites only at the first expiration of the timer."""

    def on_directory_sites_update_timer(self, now: Now) -> None:
        super().on_directory_sites_update_timer(now)
        self.qm.timers.stop(TimerKey(TimerName.DIRECTORY_SITES_UPDATE, 0))


@fault("gates-update-timer-runs-once", breaks="MQDMPR-3.1.6.2-11", blind=True)
class GatesUpdateTimerRunsOnce(DirectoryClient):
    """The queue manager updates its site gates only at the first expiration of the timer."""

    def on_directory_site_gates_update_timer(self, now: Now) -> None:
        super().on_directory_site_gates_update_timer(now)
        self.qm.timers.stop(TimerKey(TimerName.DIRECTORY_SITE_GATES_UPDATE, 0))


@fault("sites-update-loses-gates", breaks="MQDMPR-3.1.6.1-10", blind=True)
class SitesUpdateLosesGates(DirectoryClient):
    """When the queue manager updates its sites, it removes their gates."""

    def on_directory_sites_update_timer(self, now: Now) -> None:
        super().on_directory_sites_update_timer(now)
        state = self.qm.enterprise.state
        state.SiteCollection = tuple(replace(one, SiteGateCollection=()) for one in state.SiteCollection)
