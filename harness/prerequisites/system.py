"""Represent a system whose prerequisites are checked, with its driver and the known facts about it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from uuid import UUID, uuid5

from harness.capture.recorder import Recorder
from harness.environment import Environment, RealEnvironment
from harness.peer.peer import Peer
from harness.sut.control import Control, JsonlControl
from harness.sut.external_driver import ExternalDriver
from harness.sut.remote_control import RemoteControl
from harness.sut.sut_file import SutFile
from harness.sut.timeouts import Timeouts
from harness.sut.view import SutIdentity, build_sut_view
from harness.sut.wires import ControlRoute


class EnvironmentResolvingNameOfSystem(RealEnvironment):
    """The real environment, except for one host name, which only the system can resolve: this environment replaces the
    name by the address of the system.
    """

    def __init__(self, names: dict[str, str]) -> None:
        super().__init__()
        self._names = names

    def resolve(self, host: str) -> tuple[str, ...]:
        """Return the addresses of a host name as strings. The best address comes first."""
        return (self._names[host],) if host in self._names else super().resolve(host)


@dataclass(slots=True)
class SystemWithCheckedPrerequisites:
    """The system whose prerequisites are checked. ``driver``: its driver. ``file``: its SUT file; if the tester
    started the system, the file contains the actual ports.
    """

    file: SutFile
    driver: ExternalDriver
    guid: UUID | None = None
    """The identifier of the queue manager that answers sessions, or None while the identifier is unknown."""
    facilities: frozenset[str] = frozenset()
    """The facilities that the control channel announces."""
    host_name: str | None = None
    """The host name that the system reports on the control channel."""
    clock_s: int | None = None
    """The number of seconds by which the system's clock is fast, or None while this number is unknown."""

    @property
    def route(self) -> ControlRoute | None:
        """The route to the control channel."""
        return self.driver.control_route

    @property
    def timeouts(self) -> Timeouts:
        """The timeouts that apply, computed by the driver from the SUT file and from the measured speed of the
        system.
        """
        return self.driver.timeouts

    def offers_facility(self, facility: str) -> bool:
        """Return whether the control channel announces a facility."""
        return facility in self.facilities

    @property
    def can_read_queues(self) -> bool:
        """Return whether the control channel or a remote reader can read queues."""
        return self.offers_facility("receive") or self.file.capabilities.get("qm2qm", False)

    @contextmanager
    def peer(self) -> Iterator[Peer]:
        """Yield a peer with a new identifier and without a control channel. Because the identifier is new, the system
        cannot mistake a message from this peer for a duplicate.
        """
        file = self.file
        nobody = replace(file.driver, peer_identifier=uuid5(file.driver.peer_identifier, f"roots {time.time_ns()}"))
        names = {self.host_name: file.driver.address} if self.host_name else {}
        environment = EnvironmentResolvingNameOfSystem(names)
        with closing(environment):
            ports = file.driver.tcp_port, file.driver.ping_port, file.driver.rpc_port
            who = SutIdentity(self.guid)
            sut = build_sut_view(replace(file, driver=nobody), environment, None, who, *ports, timeouts=self.timeouts)
            with closing(Peer(environment, sut, Recorder(environment, None), "roots")) as peer:
                yield peer

    @contextmanager
    def open_control(self, environment: Environment) -> Iterator[Control]:
        """Yield the control channel; raise SutUnavailable if the channel was lost."""
        assert self.route is not None
        with closing(JsonlControl(environment, self.route, answer_ms=self.timeouts.control_ms)) as control:
            yield control

    @contextmanager
    def open_queue_reader(self) -> Iterator[Control]:
        """Yield a reader of queues. ``can_read_queues`` must be true."""
        environment = RealEnvironment()
        with closing(environment):
            if self.offers_facility("receive"):
                with self.open_control(environment) as control:
                    yield control
            else:
                with closing(RemoteControl(environment, self.file, self.file.driver.rpc_port)) as remote:
                    yield remote
