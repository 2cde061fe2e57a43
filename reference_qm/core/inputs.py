from __future__ import annotations

from collections.abc import Callable

from reference_qm.core.dispatch import ON_COMMAND
from reference_qm.core.part import Part
from reference_qm.core.protocol.commanding import ANSWERED_WHILE_HALTED
from reference_qm.core.protocol.errors import CommandError
from reference_qm.model.attributes import ServiceState
from reference_qm.model.states import ConnectionStatus, Opening
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from reference_qm.surface.effects import CloseTransport, Completed, Rejected, RpcClose
from reference_qm.surface.inputs import (
    BytesReceived,
    Command,
    DatagramReceived,
    HostResolved,
    Input,
    Persisted,
    PersistFailed,
    PingSocket,
    RpcAccepted,
    Started,
    Stopped,
    TransportAccepted,
    TransportConnected,
    TransportFailed,
    TransportLost,
)


class Inputs(Part):
    """The inputs of the queue manager, each passed to the part that it concerns. Spec: MS-MQQB 3.1.4, 3.1.5."""

    __slots__ = ()

    def on_started(self, event: Started, now: Now) -> None:
        """Queue Manager Started. Spec: MS-MQQB 3.1.4.1; where its store makes no sense: MS-MQSO 5.5.5, 6.6.2."""
        if self.qm.halted is None:
            self.qm.directory.initialize(now)
        else:
            self.qm.begun = True
            self.qm.initialization.await_retry(now)

    def on_stopped(self, event: Stopped, now: Now) -> None:
        """Queue Manager Stopped. Spec: MS-MQQB 3.1.4.2."""
        for session in list(self.qm.sessions.values()):
            self.qm.closing.close(session, "the queue manager is stopped (MS-MQQB 3.1.4.2)", now)
        for reader in list(self.qm.readers.values()):
            self.qm.waiting.stop_reader(reader, Status.MQ_ERROR_OPERATION_CANCELLED)
        self.qm.rpc_serving.carry_out(now)
        self.qm.remote.associations.stop()
        self.qm.client_tasks.abandon(now)
        self.qm.timers.stop_all()
        self.qm.adm.QueueManagerState = ServiceState.STOPPED
        self.qm.halted = "the queue manager is stopped (MQ_ERROR_SERVICE_NOT_AVAILABLE): start it"

    def on_anything_while_stopped(self, event: Input, now: Now) -> None:
        """Serve nobody, and say to who asks why. Spec: MS-MQSO 5.1.1.1 (Stopped), 5.5.5."""
        if isinstance(event, TransportAccepted):
            self.qm.emit(CloseTransport(event.transport, "the queue manager is stopped (MS-MQSO 5.1.1.1)"))
        elif isinstance(event, RpcAccepted):
            self.qm.emit(RpcClose(event.connection, "the queue manager is stopped (MS-MQSO 5.1.1.1)"))
        elif isinstance(event, Command):
            self.on_command(event, now)

    def on_connected(self, event: TransportConnected, now: Now) -> None:
        """Go on with the session, or the RPC binding handle, whose connection is there."""
        if event.transport in self.qm.remote_client.bindings:
            self.qm.client_tasks.on_connected(event, now)
            return
        session = self.qm.transports.get(event.transport)
        if session is None:
            self.qm.emit(CloseTransport(event.transport, "its session was closed while it connected (MS-MQQB 3.1.5.9)"))
        else:
            self.qm.establishing.send_establish_request(session, now)

    def on_failed(self, event: TransportFailed, now: Now) -> None:
        """Give up the connection of a session, or of an RPC binding handle. Spec: MS-MQQB 3.1.5.2."""
        if event.transport in self.qm.remote_client.bindings:
            self.qm.client_tasks.on_failed(event, now)
            return
        session = self.qm.transports.pop(event.transport, None)
        if session is not None:
            status = ConnectionStatus.SOCKET_CONNECT_FAILURE
            self.qm.establishing.fail_to_establish(session, status, f"{event.error} (MS-MQQB 3.1.5.2)", now)

    def on_lost(self, event: TransportLost, now: Now) -> None:
        """Note that a connection is over. Spec: MS-MQQB 3.1.7.3."""
        if event.transport in self.qm.remote_client.bindings:
            self.qm.client_tasks.on_lost(event, now)
            return
        session = self.qm.transports.pop(event.transport, None)
        if session is not None:
            self.qm.closing.on_transport_lost(session, event.reason, now)

    def on_bytes(self, event: BytesReceived, now: Now) -> None:
        """Pass on what came on a connection. Spec: MS-MQQB 3.1.5.1."""
        if event.transport in self.qm.remote_client.bindings:
            self.qm.client_tasks.on_bytes(event, now)
            return
        session = self.qm.transports.get(event.transport)
        if session is not None:
            self.qm.identifying.receive_bytes(session, event.data, now)

    def on_datagram(self, event: DatagramReceived, now: Now) -> None:
        """Pass on a ping, or the answer to one. Spec: MS-MQQB 3.1.7.7, 3.1.7.8."""
        if event.socket is PingSocket.LISTENER:
            self.qm.ping.receive_request(event.remote, event.data)
        else:
            self.qm.ping.receive_response(event.data, now)

    def on_resolved(self, event: HostResolved, now: Now) -> None:
        """Pass the addresses of a host to whoever waits for them. Spec: MS-MQQB 3.1.5.2."""
        self.qm.client_tasks.on_resolved(event.host, event.addresses, now)
        for session in list(self.qm.sessions.values()):
            if session.opening is Opening.ADDRESSES and event.host not in session.addresses:
                self.qm.resolving.take_addresses(session, event.host, event.addresses, now)

    def on_persisted(self, event: Persisted, now: Now) -> None:
        """Go on with what is on disk now. Spec: MS-MQQB 3.1.5.8.8."""
        saving = self.qm.savings.pop(event.token, None)
        if saving is not None:
            self.qm.receiving.on_persisted(saving, now)
        commit = self.qm.disk.persisted(event.token)
        if commit is None:
            return
        result = commit.done()
        if commit.token is not None:
            self.qm.emit(Completed(commit.token, result))
        for session in commit.sessions:
            self.qm.sending.dispatch_messages(session, now)
        self.qm.disk.pass_barriers(event.token, None, now)

    def on_persist_failed(self, event: PersistFailed, now: Now) -> None:
        """Undo what could not be put on disk. Spec: MS-MQQB 3.1.5.8.8."""
        saving = self.qm.savings.pop(event.token, None)
        if saving is not None:
            self.qm.receiving.on_persist_failed(saving, event.error, now)
        commit = self.qm.disk.failed(event.token, event.error)
        if commit is None:
            return
        commit.undo()
        if commit.token is not None:
            self.qm.emit(
                Rejected(commit.token, f"it could not be saved: {event.error}; try again when the store works")
            )
        for session in commit.sessions:
            self.qm.sending.dispatch_messages(session, now)
        self.qm.disk.pass_barriers(event.token, event.error, now)

    def on_command(self, event: Command, now: Now) -> None:
        """Carry out a command of a higher layer, or refuse it."""
        if self.qm.halted is not None and type(event.request) not in ANSWERED_WHILE_HALTED:
            self.qm.emit(Rejected(event.token, self.qm.halted))
            return
        self.answer(event.token, lambda: ON_COMMAND[type(event.request)](self.qm)(event.request, event.token, now))

    def answer(self, token: int, carry_out: Callable[[], Result | None]) -> None:
        """Carry out a command, or what is left of it, and answer it, unless that comes later still."""
        try:
            result = carry_out()
        except CommandError as error:
            self.qm.emit(Rejected(token, str(error)))
            return
        if result is not None:
            self.qm.emit(Completed(token, result))
