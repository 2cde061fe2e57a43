"""Makes enterprises for the tests of routing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from reference_qm.directory.objects import QueueManager, RoutingLink, Site
from reference_qm.routing import RoutingTable, Topology, initialize_routing_table


def site(name: str) -> UUID:
    """Return the Identifier of the site with a one-letter name."""
    return UUID(int=ord(name))


def machine(number: int, sites: str, **attributes: Any) -> QueueManager:
    """Make a queue manager in the sites that ``sites`` names, one letter each."""
    return QueueManager(Identifier=UUID(int=number), SiteIdentifierList=tuple(map(site, sites)), **attributes)


def router(number: int, sites: str, **attributes: Any) -> QueueManager:
    """Make a routing server in the sites that ``sites`` names, one letter each."""
    return machine(number, sites, RoutingServer=True, **attributes)


def link(ends: str, cost: int | None, *gates: int) -> RoutingLink:
    """Make a link between the two sites that ``ends`` names."""
    return RoutingLink(
        Site1Identifier=site(ends[0]),
        Site2Identifier=site(ends[1]),
        ActualCost=cost,
        SiteGateIdentifierList=tuple(UUID(int=gate) for gate in gates),
    )


def enterprise(sites: str, machines: Iterable[QueueManager], links: Iterable[RoutingLink]) -> Topology:
    """Make a topology."""
    return Topology.of(machines, [Site(Identifier=site(name), Name=name) for name in sites], links)


def figure_4(ab: int, bc: int, bd: int, cd: int) -> Topology:
    """Make the enterprise of MS-MQBR 4 with the given costs of links. Each of four sites has a gate (1 to 4), a router
    (11 to 14) and a client (21 to 24).
    """
    machines = [
        made
        for number, name in enumerate("ABCD", 1)
        for made in (router(number, name), router(number + 10, name), machine(number + 20, name))
    ]
    links = [link("AB", ab, 1, 2), link("BC", bc, 2, 3), link("BD", bd, 2, 4), link("CD", cd, 3, 4)]
    return enterprise("ABCD", machines, links)


def table_of(topology: Topology, number: int) -> RoutingTable:
    """Return the initialized routing table of a queue manager."""
    return initialize_routing_table(topology, topology.queue_managers[UUID(int=number)])


def rows(table: RoutingTable) -> dict[str, str]:
    """Return the next site for each destination site of a table, by the letters of the sites."""
    return {chr(row.DestinationSiteID.int): chr(row.NextHopSiteID.int) for row in table}
