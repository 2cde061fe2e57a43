"""For any enterprise, routing paths have the lowest cost, messages arrive without loops, and they leave a site only
through its gates.
"""

from __future__ import annotations

import sys
from itertools import pairwise, permutations
from pathlib import Path
from uuid import UUID

from budgets import FEW, budget
from hypothesis import given
from hypothesis import strategies as st

UNIT_ROUTING = str(Path(__file__).parents[1] / "unit" / "routing")
if UNIT_ROUTING not in sys.path:
    sys.path.append(UNIT_ROUTING)

from routing_made import enterprise, link, machine, router, site  # noqa: E402

from reference_qm.directory.objects import QueueManager, RoutingLink  # noqa: E402
from reference_qm.routing import RoutingTable, Topology, get_next_hops, initialize_routing_table  # noqa: E402
from reference_qm.routing.topology import have_common_site, is_site_gate  # noqa: E402

SITES = "ABCDE"
Costs = dict[tuple[UUID, UUID], int]


@st.composite
def enterprises(draw: st.DrawFn) -> Topology:
    """Draw sites with a gate, a router and a client each, some in two sites, and any links that connect them."""
    names = SITES[: draw(st.integers(1, len(SITES)))]
    several = st.sets(st.sampled_from(names), min_size=1, max_size=2).map(lambda chosen: "".join(sorted(chosen)))
    gates = {name: router(ord(name), name) for name in names}
    gates |= {
        f"{name}+": router(ord(name) + 1_000, draw(several) + name) for name in draw(st.sets(st.sampled_from(names)))
    }
    routers = [router(number, draw(several)) for number in range(200, 200 + draw(st.integers(0, 3)))]
    numbers = [gate.Identifier.int for gate in gates.values() if gate.Identifier]
    tree = [(names[draw(st.integers(0, at - 1))], names[at]) for at in range(1, len(names))]
    more = draw(st.lists(st.tuples(st.sampled_from(names), st.sampled_from(names)), max_size=6))
    cost = st.one_of(st.integers(1, 4), st.integers(1, 999_999))
    links = [link(one + other, draw(cost), *numbers) for one, other in tree + more]
    machines: list[QueueManager] = [*gates.values(), *routers]
    for number in range(300, 300 + draw(st.integers(1, 4))):
        sites = draw(several)
        near = [one.Identifier for one in machines if one.RoutingServer and covers(one, machine(0, sites))]
        some = st.lists(st.sampled_from(near), max_size=2, unique=True).map(tuple) if near else st.just(())
        machines.append(
            machine(number, sites, InRoutingServerIdentifierList=draw(some), OutRoutingServerIdentifierList=draw(some))
        )
    return enterprise(names, machines, draw(st.permutations(links)) if links else links)


def covers(server: QueueManager, client: QueueManager) -> bool:
    """Return whether a routing server is in all sites of its client; otherwise 3.1.5.1 would route a message out of a
    site that has no gate.
    """
    return set(client.SiteIdentifierList) <= set(server.SiteIdentifierList)


def costs_of(links: tuple[RoutingLink, ...]) -> Costs:
    costs: Costs = {}
    for one in links:
        if (
            one.Site1Identifier
            and one.Site2Identifier
            and one.ActualCost
            and one.Site1Identifier != one.Site2Identifier
        ):
            for ends in permutations((one.Site1Identifier, one.Site2Identifier)):
                costs[ends] = min(one.ActualCost, costs.get(ends, one.ActualCost))
    return costs


def brute_force(topology: Topology, costs: Costs, sources: tuple[UUID, ...], destination: UUID) -> int | None:
    """Return the lowest cost of a path, found by trying every path through different sites."""
    best = None
    for length in range(len(topology.sites) + 1):
        for between in permutations(topology.sites, length):
            for path in ((source, *between) for source in sources):
                if path[-1] == destination and all(leg in costs for leg in pairwise(path)):
                    cost = sum(costs[leg] for leg in pairwise(path))
                    best = cost if best is None else min(best, cost)
    return best


def table_of(topology: Topology, machine: QueueManager) -> RoutingTable:
    return initialize_routing_table(topology, machine)


@budget(FEW)
@given(enterprises())
def test_next_site_is_on_a_cheapest_path(topology: Topology) -> None:
    costs = costs_of(topology.links)
    for gate in topology.queue_managers.values():
        own = gate.SiteIdentifierList
        for row in table_of(topology, gate):
            least = brute_force(topology, costs, own, row.DestinationSiteID)
            assert least is not None
            if row.DestinationSiteID in own:
                assert row.NextHopSiteID == row.DestinationSiteID
                continue
            first = min(costs[source, row.NextHopSiteID] for source in own if (source, row.NextHopSiteID) in costs)
            rest = brute_force(topology, costs, (row.NextHopSiteID,), row.DestinationSiteID)
            assert rest is not None
            assert first + rest == least


@budget(FEW)
@given(enterprises())
def test_a_gate_has_a_row_for_each_site(topology: Topology) -> None:
    for one in topology.queue_managers.values():
        wanted = set(topology.sites) if is_site_gate(topology, one) else set()
        rows = [row.DestinationSiteID for row in table_of(topology, one)]
        assert (len(rows), set(rows)) == (len(wanted), wanted)


@budget(FEW)
@given(enterprises(), st.data())
def test_every_message_arrives_by_gates_and_without_a_loop(topology: Topology, data: st.DataObject) -> None:
    """Every message arrives, whichever of the possible next hops each queue manager chooses."""
    clients = [identifier for identifier in topology.queue_managers if 300 <= identifier.int < 1_000]
    if len(topology.sites) == 1:
        clients.append(site("A"))  # the gate candidate itself, so that there is somewhere to send
    for destination in clients:
        for source in topology.queue_managers:
            if source == destination:
                continue
            seen = [source]
            while seen[-1] != destination:
                here = topology.queue_managers[seen[-1]]
                possible = get_next_hops(topology, table_of(topology, here), seen[-1], destination)
                there = topology.queue_managers[data.draw(st.sampled_from(possible))]
                assert there.Identifier is not None
                assert there.Identifier not in seen, "a message circles"
                if not have_common_site(here, there):
                    assert is_site_gate(topology, here), "a site was left without its gate"
                    assert is_site_gate(topology, there), "a site was entered without its gate"
                seen.append(there.Identifier)


@budget(FEW)
@given(enterprises(), st.randoms(use_true_random=False))
def test_routing_does_not_depend_on_order_of_directory_objects(topology: Topology, shuffler: object) -> None:
    machines, sites, links = list(topology.queue_managers.values()), list(topology.sites.values()), list(topology.links)
    for elements in (machines, sites, links):
        shuffler.shuffle(elements)  # type: ignore[attr-defined]
    shuffled = Topology.of(machines, sites, links)
    for one in machines:
        assert table_of(shuffled, one) == table_of(topology, one)
