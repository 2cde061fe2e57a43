"""Open two systems, and open the relays through which the systems reach each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.capture.recorder import Frame, Recorder
from harness.environment import DatagramSink, RealEnvironment
from harness.errors import UsageError
from harness.pair.rpc_traffic import RpcRelayTrafficRecorder
from harness.sut.drivers import create_driver
from harness.sut.external_driver import ExternalDriver
from harness.sut.sut import Sut
from harness.sut.sut_file import SutFile
from harness.topology.relay import Relay
from harness.topology.traffic import RelayTraffic
from reference_qm.surface.inputs import Endpoint

ROLE_OF_SYSTEM_A, ROLE_OF_SYSTEM_B = "A", "B"
REMOTE_READ_PORT = 2105
"""The port of qm2qm that is used if the SUT file does not set ``driver.rpc_read_port``."""


@dataclass(frozen=True, slots=True)
class PairSystem:
    """One system of a pair. ``relay_address``: the address of the relay through which the other system reaches this
    system.
    """

    role: str
    sut: Sut
    relay_address: str

    def direct_name(self, queue: str) -> str:
        """Return the direct format name that the other system uses for a queue of this system."""
        return f"DIRECT=TCP:{self.relay_address}\\{queue}"

    def direct_host_name(self, queue: str) -> str:
        """Return the direct format name (DIRECT=OS) in which the relay's address is the host name. A system accepts
        this name for its own queue only if the relay's address is also its host name.
        """
        return f"DIRECT=OS:{self.relay_address}\\{queue}"


class PingRelay:
    """A relay for pings. It forwards pings to a system, and forwards the system's responses to the port that sent
    the last ping.
    """

    def __init__(self, environment: RealEnvironment, at: Endpoint, target: Endpoint, recorder: Recorder) -> None:
        self._target = target
        self._recorder = recorder
        self._port_toward_asker = environment.open_udp_port(at, _ForwardingSink(self._forward_to_target))
        self._port_toward_target = environment.open_udp_port(
            Endpoint(at.host, 0), _ForwardingSink(self._forward_response)
        )
        self._last_ping_sender: Endpoint | None = None

    def _forward_to_target(self, remote: Endpoint, data: bytes) -> None:
        self._last_ping_sender = remote
        self._recorder.record_datagram(remote, self._port_toward_asker.endpoint, data, from_sut=False)
        self._port_toward_target.send(self._target, data)

    def _forward_response(self, _: Endpoint, data: bytes) -> None:
        if self._last_ping_sender is not None:
            self._recorder.record_datagram(
                self._last_ping_sender, self._port_toward_asker.endpoint, data, from_sut=True
            )
            self._port_toward_asker.send(self._last_ping_sender, data)

    def close(self) -> None:
        """Stop forwarding, and close the ports."""
        self._port_toward_asker.close()
        self._port_toward_target.close()


@dataclass(frozen=True, slots=True)
class _ForwardingSink(DatagramSink):
    """A receiver of datagrams that passes them to a function."""

    take: Callable[[Endpoint, bytes], None]

    def on_datagram(self, remote: Endpoint, data: bytes) -> None:
        self.take(remote, data)


class JudgeIgnoringAllPackets:
    """A judge that ignores all packets. A pair is judged only by the outcomes of its scenarios."""

    def on_frame(self, frame: Frame) -> None:
        """Do nothing, because no judge is needed."""

    def note(self, frame: Frame) -> None:
        """Do nothing, because no judge is needed."""


class PairOfSystems:
    """Both systems of a pair during one scenario. One capture contains all of their traffic."""

    def __init__(self, environment: RealEnvironment, sides: dict[str, PairSystem], capture: Path) -> None:
        self.environment = environment
        self.sides = sides
        self.recorder = Recorder(environment, capture)
        self.traffic = RelayTraffic(
            self.recorder, {one.relay_address: role for role, one in sides.items()}, JudgeIgnoringAllPackets()
        )
        self.traffic.identifiers |= {one.sut.guid: role for role, one in sides.items()}
        self._relays = [self._relay_connections(one) for one in sides.values()]
        self._relays += [relay for one in sides.values() for relay in self._relay_rpc(one)]
        self._pings = [self._relay_pings(one) for one in sides.values()]

    def _relay_connections(self, side: PairSystem) -> Relay:
        at = Endpoint(side.relay_address, side.sut.file.driver.peer_tcp_port or side.sut.tcp_port)
        return Relay(self.environment, at, side.sut.endpoint, self.traffic, side.sut.file.driver.peer_address)

    def _relay_rpc(self, side: PairSystem) -> list[Relay]:
        """Relay the ports of qmcomm and qm2qm, if the system declares qm2qm. A client asks qmcomm for the port of
        qm2qm, so the relays use the same port numbers as the system.
        """
        if not side.sut.has("qm2qm"):
            return []
        driver, traffic = side.sut.file.driver, RpcRelayTrafficRecorder(self.recorder)
        ports = dict.fromkeys((side.sut.rpc_port, driver.rpc_read_port or REMOTE_READ_PORT))
        return [
            Relay(
                self.environment,
                Endpoint(side.relay_address, port),
                Endpoint(side.sut.address, port),
                traffic,
                driver.peer_address,
            )
            for port in ports
        ]

    def _relay_pings(self, side: PairSystem) -> PingRelay:
        target = Endpoint(side.sut.address, side.sut.ping_port)
        at = Endpoint(side.relay_address, side.sut.file.driver.peer_ping_port or side.sut.ping_port)
        return PingRelay(self.environment, at, target, self.recorder)

    def interrupt_network(self) -> None:
        """Interrupt the network between the systems."""
        for relay in self._relays:
            relay.cut()

    def restore_connections(self) -> None:
        """Restore the network."""
        for relay in self._relays:
            relay.allow_connections()

    def _await_acknowledgments(self) -> None:
        """Wait until no open session has an unacknowledged message, because a system would send such a message again in
        the next scenario.
        """
        limit_ms = max(one.sut.response_timeout_ms for one in self.sides.values())
        self.environment.run_until(
            lambda: all(each.is_acknowledged for each in self.traffic.relayed_connections), limit_ms
        )

    def close(self) -> None:
        """Remove the objects of the scenario while the systems can still reach each other. Then close the relays
        and the capture.
        """
        with ExitStack() as stack:
            stack.callback(self.recorder.close)
            for ping in self._pings:
                stack.callback(ping.close)
            stack.callback(self.interrupt_network)
            stack.callback(self._await_acknowledgments)
            for side in self.sides.values():
                stack.callback(side.sut.restore_state)
            stack.callback(self.restore_connections)


class PairDrivers:
    """The drivers of both systems of a pair."""

    def __init__(self, a: SutFile, b: SutFile, out: Path) -> None:
        for role, file in ((ROLE_OF_SYSTEM_A, a), (ROLE_OF_SYSTEM_B, b)):
            if file.driver.kind != "external":
                raise UsageError(f"{file.path}: driver.kind is {file.driver.kind!r}; a pair needs two external systems")
            if file.control.kind == "none":
                raise UsageError(f"{file.path}: control.kind is none; system {role} of a pair needs a control channel")
        if a.driver.peer_address == b.driver.peer_address:
            raise UsageError(
                f"{b.path}: driver.peer_address is {b.driver.peer_address}, as in {a.path}; in each file, set the "
                "address at which its system reaches the other system"
            )
        self._drivers: dict[str, ExternalDriver] = {}
        for number, (role, file) in enumerate(((ROLE_OF_SYSTEM_A, a), (ROLE_OF_SYSTEM_B, b))):
            driver = create_driver(file, out, number)
            assert isinstance(driver, ExternalDriver)
            self._drivers[role] = driver

    def start(self) -> None:
        """Start both systems, or connect to running systems; raise UsageError if both are the same queue manager."""
        for driver in self._drivers.values():
            driver.resets = False
            driver.start()
        if self._drivers[ROLE_OF_SYSTEM_A].identifier == self._drivers[ROLE_OF_SYSTEM_B].identifier:
            raise UsageError(
                f"both SUT files describe the same queue manager, {self._drivers[ROLE_OF_SYSTEM_A].identifier}"
            )
        # After a reset, a system numbers its messages from 1 again, and the other system discards them as repeated.
        both = all("reset" in driver.identify_system().facilities for driver in self._drivers.values())
        for driver in self._drivers.values():
            driver.resets = both

    def stop(self) -> None:
        """Restore the original states of both systems, and release the systems."""
        for driver in self._drivers.values():
            driver.stop()

    @contextmanager
    def open_pair(self, name: str, capture: Path) -> Iterator[PairOfSystems]:
        """Open both systems of a pair for one scenario."""
        environment = RealEnvironment()
        try:
            views = {
                role: driver.open_sut_in_environment(environment, name, name) for role, driver in self._drivers.items()
            }
            found_at = {
                ROLE_OF_SYSTEM_A: views[ROLE_OF_SYSTEM_B].file.driver.peer_address,
                ROLE_OF_SYSTEM_B: views[ROLE_OF_SYSTEM_A].file.driver.peer_address,
            }
            pair = PairOfSystems(
                environment, {role: PairSystem(role, view, found_at[role]) for role, view in views.items()}, capture
            )
            try:
                yield pair
            finally:
                pair.close()
                for view in views.values():
                    view.close()
        finally:
            environment.close()
