"""Implements DCE/RPC over TCP: it passes connections and their bytes to the core, within limits. Spec: MS-MQQP 2.1,
3.1.3.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Callable
from typing import cast

from reference_qm.shell.unsent import UnsentBytesLimit
from reference_qm.surface.inputs import Endpoint, Input, RpcAccepted, RpcBytesReceived, RpcConnectionLost

STOP_FLUSH_TIMEOUT_S = 0.5
"""The maximum time in s for which a stopping listener continues to send its pending answers."""
PORT_SEARCH_STEP = 11
"""The difference between an occupied port and the next port to try (MS-MQQP 3.1.4.8)."""
HIGHEST_PORT = 0xFFFF
REQUEST_BYTES_AT_ONCE = 512
"""The number of request bytes after which the server checks again how many answers the client has not read."""
TCP_KEEPALIVE_OPTIONS = (("TCP_KEEPIDLE", 120), ("TCP_KEEPINTVL", 30), ("TCP_KEEPCNT", 4))
"""The TCP keepalive (idle s, interval s, probes) after which a client that does not answer counts as lost (MS-RPCE
3.3.3.2.1).
"""


class RpcListener:
    """Listens on the ports of DCE/RPC, and passes RpcAccepted, RpcBytesReceived and RpcConnectionLost to ``deliver``.

    ``connections``: the maximum number of clients. ``unsent_bytes``: the maximum number of bytes that a client has
    not read. A client that exceeds this number is disconnected.
    """

    def __init__(
        self,
        deliver: Callable[[Input], None],
        *,
        connections: int = 1024,
        unsent_bytes: int = 288 * 1024 * 1024,
        unsent: UnsentBytesLimit | None = None,
    ) -> None:
        self.deliver = deliver
        self.unsent = unsent or UnsentBytesLimit()
        self.unsent.include_connections(lambda: (client.unsent_and_unhandled_bytes for client in self._open))
        self.connections = connections
        self.unsent_bytes = unsent_bytes
        self.accepted = 0
        """The number of clients accepted so far."""
        self._clients: dict[str, _Connection] = {}
        """The connections, by the names that the core uses for them."""
        self._open: set[_Connection] = set()
        """The open connections, including closing ones."""
        self._servers: list[asyncio.Server] = []
        self._all_closed = asyncio.Event()
        self._all_closed.set()

    # -- ports --------------------------------------------------------------------------------------------------

    async def bind(self, address: str, port: int) -> Endpoint:
        """Bind a port, but do not accept clients yet, and return the port. Raise OSError if this fails."""
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Connection(self), address, port, start_serving=False)
        self._servers.append(server)
        return Endpoint(*server.sockets[0].getsockname()[:2])

    async def bind_next_free_port(self, address: str, port: int) -> Endpoint:
        """Bind a port. If the port is in use, bind the next free port in steps of 11. Spec: MS-MQQP 3.1.4.8."""
        while True:
            try:
                return await self.bind(address, port)
            except OSError as error:
                if error.errno != errno.EADDRINUSE or port + PORT_SEARCH_STEP > HIGHEST_PORT:
                    raise
                port += PORT_SEARCH_STEP

    async def start(self) -> None:
        """Accept clients."""
        for server in self._servers:
            await server.start_serving()

    def close_listeners(self) -> None:
        """Release the ports."""
        for server in self._servers:
            server.close()
        self._servers.clear()

    # -- connections --------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._clients)

    def send(self, connection: str, data: bytes) -> None:
        """Send bytes. Bytes for a disconnected client are discarded."""
        client = self._clients.get(connection)
        if client is not None:
            client.send(data)

    def close(self, connection: str) -> None:
        """Close a connection after its bytes are sent. The core gets no further inputs from it."""
        client = self._clients.pop(connection, None)
        if client is not None:
            client.close()

    def cut_connections(self) -> None:
        """Abort every connection. The core gets no further inputs from them."""
        self._clients.clear()
        for client in self._open:
            client.abort()

    async def stop(self) -> None:
        """Stop accepting clients, send the pending answers, and abort the remaining connections."""
        self.close_listeners()
        for connection in list(self._clients):
            self.close(connection)
        try:
            async with asyncio.timeout(STOP_FLUSH_TIMEOUT_S):
                await self._all_closed.wait()
        except TimeoutError:
            self.cut_connections()
            await self._all_closed.wait()

    def register_connection(self, client: _Connection, remote: Endpoint, local: Endpoint) -> str | None:
        """Return the name of a new connection for the core, or None if too many clients are connected."""
        if len(self._open) >= self.connections:
            return None
        self.accepted += 1
        name = f"rpc-{self.accepted}"
        self._clients[name] = client
        self._open.add(client)
        self._all_closed.clear()
        self.deliver(RpcAccepted(name, remote, local))
        return name

    def is_known_connection(self, name: str) -> bool:
        """Return whether the core still expects bytes or the loss of a connection, that is, the core has not closed
        this connection.
        """
        return name in self._clients

    def forget_connection(self, client: _Connection, name: str, reason: str) -> None:
        """Remove a closed connection, and report it to the core unless the core closed it."""
        self._open.discard(client)
        if not self._open:
            self._all_closed.set()
        if self._clients.pop(name, None) is not None:
            self.deliver(RpcConnectionLost(name, reason))


class _Connection(asyncio.Protocol):
    """The connection of one client."""

    def __init__(self, listener: RpcListener) -> None:
        self._listener = listener
        self._name: str | None = None
        self._transport: asyncio.Transport | None = None
        self._unhandled_bytes = b""
        self._paused = False

    @property
    def unsent_and_unhandled_bytes(self) -> int:
        """The number of bytes that were not sent or not handled yet."""
        return len(self._unhandled_bytes) + (0 if self._transport is None else self._transport.get_write_buffer_size())

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        peer, own = transport.get_extra_info("peername"), transport.get_extra_info("sockname")
        if peer is None:  # already closed
            self._transport.abort()
            return
        _enable_keepalive(transport.get_extra_info("socket"))
        self._name = self._listener.register_connection(self, Endpoint(*peer[:2]), Endpoint(*own[:2]))
        if self._name is None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._unhandled_bytes += data
        self._take_requests()

    def pause_writing(self) -> None:
        """Stop handling the requests of a client that does not read its answers."""
        self._paused = True
        if self._transport is not None:
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._paused = False
        self._take_requests()
        if not self._paused and self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def _take_requests(self) -> None:
        """Pass requests to the core until the client has too many unread answers."""
        while (
            self._unhandled_bytes
            and not self._paused
            and self._name is not None
            and self._listener.is_known_connection(self._name)
        ):
            piece, self._unhandled_bytes = (
                self._unhandled_bytes[:REQUEST_BYTES_AT_ONCE],
                self._unhandled_bytes[REQUEST_BYTES_AT_ONCE:],
            )
            self._listener.deliver(RpcBytesReceived(self._name, piece))

    def connection_lost(self, exc: Exception | None) -> None:
        if self._name is not None:
            self._listener.forget_connection(self, self._name, "closed" if exc is None else str(exc))

    def send(self, data: bytes) -> None:
        """Send bytes in order. Bytes for a broken connection are discarded."""
        if self._transport is None or self._transport.is_closing():
            return
        waiting = self.unsent_and_unhandled_bytes
        if waiting + len(data) > self._listener.unsent_bytes or self._listener.unsent.is_full(waiting):
            self._transport.abort()
            return
        self._transport.write(data)

    def close(self) -> None:
        """Close the connection after all collected bytes are sent."""
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Close the connection. Bytes that are not sent yet are discarded."""
        if self._transport is not None:
            self._transport.abort()


def _enable_keepalive(connected: socket.socket) -> None:
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in TCP_KEEPALIVE_OPTIONS:
        if hasattr(socket, option):  # some systems do not have these options
            connected.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
