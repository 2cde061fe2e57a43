"""Topology files, and the relay between two systems, in virtual time."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from harness_made import sut_file

from harness.capture.recorder import Recorder
from harness.environment import Stream, VirtualEnvironment
from harness.errors import UsageError
from harness.judging.passive import PassiveJudge
from harness.sut.control import ControlRefused
from harness.topology.relay import Relay, RelayedStreamPair
from harness.topology.topology import Topology
from harness.topology.topology_file import RECEIVER_ROLE, ROLES, ROUTER_ROLE, load_topology
from harness.topology.virtual_systems import MSMQ_PORT, create_virtual_systems
from reference_qm.surface.inputs import Endpoint

SUT = """
[sut]
name = "{role}"
[driver]
kind = "external"
address = "127.0.2.{number}"
peer_tcp_port = 18020
[control]
kind = "jsonl"
"""
TOPOLOGY = '[topology]\nname = "three"\n' + "".join(
    f'[{role}]\nsut = "{role}.toml"\naddress = "127.0.1.{number}"\n' for number, role in enumerate(ROLES, 1)
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number, role in enumerate(ROLES, 1):
        (tmp_path / f"{role}.toml").write_text(SUT.format(role=role, number=number))
    (tmp_path / "topology.toml").write_text(TOPOLOGY)
    return tmp_path


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_topology_file_gives_three_systems_with_their_addresses(folder: Path) -> None:
    found = load_topology(folder / "topology.toml")
    assert [(one.role, one.address, one.file.driver.address) for one in found.places.values()] == [
        ("sender", "127.0.1.1", "127.0.2.1"),
        ("router", "127.0.1.2", "127.0.2.2"),
        ("receiver", "127.0.1.3", "127.0.2.3"),
    ]
    assert found.build_sut_file().sut.name == "three"
    assert all(one.file.capabilities["topology"] for one in found.places.values())


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("topology.toml", "[router]", "[gate]", "unknown table [gate]; known: topology, sender, router, receiver"),
        ("topology.toml", '[router]\nsut = "router.toml"\naddress = "127.0.1.2"\n', "", "table [router] is missing"),
        ("topology.toml", 'name = "three"', "", "topology.name is missing or is not a string"),
        ("topology.toml", 'name = "three"', 'name = "three"\nsize = 3', "unknown key topology.size; known: name"),
        ("topology.toml", "127.0.1.3", "127.0.1.1", "address 127.0.1.1 belongs to both sender and receiver"),
        ("router.toml", "127.0.2.2", "127.0.2.1", "driver.address 127.0.2.1 belongs to both sender and router"),
        ("router.toml", "127.0.2.2", "127.0.1.3", "the router listens at 127.0.1.3, which"),
        ("router.toml", "127.0.2.2", "127.0.1.2", "the router listens at 127.0.1.2, which"),
        ("router.toml", 'kind = "jsonl"', 'kind = "none"', "[control] is missing"),
        ("router.toml", 'kind = "external"', 'kind = "virtual"', "must be a process or external"),
        ("router.toml", "18020", "18021", "driver.peer_tcp_port is 18020, 18021"),
        ("topology.toml", "127.0.1.2", "192.0.2.1", "router.address 192.0.2.1 is not loopback"),
        ("topology.toml", "router.toml", "nowhere.toml", "nowhere.toml cannot be read"),
        ("topology.toml", "[topology]", "[topology", "not a TOML file"),
    ],
)
def test_invalid_topology_file_gives_one_line_error_that_names_the_place(
    folder: Path, file: str, old: str, new: str, said: str
) -> None:
    change(folder / file, old, new)
    with pytest.raises(UsageError) as caught:
        load_topology(folder / "topology.toml")
    assert said in str(caught.value)
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_topology_of_one_system_is_refused(tmp_path: Path) -> None:
    from harness.sut.sut_file import load_sut_file

    path = tmp_path / "sut.toml"
    path.write_text(SUT.format(role="one", number=1) + "[capabilities]\ntopology = true\n")
    with pytest.raises(UsageError, match="needs three systems; use --topology FILE"):
        load_sut_file(path)


class End:
    """One end of a connection; it records its events."""

    def __init__(self) -> None:
        self.said: list[object] = []
        self.stream: Stream | None = None

    def on_connection_open(self) -> None:
        self.said.append("open")

    def on_failed(self, error: str) -> None:
        self.said.append(error)

    def on_bytes(self, data: bytes) -> None:
        self.said.append(data)

    def on_closed(self, reason: str) -> None:
        self.said.append("closed")


class Seen:
    """An observer."""

    def __init__(self) -> None:
        self.said: list[object] = []

    def on_opened(self, link: RelayedStreamPair) -> None:
        self.said.append("opened")

    def on_data(self, link: RelayedStreamPair, data: bytes, *, from_initiator: bool) -> None:
        self.said.append((data, from_initiator))

    def on_closed(self, link: RelayedStreamPair, *, by_initiator: bool) -> None:
        self.said.append(("closed", by_initiator))


FOUND, OWN = Endpoint("127.0.1.1", 1801), Endpoint("127.0.2.1", 1801)


class Network:
    """A system, the relay in front of it, and the clients of the relay."""

    def __init__(self, *, listens: bool = True) -> None:
        self.environment = VirtualEnvironment()
        self.seen = Seen()
        self.system = End()
        if listens:
            self.environment.listen(OWN, self._accept)
        self.relay = Relay(self.environment, FOUND, OWN, self.seen, "127.0.1.1")

    def _accept(self, stream: Stream) -> End:
        self.system.stream = stream
        return self.system

    def connect(self) -> End:
        end = End()
        end.stream = self.environment.connect(FOUND, "127.0.3.1", end)
        self.pass_time()
        return end

    def pass_time(self) -> None:
        self.environment.run_until(lambda: False, 100)


def test_relay_passes_bytes_both_ways_and_records_them() -> None:
    network = Network()
    end = network.connect()
    assert end.stream is not None
    end.stream.send(b"there")
    network.pass_time()
    assert network.system.stream is not None
    network.system.stream.send(b"back")
    network.pass_time()
    end.stream.close()
    network.pass_time()
    assert end.said == ["open", b"back"]
    assert network.system.said == ["open", b"there", "closed"]
    assert network.seen.said == ["opened", (b"there", True), (b"back", False), ("closed", True)]


def test_relay_keeps_bytes_sent_before_its_second_connection_opens() -> None:
    network = Network()
    end = End()
    stream = network.environment.connect(FOUND, "127.0.3.1", end)
    network.environment.run_until(lambda: bool(end.said), 100)
    stream.send(b"at once")
    network.pass_time()
    assert b"at once" in network.system.said


def test_cut_network_closes_and_refuses_connections_until_restored() -> None:
    network = Network()
    end = network.connect()
    network.relay.cut()
    network.pass_time()
    assert end.said[-1] == "closed"
    assert network.system.said[-1] == "closed"
    assert network.connect().said == ["connection refused"]
    network.relay.allow_connections()
    assert network.connect().said == ["open"]


def test_relay_closes_connections_to_a_missing_system() -> None:
    network = Network(listens=False)
    assert network.connect().said[-1] == "closed"
    assert network.relay.links == []


def test_environment_not_restored_by_one_system_is_reported() -> None:
    environment = VirtualEnvironment()
    systems = create_virtual_systems(sut_file(), environment, "broken")
    systems[ROUTER_ROLE].sut.broken = "Contoso: its environment could not be restored: storage"
    with closing(Recorder(environment, None)) as recorder:
        topology = Topology(environment, systems, MSMQ_PORT, recorder, PassiveJudge(), [])
        topology.close()
    assert topology.broken == "router: Contoso: its environment could not be restored: storage"


def refuse_to_delete(call: Callable[..., dict[str, Any]], verb: str, **arguments: Any) -> dict[str, Any]:
    if verb == "delete_queue":
        raise ControlRefused("no queue is deleted here")
    return call(verb, **arguments)


def test_environment_that_no_system_can_restore_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Queues that the topology cannot delete are reported as residue for sender and router; the check itself collects
    the residue of the receiver, which may be its SUT.
    """
    environment = VirtualEnvironment()
    systems = create_virtual_systems(sut_file(), environment, "residue")
    told = systems[RECEIVER_ROLE].sut.residue
    with closing(Recorder(environment, None)) as recorder:
        topology = Topology(environment, systems, MSMQ_PORT, recorder, PassiveJudge(), told)
        for one in systems.values():
            one.sut.new_queue(one.role)
            monkeypatch.setattr(one.sut.control, "call", partial(refuse_to_delete, one.sut.control.call))
        topology.close()
    refused = sorted(what.partition("no ")[0] for what in told)
    assert refused == ["", "router: ", "sender: "]
