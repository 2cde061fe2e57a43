"""Faults that break rules of MS-MQDMPR 3.1.6 Timer Events."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.directory.updating import directory_sites_update
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered


@fault("queue-manager-site-with-same-name-not-updated", breaks="MQDMPR-3.1.6.1-10", blind=True)
class QueueManagerSiteWithSameNameNotUpdated(DirectoryClient):
    """The queue manager does not store the new attributes of a site if the Name of the site has not changed."""

    def on_directory_sites_update_timer(self, now: Now) -> None:
        enterprise = self.qm.enterprise

        def update_renamed_sites(answer: DirectoryAnswered, now: Now) -> None:
            before = {site.Identifier: site for site in enterprise.state.SiteCollection}
            directory_sites_update(enterprise.directory, enterprise.state)
            enterprise.state.SiteCollection = tuple(
                before[site.Identifier] if site.Name == before[site.Identifier].Name else site
                for site in enterprise.state.SiteCollection
            )

        self._start_timer(TimerName.DIRECTORY_SITES_UPDATE, now)
        self.qm.directory_link.read(update_renamed_sites)
