"""Copies the attributes of a queue manager from the directory. Spec: MS-MQDMPR 3.1.3, 3.1.6.1, 3.1.6.2."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from uuid import UUID

from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.events import read_directory
from reference_qm.directory.filters import build_equality_filter
from reference_qm.directory.objects import Enterprise, QueueManager, RoutingLink, Site, copy_with_published_attributes
from reference_qm.directory.replica import DirectoryReplica
from reference_qm.directory.state import DirectoryState

_NOTIFICATION_ATTRIBUTE = "NonLDAPCapableQueueManagerNotification"


def synchronize_with_directory(directory: DirectoryReplica, state: DirectoryState, *, provisioning: bool) -> Result:
    """Copy the attributes of LocalQueueManager, its sites and the enterprise from the directory at initialization.
    Spec: MS-MQDMPR 3.1.3.

    Initialization fails if the directory does not contain the queue manager, unless the queue manager is being
    provisioned.
    """
    own = build_equality_filter("Identifier", state.LocalQueueManager.Identifier)
    found = read_directory(directory, state, "QueueManager", own)
    if isinstance(found.rDirectoryObject, QueueManager):
        state.LocalQueueManager = copy_with_published_attributes(state.LocalQueueManager, found.rDirectoryObject)
        sites = (
            read_directory(directory, state, "Site", build_equality_filter("Identifier", one)).rDirectoryObject
            for one in state.LocalQueueManager.SiteIdentifierList
        )
        state.SiteCollection = tuple(site for site in sites if isinstance(site, Site))
    elif found.rStatus is not Result.OBJECT_NOT_FOUND or not provisioning:
        return found.rStatus
    enterprise = read_directory(directory, state, "Enterprise", attributes=(_NOTIFICATION_ATTRIBUTE,))
    if isinstance(enterprise.rDirectoryObject, Enterprise):
        state.EnterpriseReference = enterprise.rDirectoryObject
    elif enterprise.rStatus is Result.ATTRIBUTE_NOT_FOUND:
        state.EnterpriseReference = Enterprise(NonLDAPCapableQueueManagerNotification=True)
    return Result.SUCCESS


def update_directory_sites(directory: DirectoryReplica, state: DirectoryState) -> None:
    """Update the list of the queue manager's sites from the directory (Directory Sites Update). Spec: MS-MQDMPR
    3.1.6.1.
    """
    state.SiteCollection = tuple(_read_site_again(directory, state, site) for site in state.SiteCollection)


def update_directory_site_gates(directory: DirectoryReplica, state: DirectoryState) -> None:
    """Update the list of gates in the queue manager's sites from the directory (Directory Site Gates Update). Spec:
    MS-MQDMPR 3.1.6.2.
    """
    state.SiteCollection = tuple(
        replace(
            site,
            SiteGateCollection=tuple(_read_gate_again(directory, state, gate) for gate in site.SiteGateCollection),
        )
        for site in state.SiteCollection
    )


def compute_site_gate_collections(
    links: Iterable[RoutingLink], queue_managers: Mapping[UUID, QueueManager]
) -> dict[UUID, tuple[QueueManager, ...]]:
    """Return the gates of each site that has gates, in the order of the sites' Identifiers.

    Site.SiteGateCollection cannot be published (MS-MQDMPR 3.1.1.7), but MS-MQBR 3.1.5.6 to 3.1.5.8 read it from the
    directory. RoutingLink.SiteGateIdentifierList is published. A gate of a site is a routing server that belongs to
    the site (MS-MQBR 1.5) and is listed by a link that ends at the site.
    """
    found: dict[UUID, set[UUID]] = defaultdict(set)
    for link in links:
        for identifier in link.SiteGateIdentifierList:
            gate = queue_managers.get(identifier)
            for site in (link.Site1Identifier, link.Site2Identifier):
                if gate and gate.RoutingServer and site in gate.SiteIdentifierList:
                    found[site].add(identifier)
    return {site: tuple(queue_managers[one] for one in sorted(gates)) for site, gates in found.items()}


def _read_site_again(directory: DirectoryReplica, state: DirectoryState, site: Site) -> Site:
    found = read_directory(
        directory, state, "Site", build_equality_filter("Identifier", site.Identifier)
    ).rDirectoryObject
    return copy_with_published_attributes(site, found) if isinstance(found, Site) else site


def _read_gate_again(directory: DirectoryReplica, state: DirectoryState, gate: QueueManager) -> QueueManager:
    found = read_directory(directory, state, "QueueManager", build_equality_filter("Identifier", gate.Identifier))
    published = found.rDirectoryObject
    return copy_with_published_attributes(gate, published) if isinstance(published, QueueManager) else gate
