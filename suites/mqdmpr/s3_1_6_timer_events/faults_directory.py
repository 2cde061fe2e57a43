"""Faults that break rules of MS-MQDMPR 3.1.6.1 and 3.1.6.2 about the timers after which sites and gates are read again
from the directory.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import omit_step
from harness.faults.registry import add
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.directory import QueueManager, Site
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now

add(
    "sites-update-timer-reads-nothing",
    ("MQDMPR-3.1.6.1-04", "MQDMPR-3.1.6.1-10"),
    "The queue manager reads its sites only at its start.",
    omit_step(DirectoryClient.on_directory_sites_update_timer),
)
add(
    "gates-update-timer-reads-nothing",
    ("MQDMPR-3.1.6.2-05", "MQDMPR-3.1.6.2-11"),
    "The queue manager reads its site gates only at its start.",
    omit_step(DirectoryClient.on_directory_site_gates_update_timer),
)


@fault("sites-update-keeps-old-site-attributes", breaks="MQDMPR-3.1.6.1-10")
class SitesUpdateKeepsOldSiteAttributes(DirectoryClient):
    """The queue manager reads its sites again, but keeps their old attributes."""

    def on_directory_sites_update_timer(self, now: Now) -> None:
        self._start_timer(TimerName.DIRECTORY_SITES_UPDATE, now)
        self.qm.directory_link.read(lambda answer, now: None)


@fault("site-gates-update-keeps-old-gate-attributes", breaks="MQDMPR-3.1.6.2-11")
class SiteGatesUpdateKeepsOldGateAttributes(DirectoryClient):
    """The queue manager reads its site gates again, but keeps their old attributes."""

    def on_directory_site_gates_update_timer(self, now: Now) -> None:
        self._start_timer(TimerName.DIRECTORY_SITE_GATES_UPDATE, now)
        self.qm.directory_link.read(lambda answer, now: None)


@fault("sites-update-reads-wrong-site", breaks="MQDMPR-3.1.6.1-07")
class SitesUpdateReadsWrongSite(DirectoryClient):
    """When the queue manager updates its sites, it reads the last site of the directory instead of each of its own
    sites.
    """

    def on_directory_sites_update_timer(self, now: Now) -> None:
        super().on_directory_sites_update_timer(now)
        state = self.qm.enterprise.state
        last = [one for one in self.qm.enterprise.directory._objects.values() if isinstance(one, Site)][-1]
        state.SiteCollection = tuple(
            replace(last, SiteGateCollection=site.SiteGateCollection) for site in state.SiteCollection
        )


@fault("site-gates-update-reads-wrong-queue-manager", breaks="MQDMPR-3.1.6.2-08")
class SiteGatesUpdateReadsWrongQueueManager(DirectoryClient):
    """When the queue manager updates its site gates, it reads the last queue manager of the directory instead of each
    gate.
    """

    def on_directory_site_gates_update_timer(self, now: Now) -> None:
        super().on_directory_site_gates_update_timer(now)
        state = self.qm.enterprise.state
        last = [one for one in self.qm.enterprise.directory._objects.values() if isinstance(one, QueueManager)][-1]
        state.SiteCollection = tuple(
            replace(site, SiteGateCollection=tuple(last for _ in site.SiteGateCollection))
            for site in state.SiteCollection
        )
