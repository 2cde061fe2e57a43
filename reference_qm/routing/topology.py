"""Defines the sites, links and queue managers that routing uses. Spec: MS-MQBR 3.1.1, 3.1.5.4-3.1.5.9."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Self, TypeVar
from uuid import UUID

from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.events import read_directory_begin, read_directory_end, read_directory_next
from reference_qm.directory.interface import FilterExpressions
from reference_qm.directory.objects import DirectoryObject, QueueManager, RoutingLink, Site
from reference_qm.directory.replica import DirectoryReplica
from reference_qm.directory.updating import compute_site_gate_collections

MAX_DIRECTORY_OBJECTS: Final = 1_000_000
"""The maximum number of objects of one type that are read. Without this limit, a directory whose enumeration never ends
would block the queue manager.
"""

Element = TypeVar("Element", bound=DirectoryObject)


class RoutingError(Exception):
    """Raised when no route to a destination is found. The message has one line."""


def read_directory_objects(
    directory: DirectoryReplica, kind: type[Element], filters: FilterExpressions = ()
) -> list[Element] | None:
    """Return all objects of a type that satisfy a filter, or None (Nothing) if the read fails.

    Raise RoutingError if the directory returns more than MAX_DIRECTORY_OBJECTS objects. Spec: MS-MQBR 3.1.5.9.
    """
    begun = read_directory_begin(directory, kind.__name__, filters)
    if begun.rStatus is not Result.SUCCESS or begun.rQueryHandle is None:
        return None
    requested: list[Element] = []
    while (found := read_directory_next(directory, begun.rQueryHandle)).rStatus is Result.SUCCESS:
        if isinstance(found.rDirectoryObject, kind):
            requested.append(found.rDirectoryObject)
        if len(requested) > MAX_DIRECTORY_OBJECTS:
            read_directory_end(directory, begun.rQueryHandle)
            raise RoutingError(
                f"the directory returns more than {MAX_DIRECTORY_OBJECTS} objects of type {kind.__name__}"
            )
    read_directory_end(directory, begun.rQueryHandle)
    return requested if found.rStatus is Result.END_OF_DATA else None


@dataclass(frozen=True, slots=True)
class Topology:
    """The queue managers and sites of an enterprise at an instant. Both are sorted by Identifier, so that all queue
    managers agree which of them is the "first". Each site has its SiteGateCollection.
    """

    queue_managers: Mapping[UUID, QueueManager]
    sites: Mapping[UUID, Site]
    links: tuple[RoutingLink, ...]

    @classmethod
    def of(cls, queue_managers: Iterable[QueueManager], sites: Iterable[Site], links: Iterable[RoutingLink]) -> Self:
        """Build a topology from the queue managers, sites and links in a directory, and determine the gates of each
        site.
        """
        machines = _index_by_identifier(queue_managers)
        all_links = tuple(links)
        gates = compute_site_gate_collections(all_links, machines)
        gated = {
            identifier: replace(site, SiteGateCollection=gates.get(identifier, ()))
            for identifier, site in _index_by_identifier(sites).items()
        }
        return cls(machines, gated, all_links)

    @classmethod
    def read(cls, directory: DirectoryReplica) -> Self:
        """Read the topology of an enterprise from a directory. A part that cannot be read is empty. Spec: MS-MQBR
        3.1.3.1, 3.1.5.
        """
        return cls.of(
            read_directory_objects(directory, QueueManager) or (),
            read_directory_objects(directory, Site) or (),
            read_directory_objects(directory, RoutingLink) or (),
        )

    def list_site_gates(self, site: UUID | None) -> tuple[QueueManager, ...]:
        """Return the site gates of a site, or an empty list for an unknown site."""
        known = self.sites.get(site) if site else None
        return known.SiteGateCollection if known else ()

    def list_sites(self, machine: QueueManager) -> Iterator[Site]:
        """Yield the known sites of a queue manager."""
        return (site for identifier, site in self.sites.items() if identifier in machine.SiteIdentifierList)


def get_queue_manager(topology: Topology, identifier: UUID) -> QueueManager | None:
    """Find a queue manager by its Identifier. Spec: MS-MQBR 3.1.5.4."""
    return topology.queue_managers.get(identifier)


def get_routing_server(topology: Topology, machine: QueueManager) -> UUID | None:
    """Find a routing server in one of the sites of a queue manager. Spec: MS-MQBR 3.1.5.5."""
    servers = (one for one in topology.queue_managers.values() if one.RoutingServer and have_common_site(one, machine))
    return next((one.Identifier for one in servers), None)


def get_site_gate(topology: Topology, machine: QueueManager) -> UUID | None:
    """Find a site gate for a queue manager. Spec: MS-MQBR 3.1.5.6.

    The document takes the first site of the queue manager, but defines no order of sites. This method takes the
    first site that has a gate.
    """
    gates = (gate for site in topology.list_sites(machine) for gate in site.SiteGateCollection)
    return next((gate.Identifier for gate in gates), None)


def get_site_gate_for_site(topology: Topology, identifier: UUID) -> UUID | None:
    """Find a gate of a site. Spec: MS-MQBR 3.1.5.7."""
    return next((gate.Identifier for gate in topology.list_site_gates(identifier)), None)


def is_site_gate(topology: Topology, machine: QueueManager) -> bool:
    """Return whether a queue manager is a gate of one of its sites. Spec: MS-MQBR 3.1.5.8."""
    gates = (gate.Identifier for site in topology.list_sites(machine) for gate in site.SiteGateCollection)
    return machine.RoutingServer and machine.Identifier in gates


def have_common_site(machine: QueueManager, other: QueueManager) -> bool:
    """Return whether two queue managers have a site in common (SiteIdentifierList)."""
    return not set(machine.SiteIdentifierList).isdisjoint(other.SiteIdentifierList)


def _index_by_identifier(elements: Iterable[Element]) -> dict[UUID, Element]:
    found = {one.Identifier: one for one in elements if one.Identifier is not None}
    return dict(sorted(found.items()))
