"""Host the DCE/RPC connections of a core in an environment (MS-MQQP). This module is a part of ``CoreHost``."""

from __future__ import annotations

from collections.abc import Callable

from harness.environment import Environment, Stream, StreamSink, TcpListener
from reference_qm.surface.inputs import Endpoint, Input, RpcAccepted, RpcBytesReceived, RpcConnectionLost, RpcListening

QM2QM_PORT_OFFSET_FROM_QMCOMM_PORT = 2
"""The port of qm2qm (by default 2105) minus the port of qmcomm (by default 2103) (MS-MQQP 3.1.4.8)."""


class _RpcSink:
    def __init__(self, rpc: RpcHost, connection: str) -> None:
        self.rpc = rpc
        self.connection = connection

    def on_connection_open(self) -> None:
        stream = self.rpc.streams[self.connection]
        self.rpc.deliver(RpcAccepted(self.connection, stream.remote, stream.local))

    def on_failed(self, error: str) -> None:
        del self.rpc.streams[self.connection]

    def on_bytes(self, data: bytes) -> None:
        if self.connection in self.rpc.streams:
            self.rpc.deliver(RpcBytesReceived(self.connection, data))

    def on_closed(self, reason: str) -> None:
        if self.rpc.streams.pop(self.connection, None) is not None:
            self.rpc.deliver(RpcConnectionLost(self.connection, reason))


class RpcHost:
    """The DCE/RPC ports and connections of a core. ``deliver`` is called with each event of these connections."""

    def __init__(self, environment: Environment, address: str, deliver: Callable[[Input], None]) -> None:
        self.environment = environment
        self.address = address
        self.deliver = deliver
        self.streams: dict[str, Stream] = {}
        self._accepted_connection_count = 0
        self._listeners: list[TcpListener] = []
        self._open_ports: RpcListening | None = None

    def listen(self, port: int) -> Endpoint:
        """Serve the interfaces qmcomm and qm2qm, each on its own port; the port of qm2qm is the port of qmcomm plus 2.
        If the requested port is 0, the operating system chooses both ports.
        """
        ports = (port, port + QM2QM_PORT_OFFSET_FROM_QMCOMM_PORT if port else 0)
        opened = [self.environment.listen(Endpoint(self.address, one), self._accept_connection) for one in ports]
        self._listeners += opened
        self._open_ports = RpcListening(*(listener.endpoint for listener in opened))
        self.report_open_ports()
        return opened[0].endpoint

    def report_open_ports(self) -> None:
        """Report the open ports to a core that is starting."""
        if self._open_ports is not None:
            self.deliver(self._open_ports)

    def send(self, connection: str, data: bytes) -> None:
        """Send bytes on a connection. If the connection was lost, discard the bytes."""
        stream = self.streams.get(connection)
        if stream is not None:
            stream.send(data)

    def close(self, connection: str) -> None:
        """Close a connection if it is open."""
        stream = self.streams.pop(connection, None)
        if stream is not None:
            stream.close()

    def cut_connections(self) -> None:
        """Close every connection without reporting this to the core."""
        for stream in self.streams.values():
            stream.close()
        self.streams.clear()

    def stop(self) -> None:
        """Close all connections and ports."""
        self.cut_connections()
        for listener in self._listeners:
            listener.close()
        self._listeners.clear()

    def _accept_connection(self, stream: Stream) -> StreamSink:
        self._accepted_connection_count += 1
        connection = f"rpc-{self._accepted_connection_count}"
        self.streams[connection] = stream
        return _RpcSink(self, connection)
