"""Faults that break rules of MS-MQDMPR 3.1.6 Timer Events, written without knowledge of the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


@fault("queue-manager-sites-update-reads-sites-at-first-expiry-only", breaks="MQDMPR-3.1.6.1-07", blind=True)
class QueueManagerSitesUpdateReadsSitesAtFirstExpiryOnly(DirectoryClient):
    """The queue manager reads the objects of its sites only at the first expiry of the Directory Sites Update
    Timer, and later only restarts the timer.
    """

    def on_directory_sites_update_timer(self, now: Now) -> None:
        if vars(self).get("has_read_sites"):
            self._start_timer(TimerName.DIRECTORY_SITES_UPDATE, now)
            return
        vars(self)["has_read_sites"] = True
        super().on_directory_sites_update_timer(now)
