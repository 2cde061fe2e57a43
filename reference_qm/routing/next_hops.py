"""Finds the next hops of a message. Spec: MS-MQBR 3.1.5.1, 3.1.5.2, 3.1.5.3."""

from __future__ import annotations

from uuid import UUID

from reference_qm.directory.objects import QueueManager
from reference_qm.routing.table import RoutingTable
from reference_qm.routing.topology import (
    RoutingError,
    Topology,
    get_queue_manager,
    get_routing_server,
    get_site_gate,
    get_site_gate_for_site,
    have_common_site,
    is_site_gate,
)

NextHops = tuple[UUID, ...]


def get_next_hops(topology: Topology, table: RoutingTable, source: UUID, destination: UUID) -> NextHops:
    """Return the possible next hops from a source to a destination.

    ``table``: the routing table of the source, which is empty unless the source is a site gate. Raise RoutingError
    if no route exists. Spec: MS-MQBR 3.1.5.1.
    """
    source_machine = _require_queue_manager(topology, source)
    destination_machine = _require_queue_manager(topology, destination)
    if source_machine.RoutingServer:
        hops = _compute_hops_for_router(topology, table, source_machine, destination_machine)
    elif source_machine.OutRoutingServerIdentifierList:
        hops = source_machine.OutRoutingServerIdentifierList
    elif have_common_site(source_machine, destination_machine):
        hops = _get_hops_inside_site(destination_machine, destination)
    else:
        hops = _build_single_hop(get_routing_server(topology, source_machine))
    if not hops:
        raise RoutingError(f"the directory shows no route from {source} to {destination}: check sites, links and gates")
    return hops


def _compute_hops_for_router(
    topology: Topology, table: RoutingTable, source: QueueManager, destination: QueueManager
) -> NextHops:
    """Return the next hops for a message at a routing server or a site gate. The two algorithms differ only for
    messages that leave the site.

    Spec: MS-MQBR 3.1.5.2, 3.1.5.3 (GetNextHopsForRouter, GetNextHopsForSiteGate).
    """
    assert destination.Identifier is not None
    if source.Identifier in destination.InRoutingServerIdentifierList:
        return (destination.Identifier,)
    if have_common_site(source, destination):
        return _get_hops_inside_site(destination, destination.Identifier)
    if is_site_gate(topology, source):
        return _find_hops_to_next_site(topology, table, destination)
    return _build_single_hop(get_site_gate(topology, source))


def _get_hops_inside_site(destination: QueueManager, identifier: UUID) -> NextHops:
    return destination.InRoutingServerIdentifierList or (identifier,)


def _find_hops_to_next_site(topology: Topology, table: RoutingTable, destination: QueueManager) -> NextHops:
    """Find the next site on the route in the last row of the routing table that matches the destination, and return a
    gate of this site. Spec: MS-MQBR 3.1.5.3.
    """
    rows = (row.NextHopSiteID for row in reversed(table) if row.DestinationSiteID in destination.SiteIdentifierList)
    next_site = next(rows, None)
    return _build_single_hop(get_site_gate_for_site(topology, next_site)) if next_site else ()


def _build_single_hop(identifier: UUID | None) -> NextHops:
    return () if identifier is None else (identifier,)


def _require_queue_manager(topology: Topology, identifier: UUID) -> QueueManager:
    machine = get_queue_manager(topology, identifier)
    if machine is None:
        raise RoutingError(f"the directory has no queue manager {identifier}: create it there first")
    return machine
