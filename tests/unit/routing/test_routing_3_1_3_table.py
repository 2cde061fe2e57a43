"""The routing table. MS-MQBR 3.1.1.2, 3.1.3, 3.1.3.1, 4."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest
from routing_made import enterprise, figure_4, link, machine, router, rows, site, table_of

from reference_qm.routing import QUEUE_MANAGER_QUERY_INTERVAL_MS


def test_mqbr_3_1_3_routing_table_is_used_for_an_hour() -> None:
    assert QUEUE_MANAGER_QUERY_INTERVAL_MS == 3_600 * 1_000


def test_mqbr_4_first_example_gives_printed_routing_table() -> None:
    assert rows(table_of(figure_4(ab=3, bc=1, bd=1, cd=1), 1)) == {"A": "A", "B": "B", "C": "B", "D": "B"}
    assert rows(table_of(figure_4(ab=3, bc=1, bd=1, cd=1), 2))["C"] == "C"


def test_mqbr_4_second_example_gives_printed_routing_table() -> None:
    """The path from B to C leads through D when it costs less than the direct link."""
    topology = figure_4(ab=3, bc=3, bd=1, cd=1)
    assert rows(table_of(topology, 1))["C"] == "B"
    assert rows(table_of(topology, 2))["C"] == "D"
    assert rows(table_of(topology, 4))["C"] == "C"


@pytest.mark.parametrize("number", [11, 21])
def test_mqbr_3_1_3_1_computer_that_is_no_site_gate_has_an_empty_routing_table(number: int) -> None:
    assert table_of(figure_4(1, 1, 1, 1), number) == ()


def test_mqbr_3_1_3_1_routing_table_is_empty_without_links_or_sites() -> None:
    assert table_of(enterprise("AB", [router(1, "A")], []), 1) == ()
    assert table_of(enterprise("", [router(1, "A")], [link("AB", 1, 1)]), 1) == ()


def test_mqbr_3_1_3_1_unreachable_sites_have_no_row_in_routing_table() -> None:
    topology = enterprise("ABCD", [router(1, "A")], [link("AB", 1, 1), link("CD", 1)])
    assert rows(table_of(topology, 1)) == {"A": "A", "B": "B"}


@pytest.mark.parametrize(
    "wrong", [link("AC", 1), link("AA", 1), link("AB", 0), link("AB", 1_000_000), link("AB", None)]
)
def test_mqbr_3_1_3_1_invalid_routing_link_is_ignored(wrong: object) -> None:
    gated = link("AD", 7, 1)
    topology = enterprise("ABD", [router(1, "A")], [gated, wrong, link("DB", 1)])  # type: ignore[list-item]
    assert rows(table_of(topology, 1)) == {"A": "A", "B": "D", "D": "D"}


def test_mqbr_3_1_3_1_cheapest_of_parallel_routing_links_is_used() -> None:
    links = [link("AB", 9, 1), link("BA", 2), link("AB", 5), link("AC", 1), link("CB", 2)]
    assert rows(table_of(enterprise("ABC", [router(1, "A")], links), 1))["B"] == "B"


def test_mqbr_3_1_3_1_equal_cost_paths_are_ranked_by_links_then_identifier() -> None:
    by_links = [link("AB", 1, 1), link("BC", 1), link("AC", 2)]
    assert rows(table_of(enterprise("ABC", [router(1, "A")], by_links), 1))["C"] == "C"
    by_identifier = [link("AC", 1, 1), link("AB", 1), link("CD", 1), link("BD", 1)]
    assert rows(table_of(enterprise("ABCD", [router(1, "A")], by_identifier), 1))["D"] == "B"


def test_mqbr_3_1_3_1_paths_of_a_gate_of_two_sites_start_from_both_sites() -> None:
    links = [link("AC", 9, 1), link("BC", 1, 1), link("AB", 5, 1)]
    assert rows(table_of(enterprise("ABC", [router(1, "AB")], links), 1)) == {"A": "A", "B": "B", "C": "C"}


def test_mqbr_3_1_5_8_site_gate_must_be_routing_server_of_its_site() -> None:
    links = [link("AB", 1, 1, 2, 3)]
    topology = enterprise("AB", [router(1, "A"), machine(2, "A"), router(3, "C")], links)
    assert [gate.Identifier for gate in topology.sites[site("A")].SiteGateCollection] == [router(1, "").Identifier]
    assert [table_of(topology, number) == () for number in (1, 2, 3)] == [False, True, True]


def test_mqbr_3_1_5_8_site_gate_without_routing_role_is_ignored() -> None:
    topology = enterprise("AB", [router(1, "A"), router(2, "B")], [link("AB", 1, 1, 2)])
    demoted = replace(topology, queue_managers={UUID(int=1): machine(1, "A")})
    assert (table_of(topology, 1) == (), table_of(demoted, 1)) == (False, ())
