"""Faults that break rules of MS-MQDMPR 3.1.6.1 and 3.1.6.2 for some sites and gates, or at later expiries."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.directory.objects import Site
from reference_qm.surface.clock import Now

_SiteCollection = tuple[Site, ...]


class _SitesUpdateChanger(DirectoryClient):
    """Change the sites after the Directory Sites Update."""

    timer_expiry_count = 0

    def on_directory_sites_update_timer(self, now: Now) -> None:
        self.timer_expiry_count += 1
        state = self.qm.enterprise.state
        before = state.SiteCollection

        def change_sites() -> None:
            state.SiteCollection = self.change_sites(before, state.SiteCollection)

        super().on_directory_sites_update_timer(now)
        self.qm.directory_link.read(lambda answer, at: change_sites())

    def change_sites(self, before: _SiteCollection, after: _SiteCollection) -> _SiteCollection:
        raise NotImplementedError


class _SiteGatesUpdateChanger(DirectoryClient):
    """Change the sites after the Directory Site Gates Update."""

    timer_expiry_count = 0

    def on_directory_site_gates_update_timer(self, now: Now) -> None:
        self.timer_expiry_count += 1
        state = self.qm.enterprise.state
        before = state.SiteCollection

        def change_sites() -> None:
            state.SiteCollection = self.change_sites(before, state.SiteCollection)

        super().on_directory_site_gates_update_timer(now)
        self.qm.directory_link.read(lambda answer, at: change_sites())

    def change_sites(self, before: _SiteCollection, after: _SiteCollection) -> _SiteCollection:
        raise NotImplementedError


@fault("queue-manager-sites-read-again-only-at-first-expiry", breaks="MQDMPR-3.1.6.1-04", blind=True)
class QueueManagerSitesReadAgainOnlyAtFirstExpiry(_SitesUpdateChanger):
    """The queue manager updates its sites only when the Directory Sites Update Timer expires for the first time."""

    def change_sites(self, before: _SiteCollection, after: _SiteCollection) -> _SiteCollection:
        return after if self.timer_expiry_count == 1 else before


@fault("queue-manager-site-gates-update-stores-gates-at-first-expiry-only", breaks="MQDMPR-3.1.6.2-11", blind=True)
class QueueManagerSiteGatesUpdateStoresGatesAtFirstExpiryOnly(_SiteGatesUpdateChanger):
    """The queue manager stores the attributes of gates only at the first Directory Site Gates Update."""

    def change_sites(self, before: _SiteCollection, after: _SiteCollection) -> _SiteCollection:
        return after if self.timer_expiry_count == 1 else before
