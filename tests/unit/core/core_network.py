"""Connects cores in virtual time: the effects of one core become inputs of another core at the same instant."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from reference_qm.codec import Packet, PingPacket, parse_packet, parse_ping
from reference_qm.config import QueueManagerConfig, QueueSettings, TimerSettings
from reference_qm.core.installation import QueueManagerInstallation
from reference_qm.core.queue_manager import QueueManager
from reference_qm.directory import MemoryDirectory
from reference_qm.surface import directory_access
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Inspect, PeekMessages, Request, SendMessage
from reference_qm.surface.driver import CoreDriver
from reference_qm.surface.effects import (
    Answer,
    CloseRpcConnection,
    CloseTransport,
    CommandCompleted,
    CommandRejected,
    Connect,
    Effect,
    Persist,
    ReadDirectory,
    ResolveHost,
    RestartQueueManager,
    SendDatagram,
    SendPacket,
    SendRpcBytes,
    WriteDirectory,
)
from reference_qm.surface.entropy import SeededEntropy
from reference_qm.surface.inputs import (
    BytesReceived,
    Command,
    DatagramReceived,
    DirectoryChanged,
    DomainReported,
    Endpoint,
    HostResolved,
    Input,
    PersistFailed,
    PingSocket,
    QueueManagerStarted,
    RecordPersisted,
    RpcAccepted,
    RpcBytesReceived,
    RpcConnectionLost,
    RpcListening,
    TransportAccepted,
    TransportConnected,
    TransportFailed,
    TransportLost,
)

EPOCH_S = 1_800_000_000
BOOTED_MS = 1_000_000
RPC_PORTS = (2103, 2105)
PLAIN = "private$\\plain"
TRANSACTIONAL = "private$\\tx"


@dataclass(eq=False)
class Timer:
    """The time at which a host wants to be called again, and the action to carry out."""

    due_ms: int
    action: Callable[[], None]
    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = True


@dataclass
class Host:
    """A sequence of cores (one after each restart), with its connections and outputs."""

    network: Network
    address: str
    installation: QueueManagerInstallation
    answers: dict[int, Answer] = field(default_factory=dict)
    sent: list[tuple[str, bytes]] = field(default_factory=list)
    pings: list[tuple[PingSocket, Endpoint, bytes]] = field(default_factory=list)
    closed: list[CloseTransport] = field(default_factory=list)
    connects: list[Connect] = field(default_factory=list)
    persists: list[Persist] = field(default_factory=list)
    twins: dict[str, tuple[Host, str]] = field(default_factory=dict)
    core: QueueManager = field(init=False)
    accepted: int = 0
    reachable: bool = True
    listens_for_pings: bool = True
    disk: str = "works"
    """The state of the disk: "works" answers at once, "slow" answers only after ``Network.settle_disk`` or ``write``,
    "broken" refuses.
    """
    directory: MemoryDirectory | None = None
    """The directory of the host, which answers requests and reports changes at once; None in workgroup mode."""
    domain: UUID | None = None
    """The domain to which the machine of the host belongs."""
    slow_directory: bool = False
    """Whether the directory answers only after ``settle_directory``."""
    unanswered: list[ReadDirectory | WriteDirectory] = field(default_factory=list)
    tamper: Callable[[bytes], bytes | None] = field(default=lambda data: data)
    """Changes each packet that the host sends; None drops the packet."""

    def __post_init__(self) -> None:
        self.driver = CoreDriver(self)
        self.begin_life()
        if self.directory is not None:
            self.directory.observers.append(lambda: self.handle(DirectoryChanged()))

    def handle(self, event: Input) -> None:
        self.driver.handle(event)

    def begin(self, request: Request) -> int:
        """Send a request, and return the token under which ``answers`` will have the answer."""
        self.network.tokens += 1
        token = self.network.tokens
        self.handle(Command(token, request))
        self.network.settle()
        return token

    def ask(self, request: Request) -> dict[str, Any]:
        """Send a request that succeeds at once; return the values of its result."""
        answer = self.answers[self.begin(request)]
        assert isinstance(answer, CommandCompleted), answer
        return answer.result.values

    def refusal(self, request: Request) -> str:
        """Send a request that is refused at once; return the error."""
        answer = self.answers[self.begin(request)]
        assert isinstance(answer, CommandRejected), answer
        return answer.error

    def send(self, to: str, body: bytes = b"body", **fields: Any) -> str:
        return str(self.ask(SendMessage(to=to, body=body, **fields))["message_id"])

    def bodies(self, queue: str = PLAIN) -> list[str]:
        return [message["body"] for message in self.ask(PeekMessages(queue, limit=10_000))["messages"]]

    def adm(self) -> dict[str, Any]:
        return dict(self.ask(Inspect())["adm"])

    def session(self, role: str | None = None) -> dict[str, Any]:
        """Return the ADM elements of the newest session, or of the newest session with the given role."""
        sessions = [one for one in self.adm()["Sessions"] if role in (None, one["role"])]
        return dict(sessions[-1])

    def packets(self) -> list[Packet]:
        return [parse_packet(data) for _, data in self.sent]

    def sent_pings(self) -> list[PingPacket]:
        return [parse_ping(data) for _, _, data in self.pings]

    def begin_life(self) -> None:
        """Start a core with the content of the disk."""
        core = self.installation(self.network.entries[self.address])
        assert isinstance(core, QueueManager)
        self.core = core
        self.handle(RpcListening(*(Endpoint(self.address, port) for port in RPC_PORTS)))
        if self.directory is not None:
            self.handle(DomainReported(self.domain))
        self.handle(QueueManagerStarted())

    def restart(self) -> None:
        self.network.kill(self)

    # -- what the driver needs ----------------------------------------------------------------------------------

    def now(self) -> Now:
        return self.network.now

    def call_at(self, monotonic_ms: int, action: Callable[[], None]) -> Timer:
        return self.network.call_at(monotonic_ms, action)

    def connect(self, effect: Connect) -> None:
        self.connects.append(effect)
        self.network.connect(self, effect)

    def send_packet_on_transport(self, effect: SendPacket) -> None:
        self.network.send(self, effect.transport, effect.data)

    def close_transport(self, effect: CloseTransport) -> None:
        self.closed.append(effect)
        self.network.close(self, effect.transport)

    def send_datagram(self, effect: SendDatagram) -> None:
        self.pings.append((effect.socket, effect.remote, effect.data))
        self.network.ping(self, effect.socket, effect.remote, effect.data)

    def send_rpc_bytes(self, effect: SendRpcBytes) -> None:
        self.network.send(self, effect.connection, effect.data)

    def close_rpc_connection(self, effect: CloseRpcConnection) -> None:
        self.network.close(self, effect.connection)

    def resolve_host(self, effect: ResolveHost) -> None:
        self.network.later(self, HostResolved(effect.host, self.network.names.get(effect.host, ())))

    def persist(self, effect: Persist) -> None:
        self.network.persist(self, effect)

    def read_directory(self, effect: ReadDirectory) -> None:
        self.ask_directory(effect)

    def start_again(self, effect: RestartQueueManager) -> None:
        self.network.call_at(self.now().monotonic_ms, self.restart)

    def write_directory(self, effect: WriteDirectory) -> None:
        self.ask_directory(effect)

    def ask_directory(self, effect: ReadDirectory | WriteDirectory) -> None:
        if self.slow_directory:
            self.unanswered.append(effect)
        else:
            self.handle(directory_access.answer_from_directory(self.directory, effect))

    def settle_directory(self) -> None:
        """Let a slow directory answer all requests, including requests that follow from its answers."""
        while self.unanswered:
            self.handle(directory_access.answer_from_directory(self.directory, self.unanswered.pop(0)))
            self.network.settle()

    def answer(self, effect: Answer) -> None:
        assert effect.token not in self.answers, "a command is answered once"
        self.answers[effect.token] = effect


class Network:
    """Hosts by address, a clock, and the packets in transit."""

    def __init__(self) -> None:
        self.now = Now(BOOTED_MS, EPOCH_S)
        self.hosts: dict[str, Host] = {}
        self.names: dict[str, tuple[str, ...]] = {}
        self.by_hand: set[str] = set()
        """The addresses at which the test itself answers a Connect, and no host does."""
        self.tokens = 0
        self.entries: dict[str, dict[str, object]] = defaultdict(dict)
        """The content of the disk of each host."""
        self.unwritten: dict[str, list[Persist]] = defaultdict(list)
        self._waiting: deque[tuple[Host, Input]] = deque()
        self._timers: list[Timer] = []

    def host(
        self, number: int, directory: MemoryDirectory | None = None, slow_directory: bool = False, **config: Any
    ) -> Host:
        """Add a host; the host with the number 1 has the address 10.0.0.1."""
        address = f"10.0.0.{number}"
        settings: dict[str, Any] = {
            "identifier": guid(number),
            "host_name": f"host{number}",
            "addresses": (address,),
            "queues": (QueueSettings(PLAIN), QueueSettings(TRANSACTIONAL, transactional=True)),
            "timers": TimerSettings(),
            "directory_integrated": directory is not None,
        }
        self.names[f"host{number}"] = (address,)
        self.entries[address] = {}
        installation = QueueManagerInstallation(QueueManagerConfig(**(settings | config)), SeededEntropy(str(number)))
        host = Host(self, address, installation, directory=directory, slow_directory=slow_directory)
        self.hosts[address] = host
        self.settle()
        host.persists.clear()
        return host

    def pair(self, **config: Any) -> tuple[Host, Host]:
        return self.host(1, **config), self.host(2, **config)

    def later(self, host: Host, event: Input) -> None:
        self._waiting.append((host, event))

    def settle(self, limit: int = 200_000) -> None:
        """Deliver all packets in transit, including packets that are sent as a consequence."""
        for _ in range(limit):
            if not self._waiting:
                return
            host, event = self._waiting.popleft()
            if isinstance(event, BytesReceived) and event.transport not in host.twins:
                continue
            if isinstance(event, RpcBytesReceived) and event.connection not in host.twins:
                continue
            host.handle(event)
        raise AssertionError("two cores answer each other for ever")

    def settle_disk(self, order: Callable[[list[Any]], list[Any]] = list) -> None:
        """Let slow disks carry out all pending writes, and report the writes in the given order."""
        slow = [(host, effect) for host in self.hosts.values() for effect in self.take_unwritten(host)]
        for host, effect in slow:
            self.apply(host, effect)
        for host, effect in order(slow):
            self.later(host, RecordPersisted(effect.token))
        self.settle()

    def take_unwritten(self, host: Host) -> list[Persist]:
        return self.unwritten.pop(host.address, [])

    def write(self, host: Host) -> None:
        """Let the disk of a host carry out its pending writes, or refuse them if it is broken."""
        for effect in self.take_unwritten(host):
            if host.disk == "broken":
                self.later(host, PersistFailed(effect.token, "disk full"))
            else:
                self.apply(host, effect)
                self.later(host, RecordPersisted(effect.token))

    def apply(self, host: Host, effect: Persist) -> None:
        for name, value in effect.record.items():
            if value is None:
                self.entries[host.address].pop(name, None)
            else:
                self.entries[host.address][name] = value

    def kill(self, host: Host, written: int = 0) -> None:
        """Kill the process of a host: the first ``written`` pending writes reach the disk, but the process gets no
        answer. Then start a new process on this disk.
        """
        for effect in self.take_unwritten(host)[:written]:
            self.apply(host, effect)
        for name, (other, theirs) in list(host.twins.items()):
            host.twins.pop(name)
            other.twins.pop(theirs)
            self.later(other, lost(theirs, "reset"))
        self._waiting = deque((one, event) for one, event in self._waiting if one is not host)
        host.unanswered.clear()
        host.driver.forget()
        host.begin_life()
        self.settle()

    def advance(self, ms: int) -> None:
        """Advance the time from timer to timer until the given time has passed."""
        end_ms = self.now.monotonic_ms + ms
        self.settle()
        for host in self.hosts.values():
            self.carry_out(host, [])  # a test may have started a timer behind the driver's back
        while (due_ms := self._next_due()) is not None and due_ms <= end_ms:
            self._set(max(due_ms, self.now.monotonic_ms))
            due, self._timers = self._timers, []
            for timer in due:
                if timer.due_ms > due_ms:
                    self._timers.append(timer)
                elif not timer.cancelled:
                    timer.action()
            self.settle()
        self._set(end_ms)

    def call_at(self, monotonic_ms: int, action: Callable[[], None]) -> Timer:
        self._timers.append(Timer(monotonic_ms, action))
        return self._timers[-1]

    def cut(self, host: Host) -> None:
        """Reset every connection of a host."""
        for name, (other, theirs) in list(host.twins.items()):
            host.twins.pop(name)
            other.twins.pop(theirs)
            self.later(host, lost(name, "reset"))
            self.later(other, lost(theirs, "reset"))
        self.settle()

    def carry_out(self, host: Host, effects: list[Effect]) -> None:
        """Carry out effects that a test got by calling the core directly."""
        host.driver.carry_out(effects)

    def _next_due(self) -> int | None:
        self._timers = [timer for timer in self._timers if not timer.cancelled]
        return min((timer.due_ms for timer in self._timers), default=None)

    def _set(self, monotonic_ms: int) -> None:
        self.now = Now(monotonic_ms, EPOCH_S + (monotonic_ms - BOOTED_MS) // 1000)

    # -- effects ------------------------------------------------------------------------------------------------

    def send(self, host: Host, transport: str, data: bytes) -> None:
        host.sent.append((transport, data))
        changed = host.tamper(data)
        if changed is not None and transport in host.twins:
            other, theirs = host.twins[transport]
            self.later(other, (RpcBytesReceived if is_method_supported(theirs) else BytesReceived)(theirs, changed))

    def connect(self, host: Host, effect: Connect) -> None:
        if effect.remote.host in self.by_hand:
            return
        other = self.hosts.get(effect.remote.host)
        if other is None or not other.reachable:
            self.later(host, TransportFailed(effect.transport, "connection refused"))
            return
        other.accepted += 1
        rpc = effect.remote.port in RPC_PORTS
        theirs = f"{'rpc' if rpc else 'in'}-{other.accepted}"
        host.twins[effect.transport] = (other, theirs)
        other.twins[theirs] = (host, effect.transport)
        near, far = Endpoint(host.address, 50_000 + other.accepted), effect.remote
        self.later(other, (RpcAccepted if rpc else TransportAccepted)(theirs, near, far))
        self.later(host, TransportConnected(effect.transport, far, near))

    def close(self, host: Host, transport: str) -> None:
        if transport in host.twins:
            other, theirs = host.twins.pop(transport)
            other.twins.pop(theirs)
            self.later(other, lost(theirs, "closed"))

    def ping(self, host: Host, socket: PingSocket, remote: Endpoint, data: bytes) -> None:
        other = self.hosts.get(remote.host)
        if other is None:
            return
        if socket is PingSocket.LISTENER:
            self.later(other, DatagramReceived(PingSocket.SOURCE, Endpoint(host.address, 3527), data))
        elif other.reachable and other.listens_for_pings:
            self.later(other, DatagramReceived(PingSocket.LISTENER, Endpoint(host.address, 4057), data))

    def persist(self, host: Host, effect: Persist) -> None:
        host.persists.append(effect)
        self.unwritten[host.address].append(effect)
        if host.disk != "slow":
            self.write(host)


def is_method_supported(name: str) -> bool:
    """Return whether a connection with this name is an accepted DCE/RPC connection."""
    return name.startswith("rpc-")


def lost(name: str, reason: str) -> Input:
    """Return the input that reports the loss of a connection, for either protocol."""
    return RpcConnectionLost(name, reason) if is_method_supported(name) else TransportLost(name, reason)


def guid(number: int) -> UUID:
    return UUID(int=number << 64 | 0xFFFF)


def direct(number: int, queue: str = PLAIN) -> str:
    return f"DIRECT=TCP:10.0.0.{number}\\{queue}"


def private(number: int, identifier: int = 1) -> str:
    return f"PRIVATE={guid(number)}\\{identifier:08X}"
