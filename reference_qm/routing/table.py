"""Builds the routing table of a site gate, which contains the least-cost paths between sites. Spec: MS-MQBR
3.1.1.2, 3.1.3.1, 3.1.6.1.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from reference_qm.directory.objects import MAX_LINK_COST, MIN_LINK_COST, QueueManager
from reference_qm.routing.topology import Topology, is_site_gate

QUEUE_MANAGER_QUERY_INTERVAL_MS: Final = 3_600_000
"""The duration of the QueueManager Query Timer. When the timer expires, the routing table is rebuilt. Spec: MS-MQBR
3.1.3.
"""


@dataclass(frozen=True, slots=True)
class RoutingTableEntry:
    """A row of the routing table, which names the next site on the route to a site. Spec: MS-MQBR 3.1.1.2. The
    fields are 16-byte GUIDs.
    """

    DestinationSiteID: UUID
    NextHopSiteID: UUID


RoutingTable = tuple[RoutingTableEntry, ...]
LinkCostsBySite = dict[UUID, dict[UUID, int]]


def initialize_routing_table(topology: Topology, machine: QueueManager) -> RoutingTable:
    """Build the routing table of a queue manager. The table is empty unless the queue manager is a site gate.

    The timer event of 3.1.6.1 also calls this function. The table has a row for each reachable site, and the rows are
    sorted by distance, with the farthest site first. For a site of the queue manager itself, the next hop is this site.
    3.1.5.3 takes the last matching row, which belongs to the nearest of several sites. Spec: MS-MQBR 3.1.3.1.
    """
    if not is_site_gate(topology, machine):
        return ()
    paths = _find_least_cost_paths(
        _find_link_costs(topology), [site.Identifier for site in topology.list_sites(machine) if site.Identifier]
    )
    farthest_first = sorted(paths.items(), key=lambda path: (path[1], path[0]), reverse=True)
    return tuple(RoutingTableEntry(destination, path.first_site) for destination, path in farthest_first)


@dataclass(frozen=True, slots=True, order=True)
class _SitePath:
    """A path between sites. Paths are compared by cost. Paths of equal cost are compared by the number of links,
    then by the first site.
    """

    cost: int
    link_count: int
    first_site: UUID


def _find_link_costs(topology: Topology) -> LinkCostsBySite:
    """Return each link between known sites in both directions. If several links connect the same sites, return only the
    cheapest of them. Spec: MS-MQBR 3.1.3.1.

    A link whose cost is out of range (MS-MQDMPR 3.1.1.8) is ignored. The remaining cost must decrease with every hop;
    otherwise a message could be routed in circles.
    """
    edges: LinkCostsBySite = defaultdict(dict)
    for link in topology.links:
        one, other, cost = link.Site1Identifier, link.Site2Identifier, link.ActualCost
        if one not in topology.sites or other not in topology.sites:
            continue
        if one is None or other is None or cost is None or not MIN_LINK_COST <= cost <= MAX_LINK_COST:
            continue
        edges[one][other] = edges[other][one] = min(cost, edges[one].get(other, cost))
    return edges


def _find_least_cost_paths(edges: LinkCostsBySite, sources: list[UUID]) -> dict[UUID, _SitePath]:
    """Find the paths from the sites of the gate to all other sites by Dijkstra's algorithm. Spec: MS-MQBR 3.1.3.1."""
    paths: dict[UUID, _SitePath] = {}
    reached = [(_SitePath(0, 0, site), site) for site in sources]
    while reached:
        path, site = heapq.heappop(reached)
        if site in paths:
            continue
        paths[site] = path
        for neighbour, cost in edges.get(site, {}).items():
            if neighbour not in paths:
                first = path.first_site if path.link_count else neighbour
                heapq.heappush(reached, (_SitePath(path.cost + cost, path.link_count + 1, first), neighbour))
    return paths
