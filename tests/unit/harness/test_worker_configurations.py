"""Configurations of workers and checks: no two of them use the same peer of a SUT, or share a resource that is meant
for one.
"""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Any

import pytest

from harness.capture.recorder import Recorder
from harness.errors import UsageError
from harness.peer.peer import Peer
from harness.sut.external_driver import ExternalDriver
from harness.sut.sut_file import SutFile, parse_sut_file
from harness.sut.worker_configurations import (
    MAX_WORKERS,
    build_worker_configurations,
    derive_fresh_peer_file,
    find_second_peer_address,
)


def described(kind: str, control: str = "none", queue: str = "private$\\q", **driver: Any) -> SutFile:
    if kind == "process":
        driver["command"] = ["qm", "{address}"]
    tree = {"sut": {"name": "x"}, "driver": {"kind": kind, **driver}, "queues": {"plain": queue}}
    return parse_sut_file(tree | {"control": {"kind": control, "address": "127.0.0.1:0"}})


def test_single_worker_uses_unchanged_sut_file() -> None:
    for kind in ("virtual", "process", "external"):
        assert build_worker_configurations(described(kind), 1) == [described(kind)]


def test_workers_that_start_processes_have_separate_addresses() -> None:
    files = build_worker_configurations(described("process", "jsonl"), MAX_WORKERS)
    addresses = {each for file in files for each in (file.driver.address, file.driver.peer_address)}
    assert len(addresses) == 2 * MAX_WORKERS
    assert all(ipaddress.ip_address(each).is_loopback for each in addresses)
    assert (files[1].driver.address, files[1].driver.peer_address) == ("127.0.1.1", "127.0.1.2")
    assert {file.driver.peer_identifier for file in files} == {files[0].driver.peer_identifier}


def test_workers_outside_loopback_use_the_given_peer_addresses() -> None:
    far = described(
        "external", address="192.0.2.1", allow_remote=True, peer_address="192.0.2.2", more_peer_addresses=["192.0.2.9"]
    )
    assert [file.driver.peer_address for file in build_worker_configurations(far, 2)] == ["192.0.2.2", "192.0.2.9"]
    with pytest.raises(UsageError, match=r"more_peer_addresses names 1 addresses .* worker 2 also needs one"):
        build_worker_configurations(far, 3)


def test_queue_names_in_sut_file_can_contain_the_worker_number() -> None:
    files = build_worker_configurations(described("external", queue="private$\\q-{worker}"), 3)
    assert [file.queues.plain for file in files] == ["private$\\q-0", "private$\\q-1", "private$\\q-2"]


def test_workers_share_no_queue_that_checks_empty_from_afar() -> None:
    tree = {"sut": {"name": "x"}, "driver": {"kind": "external"}, "capabilities": {"qm2qm": True}}
    with pytest.raises(UsageError, match=r"insert \{worker\} into their names"):
        build_worker_configurations(parse_sut_file(tree), 2)
    tree["queues"] = {kind: f"private$\\{kind}-{{worker}}" for kind in ("plain", "transactional", "admin")}
    assert len(build_worker_configurations(parse_sut_file(tree), 2)) == 2


def test_fresh_peers_have_identifiers_that_the_sut_has_not_seen() -> None:
    known = described("external")
    drivers = [derive_fresh_peer_file(known, "this run", number).driver for number in range(2_000)]
    for taken in ({each.peer_address for each in drivers}, {each.peer_identifier for each in drivers}):
        assert len(taken) == 2_000
    assert known.driver.peer_identifier not in {each.peer_identifier for each in drivers}
    assert known.driver.peer_address not in {each.peer_address for each in drivers}
    assert all(ipaddress.ip_address(each.peer_address).is_loopback for each in drivers)
    assert not any(each.peer_address.endswith((".0", ".1", ".254", ".255")) for each in drivers)
    other = [derive_fresh_peer_file(known, "another run", number).driver for number in range(2_000)]
    assert not {each.peer_address for each in drivers} & {each.peer_address for each in other}
    derive_fresh_peer_file(known, "this run", 10**9)  # however many checks there are


def test_fresh_peers_outside_loopback_share_one_address() -> None:
    far = described("external", address="192.0.2.1", allow_remote=True, peer_address="192.0.2.2")
    assert derive_fresh_peer_file(far, "this run", 7).driver.peer_address == "192.0.2.2"
    assert derive_fresh_peer_file(far, "this run", 7).driver.peer_identifier != far.driver.peer_identifier


@pytest.mark.parametrize(
    ("addresses", "second"),
    [
        ({}, "127.128.0.2"),
        ({"peer_address": "127.3.4.5"}, "127.131.4.5"),
        ({"peer_address": "192.0.2.2"}, None),
        ({"peer_address": "::1"}, None),
        ({"peer_address": "192.0.2.2", "second_peer_address": "192.0.2.3"}, "192.0.2.3"),
        ({"second_peer_address": "127.0.0.9"}, "127.0.0.9"),
    ],
)
def test_second_host_has_a_loopback_address_or_the_address_in_the_sut_file(
    addresses: dict[str, str], second: str | None
) -> None:
    assert find_second_peer_address(described("external", **addresses).driver) == second


def test_only_the_first_worker_uses_the_second_peer_address_in_the_sut_file() -> None:
    far = described(
        "external",
        address="192.0.2.1",
        allow_remote=True,
        peer_address="192.0.2.2",
        more_peer_addresses=["192.0.2.9"],
        second_peer_address="192.0.2.3",
    )
    files = build_worker_configurations(far, 2)
    assert [find_second_peer_address(file.driver) for file in files] == ["192.0.2.3", None]


def test_message_identifiers_differ_between_runs() -> None:
    """Message identifiers differ between runs, because a SUT that was tested before would discard repeated identifiers
    as duplicates (MS-MQQB 3.1.5.8.1).
    """
    first, second = (
        ExternalDriver(described("external"), Path("out")),
        ExternalDriver(described("external"), Path("out")),
    )
    taken: set[int] = set()
    for driver in (first, second):
        for check in range(50):
            sut = driver.open(f"check {check}")
            taken.update(range(sut.first_message_id, sut.first_message_id + 1024))
            sut.environment.run_until(lambda: False, 10)  # no check takes less
            sut.environment.close()
    assert len(taken) == 100 * 1024


def test_identifiers_of_simulated_queue_managers_differ_between_runs() -> None:
    """The identifiers of the peer differ between attempts and runs, because messages with the same identifier and
    number would be duplicates.
    """
    driver = ExternalDriver(described("external"), Path("out"))
    drawn = set()
    for run in ("a run", "a run 1", "a later run"):
        sut = driver.open("a check", run)
        drawn.add(Peer(sut.environment, sut, Recorder(sut.environment, None), seed="a check").entropy.token(16))
        sut.environment.close()
    assert len(drawn) == 3
