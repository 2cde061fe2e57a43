"""Faults that break rules of MS-MQDMPR 3.1.6 Timer Events."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.part import QM
from reference_qm.directory import Site
from reference_qm.directory.updating import directory_sites_update
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered


@fault("queue-manager-site-updated-only-once", breaks="MQDMPR-3.1.6.1-10", blind=True)
class QueueManagerSiteUpdatedOnlyOnce(DirectoryClient):
    """After the first Directory Sites Update that changes a site, the queue manager stores no further changes of
    that site.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.updated: dict[UUID | None, Site] = {}

    def on_directory_sites_update_timer(self, now: Now) -> None:
        enterprise = self.qm.enterprise

        def update_sites_once(answer: DirectoryAnswered, now: Now) -> None:
            before = enterprise.state.SiteCollection
            directory_sites_update(enterprise.directory, enterprise.state)
            sites = tuple(self.updated.get(site.Identifier, site) for site in enterprise.state.SiteCollection)
            self.updated.update({new.Identifier: new for old, new in zip(before, sites, strict=True) if old != new})
            enterprise.state.SiteCollection = sites

        self._start_timer(TimerName.DIRECTORY_SITES_UPDATE, now)
        self.qm.directory_link.read(update_sites_once)
