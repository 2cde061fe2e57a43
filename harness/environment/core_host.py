"""Run a reference core in an environment: provide its driver with sockets, a disk and time.

The virtual SUT and the peer both use this host. Every byte of the peer also passes through an interceptor, which can
change it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Protocol

from harness.environment import Environment, Stream, StreamSink, TcpListener, UdpPort
from harness.environment.rpc_host import RpcHost
from harness.errors import HarnessError
from reference_qm.surface import directory_access
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Request, Result
from reference_qm.surface.driver import Core, CoreDriver, Timer
from reference_qm.surface.effects import (
    Answer,
    CloseRpcConnection,
    CloseTransport,
    CommandCompleted,
    Connect,
    Persist,
    ReadDirectory,
    ResolveHost,
    RestartQueueManager,
    SendDatagram,
    SendPacket,
    SendRpcBytes,
    WriteDirectory,
)
from reference_qm.surface.inputs import (
    BytesReceived,
    Command,
    DatagramReceived,
    Endpoint,
    HostResolved,
    Input,
    PingSocket,
    QueueManagerStarted,
    QueueManagerStopped,
    RecordPersisted,
    TransportAccepted,
    TransportConnected,
    TransportFailed,
    TransportLost,
)


class TransportInterceptor(Protocol):
    """The interface of an object that reads, and may change, the bytes between a core and its transports."""

    def on_opened(self, transport: str, stream: Stream, initiator: bool) -> None:
        """Record a new transport. ``initiator`` states whether this host opened the transport."""

    def on_outgoing_packet(self, transport: str, stream: Stream, packet: bytes) -> None:
        """Handle a packet from the core: send the packet, send a changed packet instead, or send no packet."""

    def on_incoming_bytes(self, transport: str, data: bytes) -> bytes:
        """Handle bytes that were received on the stream; return the bytes to pass to the core."""

    def on_closed(self, transport: str, by_us: bool, reason: str) -> None:
        """Record the end of a transport."""

    def on_outgoing_ping(self, socket: PingSocket, local: Endpoint, remote: Endpoint, data: bytes) -> bytes | None:
        """Return the datagram to send in place of a datagram from the core, or None to send no datagram."""

    def on_incoming_ping(self, socket: PingSocket, local: Endpoint, remote: Endpoint, data: bytes) -> bytes | None:
        """Handle a received datagram; return the datagram to pass to the core, or None to pass none."""


class _TransportSink:
    def __init__(self, host: CoreHost, transport: str) -> None:
        self.host = host
        self.transport = transport

    def on_connection_open(self) -> None:
        self.host.report_open_transport(self.transport)

    def on_failed(self, error: str) -> None:
        self.host.streams.pop(self.transport, None)
        self.host.handle(TransportFailed(self.transport, error))

    def on_bytes(self, data: bytes) -> None:
        if self.host.interceptor is not None:
            data = self.host.interceptor.on_incoming_bytes(self.transport, data)
        if data and self.transport in self.host.streams:
            self.host.handle(BytesReceived(self.transport, data))

    def on_closed(self, reason: str) -> None:
        self.host.streams.pop(self.transport, None)
        if self.host.interceptor is not None:
            self.host.interceptor.on_closed(self.transport, False, reason)
        self.host.handle(TransportLost(self.transport, reason))


class _PingSink:
    def __init__(self, host: CoreHost, socket: PingSocket) -> None:
        self.host = host
        self.socket = socket

    def on_datagram(self, remote: Endpoint, data: bytes) -> None:
        self.host.datagram(self.socket, remote, data)


class CommandNotAnsweredInTime(HarnessError):
    """The error when a core does not answer a command in time. This is a bug in this project, unless the command
    waits for the SUT.
    """


class CoreHost:
    """A host of a reference core, which provides sockets and time to the core, and carries out the effects of
    the core.
    """

    def __init__(
        self, environment: Environment, core: Core, address: str, interceptor: TransportInterceptor | None = None
    ) -> None:
        self.environment = environment
        self.core = core
        self.address = address
        self.interceptor = interceptor
        self.streams: dict[str, Stream] = {}
        self.rpc = RpcHost(environment, address, self.handle)
        self.driver = CoreDriver(self)
        self.answers: dict[int, Result | str] = {}
        self._accepted_connection_count = 0
        self._token = 0
        self._listeners: list[TcpListener] = []
        self._pings: dict[PingSocket, UdpPort] = {}
        self._tokens_of_unanswered_requests: set[int] = set()

    # -- start and stop -----------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the core. To open its ports, call ``listen``, ``listen_ping`` and ``listen_rpc``."""
        self.handle(QueueManagerStarted())

    def listen(self, port: int) -> Endpoint:
        """Open a TCP port, and accept its connections for the core. Return the endpoint of the port."""
        listener = self.environment.listen(Endpoint(self.address, port), self._accept_connection)
        self._listeners.append(listener)
        return listener.endpoint

    def listen_ping(self, port: int) -> Endpoint:
        """Open a UDP port on which the core answers pings. Return the endpoint of the port."""
        return self._open_ping_socket(PingSocket.LISTENER, port).endpoint

    def listen_rpc(self, port: int) -> Endpoint:
        """Serve the DCE/RPC interfaces qmcomm and qm2qm, each on its own port; the port of qm2qm is the port of qmcomm
        plus 2. Return the endpoint of qmcomm.
        """
        return self.rpc.listen(port)

    def stop(self) -> None:
        """Stop the core and close every socket."""
        self.handle(QueueManagerStopped())
        self.close_sockets()

    def close_sockets(self) -> None:
        """Close all connections and ports. Afterwards, the core receives no network events."""
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
        self.driver.forget()

    def report_lost_transports(self, why: str) -> None:
        """Close all connections, and report their loss to the interceptor but not to the core."""
        for transport, stream in list(self.streams.items()):
            stream.close()
            if self.interceptor is not None:
                self.interceptor.on_closed(transport, True, why)
        self.streams.clear()
        self.rpc.cut_connections()

    # -- inputs -------------------------------------------------------------------------------------------------

    def handle(self, event: Input) -> None:
        """Pass an input to the core and carry out its effects."""
        self.driver.handle(event)

    def begin(self, request: Request) -> int:
        """Pass a request to the core, and return a token. When the core answers, the answer is stored in ``answers``
        under this token.
        """
        self._token += 1
        self.handle(Command(self._token, request))
        return self._token

    def ask(self, request: Request, timeout_ms: int = 60_000) -> Result | str:
        """Pass a request to the core and return its answer. An answer of type str is a one-line reason why the core
        refused the request.
        """
        token = self.begin(request)
        if not self.environment.run_until(lambda: token in self.answers, timeout_ms):
            self._tokens_of_unanswered_requests.add(token)
            raise CommandNotAnsweredInTime(f"{type(request).__name__} was not answered within {timeout_ms} ms")
        return self.answers.pop(token)

    def report_open_transport(self, transport: str) -> None:
        """Report to the core, as an input, that a transport is open."""
        stream = self.streams[transport]
        initiator = transport.startswith("out-")
        if self.interceptor is not None:
            self.interceptor.on_opened(transport, stream, initiator)
        kind = TransportConnected if initiator else TransportAccepted
        self.handle(kind(transport, stream.remote, stream.local))

    def datagram(self, socket: PingSocket, remote: Endpoint, data: bytes) -> None:
        """Pass a received datagram to the core."""
        passed: bytes | None = data
        if self.interceptor is not None:
            passed = self.interceptor.on_incoming_ping(socket, self._pings[socket].endpoint, remote, data)
        if passed is not None:
            self.handle(DatagramReceived(socket, remote, passed))

    # -- the interface that the driver needs --------------------------------------------------------------------

    def now(self) -> Now:
        return self.environment.now()

    def call_at(self, monotonic_ms: int, action: Callable[[], None]) -> Timer:
        return self.environment.call_at(monotonic_ms, action)

    def connect(self, effect: Connect) -> None:
        sink = _TransportSink(self, effect.transport)
        self.streams[effect.transport] = self.environment.connect(effect.remote, self.address, sink)

    def send_packet_on_transport(self, effect: SendPacket) -> None:
        stream = self.streams.get(effect.transport)
        if stream is None:
            return  # lost while the core was computing: TransportLost will be or was handled
        if self.interceptor is None:
            stream.send(effect.data)
        else:
            self.interceptor.on_outgoing_packet(effect.transport, stream, effect.data)

    def close_transport(self, effect: CloseTransport) -> None:
        stream = self.streams.pop(effect.transport, None)
        if stream is not None:
            stream.close()
            if self.interceptor is not None:
                self.interceptor.on_closed(effect.transport, True, effect.reason)

    def send_datagram(self, effect: SendDatagram) -> None:
        port = self._pings.get(effect.socket) or self._open_ping_socket(effect.socket, 0)
        data: bytes | None = effect.data
        if self.interceptor is not None:
            data = self.interceptor.on_outgoing_ping(effect.socket, port.endpoint, effect.remote, effect.data)
        if data is not None:
            port.send(effect.remote, data)

    def send_rpc_bytes(self, effect: SendRpcBytes) -> None:
        self.rpc.send(effect.connection, effect.data)

    def close_rpc_connection(self, effect: CloseRpcConnection) -> None:
        self.rpc.close(effect.connection)

    def resolve_host(self, effect: ResolveHost) -> None:
        addresses = self.environment.resolve(effect.host)
        self._call_soon(lambda: self.handle(HostResolved(effect.host, addresses)))

    def persist(self, effect: Persist) -> None:
        self.answer_after_event(RecordPersisted(effect.token))

    def read_directory(self, effect: ReadDirectory) -> None:
        self.answer_after_event(directory_access.answer_from_directory(None, effect))

    def write_directory(self, effect: WriteDirectory) -> None:
        self.answer_after_event(directory_access.answer_from_directory(None, effect))

    def start_again(self, effect: RestartQueueManager) -> None:
        raise HarnessError("a core without a disk cannot be restarted")

    def answer(self, effect: Answer) -> None:
        with contextlib.suppress(KeyError):
            self._tokens_of_unanswered_requests.remove(effect.token)
            return
        self.answers[effect.token] = effect.result if isinstance(effect, CommandCompleted) else effect.error

    # -- sockets ------------------------------------------------------------------------------------------------

    def _accept_connection(self, stream: Stream) -> StreamSink:
        self._accepted_connection_count += 1
        transport = f"in-{self._accepted_connection_count}"
        self.streams[transport] = stream
        return _TransportSink(self, transport)

    def _open_ping_socket(self, socket: PingSocket, port: int) -> UdpPort:
        self._pings[socket] = self.environment.open_udp_port(Endpoint(self.address, port), _PingSink(self, socket))
        return self._pings[socket]

    def answer_after_event(self, event: Input) -> None:
        """Pass an event to the core after the core has handled the current event, unless the core is replaced in the
        meantime.
        """
        core = self.core

        def answer_if_current() -> None:
            if self.core is core:  # a core that has replaced this core did not issue the token
                self.handle(event)

        self._call_soon(answer_if_current)

    def _call_soon(self, action: Callable[[], None]) -> None:
        self.environment.call_at(self.now().monotonic_ms, action)
