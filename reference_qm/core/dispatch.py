"""Defines the dispatch tables: for every input, timer and event of a queue manager, the method that handles it.

An entry is a function that looks up the part whenever it is called. Therefore it also finds a part that has replaced
another part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from reference_qm.core.events import (
    DirectoryBecameUnreachable,
    MessageArrived,
    MessageDeadlinesChanged,
    MessageExpired,
    MessageLeftQueue,
    MessageSent,
    RpcEventOccurred,
    SessionClosed,
    SessionMaySend,
    TransactionDecided,
)
from reference_qm.core.part import QM
from reference_qm.model.adm import Session
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import (
    BytesReceived,
    Command,
    CoordinatorChanged,
    DatagramReceived,
    DirectoryAnswered,
    DirectoryChanged,
    DomainReported,
    HostResolved,
    Input,
    PersistFailed,
    QueueManagerStarted,
    QueueManagerStopped,
    RecordPersisted,
    ResourcesChanged,
    RpcAccepted,
    RpcBytesReceived,
    RpcConnectionLost,
    RpcListening,
    TransportAccepted,
    TransportConnected,
    TransportFailed,
    TransportLost,
)

InputHandler = Callable[[QM], Callable[[Any, Now], None]]
"""An entry of a dispatch table: a function that takes the queue manager and returns the method to call. The method
belongs to one of the objects that carry out the steps of the specifications.
"""
TimerHandler = Callable[[QM, int, Now], None]
"""A method that handles the expiry of a timer.

Its int argument is the number of the session, read, association or call that owns the timer, or 0.
"""


def _make_session_timer_handler(method: Callable[[QM], Callable[[Session, Now], None]]) -> TimerHandler:
    def on_timer(qm: QM, owner: int, now: Now) -> None:
        session = qm.sessions.get(owner)
        if session is not None:
            method(qm)(session, now)

    return on_timer


EventHandler = Callable[[QM, Any, Now], None]

HANDLER_BY_INPUT_TYPE: Mapping[type[Input], InputHandler] = {
    QueueManagerStarted: lambda qm: qm.input_dispatching.on_started,
    QueueManagerStopped: lambda qm: qm.input_dispatching.on_stopped,
    TransportAccepted: lambda qm: qm.session_opening.accept_transport,
    TransportConnected: lambda qm: qm.input_dispatching.on_transport_event,
    TransportFailed: lambda qm: qm.input_dispatching.on_transport_event,
    TransportLost: lambda qm: qm.input_dispatching.on_transport_event,
    BytesReceived: lambda qm: qm.input_dispatching.on_transport_event,
    DatagramReceived: lambda qm: qm.input_dispatching.on_datagram,
    RpcListening: lambda qm: qm.rpc_event_dispatching.on_listening,
    RpcAccepted: lambda qm: qm.remote.associations.accept,
    RpcBytesReceived: lambda qm: qm.input_dispatching.on_rpc_bytes,
    RpcConnectionLost: lambda qm: qm.rpc_event_dispatching.on_connection_lost,
    HostResolved: lambda qm: qm.input_dispatching.on_host_resolved,
    RecordPersisted: lambda qm: qm.input_dispatching.on_persisted,
    PersistFailed: lambda qm: qm.input_dispatching.on_persist_failed,
    DirectoryAnswered: lambda qm: qm.directory_client.on_directory_answered,
    DirectoryChanged: lambda qm: qm.directory_client.on_directory_changed,
    DomainReported: lambda qm: qm.domain_membership.on_domain_reported,
    CoordinatorChanged: lambda qm: qm.transaction_coordinating.on_coordinator_changed,
    ResourcesChanged: lambda qm: qm.queue_quotas.on_resources_changed,
    Command: lambda qm: qm.input_dispatching.on_command,
}

HANDLER_BY_TIMER_NAME: Mapping[TimerName, TimerHandler] = {
    TimerName.SESSION_INITIALIZATION: _make_session_timer_handler(
        lambda qm: qm.session_closing.on_session_initialization_timer
    ),
    TimerName.SESSION_CLEANUP: _make_session_timer_handler(lambda qm: qm.session_closing.on_session_cleanup_timer),
    TimerName.SESSION_RETRY_CONNECT: _make_session_timer_handler(
        lambda qm: qm.session_establishing.on_session_retry_connect_timer
    ),
    TimerName.SESSION_ACK_WAIT: _make_session_timer_handler(lambda qm: qm.session_acks.on_session_ack_wait_timer),
    TimerName.SESSION_ACK_SEND: _make_session_timer_handler(lambda qm: qm.session_acks.on_order_ack_send_timer),
    TimerName.TRANSACTIONAL_ACK_WAIT: _make_session_timer_handler(
        lambda qm: qm.transactional_sending.on_ack_wait_timer
    ),
    TimerName.ORDER_ACK_SEND: _make_session_timer_handler(lambda qm: qm.order_acks.on_order_ack_send_timer),
    TimerName.PING_RESPONSE: _make_session_timer_handler(lambda qm: qm.ping_handling.on_response_timer),
    TimerName.MESSAGE_ID_HISTORY_CLEANUP: lambda qm, owner, now: qm.message_history.on_history_timer(now),
    TimerName.MESSAGE_EXPIRATION: lambda qm, owner, now: qm.message_expiring.on_expiration_timer(now),
    TimerName.DIRECTORY_ONLINE: lambda qm, owner, now: qm.directory_client.on_directory_online_timer(now),
    TimerName.DIRECTORY_SITES_UPDATE: lambda qm, owner, now: qm.directory_client.on_directory_sites_update_timer(now),
    TimerName.DIRECTORY_SITE_GATES_UPDATE: lambda qm, owner, now: (
        qm.directory_client.on_directory_site_gates_update_timer(now)
    ),
    TimerName.QUEUE_MANAGER_QUERY: lambda qm, owner, now: qm.directory_client.on_queue_manager_query_timer(now),
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
    TimerName.WAITING_MESSAGE_READ: lambda qm, owner, now: qm.waiting_reads.on_waiting_message_read_timer(owner),
    TimerName.REMOTE_CALL: lambda qm, owner, now: qm.client_tasks.on_remote_call_timer(owner, now),
    TimerName.INITIALIZATION_RETRY: lambda qm, owner, now: (
        qm.queue_manager_initialization.on_initialization_retry_timer()
    ),
    TimerName.OUTGOING_QUEUE_IDLE: lambda qm, owner, now: qm.destination_resolving.on_outgoing_queue_idle_timer(
        owner, now
    ),
    TimerName.PUBLIC_KEY_CACHE_VALIDITY: lambda qm, owner, now: qm.security_lookup.on_public_key_cache_timer(owner),
    TimerName.RPC_RESPONSE_TIMEOUT: lambda qm, owner, now: qm.remote.associations.on_timer(owner, now),
}
"""The handler of each timer. Spec: MS-MQQB 3.1.6, MS-MQDMPR 3.1.2, 3.1.6, MS-MQBR 3.1.6."""

HANDLERS_BY_EVENT_TYPE: dict[type, tuple[EventHandler, ...]] = {
    MessageLeftQueue: (
        lambda qm, event, now: qm.message_journaling.journal_received_message(event.position, event.reason),
        lambda qm, event, now: qm.final_acks.on_message_position_deleted(event.position, event.reason, now),
    ),
    MessageArrived: (lambda qm, event, now: qm.message_arrival.report_arrival(event.position, now),),
    MessageSent: (lambda qm, event, now: qm.message_tracing.trace_sent_message(event.session, event.message, now),),
    MessageExpired: (
        lambda qm, event, now: qm.admin_acks.acknowledge_expiration(event.position.MessageReference, now),
        lambda qm, event, now: qm.message_journaling.journal_failed_message(event.position),
    ),
    SessionMaySend: (lambda qm, event, now: qm.message_sending.dispatch_messages(event.session, now),),
    SessionClosed: (lambda qm, event, now: qm.final_acks.keep_final_acks(event.session, now),),
    TransactionDecided: (
        lambda qm, event, now: qm.transaction_events.carry_out_outcome(event.transaction, event.outcome, now),
    ),
    MessageDeadlinesChanged: (lambda qm, event, now: qm.message_lifetimes.start_expiration_timer(now),),
    DirectoryBecameUnreachable: (lambda qm, event, now: qm.directory_client.start_online_timer_if_offline(now),),
    RpcEventOccurred: (lambda qm, event, now: qm.rpc_event_dispatching.carry_out(event.event, now),),
}
"""For each event: the methods that handle the event, in the order in which they are called."""
