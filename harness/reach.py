"""The three ways to reach a SUT: in this process in virtual time, a program on loopback, an address."""

from __future__ import annotations

import base64
import contextlib
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Protocol
from uuid import UUID

from harness import remote_control
from harness.control import Control, JsonlControl, VirtualControl
from harness.errors import MqconformError, SutUnavailable, UsageError
from harness.free_ports import free_port, free_rpc_port
from harness.host import Core, CoreHost
from harness.peer import MESSAGE_IDS_A_TEST
from harness.provisioning import BASE_ONLY, KEYLESS, restricted_queue, virtual_security
from harness.remote_control import RemoteControl
from harness.sut import FACILITIES, Sut
from harness.sutfile import PEER_PUBLIC_QUEUE, SutFile
from harness.wire import dissect, establish_connection
from harness.workplaces import as_stranger
from harness.world import RealWorld, VirtualWorld, World
from reference_qm import faults
from reference_qm.codec import StreamFramer
from reference_qm.config import QueueManagerConfig, QueueSettings
from reference_qm.core import QueueManager
from reference_qm.entropy import SeededEntropy, new_guid
from reference_qm.inputs import Endpoint
from reference_qm.security import SecurityConfig

NULL_GUID = UUID(int=0)

TWO_ADDRESSES = "mqc-peer.example"
UNUSED_ADDRESS = "127.0.0.254"
"""What the capability two_addresses is about."""


MESSAGE_IDS_EVERY_NS = 10_000_000
"""No test takes less."""


class Reach(Protocol):
    """Starts the SUT once for a run and hands a view of it to each test."""

    def start(self) -> None:
        """Start it or find it; SutUnavailable with one line when that fails."""

    def open(self, seed: str, stranger: int | None = None) -> Sut:
        """Give a test its view, with a world of its own.

        ``stranger``: a number of the test, if its peer need not be the one that the SUT may know.
        """

    def stop(self) -> None:
        """Stop what ``start`` started."""


def reach_for(file: SutFile, out: Path, worker: int = 0) -> Reach:
    """Give the way that a SUT file asks for, to a worker."""
    if file.reach.kind == "virtual":
        return VirtualReach(file)
    if file.reach.kind == "process":
        return ProcessReach(file, out, worker)
    return ExternalReach(file)


def start_all(reaches: Sequence[Reach]) -> None:
    """Start every SUT at the same time; when one fails, stop them and raise its error."""
    with ThreadPoolExecutor() as pool:
        begun = [pool.submit(reach.start) for reach in reaches]
    errors = [error for each in begun if (error := each.exception()) is not None]
    if errors:
        for reach in reaches:
            reach.stop()
        raise errors[0]


class VirtualReach:
    """A fresh reference core for each test, with the faults that the SUT file names."""

    def __init__(self, file: SutFile) -> None:
        self.file = file

    def start(self) -> None:
        unknown = [name for name in self.file.reference.faults if name not in faults.FAULTS]
        if unknown:
            raise UsageError(f"unknown fault {unknown[0]!r}; `mqconform rules` lists the faults of each rule")

    def open(self, seed: str, stranger: int | None = None) -> Sut:
        reach = self.file.reach
        world = VirtualWorld()
        if self.file.capabilities.get("two_addresses", False):
            world.hosts[TWO_ADDRESSES] = (UNUSED_ADDRESS, reach.peer_address)
        entropy = SeededEntropy(f"sut {seed}")
        secure = self.file.capabilities.get("security", False)
        strangers = (BASE_ONLY, KEYLESS) if secure else ()
        config = QueueManagerConfig(
            identifier=new_guid(entropy),
            host_name="sut.example",
            addresses=(reach.address,),
            remote_tcp_port=reach.peer_tcp_port,
            remote_ping_port=reach.peer_ping_port,
            remote_rpc_port=reach.peer_rpc_port,
            send_ping=self.file.reference.send_ping,
            queues=(
                QueueSettings(self.file.queues.plain),
                QueueSettings(self.file.queues.transactional, transactional=True),
                QueueSettings(self.file.queues.admin),
                *([restricted_queue(self.file.queues.restricted)] if secure else []),
            ),
            public_queues={PEER_PUBLIC_QUEUE: reach.peer_identifier},
            routes=dict.fromkeys((reach.peer_identifier, *strangers), reach.peer_address),
            security=virtual_security(reach.peer_identifier) if secure else SecurityConfig(),
        )

        def new_core() -> Core:
            return faults.wrap(QueueManager(config, entropy), self.file.reference.faults)

        host = CoreHost(world, new_core(), reach.address)
        host.start()
        host.listen(reach.tcp_port)
        if self.file.capabilities.get("ping", False):
            host.listen_ping(reach.ping_port)
        if self.file.capabilities.get("qm2qm", False):
            host.listen_rpc(reach.rpc_port)
        control = VirtualControl(host, new_core)
        return _view(self.file, world, control, reach.tcp_port, reach.ping_port, reach.rpc_port)

    def stop(self) -> None:
        """Nothing outlives a test."""


class ExternalReach:
    """An address; nothing is started or stopped."""

    def __init__(self, file: SutFile) -> None:
        self.file = file
        self.control_endpoint = _control_endpoint(file)
        self.tcp_port = file.reach.tcp_port
        self.ping_port = file.reach.ping_port
        self.rpc_port = file.reach.rpc_port
        self.identifier: UUID | None = None
        self._message_ids_block = 0

    def start(self) -> None:
        reach = self.file.reach
        try:
            socket.create_connection((reach.address, self.tcp_port), timeout=5).close()
        except OSError as error:
            raise SutUnavailable(
                f"{self.file.sut.name}: cannot connect to {reach.address}:{self.tcp_port}: {error.strerror or error}; "
                "is it running, and are address and tcp_port in [reach] right?"
            ) from error
        if self.control_endpoint is None:
            self.identifier = discover_identifier(reach.address, self.tcp_port, reach.peer_identifier)

    def open(self, seed: str, stranger: int | None = None) -> Sut:
        world = RealWorld()
        file = self.file
        if stranger is not None and self.control_endpoint is None:  # nothing can make it forget the tests before
            file = as_stranger(file, stranger)
        try:
            control: Control | None = None
            if self.control_endpoint is not None:
                control = JsonlControl(world, self.control_endpoint, "127.0.0.1")
            elif file.capabilities.get("qm2qm", False):
                control = RemoteControl(world, file, self.rpc_port)
            view = _view(file, world, control, self.tcp_port, self.ping_port, self.rpc_port, known=self.identifier)
        except MqconformError:
            world.close()
            raise
        view.first_message_id = self._new_message_ids()
        return view

    def _new_message_ids(self) -> int:
        """Give the first of the MessageIDs of a test: no test or run of the last hours had them.

        So a SUT's history of message identifiers, which goes back half an hour (MS-MQQB 3.1.2.8), does not matter.
        """
        self._message_ids_block = max(self._message_ids_block + 1, time.time_ns() // MESSAGE_IDS_EVERY_NS)
        return 1 + (self._message_ids_block * MESSAGE_IDS_A_TEST & 0x7FFF_FFFF)

    def stop(self) -> None:
        """It was not ours to start."""


class ProcessReach(ExternalReach):
    """A program on loopback, started for the run."""

    def __init__(self, file: SutFile, out: Path, worker: int = 0) -> None:
        super().__init__(file)
        self.worker = worker
        self.log_path = out / (f"sut-{worker}.log" if worker else "sut.log")
        self.process: subprocess.Popen[bytes] | None = None
        self.log: IO[bytes] | None = None

    def start(self) -> None:
        reach = self.file.reach
        self.tcp_port = reach.tcp_port or free_port(reach.address, socket.SOCK_STREAM)
        self.ping_port = reach.ping_port or free_port(reach.address, socket.SOCK_DGRAM)
        self.rpc_port = reach.rpc_port or free_rpc_port(reach.address)
        values = {
            "address": reach.address,
            "tcp_port": self.tcp_port,
            "ping_port": self.ping_port,
            "rpc_port": self.rpc_port,
            "peer_address": reach.peer_address,
            "peer_tcp_port": reach.peer_tcp_port,
            "peer_ping_port": reach.peer_ping_port,
            "peer_rpc_port": reach.peer_rpc_port,
            "peer_identifier": reach.peer_identifier,
            "python": sys.executable,
            "worker": self.worker,
            "control_port": 0,
        }
        if self.control_endpoint is not None:
            port = self.control_endpoint.port or free_port("127.0.0.1", socket.SOCK_STREAM)
            self.control_endpoint = Endpoint(self.control_endpoint.host, port)
            values["control_port"] = port
        try:
            command = [part.format(**values) for part in reach.command]
        except (KeyError, IndexError, ValueError) as error:
            raise UsageError(
                f"{self.file.path}: reach.command: unknown placeholder {error}; known are {', '.join(values)}"
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
        ports = [(self.file.reach.address, self.tcp_port)]
        if self.control_endpoint is not None:
            ports.append((self.control_endpoint.host, self.control_endpoint.port))
        deadline = time.monotonic() + self.file.reach.start_timeout_s
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
                    f"{self.file.reach.start_timeout_s} s after the start; see {self.log_path}"
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
    world: World,
    control: Control | None,
    tcp_port: int,
    ping_port: int,
    rpc_port: int = 0,
    *,
    known: UUID | None = None,
) -> Sut:
    identifier, facilities, scale, keys = known, frozenset[str](), 1, b""
    if isinstance(control, RemoteControl):
        facilities = remote_control.FACILITIES
    elif control is not None:
        identity = control.call("identity")
        try:
            identifier = UUID(identity["guid"])
            facilities = frozenset(identity.get("capabilities", ())) & frozenset(FACILITIES)
            keys = base64.b64decode(identity.get("public_encryption_keys_base64", ""), validate=True)
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise SutUnavailable(
                f"{file.sut.name}: control verb identity: no guid, capabilities that are no list, or keys that are no "
                f"base64: {identity}"
            ) from error
        if "reset" in facilities and not world.virtual:  # in virtual time each test has a core of its own
            control.call("reset")
        if "set_timers" in facilities and not world.virtual:
            scale = file.control.time_scale
            control.call("set_timers", scale=scale)
    return Sut(
        file,
        world,
        control,
        identifier=identifier,
        facilities=facilities,
        tcp_port=tcp_port,
        ping_port=ping_port,
        rpc_port=rpc_port,
        scale=scale,
        encryption_keys=keys,
    )


def _control_endpoint(file: SutFile) -> Endpoint | None:
    if file.control.kind == "none":
        return None
    host, _, port = file.control.address.rpartition(":")
    if not host or not port.isdigit():
        raise UsageError(f"{file.path}: control.address is {file.control.address!r}; it must be host:port")
    return Endpoint(host, int(port))


def discover_identifier(address: str, port: int, client: UUID) -> UUID | None:
    """Ask a SUT who it is: an EstablishConnection with a zero ServerGuid is answered with its own (MS-MQQB 2.2.3.1)."""
    framer = StreamFramer()
    request = bytes(establish_connection(ClientGuid=client, ServerGuid=NULL_GUID))
    try:
        with socket.create_connection((address, port), timeout=5) as stream:
            stream.sendall(request)
            while data := stream.recv(65_536):
                for packet in framer.feed(data):
                    guid = UUID(str(dissect(packet)["EstablishConnectionHeader"].ServerGuid))
                    return guid if guid not in (NULL_GUID, client) else None  # what came is no answer, but an echo
    except (OSError, ValueError, IndexError):
        return None  # it does not speak the protocol: checks that need its GUID say so
    return None
