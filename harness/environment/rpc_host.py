"""Gives a core its DCE/RPC connections in an environment: the part of ``CoreHost`` for MS-MQQP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.environment import Listener, Stream, StreamSink
from reference_qm.surface.effects import Effect, RpcClose, RpcSend
from reference_qm.surface.inputs import Endpoint, RpcAccepted, RpcBytes, RpcListening, RpcLost

if TYPE_CHECKING:
    from harness.environment.core_host import CoreHost

BETWEEN_PORTS = 2
"""From the port of qmcomm to that of qm2qm: 2103 and 2105 (MS-MQQP 3.1.4.8)."""


class _RpcSink:
    def __init__(self, rpc: RpcHost, connection: str) -> None:
        self.rpc = rpc
        self.connection = connection

    def on_open(self) -> None:
        stream = self.rpc.streams[self.connection]
        self.rpc.host.handle(RpcAccepted(self.connection, stream.remote, stream.local))

    def on_failed(self, error: str) -> None:
        del self.rpc.streams[self.connection]

    def on_bytes(self, data: bytes) -> None:
        if self.connection in self.rpc.streams:
            self.rpc.host.handle(RpcBytes(self.connection, data))

    def on_closed(self, reason: str) -> None:
        if self.rpc.streams.pop(self.connection, None) is not None:
            self.rpc.host.handle(RpcLost(self.connection, reason))


class RpcHost:
    """The DCE/RPC ports and connections of a core."""

    def __init__(self, host: CoreHost) -> None:
        self.host = host
        self.streams: dict[str, Stream] = {}
        self._accepted = 0
        self._listeners: list[Listener] = []
        self._listening: RpcListening | None = None

    def listen(self, port: int) -> Endpoint:
        """Serve qmcomm at a port and qm2qm at the second after it, each at both; port 0 picks free ones."""
        ports = (port, port + BETWEEN_PORTS if port else 0)
        opened = [self.host.environment.listen(Endpoint(self.host.address, one), self._accept) for one in ports]
        self._listeners += opened
        self._listening = RpcListening(*(listener.endpoint for listener in opened))
        self.announce()
        return opened[0].endpoint

    def announce(self) -> None:
        """Tell a core that begins which ports are its own."""
        if self._listening is not None:
            self.host.handle(self._listening)

    def perform(self, effect: Effect) -> None:
        """Carry out an effect; one on a connection that was lost meanwhile goes nowhere."""
        if isinstance(effect, RpcSend):
            stream = self.streams.get(effect.connection)
            if stream is not None:
                stream.send(effect.data)
        elif isinstance(effect, RpcClose):
            stream = self.streams.pop(effect.connection, None)
            if stream is not None:
                stream.close()

    def drop(self) -> None:
        """Close every connection; the core is not told."""
        for stream in self.streams.values():
            stream.close()
        self.streams.clear()

    def stop(self) -> None:
        """Close everything."""
        self.drop()
        for listener in self._listeners:
            listener.close()
        self._listeners.clear()

    def _accept(self, stream: Stream) -> StreamSink:
        self._accepted += 1
        connection = f"rpc-{self._accepted}"
        self.streams[connection] = stream
        return _RpcSink(self, connection)
