"""DCE/RPC over TCP: gives the associations of reference_qm.rpc their connections and their time. Spec: MS-MQQP 2.1."""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import Callable, Iterable
from typing import cast

from reference_qm.inputs import Endpoint
from reference_qm.rpc import Association, CloseAssociation, Happening, RpcEvent, RpcServer, SendBytes
from reference_qm.shell import system

LOOPBACK = "127.0.0.1"
STOP_FLUSH_S = 0.5
"""How long stopping may take to deliver what was answered."""
PIECE = 512
"""Bytes of requests that are taken before it is looked whether the client reads its answers: a few requests."""
KEEPALIVE = (("TCP_KEEPIDLE", 120), ("TCP_KEEPINTVL", 30), ("TCP_KEEPCNT", 4))
"""When a client that is silent is held to be gone, so that its handles run down (MS-RPCE 3.3.3.2.1): s, s, times."""

Dispatcher = Callable[[RpcEvent], Iterable[Happening]]
"""Carries out calls: takes an event, returns what follows; what follows later is given to ``RpcListener.perform``."""


class RpcListener:
    """One listening port of an RpcServer.

    ``connections``: how many clients are let in at once. ``unsent_bytes``: what may wait for a client that does not
    read; then it is cut. The default lets the largest answers to as many calls as may be pending wait.
    """

    def __init__(
        self,
        server: RpcServer,
        dispatcher: Dispatcher,
        *,
        connections: int = 1024,
        unsent_bytes: int = 288 * 1024 * 1024,
    ) -> None:
        self.server = server
        self.dispatcher = dispatcher
        self.connections = connections
        self.unsent_bytes = unsent_bytes
        self._clients: dict[Association, _Connection] = {}
        self._listener: asyncio.Server | None = None
        self._to_do: deque[Happening] = deque()
        self._performing = False
        self._empty = asyncio.Event()
        self._empty.set()

    async def start(self, address: str = LOOPBACK, port: int = 0) -> Endpoint:
        """Listen; OSError when the port is not to be had. Return where."""
        loop = asyncio.get_running_loop()
        self._listener = await loop.create_server(lambda: _Connection(self), address, port)
        return Endpoint(*self._listener.sockets[0].getsockname()[:2])

    async def stop(self) -> None:
        """Let nobody in any more, ask clients to go, deliver what was answered, close."""
        if self._listener is not None:
            self._listener.close()
        for association in list(self._clients):
            self.perform(association.shut_down())
        try:
            async with asyncio.timeout(STOP_FLUSH_S):
                await self._empty.wait()
        except TimeoutError:
            for connection in list(self._clients.values()):
                connection.abort()
            await self._empty.wait()

    @property
    def associations(self) -> int:
        """How many clients are connected."""
        return len(self._clients)

    def perform(self, happenings: Iterable[Happening]) -> None:
        """Carry out effects and tell the dispatcher events, in order; a call of it from within only adds to them."""
        self._to_do.extend(happenings)
        if self._performing:
            return
        self._performing = True
        try:
            while self._to_do:
                happening = self._to_do.popleft()
                if isinstance(happening, SendBytes | CloseAssociation):
                    self._carry_out(happening)
                else:
                    self._to_do.extend(self.dispatcher(happening))
        finally:
            self._performing = False

    def _carry_out(self, effect: SendBytes | CloseAssociation) -> None:
        connection = self._clients.get(effect.association)
        if connection is None:
            return  # lost meanwhile
        if isinstance(effect, SendBytes):
            connection.send(effect.data)
        else:
            connection.close()

    def admit(self, association: Association, connection: _Connection) -> bool:
        """Note a connection; above the limit it is refused."""
        if len(self._clients) >= self.connections:
            return False
        self._clients[association] = connection
        self._empty.clear()
        return True

    def gone(self, association: Association) -> None:
        """Forget a connection and tell what became of its calls and handles."""
        del self._clients[association]
        if not self._clients:
            self._empty.set()
        self.perform(association.connection_lost())


class _Connection(asyncio.Protocol):
    """The connection of one association."""

    def __init__(self, listener: RpcListener) -> None:
        self._listener = listener
        self._association: Association | None = None
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._timer_due: int | None = None
        self._untaken = b""
        self._paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        peer, own = transport.get_extra_info("peername"), transport.get_extra_info("sockname")
        if peer is None:  # gone already
            self._transport.abort()
            return
        association = self._listener.server.accept(str(peer[0]), str(own[1]), system.now())
        if not self._listener.admit(association, self):
            self._transport.abort()
            return
        _keep_alive(transport.get_extra_info("socket"))
        self._association = association
        self._set_timer(association)

    def data_received(self, data: bytes) -> None:
        self._untaken += data
        self._take()

    def pause_writing(self) -> None:
        """Take no more requests of a client that does not read its answers."""
        self._paused = True
        if self._transport is not None:
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._paused = False
        self._take()
        if not self._paused and self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def _take(self) -> None:
        """Take requests until the client has too many answers to read."""
        association = self._association
        if association is None:
            return
        while self._untaken and not self._paused:
            piece, self._untaken = self._untaken[:PIECE], self._untaken[PIECE:]
            self._listener.perform(association.receive_bytes(piece, system.now()))
        self._set_timer(association)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._association is not None:
            self._listener.gone(self._association)

    def send(self, data: bytes) -> None:
        """Send bytes in order; a connection that is breaking takes them and loses them."""
        if self._transport is None or self._transport.is_closing():
            return
        if self._transport.get_write_buffer_size() + len(data) > self._listener.unsent_bytes:
            self._transport.abort()
            return
        self._transport.write(data)

    def close(self) -> None:
        """Close when everything is sent."""
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Close at once."""
        if self._transport is not None:
            self._transport.abort()

    def _set_timer(self, association: Association) -> None:
        due = association.next_due()
        if due == self._timer_due:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._timer_due = None, due
        if due is not None:
            wait_s = max(due - system.now().monotonic_ms, 0) / 1000
            self._timer = asyncio.get_running_loop().call_later(wait_s, self._expire, association)

    def _expire(self, association: Association) -> None:
        self._timer = self._timer_due = None
        self._listener.perform(association.handle_timer(system.now()))
        self._set_timer(association)


def _keep_alive(connected: socket.socket) -> None:
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in KEEPALIVE:
        if hasattr(socket, option):  # not on every system
            connected.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
