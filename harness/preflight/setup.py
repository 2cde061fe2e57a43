"""A set-up that is being looked at: the SUT file, and what is known of the system so far."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from uuid import UUID

from harness.attach.findings import Findings
from harness.capture.recorder import Recorder
from harness.environment import Environment, RealEnvironment
from harness.peer.peer import Peer
from harness.sut.control import Control, JsonlControl
from harness.sut.discovery import as_nobody
from harness.sut.external_driver import ExternalDriver
from harness.sut.sut_file import SutFile
from harness.sut.timeouts import Timeouts, timeouts_for
from harness.sut.view import Identity, view_of
from harness.sut.wires import Route


@dataclass(slots=True)
class Setup:
    """``driver``: reaches the system; ``file``: with the ports that it was started with, if it was started."""

    file: SutFile
    driver: ExternalDriver
    guid: UUID | None = None
    """Who answers a session."""
    control: Findings | None = None
    """What the control channel said of itself; None when there is none, or it is silent."""
    lacking: set[str] = field(default_factory=set)
    """Capabilities that are declared and not there."""
    peer_can_listen: bool = True
    clock_s: int | None = None
    """By how many seconds the system's clock is fast; None while it was not seen."""

    @property
    def route(self) -> Route | None:
        """The way to the control channel."""
        return self.driver.control_route

    @property
    def timeouts(self) -> Timeouts:
        """The timeouts of a run, but for what it measures."""
        return timeouts_for(self.file.timeouts, controlled=self.route is not None)

    def offers(self, facility: str) -> bool:
        """Return whether the control channel announces a facility."""
        return self.control is not None and facility in self.control.announced

    @contextmanager
    def peer(self) -> Iterator[Peer]:
        """Yield a counterpart of the system that is no check's, so that nothing is left for one; it has no control."""
        file = self.file
        nobody = replace(file.driver, peer_identifier=as_nobody(file.driver.peer_identifier))
        environment = RealEnvironment()
        with closing(environment):
            ports = file.driver.tcp_port, file.driver.ping_port, file.driver.rpc_port
            who = Identity(self.guid)
            sut = view_of(replace(file, driver=nobody), environment, None, who, *ports, timeouts=self.timeouts)
            with closing(Peer(environment, sut, Recorder(environment, None), "preflight")) as peer:
                yield peer

    @contextmanager
    def controlled(self, environment: Environment) -> Iterator[Control]:
        """Yield the control channel; SutUnavailable when there is none any more."""
        assert self.route is not None
        with closing(JsonlControl(environment, self.route, answer_ms=self.timeouts.control_ms)) as control:
            yield control
