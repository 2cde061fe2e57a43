"""The dispatch of every input, timer and command of a queue manager to a method of a part.

The entries look the part up when they are called: a part that was replaced meanwhile is met.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from reference_qm.core.part import QM
from reference_qm.model.adm import Session
from reference_qm.model.timers import TimerName
from reference_qm.surface import commands, remote_commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from reference_qm.surface.inputs import (
    BytesReceived,
    Command,
    CoordinatorChanged,
    DatagramReceived,
    DirectoryAnswered,
    DirectoryChanged,
    DomainTold,
    HostResolved,
    Input,
    Persisted,
    PersistFailed,
    ResourcesChanged,
    RpcAccepted,
    RpcBytes,
    RpcListening,
    RpcLost,
    Started,
    Stopped,
    TransportAccepted,
    TransportConnected,
    TransportFailed,
    TransportLost,
)

OnInput = Callable[[QM], Callable[[Any, Now], None]]
OnTimer = Callable[[QM, int, Now], None]
"""A handler of a timer, by what it belongs to: the number of a session, a read, an association or a call, or 0."""
OnCommand = Callable[[QM], Callable[[Any, int, Now], Result | None]]
"""The method returns None when the answer comes later."""


def _of_session(method: Callable[[QM], Callable[[Session, Now], None]]) -> OnTimer:
    def on_timer(qm: QM, owner: int, now: Now) -> None:
        session = qm.sessions.get(owner)
        if session is not None:
            method(qm)(session, now)

    return on_timer


ON_INPUT: Mapping[type[Input], OnInput] = {
    Started: lambda qm: qm.inputs.on_started,
    Stopped: lambda qm: qm.inputs.on_stopped,
    TransportAccepted: lambda qm: qm.session_opening.accept_transport,
    TransportConnected: lambda qm: qm.inputs.on_connected,
    TransportFailed: lambda qm: qm.inputs.on_failed,
    TransportLost: lambda qm: qm.inputs.on_lost,
    BytesReceived: lambda qm: qm.inputs.on_bytes,
    DatagramReceived: lambda qm: qm.inputs.on_datagram,
    RpcListening: lambda qm: qm.rpc_serving.on_listening,
    RpcAccepted: lambda qm: qm.remote.associations.accept,
    RpcBytes: lambda qm: qm.rpc_serving.on_bytes,
    RpcLost: lambda qm: qm.rpc_serving.on_lost,
    HostResolved: lambda qm: qm.inputs.on_resolved,
    Persisted: lambda qm: qm.inputs.on_persisted,
    PersistFailed: lambda qm: qm.inputs.on_persist_failed,
    DirectoryAnswered: lambda qm: qm.directory.on_answered,
    DirectoryChanged: lambda qm: qm.directory.on_changed,
    DomainTold: lambda qm: qm.membership.on_domain_told,
    CoordinatorChanged: lambda qm: qm.coordinating.on_coordinator_changed,
    ResourcesChanged: lambda qm: qm.quotas.on_resources_changed,
    Command: lambda qm: qm.inputs.on_command,
}

ON_TIMER: Mapping[TimerName, OnTimer] = {
    TimerName.SESSION_INITIALIZATION: _of_session(lambda qm: qm.closing.on_session_initialization_timer),
    TimerName.SESSION_CLEANUP: _of_session(lambda qm: qm.closing.on_session_cleanup_timer),
    TimerName.SESSION_RETRY_CONNECT: _of_session(lambda qm: qm.closing.on_session_retry_connect_timer),
    TimerName.SESSION_ACK_WAIT: _of_session(lambda qm: qm.session_acks.on_wait_timer),
    TimerName.SESSION_ACK_SEND: _of_session(lambda qm: qm.session_acks.on_send_timer),
    TimerName.TRANSACTIONAL_ACK_WAIT: _of_session(lambda qm: qm.transactional_sending.on_ack_wait_timer),
    TimerName.ORDER_ACK_SEND: _of_session(lambda qm: qm.order_acks.on_send_timer),
    TimerName.PING_RESPONSE: _of_session(lambda qm: qm.ping.on_response_timer),
    TimerName.MESSAGE_ID_HISTORY_CLEANUP: lambda qm, owner, now: qm.initialization.on_history_timer(now),
    TimerName.MESSAGE_EXPIRATION: lambda qm, owner, now: qm.expiring.on_expiration_timer(now),
    TimerName.DIRECTORY_ONLINE: lambda qm, owner, now: qm.directory.on_directory_online_timer(now),
    TimerName.DIRECTORY_SITES_UPDATE: lambda qm, owner, now: qm.directory.on_directory_sites_update_timer(now),
    TimerName.DIRECTORY_SITE_GATES_UPDATE: lambda qm, owner, now: qm.directory.on_directory_site_gates_update_timer(
        now
    ),
    TimerName.QUEUE_MANAGER_QUERY: lambda qm, owner, now: qm.directory.on_queue_manager_query_timer(now),
    TimerName.RECEIVE_SYMMETRIC_KEY_CACHE_CLEANUP: lambda qm, owner, now: qm.cache_timers.on_cleanup_timer(
        TimerName.RECEIVE_SYMMETRIC_KEY_CACHE_CLEANUP, now
    ),
    TimerName.SEND_SYMMETRIC_KEY_CACHE_CLEANUP: lambda qm, owner, now: qm.cache_timers.on_cleanup_timer(
        TimerName.SEND_SYMMETRIC_KEY_CACHE_CLEANUP, now
    ),
    TimerName.SEND_BASE_SYMMETRIC_KEY_CACHE_CLEANUP: lambda qm, owner, now: qm.cache_timers.on_cleanup_timer(
        TimerName.SEND_BASE_SYMMETRIC_KEY_CACHE_CLEANUP, now
    ),
    TimerName.USER_CERT_CACHE_CLEANUP: lambda qm, owner, now: qm.cache_timers.on_cleanup_timer(
        TimerName.USER_CERT_CACHE_CLEANUP, now
    ),
    TimerName.WAITING_MESSAGE_READ: lambda qm, owner, now: qm.waiting.on_waiting_message_read_timer(owner),
    TimerName.REMOTE_CALL: lambda qm, owner, now: qm.client_tasks.on_remote_call_timer(owner, now),
    TimerName.INITIALIZATION_RETRY: lambda qm, owner, now: qm.initialization.on_initialization_retry_timer(),
    TimerName.OUTGOING_QUEUE_IDLE: lambda qm, owner, now: qm.destinations.on_idle_timer(owner, now),
    TimerName.PUBLIC_KEY_CACHE_VALIDITY: lambda qm, owner, now: qm.security_lookup.on_public_key_cache_timer(owner),
    TimerName.RPC_RESPONSE_TIMEOUT: lambda qm, owner, now: qm.remote.associations.expire(owner, now),
}
"""Spec: MS-MQQB 3.1.6, MS-MQDMPR 3.1.2, 3.1.6, MS-MQBR 3.1.6."""

ON_COMMAND: dict[type, OnCommand] = {
    commands.Identity: lambda qm: qm.commands.identity,
    commands.ListQueues: lambda qm: qm.commands.list_queues,
    commands.SendMessage: lambda qm: qm.commands.send_message,
    commands.OpenSession: lambda qm: qm.commands.open_session,
    commands.BeginTransaction: lambda qm: qm.transaction_commands.begin_transaction,
    commands.PrepareTransaction: lambda qm: qm.transaction_commands.prepare_transaction,
    commands.CommitTransaction: lambda qm: qm.transaction_commands.commit_transaction,
    commands.AbortTransaction: lambda qm: qm.transaction_commands.abort_transaction,
    commands.ReenlistmentTimeout: lambda qm: qm.transaction_commands.reenlistment_timeout,
    commands.SetTimers: lambda qm: qm.commands.set_timers,
    commands.Configure: lambda qm: qm.configuring.configure,
    commands.Inspect: lambda qm: qm.commands.inspect_adm,
    commands.GetOutgoingQueue: lambda qm: qm.inspection.get_outgoing_queue,
    commands.GetTransfers: lambda qm: qm.inspection.get_transfers,
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
