"""Next hops. MS-MQBR 3.1.5.1 to 3.1.5.9."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from uuid import UUID

import pytest
from routing_made import enterprise, figure_4, link, machine, router, site, table_of

from reference_qm.directory import (
    DirectoryReplica,
    MemoryDirectory,
    QueueManager,
    RoutingLink,
    Site,
    build_equality_filter,
)
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.interface import (
    AttributeList,
    DirectoryReadBeginResult,
    DirectoryReadResult,
    FilterExpressions,
)
from reference_qm.routing import (
    RoutingError,
    Topology,
    get_next_hops,
    read_directory_objects,
)
from reference_qm.routing import topology as topology_module
from reference_qm.surface.entropy import SeededEntropy, generate_guid


def hops(topology: Topology, source: int, destination: int) -> list[int]:
    table = table_of(topology, source) if UUID(int=source) in topology.queue_managers else ()
    return [hop.int for hop in get_next_hops(topology, table, UUID(int=source), UUID(int=destination))]


def inside(*machines: QueueManager) -> Topology:
    return enterprise("AB", machines, [link("AB", 1, 1)])


def servers(*numbers: int) -> tuple[UUID, ...]:
    return tuple(UUID(int=number) for number in numbers)


def test_mqbr_3_1_5_1_client_sends_directly_within_its_site() -> None:
    assert hops(inside(machine(5, "A"), machine(6, "BA")), 5, 6) == [6]


def test_mqbr_3_1_5_1_client_sends_to_another_site_by_its_own_routing_server() -> None:
    topology = inside(router(4, "B"), router(3, "A"), router(2, "A"), machine(5, "A"), machine(6, "B"))
    assert hops(topology, 5, 6) == [2]


def test_mqbr_3_1_5_1_client_prefers_its_out_routing_servers() -> None:
    source = machine(5, "A", OutRoutingServerIdentifierList=servers(3, 2))
    destination = machine(6, "A", InRoutingServerIdentifierList=servers(4))
    assert hops(inside(source, destination, machine(7, "B")), 5, 6) == [3, 2]
    assert hops(inside(source, machine(7, "B")), 5, 7) == [3, 2]


def test_mqbr_3_1_5_1_client_sends_to_in_routing_servers_of_the_destination() -> None:
    destination = machine(6, "A", InRoutingServerIdentifierList=servers(3, 2))
    assert hops(inside(machine(5, "A"), destination), 5, 6) == [3, 2]


@pytest.mark.parametrize(
    ("machines", "complaint"),
    [
        ([machine(5, "A")], "no queue manager 00000000-0000-0000-0000-000000000006"),
        ([machine(6, "A")], "no queue manager 00000000-0000-0000-0000-000000000005"),
        ([machine(5, "A"), machine(6, "B"), router(7, "B")], "no route from .*5 to .*6"),
        ([router(5, "A"), machine(6, "B")], "no route from"),
    ],
    ids=["destination", "source", "no routing server", "no gate"],
)
def test_mqbr_3_1_5_1_client_without_next_hop_fails_to_send(machines: list[QueueManager], complaint: str) -> None:
    with pytest.raises(RoutingError, match=complaint) as raised:
        hops(inside(*machines), 5, 6)
    assert "\n" not in str(raised.value)


def test_mqbr_3_1_5_2_routing_server_delivers_within_its_site() -> None:
    assert hops(figure_4(1, 1, 1, 1), 11, 21) == [21]


def test_mqbr_3_1_5_2_routing_server_sends_to_another_site_by_a_gate() -> None:
    assert hops(figure_4(1, 1, 1, 1), 11, 23) == [1]


def test_mqbr_3_1_5_2_routing_server_ignores_its_own_out_routing_servers() -> None:
    source = router(5, "A", OutRoutingServerIdentifierList=servers(3))
    assert hops(inside(source, machine(6, "A")), 5, 6) == [6]


@pytest.mark.parametrize("number", [1, 3])
def test_mqbr_3_1_5_2_in_routing_server_delivers_from_any_site(number: int) -> None:
    """An in-routing server delivers directly, whether it is a gate or not, and whether it is in the destination's site
    or not.
    """
    destination = machine(6, "B", InRoutingServerIdentifierList=servers(1, 3))
    assert hops(inside(router(1, "A"), router(3, "A"), destination), number, 6) == [6]


@pytest.mark.parametrize("number", [1, 3])
def test_mqbr_3_1_5_2_other_routing_servers_send_to_the_in_routing_server(number: int) -> None:
    destination = machine(6, "A", InRoutingServerIdentifierList=servers(4))
    assert hops(inside(router(1, "A"), router(3, "A"), router(4, "A"), destination), number, 6) == [4]


def test_mqbr_3_1_5_3_site_gate_sends_to_a_gate_of_the_next_site() -> None:
    assert hops(figure_4(ab=3, bc=3, bd=1, cd=1), 1, 23) == [2]
    assert hops(figure_4(ab=3, bc=3, bd=1, cd=1), 2, 23) == [4]
    assert hops(figure_4(ab=3, bc=3, bd=1, cd=1), 4, 23) == [3]
    assert hops(figure_4(ab=3, bc=3, bd=1, cd=1), 3, 23) == [23]


def test_mqbr_3_1_5_3_site_gate_chooses_the_nearest_of_several_destination_sites() -> None:
    gates = [router(number, name) for number, name in enumerate("ABC", 1)]
    links = [link("AB", 5, 1, 2), link("AC", 2, 1, 3)]
    for sites in ("BC", "CB"):
        assert hops(enterprise("ABC", [*gates, machine(6, sites)], links), 1, 6) == [3]


def test_mqbr_3_1_5_3_next_site_without_gate_gives_no_next_hop() -> None:
    with pytest.raises(RoutingError, match="no route"):
        hops(enterprise("AB", [router(1, "A"), machine(6, "B")], [link("AB", 1, 1)]), 1, 6)


def test_mqbr_3_1_5_3_missing_routing_table_row_gives_no_next_hop() -> None:
    topology = figure_4(1, 1, 1, 1)
    with pytest.raises(RoutingError, match="no route"):
        get_next_hops(topology, (), UUID(int=1), UUID(int=23))


def in_directory(topology: Topology) -> MemoryDirectory:
    directory = MemoryDirectory(partial(generate_guid, SeededEntropy("routing")), lambda: 0)
    for one in topology.sites.values():
        directory.provision(replace(one, SiteGateCollection=()))
    for number, made in enumerate(reversed(topology.queue_managers.values())):
        directory.provision(replace(made, ComputerName=f"computer{number}"))
    for one_link in topology.links:
        directory.provision(one_link)
    return directory


def test_mqbr_3_1_5_9_site_topology_is_read_from_the_directory() -> None:
    """The topology that is read from the directory does not depend on the order in which the directory returns its
    objects.
    """
    made = figure_4(3, 3, 1, 1)
    read = Topology.read(in_directory(made))
    assert list(read.queue_managers) == list(made.queue_managers)
    assert [table_of(read, number) for number in (1, 2, 3, 4)] == [table_of(made, number) for number in (1, 2, 3, 4)]
    assert hops(read, 2, 23) == [4]


def test_mqbr_3_1_5_9_directory_filter_selects_objects() -> None:
    directory = in_directory(figure_4(1, 1, 1, 1))
    found = read_directory_objects(directory, QueueManager, build_equality_filter("Identifier", UUID(int=21)))
    assert [one.Identifier for one in found or ()] == [UUID(int=21)]
    assert read_directory_objects(directory, Site, build_equality_filter("Name", "none")) == []
    assert read_directory_objects(directory, RoutingLink, build_equality_filter("Color", 1)) is None


def test_mqbr_3_1_5_9_missing_directory_gives_no_next_hop() -> None:
    assert Topology.read(DirectoryReplica(connected=False)) == Topology({}, {}, ())


class Enumerating(DirectoryReplica):
    """A directory that returns ``count`` sites, and then the given status."""

    def __init__(self, count: int, status: Result) -> None:
        self.count, self.status, self.ended = count, status, 0

    def read_begin(
        self,
        kind: str,
        filters: FilterExpressions = (),
        attributes: AttributeList = None,
        orders: Sequence[object] | None = None,
    ) -> DirectoryReadBeginResult:
        return DirectoryReadBeginResult(Result.SUCCESS, 1)

    def read_next(self, handle: int) -> DirectoryReadResult:
        self.count -= 1
        return (
            DirectoryReadResult(Result.SUCCESS, Site(Identifier=site("A")))
            if self.count >= 0
            else DirectoryReadResult(self.status)
        )

    def read_end(self, handle: int) -> Result:
        self.ended += 1
        return Result.SUCCESS


@pytest.mark.parametrize(
    ("status", "wanted"), [(Result.END_OF_DATA, [Site(Identifier=site("A"))] * 2), (Result.GENERIC_ERROR, None)]
)
def test_mqbr_3_1_5_9_failed_directory_enumeration_gives_empty_topology(
    status: Result, wanted: list[Site] | None
) -> None:
    directory = Enumerating(2, status)
    assert read_directory_objects(directory, Site) == wanted
    assert directory.ended == 1


def test_mqbr_3_1_5_9_endless_directory_enumeration_is_abandoned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topology_module, "MAX_DIRECTORY_OBJECTS", 10)
    directory = Enumerating(1_000, Result.END_OF_DATA)
    with pytest.raises(RoutingError, match="more than 10 objects of type Site"):
        read_directory_objects(directory, Site)
    assert (directory.ended, directory.count) == (1, 989)
