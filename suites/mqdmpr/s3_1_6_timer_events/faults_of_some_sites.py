"""Faults that break rules of MS-MQDMPR 3.1.6.1 and 3.1.6.2 for some sites and gates, or at later expiries."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.directory.objects import Site
from reference_qm.surface.clock import Now

_Sites = tuple[Site, ...]


class _SitesUpdate(DirectoryClient):
    """Changes the sites after the Directory Sites Update."""

    expiries = 0

    def on_directory_sites_update_timer(self, now: Now) -> None:
        self.expiries += 1
        state = self.qm.enterprise.state
        before = state.SiteCollection

        def change_sites() -> None:
            state.SiteCollection = self.change_sites(before, state.SiteCollection)

        super().on_directory_sites_update_timer(now)
        self.qm.directory_link.read(lambda answer, at: change_sites())

    def change_sites(self, before: _Sites, after: _Sites) -> _Sites:
        raise NotImplementedError


class _GatesUpdate(DirectoryClient):
    """Changes the sites after the Directory Site Gates Update."""

    expiries = 0

    def on_directory_site_gates_update_timer(self, now: Now) -> None:
        self.expiries += 1
        state = self.qm.enterprise.state
        before = state.SiteCollection

        def change_sites() -> None:
            state.SiteCollection = self.change_sites(before, state.SiteCollection)

        super().on_directory_site_gates_update_timer(now)
        self.qm.directory_link.read(lambda answer, at: change_sites())

    def change_sites(self, before: _Sites, after: _Sites) -> _Sites:
        raise NotImplementedError


@fault("queue-manager-sites-read-again-only-at-first-expiry", breaks="MQDMPR-3.1.6.1-04", blind=True)
class QueueManagerSitesReadAgainOnlyAtFirstExpiry(_SitesUpdate):
    """The queue manager reads its sites again only when the Directory Sites Update Timer expires for the first time."""

    def change_sites(self, before: _Sites, after: _Sites) -> _Sites:
        return after if self.expiries == 1 else before


@fault("queue-manager-gate-attributes-stored-only-at-first-expiry", breaks="MQDMPR-3.1.6.2-11", blind=True)
class QueueManagerGateAttributesStoredOnlyAtFirstExpiry(_GatesUpdate):
    """The queue manager stores the attributes of gates only at the first Directory Site Gates Update."""

    def change_sites(self, before: _Sites, after: _Sites) -> _Sites:
        return after if self.expiries == 1 else before
