"""Runs the core (a queue manager without I/O) in real time, and provides it with sockets, a store, a directory and the
clock.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from reference_qm.shell import system
from reference_qm.shell.connection import Connection, OpenedConnectionInput
from reference_qm.shell.datagrams import DatagramSocket
from reference_qm.shell.directory_access import DIRECTORY_POLL_INTERVAL_S, DirectoryAccess
from reference_qm.shell.resolver import HostNameResolver
from reference_qm.shell.rpc_server import RpcListener
from reference_qm.shell.unsent import UNSENT_BYTES_LIMIT, UnsentBytesLimit
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Request, Result
from reference_qm.surface.driver import CoreDriver, CoreFactory, Timer
from reference_qm.surface.effects import (
    Answer,
    CloseRpcConnection,
    CloseTransport,
    CommandCompleted,
    CommandRejected,
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
    Command,
    DatagramReceived,
    DirectoryChanged,
    Endpoint,
    HostResolved,
    Input,
    PersistFailed,
    PingSocket,
    QueueManagerStarted,
    QueueManagerStopped,
    RecordPersisted,
    ResourcesChanged,
    RpcListening,
    TransportAccepted,
    TransportConnected,
    TransportFailed,
    TransportLost,
)
from reference_qm.surface.queue_manager_environment import (
    DISK_FULL_REASON,
    AccessPublishedObject,
    ChangeEnvironment,
    EnvironmentRequest,
    QueueManagerEnvironment,
)
from reference_qm.surface.store import PermanentStoreFailure, Store, StoreError

log = logging.getLogger(__name__)

LISTEN_BACKLOG = 1024
"""The maximum number of connections that wait to be accepted, which is sufficient for a short burst of new
connections.
"""
CONNECT_TIMEOUT_S = 20
FREE_SPACE_POLL_INTERVAL_S = 0.1
"""The interval in s for checking the free space of the disk."""
STOP_FLUSH_TIMEOUT_S = 0.5
"""The maximum time in s for which a stopping service continues to send its pending bytes."""


@dataclass(frozen=True, slots=True)
class HostLimits:
    """The limits for a process. By default, the bytes of a full window (64 packets of 4 MiB) may wait to be sent."""

    connections: int = 8192
    unsent_bytes: int = 272 * 1024 * 1024
    max_unsent_bytes_of_all_connections: int = UNSENT_BYTES_LIMIT
    """The limit for the bytes that wait to be sent on all connections together. A connection that exceeds the limit is
    aborted.
    """


class Host:
    """Provides a core (a queue manager without I/O) with sockets, a store, a directory and the time.

    The core gets the results of an effect in a later turn of the event loop. If ``new_core`` or the store raises an
    exception during ``restart`` or ``reset``, the exception reaches the caller, and nothing is changed.
    """

    def __init__(
        self,
        new_core: CoreFactory,
        address: str,
        store: Store,
        limits: HostLimits,
        surroundings: QueueManagerEnvironment | None = None,
    ) -> None:
        self._new_core = new_core
        self.core = new_core(store.read())
        self.address = address
        self.store = store
        self._surroundings = surroundings or QueueManagerEnvironment()
        self.directory = DirectoryAccess(self._surroundings)
        self.limits = limits
        self._unsent = UnsentBytesLimit(limits.max_unsent_bytes_of_all_connections)
        self._unsent.include_connections(lambda: (connection.unsent_bytes for connection in self._connections))
        self.rpc = RpcListener(
            self.handle, connections=limits.connections, unsent_bytes=limits.unsent_bytes, unsent=self._unsent
        )
        self._rpc_listening: RpcListening | None = None
        self._listener: asyncio.Server | None = None
        self._ping_sockets: dict[PingSocket, DatagramSocket] = {}
        self._resolver = HostNameResolver(address)
        self._connection_by_name: dict[str, Connection] = {}
        """The connections, by the names that the core uses for them."""
        self._connections: set[Connection] = set()
        """All open connections, including closing ones."""
        self._all_closed = asyncio.Event()
        self._all_closed.set()
        self._stopping = False
        self._accepted_connection_count = 0
        self._last_token = 0
        self._answer_handler_by_token: dict[int, Callable[[Answer], None]] = {}
        self._core_number = 0
        self._unwritten_records: list[tuple[int, Persist]] = []
        """The records that are not written yet, each with the number of the core that emitted the record."""
        self._reported_store_error = ""
        """The last reason why the store refused records, so that it is reported only once. The text is empty while the
        store accepts records.
        """
        self._is_space_short = False
        """Whether the store was short of free space at the last check."""
        self._store_writer: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.driver = CoreDriver(self)

    # -- life ---------------------------------------------------------------------------------------------------

    async def bind_tcp(self, port: int) -> Endpoint:
        """Bind a TCP port, but do not accept connections yet. Raise OSError if this fails."""
        loop = asyncio.get_running_loop()
        self._listener = await loop.create_server(
            self._accept_connection, self.address, port, backlog=LISTEN_BACKLOG, start_serving=False
        )
        return Endpoint(*self._listener.sockets[0].getsockname()[:2])

    def bind_ping(self, port: int) -> Endpoint:
        """Bind the UDP port for Ping Requests, but do not receive yet. Raise OSError if this fails."""
        return self._bind_ping(PingSocket.LISTENER, port).local

    async def bind_rpc(self, port: int, read_port: int) -> RpcListening:
        """Bind the ports of qmcomm and qm2qm, or the next free ports, but do not accept clients yet.

        Raise OSError if this fails.
        """
        handshake, read = [await self.rpc.bind_next_free_port(self.address, one) for one in (port, read_port)]
        self._rpc_listening = RpcListening(handshake, read)
        return self._rpc_listening

    async def start(self) -> None:
        """Start the core, then accept connections. Raise OSError if a port is in use."""
        self._start_core()
        for ping in self._ping_sockets.values():
            ping.start()
        if self._listener is not None:
            await self._listener.start_serving()
        await self.rpc.start()

    def _start_core(self) -> None:
        if self._rpc_listening is not None:
            self.handle(self._rpc_listening)
        self.handle(QueueManagerStarted())
        for event in self._surroundings.list_start_inputs():
            self.handle(event)
        if self._is_space_short:
            self.handle(ResourcesChanged(low=True))
        self._start_task(self._watch_free_space())
        self._start_task(self.directory.watch_shared_directory(lambda: self.handle(DirectoryChanged())))

    def restart(self) -> None:
        """End the core as in a crash, and start a new core with the store of the old core. Only the listening sockets
        stay open.
        """
        self._replace_core(self.store.read(), "restarted")

    def start_again(self, effect: RestartQueueManager) -> None:
        asyncio.get_running_loop().call_soon(self.restart)

    def reset(self) -> None:
        """End the core, and start a new core with an empty store. Only the listening sockets stay open."""
        self.store.clear()
        self._replace_core({}, "reset")

    def _replace_core(self, entries: Mapping[str, object], said: str) -> None:
        """Replace the core with a new core, and discard the pending writes of the old core."""
        core = self._new_core(entries)
        self._unwritten_records.clear()
        self._abort_connections()
        self._stop_core(f"the queue manager was {said} in the meantime")
        self.core = core
        self._start_core()

    async def stop(self) -> None:
        """Stop the core, send the pending bytes, and close every socket."""
        self.handle(QueueManagerStopped())
        self._stopping = True
        self.close_listeners()
        for connection in self._list_connections():
            connection.close()
        self._stop_core("the queue manager was stopped in the meantime")
        await self.rpc.stop()
        try:
            async with asyncio.timeout(STOP_FLUSH_TIMEOUT_S):
                await self._all_closed.wait()
        except TimeoutError:
            for connection in self._list_connections():
                connection.abort()
            await self._all_closed.wait()
        if self._store_writer is not None:
            await self._store_writer
        self.store.close()
        self.directory.close()

    def close_listeners(self) -> None:
        """Close the ports that accept connections."""
        self.rpc.close_listeners()
        if self._listener is not None:
            self._listener.close()
        for ping in self._ping_sockets.values():
            ping.close()
        self._ping_sockets.clear()

    def _abort_connections(self) -> None:
        self.rpc.cut_connections()
        for connection in self._list_connections():
            connection.abort()

    def _list_connections(self) -> set[Connection]:
        """Return all connections that are open, closing or being opened."""
        return self._connections | set(self._connection_by_name.values())

    def _stop_core(self, why: str) -> None:
        """Close the connections and timers of the core, and reject the waiting requests.

        Pending writes are completed.
        """
        for task in self._tasks - {self._store_writer}:
            task.cancel()
        self._core_number += 1
        self._connection_by_name.clear()
        self.driver.forget()
        source = self._ping_sockets.pop(PingSocket.SOURCE, None)
        if source is not None:
            source.close()
        unanswered, self._answer_handler_by_token = self._answer_handler_by_token, {}
        for token, answered in unanswered.items():
            answered(CommandRejected(token, why))

    # -- inputs -------------------------------------------------------------------------------------------------

    def handle(self, event: Input) -> None:
        """Pass an input to the core and carry out its effects."""
        self.driver.handle(event)

    def ask(self, request: Request | EnvironmentRequest, answered: Callable[[Answer], None]) -> int:
        """Pass a request to the core. The core calls ``answered`` exactly once, at once or later, with the token
        that this method returns.
        """
        self._last_token += 1
        token = self._last_token
        self._answer_handler_by_token[token] = answered
        if isinstance(request, ChangeEnvironment | AccessPublishedObject):
            self._start_task(self._change_environment(token, request))
        else:
            self.handle(Command(token, request))
        return token

    def is_unanswered(self, token: int) -> bool:
        """Return whether the request with the given token is still unanswered."""
        return token in self._answer_handler_by_token

    def _deliver_input(self, event: Input) -> None:
        if isinstance(event, TransportLost):
            self._connection_by_name.pop(event.transport, None)
        self.handle(event)

    # -- the driver's interface ---------------------------------------------------------------------------------

    def now(self) -> Now:
        return self._surroundings.apply_clock_offset(system.read_clocks())

    def call_at(self, monotonic_ms: int, action: Callable[[], None]) -> Timer:
        wait_s = max(monotonic_ms - system.read_clocks().monotonic_ms, 0) / 1000
        return asyncio.get_running_loop().call_later(wait_s, action)

    def connect(self, effect: Connect) -> None:
        connection = self._create_connection(effect.transport, TransportConnected, effect.remote)
        self._connection_by_name[effect.transport] = connection
        connection.connecting_task = self._start_task(self._open_connection(connection, effect.remote))

    def send_packet_on_transport(self, effect: SendPacket) -> None:
        stream = self._connection_by_name.get(effect.transport)
        if stream is not None:  # otherwise it was lost: TransportLost was or will be handled
            stream.send(effect.data)

    def close_transport(self, effect: CloseTransport) -> None:
        stream = self._connection_by_name.pop(effect.transport, None)
        if stream is not None:
            stream.close()

    def send_datagram(self, effect: SendDatagram) -> None:
        ping = self._ping_sockets.get(effect.socket)
        if ping is None:
            ping = self._bind_ping(effect.socket, 0)
            ping.start()
        ping.send(effect.remote, effect.data)

    def send_rpc_bytes(self, effect: SendRpcBytes) -> None:
        self.rpc.send(effect.connection, effect.data)

    def close_rpc_connection(self, effect: CloseRpcConnection) -> None:
        self.rpc.close(effect.connection)

    def resolve_host(self, effect: ResolveHost) -> None:
        self._start_task(self._look_up_host(effect.host))

    def persist(self, effect: Persist) -> None:
        self._unwritten_records.append((self._core_number, effect))
        if self._store_writer is None:
            self._store_writer = self._start_task(self._write_store())

    def read_directory(self, effect: ReadDirectory) -> None:
        self._start_task(self._carry_out_directory_effect(effect))

    def write_directory(self, effect: WriteDirectory) -> None:
        self._start_task(self._carry_out_directory_effect(effect))

    def answer(self, effect: Answer) -> None:
        self._answer_handler_by_token.pop(effect.token)(effect)

    # -- sockets, names, the directory and the store ------------------------------------------------------------

    def _accept_connection(self) -> Connection:
        self._accepted_connection_count += 1
        return self._create_connection(f"in-{self._accepted_connection_count}", TransportAccepted)

    async def _open_connection(self, connection: Connection, remote: Endpoint) -> None:
        loop = asyncio.get_running_loop()
        # The own address identifies this system to a peer, and a loopback address keeps packets on this machine.
        local = (self.address, 0)
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                await loop.create_connection(lambda: connection, remote.host, remote.port, local_addr=local)
        except OSError as error:
            if connection.connected:
                return  # the connection reports its own end
            connection.closed = True
            self._connection_by_name.pop(connection.name)
            text = f"cannot connect from {self.address} to {remote.host}:{remote.port}: {_describe_system_error(error)}"
            self.handle(TransportFailed(connection.name, text))

    def _create_connection(
        self, name: str, opened: OpenedConnectionInput, remote: Endpoint | None = None
    ) -> Connection:
        limit = self.limits.unsent_bytes
        return Connection(
            name,
            opened,
            self._deliver_input,
            self._admit_connection,
            self._forget_connection,
            limit,
            remote,
            self._unsent,
        )

    def _admit_connection(self, connection: Connection) -> bool:
        """Register a new connection. If too many connections are open, abort a connection that a remote initiator
        opened, before the core gets an input from it.
        """
        incoming = connection.name not in self._connection_by_name
        if self._stopping or (incoming and len(self._connections) >= self.limits.connections):
            return False
        self._connection_by_name[connection.name] = connection
        self._connections.add(connection)
        self._all_closed.clear()
        return True

    def _forget_connection(self, connection: Connection) -> None:
        self._connections.discard(connection)
        if not self._connections:
            self._all_closed.set()

    def _bind_ping(self, which: PingSocket, port: int) -> DatagramSocket:
        ping = DatagramSocket(
            Endpoint(self.address, port), lambda remote, data: self.handle(DatagramReceived(which, remote, data))
        )
        self._ping_sockets[which] = ping
        return ping

    async def _look_up_host(self, host: str) -> None:
        self.handle(HostResolved(host, await self._resolver.lookup(host)))

    async def _carry_out_directory_effect(self, effect: ReadDirectory | WriteDirectory) -> None:
        self.handle(await self.directory.answer(effect))

    async def _change_environment(self, token: int, request: EnvironmentRequest) -> None:
        before = dict(self._surroundings.available)
        done = await self.directory.carry_out(request)
        try:
            await self._report_environment_changes(before)
        except StoreError as error:
            done = str(error)
        self.answer(CommandRejected(token, done) if isinstance(done, str) else CommandCompleted(token, Result(done)))
        await asyncio.sleep(DIRECTORY_POLL_INTERVAL_S)
        self.handle(DirectoryChanged())

    async def _report_environment_changes(self, before: Mapping[str, bool]) -> None:
        """Pass the changes of the environment to the core."""
        available = self._surroundings.available
        if entries := self._surroundings.list_changed_entries(before):
            await self.store.write([entries])
        for event in self._surroundings.list_change_inputs(before):
            self.handle(event)
        if available["service"] and not before["service"]:
            asyncio.get_running_loop().call_soon(self.restart)

    async def _watch_free_space(self) -> None:
        """Report to the core whenever the free space of the store becomes short or sufficient, until the host
        stops.
        """
        while True:
            self._check_free_space()
            await asyncio.sleep(FREE_SPACE_POLL_INTERVAL_S)

    def _check_free_space(self) -> None:
        describe_shortage = self.store.describe_shortage()
        if bool(describe_shortage) is not self._is_space_short:
            self._is_space_short = bool(describe_shortage)
            log.warning("%s", describe_shortage or "the disk of the store has enough free space again")
            self.handle(ResourcesChanged(low=self._is_space_short))

    async def _write_store(self) -> None:
        """Write the pending records together, in order. Records that arrive during a write are written by the next
        write.
        """
        while self._unwritten_records:
            batch, self._unwritten_records = self._unwritten_records, []
            try:
                if not self._surroundings.available["storage"]:
                    raise StoreError(DISK_FULL_REASON)
                await self.store.write([effect.record for _, effect in batch])
            except StoreError as error:
                if self._reported_store_error != str(error):
                    self._reported_store_error = str(error)
                    log.warning("%s", error)
                answers: list[tuple[int, Input]] = [
                    (life, PersistFailed(effect.token, str(error))) for life, effect in batch
                ]
            except Exception as error:  # the content of the disk is unknown now
                raise PermanentStoreFailure(
                    f"the store failed and can store no further records: {_describe_error(error)}"
                ) from error
            else:
                if not self._is_space_short:
                    self._reported_store_error = ""
                answers = [(life, RecordPersisted(effect.token)) for life, effect in batch]
            self.driver.handle(*(answer for life, answer in answers if life == self._core_number))
            self._check_free_space()
        self._store_writer = None

    def _start_task(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finish_task)
        return task

    def _finish_task(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            context = {"message": "carrying out an effect failed", "exception": error, "task": task}
            asyncio.get_running_loop().call_exception_handler(context)


def _describe_error(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def _describe_system_error(error: OSError) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer within {CONNECT_TIMEOUT_S} s"
    return os.strerror(error.errno) if error.errno is not None and error.errno > 0 else str(error)
