"""The three SUT drivers: in this process in virtual time, a program on loopback, an address."""

from __future__ import annotations

import base64
import contextlib
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, Protocol
from uuid import UUID

from harness.environment import Environment, RealEnvironment, VirtualEnvironment
from harness.environment.core_host import CoreHost
from harness.errors import MqconformError, SutUnavailable, UsageError
from harness.faults.registry import find_fault, wrap
from harness.sut import remote_control
from harness.sut.control import REASON_LIMIT, Control, JsonlControl, VirtualControl
from harness.sut.free_ports import free_port, free_rpc_port
from harness.sut.provisioning import BASE_ONLY, KEYLESS, restricted_queue, virtual_security
from harness.sut.remote_control import RemoteControl
from harness.sut.sut import MESSAGE_IDS_A_TEST, Sut
from harness.sut.sut_file import PEER_PUBLIC_QUEUE, SutFile
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


OWN_DIGITS = 10
SHARED_SCALE = 4
"""How much faster than specified protocol timers run at most where many checks keep a SUT busy."""
DISCOVERY_S = 5.0
MESSAGE_IDS_EVERY_NS = 10_000_000
"""No test takes less."""


class SutDriver(Protocol):
    """A driver that starts the SUT once for a run and hands a view of it to each test.

    ``shared``: it is the SUT of several workers; ``beside_others``: others of them have checks at this time.
    """

    file: SutFile
    shared: bool
    beside_others: bool

    def start(self) -> None:
        """Start it or find it; SutUnavailable with one line when that fails."""

    def open(self, seed: str, run: str = "", fresh_peer: int | None = None) -> Sut:
        """Return the SUT as one test sees it, in an environment of its own.

        ``run``: a word that no other run has; ``fresh_peer``: a number that no other test of the run has, if its peer
        need not be the one that the SUT may know.
        """

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
    """A fresh reference core for each test, with the faults that the SUT file names."""

    def __init__(self, file: SutFile) -> None:
        self.file = file
        self.shared = self.beside_others = False

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

        host = CoreHost(environment, new_core(), driver.address)
        host.start()
        host.listen(driver.tcp_port)
        if self.file.capabilities.get("ping", False):
            host.listen_ping(driver.ping_port)
        if self.file.capabilities.get("qm2qm", False):
            host.listen_rpc(driver.rpc_port)
        control = VirtualControl(host, new_core)
        return _view(self.file, environment, control, driver.tcp_port, driver.ping_port, driver.rpc_port)

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
        try:
            socket.create_connection((driver.address, self.tcp_port), timeout=5).close()
        except OSError as error:
            raise SutUnavailable(
                f"{self.file.sut.name}: cannot connect to {driver.address}:{self.tcp_port}: {error.strerror or error}; "
                "is it running, and are address and tcp_port in [driver] right?"
            ) from error
        exchange = partial(discover_identifier, driver.address, self.tcp_port, driver.peer_identifier)
        self.vital_signs.measure(exchange, self.ping_port, self.control_endpoint)
        if self.control_endpoint is None:
            self.identifier = exchange()
        elif not (self.shared and self.worker):
            self._with_control(self._begin)

    @property
    def timeouts(self) -> Timeouts:
        """The timeouts in force."""
        return self.vital_signs.timeouts

    def _with_control(self, action: Callable[[Control], object]) -> None:
        """Do something over a control channel that is opened for it."""
        assert self.control_endpoint is not None
        environment = RealEnvironment()
        try:
            control = JsonlControl(environment, self.control_endpoint, "127.0.0.1", answer_ms=self.timeouts.control_ms)
            action(control)
            control.close()
        finally:
            environment.close()

    def _begin(self, control: Control) -> None:
        """Bring the SUT into the state that it has during the run."""
        _, facilities, _ = _identity(self.file, control)
        if "reset" in facilities:
            control.call("reset")
        if "set_timers" in facilities:
            self._timers = {"scale": control.call("set_timers")["scale"]}
            wanted = self.file.control.time_scale
            scale = self.timeouts.scale(min(wanted, SHARED_SCALE) if self.shared else wanted)
            control.call("set_timers", scale=scale)

    def open(self, seed: str, run: str = "", fresh_peer: int | None = None) -> Sut:
        environment = RealEnvironment()
        environment.pulse = self.vital_signs.pulse(environment)
        file = self.file if fresh_peer is None else as_fresh_peer(self.file, run, fresh_peer)
        try:
            control: Control | None = None
            if self.control_endpoint is not None:
                control = JsonlControl(
                    environment, self.control_endpoint, "127.0.0.1", answer_ms=self.timeouts.control_ms
                )
            elif file.capabilities.get("qm2qm", False):
                control = RemoteControl(environment, file, self.rpc_port)
            ports = self.tcp_port, self.ping_port, self.rpc_port
            view = _view(
                file,
                environment,
                control,
                *ports,
                known=self.identifier,
                reset=not self.shared,
                timeouts=self.timeouts,
            )
        except MqconformError:
            environment.close()
            raise
        view.first_message_id = self._new_message_ids()
        view.own = sha256(f"{run} {seed}".encode()).hexdigest()[:OWN_DIGITS]
        view.shared = self.beside_others
        view.knows_peer = fresh_peer is None
        view.forgets = not self.shared and "reset" in view.facilities
        view.peer_returns = file.driver.peer_address == self.file.driver.peer_address
        return view

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
                self._with_control(lambda control: control.call("set_timers", **timers))


class ProcessDriver(ExternalDriver):
    """A program on loopback, started for the run."""

    def __init__(self, file: SutFile, out: Path, worker: int = 0) -> None:
        super().__init__(file, worker)
        self.log_path = out / (f"sut-{worker}.log" if worker else "sut.log")
        self.process: subprocess.Popen[bytes] | None = None
        self.log: IO[bytes] | None = None

    def start(self) -> None:
        driver = self.file.driver
        self.tcp_port = driver.tcp_port or free_port(driver.address, socket.SOCK_STREAM)
        self.ping_port = driver.ping_port or free_port(driver.address, socket.SOCK_DGRAM)
        self.rpc_port = driver.rpc_port or free_rpc_port(driver.address)
        values = {
            "address": driver.address,
            "tcp_port": self.tcp_port,
            "ping_port": self.ping_port,
            "rpc_port": self.rpc_port,
            "peer_address": driver.peer_address,
            "peer_tcp_port": driver.peer_tcp_port,
            "peer_ping_port": driver.peer_ping_port,
            "peer_rpc_port": driver.peer_rpc_port,
            "peer_identifier": driver.peer_identifier,
            "python": sys.executable,
            "worker": self.worker,
            "control_port": 0,
        }
        if self.control_endpoint is not None:
            port = self.control_endpoint.port or free_port("127.0.0.1", socket.SOCK_STREAM)
            self.control_endpoint = Endpoint(self.control_endpoint.host, port)
            values["control_port"] = port
        try:
            command = [part.format(**values) for part in driver.command]
        except (KeyError, IndexError, ValueError) as error:
            raise UsageError(
                f"{self.file.path}: driver.command: unknown placeholder {error}; known are {', '.join(values)}"
            ) from error
        self.log = self.log_path.open("ab")
        try:
            self.process = subprocess.Popen(  # noqa: S603 - the user's own command, no shell
                command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT
            )
        except OSError as error:
            raise SutUnavailable(f"cannot start {shlex.join(command)}: {error.strerror}") from error
        self._await()
        super().start()

    def _await(self) -> None:
        assert self.process is not None
        ports = [(self.file.driver.address, self.tcp_port)]
        if self.control_endpoint is not None:
            ports.append((self.control_endpoint.host, self.control_endpoint.port))
        deadline = time.monotonic() + self.file.driver.start_timeout_s
        while ports:
            if self.process.poll() is not None:
                tail = self.log_path.read_text(errors="replace").strip().splitlines()[-1:]
                raise SutUnavailable(
                    f"{self.file.sut.name}: the program ended with {self.process.returncode}: "
                    f"{tail[0] if tail else 'it printed nothing'}; see {self.log_path}"
                )
            if time.monotonic() > deadline:
                raise SutUnavailable(
                    f"{self.file.sut.name}: nothing listens on {ports[0][0]}:{ports[0][1]} "
                    f"{self.file.driver.start_timeout_s} s after the start; see {self.log_path}"
                )
            try:
                socket.create_connection(ports[0], timeout=0.2).close()
                ports.pop(0)
            except OSError:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.process.wait(timeout=0.05)

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.log is not None:
            self.log.close()


def _view(
    file: SutFile,
    environment: Environment,
    control: Control | None,
    tcp_port: int,
    ping_port: int,
    rpc_port: int = 0,
    *,
    known: UUID | None = None,
    reset: bool = True,
    timeouts: Timeouts = VIRTUAL,
) -> Sut:
    identifier, facilities, scale, keys = known, frozenset[str](), 1, b""
    if isinstance(control, RemoteControl):
        facilities = remote_control.FACILITIES
    elif control is not None:
        identifier, facilities, keys = _identity(file, control)
        if environment.virtual:  # each test has a core of its own
            reset = False
        elif "set_timers" in facilities:
            scale = int(control.call("set_timers")["scale"])
        if reset and "reset" in facilities:
            control.call("reset")
            if "set_timers" in facilities:
                scale = timeouts.scale(file.control.time_scale)
                control.call("set_timers", scale=scale)
    return Sut(
        file,
        environment,
        control,
        identifier=identifier,
        facilities=facilities,
        tcp_port=tcp_port,
        ping_port=ping_port,
        rpc_port=rpc_port,
        scale=scale,
        encryption_keys=keys,
        timeouts=timeouts,
    )


def _identity(file: SutFile, control: Control) -> tuple[UUID, frozenset[str], bytes]:
    """Ask a SUT for its QueueManager.Identifier, its facilities and its PublicEncryptionKeyList."""
    identity = control.call("identity")
    try:
        announced = identity.get("facilities", identity.get("capabilities", ()))  # the former name of the key
        keys = base64.b64decode(identity.get("public_encryption_keys_base64", ""), validate=True)
        return UUID(identity["guid"]), frozenset(announced) & frozenset(FACILITIES), keys
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise SutUnavailable(
            f"{file.sut.name}: control verb identity: no guid, facilities that are no list, or keys that are no "
            f"base64: {str(identity)[:REASON_LIMIT]}"
        ) from error


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
