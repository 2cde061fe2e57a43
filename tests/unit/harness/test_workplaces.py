"""Where workers and checks stand: no two of them are the same peer of a SUT, or share what is meant for one."""

from __future__ import annotations

import ipaddress
from typing import Any

import pytest

from harness.errors import UsageError
from harness.reach import ExternalReach
from harness.sutfile import SutFile, parse_sut_file
from harness.workplaces import MAX_WORKERS, as_stranger, workplaces


def described(kind: str, control: str = "none", queue: str = "private$\\q", **reach: Any) -> SutFile:
    if kind == "process":
        reach["command"] = ["qm"]
    tree = {"sut": {"name": "x"}, "reach": {"kind": kind, **reach}, "queues": {"plain": queue}}
    return parse_sut_file(tree | {"control": {"kind": control, "address": "127.0.0.1:0"}})


def test_one_worker_works_with_the_file_as_it_is() -> None:
    for kind in ("virtual", "process", "external"):
        assert workplaces(described(kind), 1) == [described(kind)]


def test_workers_of_a_process_have_addresses_of_their_own() -> None:
    places = workplaces(described("process", "jsonl"), MAX_WORKERS)
    addresses = {each for place in places for each in (place.reach.address, place.reach.peer_address)}
    assert len(addresses) == 2 * MAX_WORKERS
    assert all(ipaddress.ip_address(each).is_loopback for each in addresses)
    assert (places[1].reach.address, places[1].reach.peer_address) == ("127.0.1.1", "127.0.1.2")
    assert {place.reach.peer_identifier for place in places} == {places[0].reach.peer_identifier}


def test_workers_away_from_loopback_have_the_peer_addresses_that_are_given() -> None:
    far = described(
        "external", address="192.0.2.1", allow_remote=True, peer_address="192.0.2.2", more_peer_addresses=["192.0.2.9"]
    )
    assert [place.reach.peer_address for place in workplaces(far, 2)] == ["192.0.2.2", "192.0.2.9"]
    with pytest.raises(UsageError, match=r"more_peer_addresses names 1 addresses .* worker 2 needs one"):
        workplaces(far, 3)


def test_queues_can_be_named_for_a_worker() -> None:
    places = workplaces(described("external", queue="private$\\q-{worker}"), 3)
    assert [place.queues.plain for place in places] == ["private$\\q-0", "private$\\q-1", "private$\\q-2"]


def test_workers_share_no_queue_that_checks_empty_from_afar() -> None:
    tree = {"sut": {"name": "x"}, "reach": {"kind": "external"}, "capabilities": {"qm2qm": True}}
    with pytest.raises(UsageError, match=r"put \{worker\} into plain, transactional and admin"):
        workplaces(parse_sut_file(tree), 2)
    tree["queues"] = {kind: f"private$\\{kind}-{{worker}}" for kind in ("plain", "transactional", "admin")}
    assert len(workplaces(parse_sut_file(tree), 2)) == 2


def test_strangers_are_peers_that_the_sut_has_not_seen() -> None:
    known = described("external")
    reaches = [as_stranger(known, number).reach for number in range(2_000)]
    for taken in ({each.peer_address for each in reaches}, {each.peer_identifier for each in reaches}):
        assert len(taken) == 2_000
    assert known.reach.peer_identifier not in {each.peer_identifier for each in reaches}
    assert known.reach.peer_address not in {each.peer_address for each in reaches}
    assert all(ipaddress.ip_address(each.peer_address).is_loopback for each in reaches)
    as_stranger(known, 10**6)  # however many checks there are


def test_strangers_away_from_loopback_share_the_address() -> None:
    far = described("external", address="192.0.2.1", allow_remote=True, peer_address="192.0.2.2")
    assert as_stranger(far, 7).reach.peer_address == "192.0.2.2"
    assert as_stranger(far, 7).reach.peer_identifier != far.reach.peer_identifier


def test_no_message_of_a_later_run_has_the_identifier_of_one_before() -> None:
    """MS-MQQB 3.1.5.8.1: a SUT that was tested before would take it for a duplicate."""
    first, second = ExternalReach(described("external")), ExternalReach(described("external"))
    taken: set[int] = set()
    for reach in (first, second):
        for check in range(50):
            sut = reach.open(f"check {check}")
            taken.update(range(sut.first_message_id, sut.first_message_id + 1024))
            sut.world.run_until(lambda: False, 10)  # no check takes less
            sut.world.close()
    assert len(taken) == 100 * 1024
