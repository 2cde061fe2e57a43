from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_qm.core.commands.higher_layer_commands import COMMANDS_ANSWERED_WHILE_HALTED
from reference_qm.core.part import QM, QueueManagerPart
from reference_qm.model.attributes import ServiceState
from reference_qm.model.states import AwaitedOpeningEvent, ConnectionStatus
from reference_qm.model.statuses import Status
from reference_qm.surface import commands, remote_commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from reference_qm.surface.effects import CloseRpcConnection, CloseTransport, CommandCompleted, CommandRejected
from reference_qm.surface.inputs import (
    BytesReceived,
    Command,
    DatagramReceived,
    HostResolved,
    Input,
    PersistFailed,
    PingSocket,
    QueueManagerStarted,
    QueueManagerStopped,
    RecordPersisted,
    RpcAccepted,
    RpcBytesReceived,
    TransportAccepted,
    TransportConnected,
    TransportFailed,
    TransportLost,
)

TransportEvent = TransportConnected | TransportFailed | TransportLost | BytesReceived

TransportEventHandler = Callable[[QM], Callable[[Any, Now], None]]

CommandHandler = Callable[[QM], Callable[[Any, int, Now], Result | None]]
"""A method that carries out a command and returns the Result, or None if a later step answers the command."""


class InputDispatching(QueueManagerPart):
    """Passes each input of the queue manager to the part that handles it. Spec: MS-MQQB 3.1.4, 3.1.5."""

    __slots__ = ()

    def on_started(self, event: QueueManagerStarted, now: Now) -> None:
        """Handle the event Queue Manager Started.

        Spec: MS-MQQB 3.1.4.1; MS-MQSO 5.5.5, 6.6.2 for a store with unusable entries.
        """
        if self.qm.halted is None:
            self.qm.directory_client.initialize_from_directory(now)
        else:
            self.qm.begun = True
            self.qm.queue_manager_initialization.start_initialization_retry_timer(now)

    def on_stopped(self, event: QueueManagerStopped, now: Now) -> None:
        """Handle the event Queue Manager Stopped. Spec: MS-MQQB 3.1.4.2."""
        for session in list(self.qm.sessions.values()):
            self.qm.session_closing.close(session, "the queue manager is stopped (MS-MQQB 3.1.4.2)", now)
        for reader in list(self.qm.readers.values()):
            self.qm.waiting_reads.end_wait_without_message(reader, Status.MQ_ERROR_OPERATION_CANCELLED)
        self.qm.remote.associations.stop()
        self.qm.client_tasks.abandon_all_tasks(now)
        self.qm.handle_events(now)
        self.qm.timers.stop_all_timers()
        self.qm.adm.QueueManagerState = ServiceState.STOPPED
        self.qm.halted = "the queue manager is stopped (MQ_ERROR_SERVICE_NOT_AVAILABLE): start it"

    def refuse_input_while_stopped(self, event: Input, now: Now) -> None:
        """Refuse an input of any kind while the queue manager is stopped. A command is answered with the reason why the
        queue manager is stopped.

        Spec: MS-MQSO 5.1.1.1, 5.5.5.
        """
        if isinstance(event, TransportAccepted):
            self.qm.emit_effect(CloseTransport(event.transport, "the queue manager is stopped (MS-MQSO 5.1.1.1)"))
        elif isinstance(event, RpcAccepted):
            self.qm.emit_effect(CloseRpcConnection(event.connection, "the queue manager is stopped (MS-MQSO 5.1.1.1)"))
        elif isinstance(event, Command):
            self.on_command(event, now)

    def on_transport_event(self, event: TransportEvent, now: Now) -> None:
        """Pass an event of a connection to the RPC binding handle or the session that owns the connection."""
        of_binding, of_session = TRANSPORT_HANDLERS_BY_EVENT_TYPE[type(event)]
        owner = of_binding if event.transport in self.qm.remote_client.binding_by_connection else of_session
        owner(self.qm)(event, now)

    def on_connected(self, event: TransportConnected, now: Now) -> None:
        """Continue the session whose connection has been established. Spec: MS-MQQB 3.1.5.2."""
        session = self.qm.transports.get(event.transport)
        if session is None:
            self.qm.emit_effect(
                CloseTransport(
                    event.transport, "the session was closed before the connection was established (MS-MQQB 3.1.5.9)"
                )
            )
        else:
            self.qm.session_establishing.send_establish_request(session, now)

    def on_connect_failed(self, event: TransportFailed, now: Now) -> None:
        """End the session whose connection could not be established. Spec: MS-MQQB 3.1.5.2."""
        session = self.qm.transports.pop(event.transport, None)
        if session is not None:
            status = ConnectionStatus.SOCKET_CONNECT_FAILURE
            self.qm.session_closing.close_session_after_failed_establishment(
                session, status, f"{event.error} (MS-MQQB 3.1.5.2)", now
            )

    def on_connection_lost(self, event: TransportLost, now: Now) -> None:
        """Handle the loss of a session's connection. Spec: MS-MQQB 3.1.7.3."""
        session = self.qm.transports.pop(event.transport, None)
        if session is not None:
            self.qm.session_closing.on_transport_lost(session, event.reason, now)

    def on_bytes(self, event: BytesReceived, now: Now) -> None:
        """Pass received bytes to the session that uses the connection. Spec: MS-MQQB 3.1.5.1."""
        session = self.qm.transports.get(event.transport)
        if session is not None:
            self.qm.identifying.receive_bytes(session, event.data, now)
            unfinished = session.framer.unfinished_packet_bytes  # a closed session has a new framer
            if unfinished or event.transport in self.qm.unfinished.held:
                self.qm.unfinished.note(event.transport, unfinished)
                self.close_unfinished_connections(now)

    def on_rpc_bytes(self, event: RpcBytesReceived, now: Now) -> None:
        """Pass the bytes received on a DCE/RPC connection to the server of remote reading. Spec: MS-MQQP 2.1."""
        self.qm.rpc_event_dispatching.on_bytes(event, now)
        self.close_unfinished_connections(now)

    def close_unfinished_connections(self, now: Now) -> None:
        """Close connections until their unfinished packets no longer exceed the limit in bytes. The connection whose
        unfinished packet has waited longest is closed first.

        The specifications set no limit. Without a limit, any client could exhaust the memory.
        """
        while (connection := self.qm.unfinished.find_connection_to_close()) is not None:
            self.qm.unfinished.note(connection, 0)
            reason = f"all connections together hold more than {self.qm.unfinished.limit} bytes of incomplete packets"
            session = self.qm.transports.get(connection)
            if session is None:
                self.qm.remote.associations.close_connection(connection, reason)
            else:
                self.qm.session_closing.close(session, reason, now)

    def on_datagram(self, event: DatagramReceived, now: Now) -> None:
        """Pass a Ping Request or a Ping Response to the method that handles it. Spec: MS-MQQB 3.1.7.7, 3.1.7.8."""
        if event.socket is PingSocket.LISTENER:
            self.qm.ping_handling.receive_request(event.remote, event.data)
        else:
            self.qm.ping_handling.receive_response(event.data, now)

    def on_host_resolved(self, event: HostResolved, now: Now) -> None:
        """Pass the addresses of a host to the session or sequence that waits for them. Spec: MS-MQQB 3.1.5.2."""
        self.qm.client_tasks.on_host_resolved(event.host, event.addresses, now)
        for session in list(self.qm.sessions.values()):
            if session.awaited_opening_event is AwaitedOpeningEvent.ADDRESSES and event.host not in session.addresses:
                self.qm.session_address_resolving.store_addresses(session, event.host, event.addresses, now)

    def on_persisted(self, event: RecordPersisted, now: Now) -> None:
        """Continue the operation that waited until the given record was on disk. Spec: MS-MQQB 3.1.5.8.8."""
        saving = self.qm.savings.pop(event.token, None)
        if saving is not None:
            self.qm.message_receiving.on_persisted(saving, now)
            return
        commit = self.qm.disk.take_persisted_change(event.token)
        if commit is None:
            return
        result = commit.on_saved()
        if commit.token is not None:
            self.qm.emit_effect(CommandCompleted(commit.token, result))
        for session in commit.sessions:
            self.qm.message_sending.dispatch_messages(session, now)
        self.qm.disk.report_record_to_barriers(event.token, None, now)

    def on_persist_failed(self, event: PersistFailed, now: Now) -> None:
        """Undo a change of the state, because the disk could not store the record of this change. Spec: MS-MQQB
        3.1.5.8.8.
        """
        saving = self.qm.savings.pop(event.token, None)
        if saving is not None:
            self.qm.message_receiving.on_persist_failed(saving, event.error, now)
            return
        commit = self.qm.disk.handle_failed_write(event.token, event.error)
        if commit is None:
            return
        commit.undo_change()
        if commit.token is not None:
            self.qm.emit_effect(
                CommandRejected(
                    commit.token, f"the message could not be saved: {event.error}; try again when the store works"
                )
            )
        for session in commit.sessions:
            self.qm.message_sending.dispatch_messages(session, now)
        self.qm.disk.report_record_to_barriers(event.token, event.error, now)

    def on_command(self, event: Command, now: Now) -> None:
        """Carry out a command of a higher layer, or refuse the command."""
        if self.qm.halted is not None and type(event.request) not in COMMANDS_ANSWERED_WHILE_HALTED:
            self.qm.emit_effect(CommandRejected(event.token, self.qm.halted))
            return
        self.qm.command_answering.answer(
            event.token, lambda: HANDLER_BY_COMMAND_TYPE[type(event.request)](self.qm)(event.request, event.token, now)
        )


TRANSPORT_HANDLERS_BY_EVENT_TYPE: dict[type[TransportEvent], tuple[TransportEventHandler, TransportEventHandler]] = {
    TransportConnected: (lambda qm: qm.client_tasks.on_connected, lambda qm: qm.input_dispatching.on_connected),
    TransportFailed: (lambda qm: qm.client_tasks.on_connect_failed, lambda qm: qm.input_dispatching.on_connect_failed),
    TransportLost: (lambda qm: qm.client_tasks.on_connection_lost, lambda qm: qm.input_dispatching.on_connection_lost),
    BytesReceived: (lambda qm: qm.client_tasks.on_bytes, lambda qm: qm.input_dispatching.on_bytes),
}
"""For each event of a connection: the method that handles the event for an RPC binding handle, and the method that
handles it for a session.
"""

HANDLER_BY_COMMAND_TYPE: dict[type, CommandHandler] = {
    commands.Identity: lambda qm: qm.higher_layer_commands.identity,
    commands.ListQueues: lambda qm: qm.higher_layer_commands.list_queues,
    commands.SendMessage: lambda qm: qm.higher_layer_commands.send_message,
    commands.OpenSession: lambda qm: qm.higher_layer_commands.open_session,
    commands.BeginTransaction: lambda qm: qm.transaction_commands.begin_transaction,
    commands.PrepareTransaction: lambda qm: qm.transaction_commands.prepare_transaction,
    commands.CommitTransaction: lambda qm: qm.transaction_commands.commit_transaction,
    commands.AbortTransaction: lambda qm: qm.transaction_commands.abort_transaction,
    commands.ReenlistmentTimeout: lambda qm: qm.transaction_commands.on_reenlistment_timeout,
    commands.SetTimers: lambda qm: qm.higher_layer_commands.set_timers,
    commands.Configure: lambda qm: qm.settings_changing.configure,
    commands.Inspect: lambda qm: qm.higher_layer_commands.inspect_adm,
    commands.GetOutgoingQueue: lambda qm: qm.data_model_inspection.get_outgoing_queue,
    commands.GetTransfers: lambda qm: qm.data_model_inspection.get_transfers,
    commands.PauseQueue: lambda qm: qm.transfer_commands.pause_queue,
    commands.ResumeQueue: lambda qm: qm.transfer_commands.resume_queue,
    commands.TakeOffline: lambda qm: qm.transfer_commands.take_offline,
    commands.BringOnline: lambda qm: qm.transfer_commands.bring_online,
    commands.CreateQueue: lambda qm: qm.queue_commands.create_queue,
    commands.DeleteQueue: lambda qm: qm.queue_commands.delete_queue,
    commands.PurgeQueue: lambda qm: qm.queue_commands.purge_queue,
    commands.GetQueue: lambda qm: qm.queue_commands.get_queue,
    commands.SetQueue: lambda qm: qm.queue_commands.set_queue,
    commands.OpenQueue: lambda qm: qm.queue_commands.open_queue,
    commands.GetQueuePath: lambda qm: qm.queue_commands.get_queue_path,
    commands.OpenToSend: lambda qm: qm.queue_commands.open_to_send,
    commands.CloseQueue: lambda qm: qm.queue_commands.close_queue,
    commands.OpenCursor: lambda qm: qm.queue_commands.open_cursor,
    commands.CloseCursor: lambda qm: qm.queue_commands.close_cursor,
    commands.ReceiveMessage: lambda qm: qm.queue_commands.receive_message,
    commands.PeekMessage: lambda qm: qm.queue_commands.peek_message,
    commands.PeekMessages: lambda qm: qm.queue_commands.peek_messages,
    commands.ReadByLookupIdentifier: lambda qm: qm.queue_commands.read_by_lookup_identifier,
    commands.MoveMessage: lambda qm: qm.queue_commands.move_message,
    commands.RejectMessage: lambda qm: qm.transaction_commands.reject_message,
    remote_commands.RemoteOpen: lambda qm: qm.client_commands.remote_open,
    remote_commands.RemoteClose: lambda qm: qm.client_commands.remote_close,
    remote_commands.RemoteOpenCursor: lambda qm: qm.client_commands.remote_open_cursor,
    remote_commands.RemoteCloseCursor: lambda qm: qm.client_commands.remote_close_cursor,
    remote_commands.RemoteReceive: lambda qm: qm.client_commands.remote_receive,
    remote_commands.RemotePeek: lambda qm: qm.client_commands.remote_peek,
    remote_commands.RemoteReadByLookupId: lambda qm: qm.client_commands.remote_read_by_lookup_id,
    remote_commands.RemotePurge: lambda qm: qm.client_commands.remote_purge,
    commands.CancelWaiting: lambda qm: qm.client_commands.cancel_command,
}
