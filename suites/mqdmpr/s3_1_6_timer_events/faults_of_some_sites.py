"""Faults that break rules of MS-MQDMPR 3.1.6.1 and 3.1.6.2 for some sites and gates, or at later expiries."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.directory.events import read_directory
from reference_qm.directory.filters import build_equality_filter
from reference_qm.directory.objects import QueueManager, Site, update_element
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


@fault("queue-manager-last-site-not-read-again", breaks="MQDMPR-3.1.6.1-04", blind=True)
class QueueManagerLastSiteNotReadAgain(_SitesUpdate):
    """The queue manager does not read the last of several sites again when the Directory Sites Update Timer expires."""

    def change_sites(self, before: _Sites, after: _Sites) -> _Sites:
        return after if len(after) == 1 else (*after[:-1], *before[-1:])


@fault("queue-manager-sites-read-again-only-at-first-expiry", breaks="MQDMPR-3.1.6.1-04", blind=True)
class QueueManagerSitesReadAgainOnlyAtFirstExpiry(_SitesUpdate):
    """The queue manager reads its sites again only when the Directory Sites Update Timer expires for the first time."""

    def change_sites(self, before: _Sites, after: _Sites) -> _Sites:
        return after if self.expiries == 1 else before


@fault("queue-manager-site-read-again-by-name", breaks="MQDMPR-3.1.6.1-07", blind=True)
class QueueManagerSiteReadAgainByName(_SitesUpdate):
    """When the Directory Sites Update Timer expires, the queue manager reads the site with the known Name."""

    def change_sites(self, before: _Sites, after: _Sites) -> _Sites:
        enterprise = self.qm.enterprise
        found = [
            read_directory(
                enterprise.directory, enterprise.state, "Site", build_equality_filter("Name", one.Name)
            ).rDirectoryObject
            for one in before
        ]
        return tuple(
            update_element(one, new) if isinstance(new, Site) else one for one, new in zip(before, found, strict=True)
        )


@fault("queue-manager-every-site-read-again-by-first-identifier", breaks="MQDMPR-3.1.6.1-07", blind=True)
class QueueManagerEverySiteReadAgainByFirstIdentifier(_SitesUpdate):
    """When the Directory Sites Update Timer expires, each site gets the attributes of the first site."""

    def change_sites(self, before: _Sites, after: _Sites) -> _Sites:
        return tuple(
            replace(after[0], Identifier=one.Identifier, SiteGateCollection=one.SiteGateCollection) for one in after
        )


@fault("queue-manager-gate-read-again-by-computer-name", breaks="MQDMPR-3.1.6.2-08", blind=True)
class QueueManagerGateReadAgainByComputerName(_GatesUpdate):
    """At each Directory Site Gates Update the queue manager reads the gate with the known ComputerName."""

    def change_sites(self, before: _Sites, after: _Sites) -> _Sites:
        return tuple(replace(one, SiteGateCollection=tuple(map(self._read, one.SiteGateCollection))) for one in before)

    def _read(self, gate: QueueManager) -> QueueManager:
        found = self.qm.enterprise.find_queue_manager("ComputerName", gate.ComputerName)
        return gate if found is None else update_element(gate, found)


@fault("queue-manager-second-gate-read-again-by-first-identifier", breaks="MQDMPR-3.1.6.2-08", blind=True)
class QueueManagerSecondGateReadAgainByFirstIdentifier(_GatesUpdate):
    """When the Directory Site Gates Update Timer expires, each gate of a site gets the attributes of the first gate."""

    def change_sites(self, before: _Sites, after: _Sites) -> _Sites:
        return tuple(
            replace(
                site,
                SiteGateCollection=tuple(
                    replace(site.SiteGateCollection[0], Identifier=one.Identifier) for one in site.SiteGateCollection
                ),
            )
            for site in after
        )


@fault("queue-manager-second-gate-attributes-not-stored", breaks="MQDMPR-3.1.6.2-11", blind=True)
class QueueManagerSecondGateAttributesNotStored(_GatesUpdate):
    """The queue manager stores the attributes that it has read again only for the first gate of a site."""

    def change_sites(self, before: _Sites, after: _Sites) -> _Sites:
        return tuple(
            replace(new, SiteGateCollection=(*new.SiteGateCollection[:1], *old.SiteGateCollection[1:]))
            for old, new in zip(before, after, strict=True)
        )


@fault("queue-manager-gate-attributes-stored-only-at-first-expiry", breaks="MQDMPR-3.1.6.2-11", blind=True)
class QueueManagerGateAttributesStoredOnlyAtFirstExpiry(_GatesUpdate):
    """The queue manager stores the attributes of gates only at the first Directory Site Gates Update."""

    def change_sites(self, before: _Sites, after: _Sites) -> _Sites:
        return after if self.expiries == 1 else before
