"""Define the fixture for checks that need three systems, and the driver of a topology of real systems."""

from __future__ import annotations

import socket
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

import pytest

from harness.environment import RealEnvironment
from harness.errors import HarnessError, SutLost, UsageError
from harness.run.stash import get_attempt_capture_path
from harness.sut.drivers import SutDriver, create_driver
from harness.sut.external_driver import ExternalDriver
from harness.sut.free_ports import free_port
from harness.sut.listeners import SutPort, refuse_taken_port
from harness.sut.sut import Sut
from harness.sut.sut_file import SutFile, load_sut_file
from harness.sut.sut_process import ProcessEnd
from harness.sut.worker_configurations import build_worker_configurations
from harness.topology.topology import System, Topology
from harness.topology.topology_file import RECEIVER_ROLE, ROLES, PlaceOfSystem, TopologyFile, load_topology
from harness.topology.virtual_systems import MSMQ_PORT, create_virtual_systems

if TYPE_CHECKING:
    from harness.judging.judge import Judge

MakeDriversOfThreeSystems = Callable[[SutFile, Path], Sequence[SutDriver]]
"""The type of functions that create the drivers of a run from the SUT file and the run folder."""
ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - a port that is free here is free at each address; no socket listens there


def load_systems(sut: str | None, topology: str | None, workers: int) -> tuple[SutFile, MakeDriversOfThreeSystems]:
    """Return the SUT file of a run, and a function that creates the drivers of the run, one for each worker."""
    if topology is None:
        return load_sut_file(Path(str(sut))), lambda file, out: [
            create_driver(one, out, number) for number, one in enumerate(build_worker_configurations(file, workers))
        ]
    if sut is not None:
        raise UsageError(
            "--sut and --topology are both given, but the topology file names its own SUT files; omit one of them"
        )
    if workers > 1:
        raise UsageError(
            "--workers cannot be used with --topology: the workers would share the three systems; omit --workers"
        )
    places = load_topology(Path(topology))
    return places.build_sut_file(), lambda file, out: [TopologyDriver(places, out)]


class TopologyDriver:
    """A driver that combines the drivers of three systems. The driver opens all three systems; a check gets the
    receiver as its SUT.
    """

    def __init__(self, topology: TopologyFile, out: Path) -> None:
        self.file = topology.build_sut_file()
        self.shared = self.are_other_workers_running = False
        self.start_wait_s = 0
        self.identifier: UUID | None = None
        self.port = self.file.driver.peer_tcp_port or free_port(ANY_ADDRESS, socket.SOCK_STREAM)
        """The port of each system, by role. Each system listens at the address of its role."""
        self._places = topology.places
        self._drivers = {
            role: _build_driver(topology.places[role], self.port, out, number) for number, role in enumerate(ROLES)
        }

    def start(self) -> None:
        """Start all systems, or connect to systems that are already running. Raise SutLost if two of them are the
        same system, because a topology consists of different systems.
        """
        refuse_taken_port(
            [SutPort(f"{role}.address", place.address, self.port) for role, place in self._places.items()]
        )
        for driver in self._drivers.values():
            driver.start_wait_s = self.start_wait_s
            driver.start()
        self.identifier = self._drivers[RECEIVER_ROLE].identifier
        known: dict[UUID | None, str] = {}
        for role, driver in self._drivers.items():
            other = known.setdefault(driver.identifier, role)
            if other != role:
                raise SutLost(f"{self.file.path}: {other} and {role} are the same queue manager, {driver.identifier}")

    def open(
        self, seed: str, run: str = "", fresh_peer: int | None = None, needs: Collection[str] = frozenset()
    ) -> Sut:
        environment = RealEnvironment()
        views = {role: driver.open_sut_in_environment(environment, seed, run) for role, driver in self._drivers.items()}
        view = views[RECEIVER_ROLE]
        view.open_systems = lambda: {role: System(role, self._places[role].address, views[role]) for role in ROLES}
        view.found_at_port = self.port
        return view

    def describe_end(self, within_s: float = 0) -> str | None:
        """Return a description of how the process of one of the systems ended, or None if no process has ended."""
        return next(
            (how for driver in self._drivers.values() if (how := driver.describe_end(within_s)) is not None), None
        )

    def describe_unexpected_end(self, *, has_other_side_closed_connection: bool) -> str | None:
        """Return a description of how the process of one of the systems ended, or None. This is determined even if
        no connection was lost, because relays close connections for many reasons.
        """
        return self.describe_end()

    def take_process_end(self, check: str | None) -> ProcessEnd | None:
        """Return the record of how the process of one of the systems ended. Each end is reported only once."""
        return next(
            (death for driver in self._drivers.values() if (death := driver.take_process_end(check)) is not None), None
        )

    def start_again(self) -> None:
        """Restart the systems whose processes have ended."""
        for driver in self._drivers.values():
            if driver.describe_end() is not None:
                driver.start_again()

    def confirm_same_system(self) -> None:
        """Raise SutLost if one of the systems is not the same system as when the run started."""
        for driver in self._drivers.values():
            driver.confirm_same_system()

    def stop(self) -> None:
        for driver in self._drivers.values():
            driver.stop()


def _build_driver(place: PlaceOfSystem, port: int, out: Path, number: int) -> ExternalDriver:
    told = replace(place.file.driver, peer_address=place.address, peer_tcp_port=port)
    driver = create_driver(replace(place.file, driver=told), out, number)
    assert isinstance(driver, ExternalDriver)  # a topology file contains no virtual system
    return driver


@pytest.fixture
def topology(request: pytest.FixtureRequest, sut: Sut, judge: Judge) -> Iterator[Topology]:
    """Yield three systems. Record all packets between these systems, and judge the packets with the passive
    predicates.
    """
    from harness.capture.recorder import Recorder

    if not sut.has("topology"):
        raise HarnessError('a check without needs("topology") uses the fixture topology')
    recorder = Recorder(sut.environment, get_attempt_capture_path(request.node))
    if sut.open_systems is not None:
        systems, port = sut.open_systems(), sut.found_at_port
    else:
        systems, port = create_virtual_systems(sut.file, sut.environment, request.node.nodeid), MSMQ_PORT
    made = Topology(sut.environment, systems, port, recorder, judge.packets, sut.residue)
    with closing(recorder), closing(made):
        yield made
    if sut.open_systems is not None:  # virtual systems are new in each check
        sut.broken = sut.broken or made.broken
