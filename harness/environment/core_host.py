"""Runs a reference core in an environment: carries out its effects, wakes it when it is due.

The same host runs the virtual SUT and the Peer; the Peer's has a stage, through which every byte passes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, Protocol

from harness.environment import Datagrams, Environment, Listener, Stream, StreamSink, Timer
from harness.environment.rpc_host import RpcHost
from harness.errors import HarnessError
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Request, Result
from reference_qm.surface.effects import (
    CloseTransport,
    Completed,
    Connect,
    Effect,
    Persist,
    Rejected,
    ResolveHost,
    RpcClose,
    RpcSend,
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
    Persisted,
    PingSocket,
    Started,
    Stopped,
    TransportAccepted,
    TransportConnected,
    TransportFailed,
    TransportLost,
)


class Core(Protocol):
    """A reference queue manager, or one wrapped in faults."""

    def handle(self, event: Input, now: Now) -> list[Effect]:
        """Take an input."""

    def next_due(self) -> int | None:
        """Say when a timer is due, in monotonic ms."""

    def handle_timer(self, now: Now) -> list[Effect]:
        """Let due timers expire."""

    def restart(self) -> None:
        """Keep only what must survive."""


class Stage(Protocol):
    """Sees and may change what passes between a core and its transports."""

    def opened(self, transport: str, stream: Stream, initiator: bool) -> None:
        """Note a new transport; ``initiator``: this host opened it."""

    def outgoing(self, transport: str, stream: Stream, packet: bytes) -> None:
        """Send a packet of the core, changed or not, or do not send it."""

    def incoming(self, transport: str, data: bytes) -> bytes:
        """Take bytes from the stream; what is returned reaches the core."""

    def closed(self, transport: str, by_us: bool, reason: str) -> None:
        """Note the end of a transport."""

    def ping_outgoing(self, socket: PingSocket, local: Endpoint, remote: Endpoint, data: bytes) -> bytes | None:
        """Change a datagram of the core; None drops it."""

    def ping_incoming(self, socket: PingSocket, local: Endpoint, remote: Endpoint, data: bytes) -> bytes | None:
        """Take a datagram; what is returned reaches the core."""


class _TransportSink:
    def __init__(self, host: CoreHost, transport: str) -> None:
        self.host = host
        self.transport = transport

    def on_open(self) -> None:
        self.host.transport_open(self.transport)

    def on_failed(self, error: str) -> None:
        self.host.streams.pop(self.transport, None)
        self.host.handle(TransportFailed(self.transport, error))

    def on_bytes(self, data: bytes) -> None:
        if self.host.stage is not None:
            data = self.host.stage.incoming(self.transport, data)
        if data and self.transport in self.host.streams:
            self.host.handle(BytesReceived(self.transport, data))

    def on_closed(self, reason: str) -> None:
        self.host.streams.pop(self.transport, None)
        if self.host.stage is not None:
            self.host.stage.closed(self.transport, False, reason)
        self.host.handle(TransportLost(self.transport, reason))


class _PingSink:
    def __init__(self, host: CoreHost, socket: PingSocket) -> None:
        self.host = host
        self.socket = socket

    def on_datagram(self, remote: Endpoint, data: bytes) -> None:
        self.host.datagram(self.socket, remote, data)


class CoreHost:
    """Gives a core its sockets and its time."""

    def __init__(self, environment: Environment, core: Core, address: str, stage: Stage | None = None) -> None:
        self.environment = environment
        self.core = core
        self.address = address
        self.stage = stage
        self.streams: dict[str, Stream] = {}
        self.rpc = RpcHost(self)
        self.answers: dict[int, Result | str] = {}
        self._accepted = 0
        self._token = 0
        self._listeners: list[Listener] = []
        self._pings: dict[PingSocket, Datagrams] = {}
        self._timer: Timer | None = None
        self._timer_due: int | None = None
        self._abandoned: set[int] = set()
        self._perform: dict[type, Callable[[Any], None]] = {
            Connect: self._connect,
            SendPacket: self._send_packet,
            CloseTransport: self._close_transport,
            SendDatagram: self._send_datagram,
            RpcSend: self.rpc.perform,
            RpcClose: self.rpc.perform,
            ResolveHost: self._resolve,
            Persist: self._persist,
            Completed: self._answered,
            Rejected: self._answered,
        }

    # -- life ---------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the core; its listeners are opened apart."""
        self.handle(Started())

    def listen(self, port: int) -> Endpoint:
        """Accept connections for the core."""
        listener = self.environment.listen(Endpoint(self.address, port), self._accept)
        self._listeners.append(listener)
        return listener.endpoint

    def listen_ping(self, port: int) -> Endpoint:
        """Answer pings through the core."""
        return self._open_ping(PingSocket.LISTENER, port).endpoint

    def listen_rpc(self, port: int) -> Endpoint:
        """Serve DCE/RPC: qmcomm at a port, qm2qm at the second after it, each at both. Return the first."""
        return self.rpc.listen(port)

    def stop(self) -> None:
        """Stop the core and close every socket."""
        self.handle(Stopped())
        self.rpc.stop()
        for listener in self._listeners:
            listener.close()
        for port in self._pings.values():
            port.close()
        for stream in self.streams.values():
            stream.close()
        self.streams.clear()
        self._listeners.clear()
        self._pings.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = self._timer_due = None

    def restart(self) -> None:
        """End the process and start it again: transports vanish, what must survive survives."""
        self._lose_transports("restart")
        self.core.restart()
        self.handle(Started())

    def reset(self, core: Core) -> None:
        """Go on with a core that has no past."""
        self._lose_transports("reset")
        self.core = core
        self.rpc.announce()
        self.handle(Started())

    def _lose_transports(self, why: str) -> None:
        for transport, stream in list(self.streams.items()):
            stream.close()
            if self.stage is not None:
                self.stage.closed(transport, True, why)
        self.streams.clear()
        self.rpc.drop()

    # -- inputs -------------------------------------------------------------------------------------------------

    def handle(self, event: Input) -> None:
        """Give the core an input and carry out what it wants."""
        self._carry_out(self.core.handle(event, self.environment.now()))

    def begin(self, request: Request) -> int:
        """Ask the core for something; its answer appears in ``answers`` under the returned token."""
        self._token += 1
        self.handle(Command(self._token, request))
        return self._token

    def ask(self, request: Request, timeout_ms: int = 60_000) -> Result | str:
        """Ask and wait; a str is the one line with which the core refused."""
        token = self.begin(request)
        if not self.environment.run_until(lambda: token in self.answers, timeout_ms):
            self._abandoned.add(token)
            raise HarnessError(f"{type(request).__name__} was not answered within {timeout_ms} ms")
        return self.answers.pop(token)

    def transport_open(self, transport: str) -> None:
        """Tell the core of a new transport."""
        stream = self.streams[transport]
        initiator = transport.startswith("out-")
        if self.stage is not None:
            self.stage.opened(transport, stream, initiator)
        kind = TransportConnected if initiator else TransportAccepted
        self.handle(kind(transport, stream.remote, stream.local))

    def datagram(self, socket: PingSocket, remote: Endpoint, data: bytes) -> None:
        """Take a datagram for the core."""
        passed: bytes | None = data
        if self.stage is not None:
            passed = self.stage.ping_incoming(socket, self._pings[socket].endpoint, remote, data)
        if passed is not None:
            self.handle(DatagramReceived(socket, remote, passed))

    # -- effects ------------------------------------------------------------------------------------------------

    def _carry_out(self, effects: list[Effect]) -> None:
        for effect in effects:
            self._perform[type(effect)](effect)
        self._wake()

    def _wake(self) -> None:
        due = self.core.next_due()
        if due == self._timer_due:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_due = due
        self._timer = None if due is None else self.environment.call_at(due, self._expire)

    def _expire(self) -> None:
        self._timer = self._timer_due = None
        self._carry_out(self.core.handle_timer(self.environment.now()))

    def _accept(self, stream: Stream) -> StreamSink:
        self._accepted += 1
        transport = f"in-{self._accepted}"
        self.streams[transport] = stream
        return _TransportSink(self, transport)

    def _connect(self, effect: object) -> None:
        assert isinstance(effect, Connect)
        sink = _TransportSink(self, effect.transport)
        self.streams[effect.transport] = self.environment.connect(effect.remote, self.address, sink)

    def _send_packet(self, effect: object) -> None:
        assert isinstance(effect, SendPacket)
        stream = self.streams.get(effect.transport)
        if stream is None:
            return  # lost while the core was computing: TransportLost is on its way or was handled
        if self.stage is None:
            stream.send(effect.data)
        else:
            self.stage.outgoing(effect.transport, stream, effect.data)

    def _close_transport(self, effect: object) -> None:
        assert isinstance(effect, CloseTransport)
        stream = self.streams.pop(effect.transport, None)
        if stream is not None:
            stream.close()
            if self.stage is not None:
                self.stage.closed(effect.transport, True, effect.reason)

    def _open_ping(self, socket: PingSocket, port: int) -> Datagrams:
        self._pings[socket] = self.environment.datagrams(Endpoint(self.address, port), _PingSink(self, socket))
        return self._pings[socket]

    def _send_datagram(self, effect: object) -> None:
        assert isinstance(effect, SendDatagram)
        port = self._pings.get(effect.socket) or self._open_ping(effect.socket, 0)
        data: bytes | None = effect.data
        if self.stage is not None:
            data = self.stage.ping_outgoing(effect.socket, port.endpoint, effect.remote, effect.data)
        if data is not None:
            port.send(effect.remote, data)

    def _resolve(self, effect: object) -> None:
        assert isinstance(effect, ResolveHost)
        addresses = self.environment.resolve(effect.host)
        self._soon(lambda: self.handle(HostResolved(effect.host, addresses)))

    def _persist(self, effect: object) -> None:
        # A virtual disk: nothing outlives the host but what the core keeps itself, and writing takes no time.
        assert isinstance(effect, Persist)
        core = self.core

        def written() -> None:
            if self.core is core:  # else a reset has replaced it, and the token is another's
                self.handle(Persisted(effect.token))

        self._soon(written)

    def _answered(self, effect: object) -> None:
        assert isinstance(effect, Completed | Rejected)
        with contextlib.suppress(KeyError):
            self._abandoned.remove(effect.token)
            return
        self.answers[effect.token] = effect.result if isinstance(effect, Completed) else effect.error

    def _soon(self, action: Callable[[], None]) -> None:
        self.environment.call_at(self.environment.now().monotonic_ms, action)
