"""The three SUT drivers: in this process in virtual time, a program on loopback, an address."""

from __future__ import annotations

import base64
import contextlib
import socket
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol, TypeVar
from uuid import UUID

from harness.environment import Environment, RealEnvironment, VirtualEnvironment
from harness.environment.system_host import SystemHost
from harness.errors import MqconformError, SutLost, SutUnavailable, UsageError
from harness.faults.registry import find_fault, wrap
from harness.sut import remote_control
from harness.sut.control import REASON_LIMIT, Control, JsonlControl, VirtualControl
from harness.sut.free_ports import free_port, free_rpc_port
from harness.sut.listeners import Port, refuse_foreign, refuse_stranger, refuse_taken
from harness.sut.provisioning import BASE_ONLY, KEYLESS, restricted_queue, virtual_security
from harness.sut.remote_control import RemoteControl
from harness.sut.sut import MESSAGE_IDS_A_TEST, Sut
from harness.sut.sut_file import PEER_PUBLIC_QUEUE, PORTS, DriverTable, SutFile
from harness.sut.sut_process import Death, SutProcess
from harness.sut.timeouts import VIRTUAL, Timeouts, report
from harness.sut.vital_signs import VitalSigns
from harness.sut.worker_configurations import as_fresh_peer
from harness.wire import dissect, establish_connection
from reference_qm.codec import StreamFramer
from reference_qm.config import QueueManagerConfig, QueueSettings
from reference_qm.control import FACILITIES
from reference_qm.core.queue_manager import QueueManager
from reference_qm.security import SecurityConfig
from reference_qm.surface.driver import Core
from reference_qm.surface.entropy import SeededEntropy, new_guid
from reference_qm.surface.inputs import Endpoint

NULL_GUID = UUID(int=0)

TWO_ADDRESSES = "mqc-peer.example"
UNUSED_ADDRESS = "127.0.0.254"
"""The address of the capability two_addresses where nothing listens."""


Found = TypeVar("Found")
OWN_DIGITS = 10
SHARED_SCALE = 4
"""How much faster than specified protocol timers run at most where many checks keep a SUT busy."""
DISCOVERY_S = 5.0
MESSAGE_IDS_EVERY_NS = 10_000_000
"""No test takes less."""
RESET_NEAR_S = 0.05
"""How soon after a connection was closed by a process that ends the others are."""
DEATH_NEAR_S = 0.5
"""How soon after its connections the end of a process is known."""


class SutDriver(Protocol):
    """A driver that starts the SUT once for a run and hands a view of it to each test.

    ``shared``: it is the SUT of several workers; ``beside_others``: others of them have checks at this time.
    """

    file: SutFile
    shared: bool
    beside_others: bool

    identifier: UUID | None
    """The QueueManager.Identifier that it had when it was started, if that is known."""

    def start(self) -> None:
        """Start it or find it; SutUnavailable with one line when that fails."""

    def open(self, seed: str, run: str = "", fresh_peer: int | None = None) -> Sut:
        """Return the SUT as one test sees it, in an environment of its own.

        ``run``: a word that no other run has; ``fresh_peer``: a number that no other test of the run has, if its peer
        need not be the one that the SUT may know.
        """

    def ended(self, within_s: float = 0) -> str | None:
        """Return how the SUT's process ended; None while it runs, or when the run did not start one."""

    def ended_meanwhile(self, *, hung_up: bool) -> str | None:
        """Return the same at the end of a check, also of a process that is about to end.

        ``hung_up``: the SUT closed a connection.
        """

    def death(self, check: str | None) -> Death | None:
        """Return the end of the SUT's process, once; None while it runs, and to all but the process that started it.

        ``check``: the one in progress, or the last.
        """

    def start_again(self) -> None:
        """Start the SUT's process again; SutLost when it ended too often."""

    def confirm(self) -> None:
        """Raise SutLost unless the system that answers is still the one that answered at the start."""

    def stop(self) -> None:
        """Stop what ``start`` started."""


def driver_for(file: SutFile, out: Path, worker: int = 0) -> SutDriver:
    """Return a worker's driver of the kind that the SUT file names."""
    if file.driver.kind == "virtual":
        return VirtualDriver(file)
    if file.driver.kind == "process":
        return ProcessDriver(file, out, worker)
    return ExternalDriver(file, worker)


def start_all(drivers: Sequence[SutDriver]) -> None:
    """Start every SUT at the same time; when one fails, stop them and raise its error."""
    for driver in drivers:
        driver.shared = len(drivers) > 1 and driver.file.driver.kind == "external"
    with ThreadPoolExecutor() as pool:
        begun = [pool.submit(driver.start) for driver in drivers]
    errors = [error for each in begun if (error := each.exception()) is not None]
    if errors:
        for driver in drivers:
            driver.stop()
        raise errors[0]


def timeouts_report(drivers: Sequence[SutDriver]) -> dict[str, Any] | None:
    """Return what a run says of its timeouts; None in virtual time, where there is nothing to wait for."""
    real = [driver for driver in drivers if isinstance(driver, ExternalDriver)]
    if not real:
        return None
    slowest = max(real, key=lambda driver: driver.timeouts.response_ms)
    return report([driver.vital_signs.speed for driver in real], slowest.timeouts)


class VirtualDriver:
    """A fresh reference core for each test, with the faults that the SUT file names.

    ``raises``: an exception out of the core is the caller's, not the end of the system.
    """

    def __init__(self, file: SutFile, *, raises: bool = False) -> None:
        self.file = file
        self.shared = self.beside_others = False
        self.identifier: UUID | None = None
        self._raises = raises
        self._host: SystemHost | None = None
        """Of the test that began last."""

    def start(self) -> None:
        for name in self.file.reference.faults:
            find_fault(name)

    def open(self, seed: str, run: str = "", fresh_peer: int | None = None) -> Sut:
        driver = self.file.driver
        environment = VirtualEnvironment()
        if self.file.capabilities.get("two_addresses", False):
            environment.hosts[TWO_ADDRESSES] = (UNUSED_ADDRESS, driver.peer_address)
        entropy = SeededEntropy(f"sut {seed}")
        secure = self.file.capabilities.get("security", False)
        fresh_peers = (BASE_ONLY, KEYLESS) if secure else ()
        config = QueueManagerConfig(
            identifier=new_guid(entropy),
            host_name="sut.example",
            addresses=(driver.address,),
            remote_tcp_port=driver.peer_tcp_port,
            remote_ping_port=driver.peer_ping_port,
            remote_rpc_port=driver.peer_rpc_port,
            send_ping=self.file.reference.send_ping,
            queues=(
                QueueSettings(self.file.queues.plain),
                QueueSettings(self.file.queues.transactional, transactional=True),
                QueueSettings(self.file.queues.admin),
                *([restricted_queue(self.file.queues.restricted)] if secure else []),
            ),
            public_queues={PEER_PUBLIC_QUEUE: driver.peer_identifier},
            routes=dict.fromkeys((driver.peer_identifier, *fresh_peers), driver.peer_address),
            security=virtual_security(driver.peer_identifier) if secure else SecurityConfig(),
        )

        def new_core() -> Core:
            return wrap(QueueManager(config, entropy), self.file.reference.faults)

        host = self._host = SystemHost(environment, new_core(), driver.address, raises=self._raises)
        host.start()
        host.listen(driver.tcp_port)
        if self.file.capabilities.get("ping", False):
            host.listen_ping(driver.ping_port)
        if self.file.capabilities.get("qm2qm", False):
            host.listen_rpc(driver.rpc_port)
        control = VirtualControl(host, new_core)
        who = identity_of(self.file, control)
        view = _view(self.file, environment, control, who, driver.tcp_port, driver.ping_port, driver.rpc_port)
        view.process_ended = self.ended
        view.hangs = lambda: host.hangs
        return view

    def ended(self, within_s: float = 0) -> str | None:
        """Return with which exception the core of the test ended."""
        return None if self._host is None else self._host.ended

    def ended_meanwhile(self, *, hung_up: bool) -> str | None:
        """Return the same: it is known at once."""
        return self.ended()

    def death(self, check: str | None) -> Death | None:
        """Return None: the next test has another system."""
        return None

    def start_again(self) -> None:
        """Do nothing: each test makes its own."""

    def confirm(self) -> None:
        """Do nothing: each test makes its own."""

    def stop(self) -> None:
        """Do nothing: nothing outlives a test."""


class ExternalDriver:
    """An address; nothing is started or stopped. ``worker``: the first of several brings the SUT into its state."""

    def __init__(self, file: SutFile, worker: int = 0) -> None:
        self.file = file
        self.worker = worker
        self.shared = self.beside_others = False
        self._timers: dict[str, int] = {}
        """The timers that the run changed, as they were."""
        self.control_endpoint = _control_endpoint(file)
        self.tcp_port = file.driver.tcp_port
        self.ping_port = file.driver.ping_port
        self.rpc_port = file.driver.rpc_port
        self.identifier: UUID | None = None
        self.vital_signs = VitalSigns(file)
        self._message_ids_block = 0

    def start(self) -> None:
        driver = self.file.driver
        refuse_foreign(driver.peer_address, "driver.peer_address")
        try:
            socket.create_connection((driver.address, self.tcp_port), timeout=5).close()
        except OSError as error:
            raise SutUnavailable(
                f"{self.file.sut.name}: cannot connect to {driver.address}:{self.tcp_port}: {error.strerror or error}; "
                "is it running, and are address and tcp_port in [driver] right?"
            ) from error
        self.vital_signs.measure(self._who_accepts, self.ping_port, self.control_endpoint)
        self.identifier = self._identify()
        if self.control_endpoint is not None and not (self.shared and self.worker):
            self._with_control(self._begin)

    @property
    def timeouts(self) -> Timeouts:
        """The timeouts in force."""
        return self.vital_signs.timeouts

    def _with_control(self, action: Callable[[Control, Identity], Found]) -> Found:
        """Do something over a control channel that is opened for it."""
        assert self.control_endpoint is not None
        environment = RealEnvironment()
        try:
            control, who = self._open_control(environment, self.control_endpoint)
            found = action(control, who)
            control.close()
        finally:
            environment.close()
        return found

    def _begin(self, control: Control, who: Identity) -> None:
        """Bring the SUT into the state that it has during the run."""
        if "reset" in who.facilities:
            control.call("reset")
        if "set_timers" in who.facilities:
            self._timers = {"scale": control.call("set_timers")["scale"]}
            wanted = self.file.control.time_scale
            scale = self.timeouts.scale(min(wanted, SHARED_SCALE) if self.shared else wanted)
            control.call("set_timers", scale=scale)

    def open(self, seed: str, run: str = "", fresh_peer: int | None = None) -> Sut:
        environment = RealEnvironment()
        environment.pulse = self.vital_signs.pulse(environment)
        file = self.file if fresh_peer is None else as_fresh_peer(self.file, run, fresh_peer)
        control: Control | None = None
        who = Identity(self.identifier)
        try:
            if self.control_endpoint is not None:
                control, who = self._open_control(environment, self.control_endpoint)
            elif file.capabilities.get("qm2qm", False):
                control = RemoteControl(environment, file, self.rpc_port)
                who = replace(who, facilities=remote_control.FACILITIES)
            ports = self.tcp_port, self.ping_port, self.rpc_port
            view = _view(file, environment, control, who, *ports, reset=not self.shared, timeouts=self.timeouts)
        except MqconformError:
            environment.close()
            raise
        view.first_message_id = self._new_message_ids()
        view.own = sha256(f"{run} {seed}".encode()).hexdigest()[:OWN_DIGITS]
        view.shared = self.beside_others
        view.knows_peer = fresh_peer is None
        view.forgets = not self.shared and "reset" in view.facilities
        view.peer_returns = file.driver.peer_address == self.file.driver.peer_address
        view.process_ended = self.ended
        return view

    def ended(self, within_s: float = 0) -> str | None:
        """Return None: the run did not start it, so that nobody tells."""
        return None

    def ended_meanwhile(self, *, hung_up: bool) -> str | None:
        """Return None: nobody tells."""
        return None

    def death(self, check: str | None) -> Death | None:
        """Return None: nobody tells."""
        return None

    def start_again(self) -> None:
        """Do nothing: who started it may start it again."""

    def confirm(self) -> None:
        """Compare who answers sessions and control with who did at the start."""
        if self.shared and self.worker:
            return  # the first does
        now = self._identify()
        if self.identifier is not None and now != self.identifier:
            raise SutLost(
                f"{self.file.sut.name}: was {self.identifier} at the start of the run; "
                + (f"now {now} answers: another system" if now else "now nobody answers an EstablishConnection")
            )

    def _identify(self) -> UUID | None:
        """Return the QueueManager.Identifier that sessions and control agree on."""
        of_session = self._who_accepts()
        if self.control_endpoint is None:
            return of_session
        who = self._with_control(lambda control, who: who)
        if of_session not in (None, who.identifier):
            raise SutLost(
                f"{self.file.sut.name}: {self.file.driver.address}:{self.tcp_port} is queue manager {of_session}, but "
                f"the control channel at {self.control_endpoint.host}:{self.control_endpoint.port} is that of "
                f"{who.identifier}: are address, tcp_port and control.address of one system?"
            )
        return who.identifier

    def _who_accepts(self) -> UUID | None:
        """Return who answers an EstablishConnection."""
        driver = self.file.driver
        return discover_identifier(driver.address, self.tcp_port, _as_nobody(driver.peer_identifier))

    def _open_control(self, environment: Environment, endpoint: Endpoint) -> tuple[Control, Identity]:
        """Open a control channel; one that does not answer who it belongs to ends the run."""
        try:
            control = JsonlControl(environment, endpoint, "127.0.0.1", answer_ms=self.timeouts.control_ms)
            found = identity_of(self.file, control)
        except SutUnavailable as error:
            if (how := self.ended(DEATH_NEAR_S)) is not None:
                raise SutUnavailable(f"{self.file.sut.name}: the program ended with {how}") from error
            raise SutLost(f"{self.file.sut.name}: {error}") from error
        if self.identifier is not None and found.identifier != self.identifier:
            raise SutLost(
                f"{self.file.sut.name}: was {self.identifier} at the start of the run; control identity is now "
                f"{found.identifier}: another system answers"
            )
        return control, found

    def _new_message_ids(self) -> int:
        """Return the first of the MessageIDs of a test: no test or run of the last hours had them.

        So a SUT's history of message identifiers, which goes back half an hour (MS-MQQB 3.1.2.8), does not matter.
        """
        self._message_ids_block = max(self._message_ids_block + 1, time.time_ns() // MESSAGE_IDS_EVERY_NS)
        return 1 + (self._message_ids_block * MESSAGE_IDS_A_TEST & 0x7FFF_FFFF)

    def stop(self) -> None:
        """Leave the SUT as it was: the run did not start it."""
        timers, self._timers = self._timers, {}
        if timers:
            with contextlib.suppress(SutUnavailable):  # what is gone has no timers
                self._with_control(lambda control, who: control.call("set_timers", **timers))


class ProcessDriver(ExternalDriver):
    """A program on loopback, started for the run, and started again when it ends."""

    def __init__(self, file: SutFile, out: Path, worker: int = 0) -> None:
        super().__init__(file, worker)
        self.process = SutProcess(out / (f"sut-{worker}.log" if worker else "sut.log"))
        self.restarts = 0
        self._dead = False
        self._command: list[str] = []
        self._ports: list[Port] = []

    def start(self) -> None:
        if self.worker and self.control_endpoint is not None and self.control_endpoint.port:
            raise UsageError(
                f"{self.file.path}: control.address is {self.file.control.address}: each worker has a program of its "
                "own; give port 0, which picks a port for each"
            )
        refuse_foreign(self.file.driver.peer_address, "driver.peer_address")
        self.file = replace(self.file, driver=with_ports(self.file.driver))
        driver = self.file.driver
        self.tcp_port, self.ping_port, self.rpc_port = driver.tcp_port, driver.ping_port, driver.rpc_port
        if self.control_endpoint is not None and not self.control_endpoint.port:
            host = self.control_endpoint.host
            self.control_endpoint = Endpoint(host, free_port(host, socket.SOCK_STREAM))
        self._command = self._filled_in()
        self._ports = self._listened_at()
        self._launch()

    def ended(self, within_s: float = 0) -> str | None:
        """Return how the program ended; None while it runs."""
        return self.process.ended(within_s)

    def ended_meanwhile(self, *, hung_up: bool) -> str | None:
        """Return how the program ended. One that ends closes its connections some time before its end is told."""
        return self.ended(DEATH_NEAR_S if hung_up and self._resets() else 0)

    def _resets(self) -> bool:
        """Return whether a new connection is refused, or reset at once, as those are that nobody will accept."""
        try:
            with socket.create_connection((self.file.driver.address, self.tcp_port), timeout=DEATH_NEAR_S) as probe:
                probe.settimeout(RESET_NEAR_S)
                return not probe.recv(1)
        except TimeoutError:
            return False
        except OSError:
            return True

    def death(self, check: str | None) -> Death | None:
        """Return the end of the program, once, to the process that started it."""
        if not self.process.owned or self._dead or (how := self.process.ended()) is None:
            return None
        self._dead = True
        return Death(self.worker, check, how, self.process.last_line())

    def start_again(self) -> None:
        """Start the program again, ``driver.max_restarts`` times at most."""
        self.process.stop()
        if self.restarts == self.file.driver.max_restarts:
            raise SutLost(
                f"{self.file.sut.name}: the program ended {self.restarts + 1} times (driver.max_restarts is "
                f"{self.restarts}); see {self.process.log_path}"
            )
        self.restarts += 1
        self.identifier = None  # who listens is who was started: a new process may well be a new queue manager
        self._launch()

    def confirm(self) -> None:
        """Compare identities; a program that ended has none, and its end is told elsewhere."""
        if self.process.ended() is None:
            super().confirm()

    def _launch(self) -> None:
        refuse_taken(self._ports)
        self._dead = False
        self.process.start(self._command)
        self._await()
        if self.file.driver.own_ports:
            refuse_stranger(self._ports, self.process.pid)
        super().start()

    def _filled_in(self) -> list[str]:
        driver = self.file.driver
        values = {name: getattr(driver, name) for name in ("address", *PORTS, "peer_address", "peer_identifier")}
        values |= {"python": sys.executable, "worker": self.worker}
        values |= {"control_port": self.control_endpoint.port if self.control_endpoint is not None else 0}
        try:
            return [part.format(**values) for part in driver.command]
        except (KeyError, IndexError, ValueError, AttributeError) as error:
            raise UsageError(
                f"{self.file.path}: driver.command: unknown placeholder {error}; known are {', '.join(values)}"
            ) from error

    def _listened_at(self) -> list[Port]:
        """Return the ports that are the program's: those that it is told, or is declared to serve."""
        driver = self.file.driver
        ports = [Port("driver.tcp_port", driver.address, self.tcp_port)]
        if self._serves("ping", "{ping_port}"):
            ports.append(Port("driver.ping_port", driver.address, self.ping_port, socket.SOCK_DGRAM))
        if self._serves("qm2qm", "{rpc_port}"):
            ports.append(Port("driver.rpc_port", driver.address, self.rpc_port))
        if driver.rpc_read_port:
            ports.append(Port("driver.rpc_read_port", driver.address, driver.rpc_read_port))
        if self.control_endpoint is not None:
            ports.append(Port("control.address", self.control_endpoint.host, self.control_endpoint.port))
        return ports

    def _serves(self, capability: str, placeholder: str) -> bool:
        told = any(placeholder in part for part in self.file.driver.command)
        return told or self.file.capabilities.get(capability, False)

    def _await(self) -> None:
        """Wait until it listens at every port at which it must."""
        optional = () if self.file.capabilities.get("qm2qm", False) else ("driver.rpc_port", "driver.rpc_read_port")
        ports = [each for each in self._ports if each.kind is socket.SOCK_STREAM and each.key not in optional]
        deadline = time.monotonic() + self.file.driver.start_timeout_s
        while ports:
            if (how := self.process.ended()) is not None:
                raise SutUnavailable(
                    f"{self.file.sut.name}: the program ended with {how}: {self.process.last_line()}; "
                    f"see {self.process.log_path}"
                )
            if time.monotonic() > deadline:
                raise SutUnavailable(
                    f"{self.file.sut.name}: nothing listens on {ports[0]} {self.file.driver.start_timeout_s} s after "
                    f"the start; see {self.process.log_path}"
                )
            try:
                socket.create_connection((ports[0].address, ports[0].number), timeout=0.2).close()
                ports.pop(0)
            except OSError:
                self.process.ended(within_s=0.05)

    def stop(self) -> None:
        self.process.stop()


def with_ports(driver: DriverTable) -> DriverTable:
    """Return the table with a free port for each that is 0: of the SUT's address, or of the peer's."""
    picked: dict[str, Any] = {}
    for name, pick in _FREE.items():
        for key, address in ((name, driver.address), (f"peer_{name}", driver.peer_address)):
            if getattr(driver, key) == 0:
                picked[key] = pick(address)
    return replace(driver, **picked)


_FREE: dict[str, Callable[[str], int]] = {
    "tcp_port": lambda address: free_port(address, socket.SOCK_STREAM),
    "ping_port": lambda address: free_port(address, socket.SOCK_DGRAM),
    "rpc_port": free_rpc_port,
}


def _view(
    file: SutFile,
    environment: Environment,
    control: Control | None,
    who: Identity,
    tcp_port: int,
    ping_port: int,
    rpc_port: int = 0,
    *,
    reset: bool = True,
    timeouts: Timeouts = VIRTUAL,
) -> Sut:
    scale = 1
    if control is not None and not environment.virtual:  # in virtual time each test has a core of its own
        if "set_timers" in who.facilities:
            scale = int(control.call("set_timers")["scale"])
        if reset and "reset" in who.facilities:
            control.call("reset")
            if "set_timers" in who.facilities:
                scale = timeouts.scale(file.control.time_scale)
                control.call("set_timers", scale=scale)
    return Sut(
        file,
        environment,
        control,
        identifier=who.identifier,
        facilities=who.facilities,
        tcp_port=tcp_port,
        ping_port=ping_port,
        rpc_port=rpc_port,
        scale=scale,
        encryption_keys=who.keys,
        timeouts=timeouts,
    )


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a SUT is, and what its control channel offers."""

    identifier: UUID | None
    facilities: frozenset[str] = frozenset()
    keys: bytes = b""


def identity_of(file: SutFile, control: Control) -> Identity:
    """Ask a control channel who it belongs to."""
    said = control.call("identity")
    try:
        announced = said.get("facilities", said.get("capabilities", ()))  # the former name of the key
        return Identity(
            UUID(said["guid"]),
            frozenset(announced) & frozenset(FACILITIES),
            base64.b64decode(said.get("public_encryption_keys_base64", ""), validate=True),
        )
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise SutUnavailable(
            f"{file.sut.name}: control verb identity: no guid, facilities that are no list, or keys that are no "
            f"base64: {str(said)[:REASON_LIMIT]}"
        ) from error


def _as_nobody(peer: UUID) -> UUID:
    """Return who asks for a SUT's identity: no peer of a check (``as_fresh_peer``), so that nothing is left for one."""
    return UUID(int=peer.int ^ 1 << 80)


def _control_endpoint(file: SutFile) -> Endpoint | None:
    if file.control.kind == "none":
        return None
    host, _, port = file.control.address.rpartition(":")
    if not host or not port.isdigit():
        raise UsageError(f"{file.path}: control.address is {file.control.address!r}; it must be host:port")
    return Endpoint(host, int(port))


def discover_identifier(address: str, port: int, client: UUID) -> UUID | None:
    """Ask a SUT who it is: an EstablishConnection with a zero ServerGuid is answered with its own (MS-MQQB 2.2.3.1).

    None when it does not say so within DISCOVERY_S, however much it says.
    """
    framer = StreamFramer()
    request = bytes(establish_connection(ClientGuid=client, ServerGuid=NULL_GUID))
    ends = time.monotonic() + DISCOVERY_S
    try:
        with socket.create_connection((address, port), timeout=DISCOVERY_S) as stream:
            stream.sendall(request)
            while (left_s := ends - time.monotonic()) > 0:
                stream.settimeout(left_s)
                data = stream.recv(65_536)
                if not data:
                    return None
                for packet in framer.feed(data):
                    guid = UUID(str(dissect(packet)["EstablishConnectionHeader"].ServerGuid))
                    return guid if guid not in (NULL_GUID, client) else None  # what came is no answer, but an echo
    except (OSError, ValueError, IndexError):
        return None  # it does not speak the protocol: checks that need its GUID say so
    return None
