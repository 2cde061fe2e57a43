"""The host carries out the effects of a core in order, and calls the core when its next timer is due."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from harness.environment import VirtualEnvironment
from harness.environment.core_host import CoreHost
from harness.environment.system_host import SystemHost
from harness.errors import HarnessError
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import ListQueues, Result
from reference_qm.surface.effects import (
    CloseTransport,
    CommandCompleted,
    CommandRejected,
    Connect,
    Effect,
    Persist,
    ResolveHost,
    SendDatagram,
    SendPacket,
)
from reference_qm.surface.inputs import (
    BytesReceived,
    Command,
    DatagramReceived,
    Endpoint,
    HostResolved,
    Input,
    PersistFailed,
    PingSocket,
    QueueManagerStarted,
    QueueManagerStopped,
    RecordPersisted,
    TransportAccepted,
    TransportConnected,
    TransportFailed,
    TransportLost,
)

HERE, THERE = "127.0.0.1", "127.0.0.2"
PORT = 1801
React = Callable[[Input], list[Effect]]


class ScriptedCore:
    """A core whose effects the test determines; it records its inputs."""

    def __init__(self, react: React = lambda event: []) -> None:
        self.react = react
        self.inputs: list[Input] = []
        self.due: int | None = None
        self.expired: list[int] = []
        self.on_timer: list[Effect] = []

    def handle(self, event: Input, now: Now) -> list[Effect]:
        self.inputs.append(event)
        return self.react(event)

    def next_due(self) -> int | None:
        return self.due

    def handle_timer(self, now: Now) -> list[Effect]:
        self.expired.append(now.monotonic_ms)
        self.due = None
        return self.on_timer


class Ear:
    """The other end of a stream, or the receiver of datagrams; it records its events."""

    def __init__(self) -> None:
        self.events: list[object] = []

    def on_connection_open(self) -> None:
        self.events.append("open")

    def on_failed(self, error: str) -> None:
        self.events.append(error)

    def on_bytes(self, data: bytes) -> None:
        self.events.append(data)

    def on_closed(self, reason: str) -> None:
        self.events.append("closed")

    def on_datagram(self, remote: Endpoint, data: bytes) -> None:
        self.events.append((remote, data))


@pytest.fixture
def environment() -> VirtualEnvironment:
    return VirtualEnvironment()


def settle(environment: VirtualEnvironment, ms: int = 50) -> None:
    environment.run_until(lambda: False, ms)


def test_host_carries_out_effects_in_the_order_of_the_core(environment: VirtualEnvironment) -> None:
    def react(event: Input) -> list[Effect]:
        match event:
            case QueueManagerStarted():
                return [Connect("out-1", Endpoint(THERE, PORT))]
            case TransportConnected():
                return [
                    SendPacket("out-1", b"one"),
                    SendPacket("out-1", b"two"),
                    CloseTransport("out-1", "done"),
                    SendPacket("out-1", b"never: it is closed"),
                ]
        return []

    ear = Ear()
    environment.listen(Endpoint(THERE, PORT), lambda stream: ear)
    core = ScriptedCore(react)
    CoreHost(environment, core, HERE).start()
    settle(environment)
    assert ear.events == ["open", b"one", b"two", "closed"]
    assert [type(event) for event in core.inputs] == [
        QueueManagerStarted,
        TransportConnected,
    ]  # no TransportLost for its own close


def test_host_reports_failed_and_lost_connections(environment: VirtualEnvironment) -> None:
    core = ScriptedCore(
        lambda event: [Connect("out-1", Endpoint(THERE, PORT))] if isinstance(event, QueueManagerStarted) else []
    )
    host = CoreHost(environment, core, HERE)
    host.start()
    settle(environment)
    assert core.inputs[1:] == [TransportFailed("out-1", "connection refused")]
    assert host.streams == {}

    host.listen(PORT)
    far = environment.connect(Endpoint(HERE, PORT), THERE, Ear())
    settle(environment)
    far.send(b"hello")
    far.close()
    settle(environment)
    accepted, received, lost = core.inputs[2:]
    assert isinstance(accepted, TransportAccepted)
    assert (accepted.transport, accepted.remote) == ("in-1", far.local)
    assert received == BytesReceived("in-1", b"hello")
    assert isinstance(lost, TransportLost)
    assert host.streams == {}


def test_host_wakes_core_when_due_but_not_for_cancelled_timers(environment: VirtualEnvironment) -> None:
    core = ScriptedCore()
    host = CoreHost(environment, core, HERE)
    began = environment.now().monotonic_ms
    core.due = began + 500
    host.start()
    core.due = began + 200
    host.handle(QueueManagerStarted())
    settle(environment, 1_000)
    assert core.expired == [began + 200]
    core.due = began + 5_000
    host.handle(QueueManagerStarted())
    core.due = None
    host.handle(QueueManagerStarted())
    settle(environment, 10_000)
    assert core.expired == [began + 200]


def test_host_carries_out_effects_of_a_timer(environment: VirtualEnvironment) -> None:
    core = ScriptedCore()
    core.due = environment.now().monotonic_ms + 10
    core.on_timer = [ResolveHost(HERE)]
    CoreHost(environment, core, HERE).start()
    settle(environment)
    assert core.inputs[-1] == HostResolved(HERE, (HERE,))


def test_host_resolves_names_persists_records_and_sends_datagrams(environment: VirtualEnvironment) -> None:
    environment.hosts["there.example"] = (THERE,)
    ear = Ear()
    there = environment.open_udp_port(Endpoint(THERE, 3527), ear)

    def react(event: Input) -> list[Effect]:
        if not isinstance(event, QueueManagerStarted):
            return []
        return [
            ResolveHost("there.example"),
            ResolveHost("nowhere.example"),
            Persist(9, {}),
            SendDatagram(PingSocket.SOURCE, there.endpoint, b"ping"),
        ]

    core = ScriptedCore(react)
    host = CoreHost(environment, core, HERE)
    host.start()
    settle(environment)
    assert core.inputs[1:] == [
        HostResolved("there.example", (THERE,)),
        HostResolved("nowhere.example", ()),
        RecordPersisted(9),
    ]
    ((source, data),) = ear.events  # type: ignore[misc]
    assert data == b"ping"
    there.send(source, b"pong")
    settle(environment)
    assert core.inputs[-1] == DatagramReceived(PingSocket.SOURCE, there.endpoint, b"pong")


def test_host_matches_answers_by_token_and_drops_late_answers(environment: VirtualEnvironment) -> None:
    def react(event: Input) -> list[Effect]:
        if isinstance(event, Command) and event.token == 1:
            return [CommandCompleted(1, Result({"queues": []}))]
        if isinstance(event, Command) and event.token == 2:
            return [CommandRejected(2, "no")]
        return []

    core = ScriptedCore(react)
    host = CoreHost(environment, core, HERE)
    assert host.ask(ListQueues()) == Result({"queues": []})
    assert host.ask(ListQueues()) == "no"
    with pytest.raises(HarnessError, match="ListQueues was not answered within 30 ms"):
        host.ask(ListQueues(), timeout_ms=30)
    core.react = lambda event: [CommandCompleted(3, Result({}))]
    host.handle(QueueManagerStarted())
    assert host.answers == {}


def test_host_restart_drops_transports_silently_and_starts_a_new_core_from_disk(
    environment: VirtualEnvironment,
) -> None:
    begun: list[Mapping[str, object]] = []
    cores: list[ScriptedCore] = []

    def new_core(entries: Mapping[str, object]) -> ScriptedCore:
        begun.append(entries)
        cores.append(ScriptedCore(lambda event: [*writes] if isinstance(event, TransportAccepted) else []))
        return cores[-1]

    writes = [Persist(1, {"a": [1], "b": 2}), Persist(2, {"b": None, "c": {"d": 3}})]
    host = SystemHost(environment, new_core, HERE)
    host.start()
    host.listen(PORT)
    ear = Ear()
    environment.connect(Endpoint(HERE, PORT), THERE, ear)
    settle(environment)
    host.restart()
    settle(environment)
    assert ear.events == ["open", "closed"]
    assert [type(event) for event in cores[0].inputs] == [
        QueueManagerStarted,
        TransportAccepted,
        RecordPersisted,
        RecordPersisted,
    ]
    assert [type(event) for event in cores[1].inputs] == [QueueManagerStarted]
    environment.connect(Endpoint(HERE, PORT), THERE, ear)
    settle(environment)
    assert isinstance(cores[1].inputs[1], TransportAccepted)
    host.reset()
    assert begun == [{}, {"a": [1], "c": {"d": 3}}, {}]


def test_host_reports_a_refused_store_entry_as_failed(environment: VirtualEnvironment) -> None:
    core = ScriptedCore(lambda event: [Persist(7, {"a": b"bytes"})] if isinstance(event, QueueManagerStarted) else [])
    host = SystemHost(environment, lambda entries: core, HERE)
    host.start()
    settle(environment)
    assert isinstance(core.inputs[-1], PersistFailed)
    assert core.inputs[-1].token == 7


def test_stopped_host_closes_connections_and_timers(environment: VirtualEnvironment) -> None:
    core = ScriptedCore()
    host = CoreHost(environment, core, HERE)
    host.start()
    host.listen(PORT)
    host.listen_ping(3527)
    ear = Ear()
    environment.connect(Endpoint(HERE, PORT), THERE, ear)
    settle(environment)
    core.due = environment.now().monotonic_ms + 100
    host.stop()
    settle(environment, 1_000)
    assert isinstance(core.inputs[-1], QueueManagerStopped)
    assert ear.events[-1] == "closed"
    assert core.expired == []
    assert (environment.listeners, environment.udp) == ({}, {})


class Mirror:
    """A stage between core and network that reverses the bytes of each packet and drops datagrams."""

    def __init__(self) -> None:
        self.closed_by_us: list[bool] = []

    def on_opened(self, transport: str, stream: object, initiator: bool) -> None: ...

    def on_outgoing_packet(self, transport: str, stream: Ear, packet: bytes) -> None:
        stream.send(packet[::-1])  # type: ignore[attr-defined]

    def on_incoming_bytes(self, transport: str, data: bytes) -> bytes:
        return data[::-1]

    def on_closed(self, transport: str, by_us: bool, reason: str) -> None:
        self.closed_by_us.append(by_us)

    def on_outgoing_ping(self, *arguments: object) -> bytes | None:
        return None

    def on_incoming_ping(self, *arguments: object) -> bytes | None:
        return None


def test_stage_receives_every_byte_that_the_core_sends_or_receives(environment: VirtualEnvironment) -> None:
    def react(event: Input) -> list[Effect]:
        if isinstance(event, TransportAccepted):
            return [SendPacket("in-1", b"abc"), SendDatagram(PingSocket.LISTENER, Endpoint(THERE, 9), b"x")]
        return []

    core, stage = ScriptedCore(react), Mirror()
    host = CoreHost(environment, core, HERE, stage)  # type: ignore[arg-type]
    host.listen(PORT)
    host.listen_ping(3527)
    ear = Ear()
    pings = environment.open_udp_port(Endpoint(THERE, 9), ear)
    far = environment.connect(Endpoint(HERE, PORT), THERE, ear)
    settle(environment)
    far.send(b"123")
    pings.send(Endpoint(HERE, 3527), b"y")
    settle(environment)
    far.close()
    settle(environment)
    assert ear.events == ["open", b"cba"]
    assert core.inputs[1] == BytesReceived("in-1", b"321")
    assert not [event for event in core.inputs if isinstance(event, DatagramReceived)]
    assert stage.closed_by_us == [False]
