"""The queue manager: takes what happens and the time, says what is to be done. It does no I/O and reads no clock."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from reference_qm.codec import MessageClass
from reference_qm.config import QueueManagerConfig
from reference_qm.core.protocol import durability, expiring, restoring
from reference_qm.core.protocol.commanding import HANDLERS, TELLING
from reference_qm.core.protocol.durability import Disk
from reference_qm.core.protocol.enterprise import Enterprise
from reference_qm.core.protocol.errors import CommandError
from reference_qm.core.protocol.procedures import Procedures
from reference_qm.core.protocol.receiving import Saving
from reference_qm.core.protocol.security_caches import CACHE_TIMERS
from reference_qm.core.queueing.names import every_queue
from reference_qm.core.queueing.surviving import create_configured, recover_queue
from reference_qm.core.remote.serving import RPC_INPUTS, RemoteReading
from reference_qm.core.remote_client import running
from reference_qm.core.remote_client.model import RemoteClient
from reference_qm.core.transactions.events import Outcome
from reference_qm.model.adm import MessagePosition, OutgoingMessagePosition, QueueManagerState, Session, forget
from reference_qm.model.attributes import ServiceState
from reference_qm.model.deadlines import Deadlines
from reference_qm.model.elements import OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.states import ConnectionStatus, Opening
from reference_qm.model.statuses import Status
from reference_qm.model.timers import TimerName, Timers
from reference_qm.model.transactions import Transaction
from reference_qm.security import SecurityCaches
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import CloseTransport, Completed, Effect, Rejected
from reference_qm.surface.entropy import Entropy
from reference_qm.surface.inputs import (
    BytesReceived,
    Command,
    DatagramReceived,
    HostResolved,
    Input,
    Persisted,
    PersistFailed,
    PingSocket,
    RpcListening,
    Started,
    Stopped,
    TransportAccepted,
    TransportConnected,
    TransportFailed,
    TransportLost,
)

OnInput = Callable[["QueueManager", Any, Now], None]

LAST_HANDLE = 0xFFFFFFFF
CLOSED_SESSIONS = 16
"""Closed sessions kept for inspection."""


class QueueManager:
    """One queue manager. ``procedures`` is what faults replace; everything else is for the procedures."""

    def __init__(self, config: QueueManagerConfig, entropy: Entropy) -> None:
        self.config = config
        self.entropy = entropy
        self.settings = config.timers
        self.security_settings = config.security.settings
        self.procedures = Procedures()
        self.adm = QueueManagerState(
            Identifier=config.identifier,
            SendInsecureNacks=config.send_insecure_nacks,
        )
        self.orphaned: list[OutgoingMessagePosition] = []
        """What has to survive but was to be sent on a session that did not."""
        self.removed: list[tuple[MessagePosition, MessageClass]] = []
        """Messages that left their queues and whose acknowledgments are still to be made."""
        self.outcomes: list[tuple[Transaction, Outcome]] = []
        """Transactions whose outcome is decided and still to be carried out."""
        self.rpc_listening: RpcListening | None = None
        """The ports of DCE/RPC; None while there are none."""
        self._sessions_made = self._transports_made = self._persists_made = self._handles_made = 0
        self._effects: list[Effect] = []
        self.disk = Disk(self.emit, self.next_persist_token)
        self._begin()
        for queue in config.queues:
            create_configured(self, queue)

    def _begin(self) -> None:
        """Begin without anything that does not survive."""
        self.timers = Timers()
        self.caches = SecurityCaches(self.security_settings)
        self.enterprise = Enterprise(self.config)
        self.sessions: dict[int, Session] = {}
        self.closed_sessions: deque[Session] = deque(maxlen=CLOSED_SESSIONS)
        self.transports: dict[str, Session] = {}
        self.savings: dict[int, Saving] = {}
        self.descriptors: dict[int, OpenQueueDescriptor] = {}
        self.readers: dict[int, WaitingMessageReadOperation] = {}
        self.remote = RemoteReading(self.entropy, self.timers)
        self.remote_client = RemoteClient()
        self.to_be_received: Deadlines[MessagePosition] = Deadlines(expiring.in_queue)
        self.to_be_sent: Deadlines[tuple[Session, OutgoingMessagePosition]] = Deadlines(expiring.in_transit)
        self.deadlines_changed = False
        self.halted: str | None = None
        """Why it does nothing any more until it is restarted; None while it works."""

    # -- the surface --------------------------------------------------------------------------------------------

    def handle(self, event: Input, now: Now) -> list[Effect]:
        """Take an input; return what is to be done, in order."""
        _ON_INPUT[type(event)](self, event, now)
        return self._take_effects(now)

    def next_due(self) -> int | None:
        """Say when ``handle_timer`` wants to be called: int ms of the monotonic clock, None for never."""
        return self.timers.next_due()

    def handle_timer(self, now: Now) -> list[Effect]:
        """Let every timer expire that is due; return what is to be done, in order."""
        while (key := self.timers.pop_due(now.monotonic_ms)) is not None:
            if key.name is TimerName.WAITING_MESSAGE_READ:
                self.procedures.on_waiting_message_read_timer(self, key.owner)
            elif key.name is TimerName.RPC_RESPONSE_TIMEOUT:
                self.remote.associations.expire(key.owner, now)
            elif key.name is TimerName.REMOTE_CALL:
                self.procedures.on_remote_call_timer(self, key.owner, now)
            elif key.name in CACHE_TIMERS:
                self.procedures.on_cache_cleanup_timer(self, key.name, now)
            elif key.name in _ON_QUEUE_MANAGER_TIMER:
                getattr(self.procedures, _ON_QUEUE_MANAGER_TIMER[key.name])(self, now)
            else:
                on_timer: Callable[..., None] = getattr(self.procedures, _ON_SESSION_TIMER[key.name])
                session = self.sessions.get(key.owner)
                if session is not None:
                    on_timer(self, session, now)
        return self._take_effects(now)

    def restore(self, records: Mapping[str, object]) -> None:
        """Begin with what an earlier process put on disk, before the first input; from now on all is put there.

        ``records``: the entries that the records of its ``Persist`` effects left. RestoreError when they make no sense.
        """
        restoring.restore(self, records)

    def restart(self) -> None:
        """End as a crash would: only what MUST survive process and node failures is left. Spec: MS-MQQB 3.1.1.3.2.

        Messages that were not on disk yet were never acknowledged: they are not remembered either, and come again.
        Timer durations are configuration and stay as they were set.
        """
        self.disk.settle()
        unsaved: durability.Change = {}
        for saving in self.savings.values():
            self.adm.MessageIDHistoryTable.remove(saving.entry)
            saving.position.QueueReference.MessagePositionList.remove(saving.position)
            unsaved |= durability.gone([saving.position]) | {durability.history_name(saving.entry): None}
        self.orphaned = [
            position
            for session in self.sessions.values()
            if not session.initiator
            for position in session.OutgoingMessageTable
            if position.recoverable
        ]
        self._begin()
        self.disk.save(unsaved)
        forget(self.adm)
        for queue in every_queue(self):
            for transfer in queue.IncomingTransactionalTransferInfoCollection.values():
                self.procedures.withdraw_unsaved(self, transfer)
            recover_queue(self, queue)
        for outgoing in self.adm.OutgoingQueues.values():
            forget(outgoing)
            forget(outgoing.session)
            for message in outgoing.session.OutgoingMessageTable:
                if not message.recoverable:
                    outgoing.session.OutgoingMessageTable.remove(message)

    # -- for the procedures -------------------------------------------------------------------------------------

    def emit(self, effect: Effect) -> None:
        """Want something done after everything emitted before."""
        self._effects.append(effect)

    def is_connected(self, session: Session, transport: str | None) -> bool:
        """Does a session still have this transport?"""
        return transport is not None and self.transports.get(transport) is session

    def next_session_number(self) -> int:
        """Number a new session."""
        self._sessions_made += 1
        return self._sessions_made

    def next_transport(self) -> str:
        """Name a new connection."""
        self._transports_made += 1
        return f"out-{self._transports_made}"

    def next_handle(self) -> int:
        """Number a descriptor, a cursor or a read that waits: u32, never 0, of no other that is there."""
        while True:
            self._handles_made = self._handles_made % LAST_HANDLE + 1
            if self._handles_made not in self.descriptors and self._handles_made not in self.readers:
                return self._handles_made

    def next_persist_token(self) -> int:
        """Number a new record for the disk."""
        self._persists_made += 1
        return self._persists_made

    def skip_persist_tokens(self, number: int) -> None:
        """Use no number again up to this one: it is on disk."""
        self._persists_made = max(self._persists_made, number)

    def _take_effects(self, now: Now) -> list[Effect]:
        self.procedures.carry_out_rpc(self, now)
        self.procedures.carry_out_outcomes(self, now)
        self.procedures.acknowledge_removed(self, now)
        while self.remote.associations.busy:  # what was acknowledged here was waited for
            self.procedures.carry_out_rpc(self, now)
            self.procedures.acknowledge_removed(self, now)
        self.procedures.watch_directory(self, now)
        if self.deadlines_changed:
            self.procedures.start_expiration_timer(self, now)
        effects, self._effects = self._effects, []
        return effects


def _on_started(qm: QueueManager, event: Started, now: Now) -> None:
    """Queue Manager Started. Spec: MS-MQQB 3.1.4.1."""
    qm.adm.QueueManagerState = ServiceState.READY
    qm.procedures.initialize_globally(qm, now)
    qm.procedures.abort_unprepared(qm)
    qm.procedures.initialize_directory(qm, now)
    while qm.orphaned:
        qm.procedures.requeue(qm, qm.orphaned.pop(0), now)
    qm.procedures.establish_waiting(qm, now)


def _on_stopped(qm: QueueManager, event: Stopped, now: Now) -> None:
    """Queue Manager Stopped. Spec: MS-MQQB 3.1.4.2."""
    for session in list(qm.sessions.values()):
        qm.procedures.close_session(qm, session, "the queue manager is stopped (MS-MQQB 3.1.4.2)", now)
    for reader in list(qm.readers.values()):
        qm.procedures.stop_reader(qm, reader, Status.MQ_ERROR_OPERATION_CANCELLED)
    qm.procedures.carry_out_rpc(qm, now)
    qm.remote.associations.stop()
    running.abandon(qm, now)
    qm.timers.stop_all()
    qm.adm.QueueManagerState = ServiceState.STOPPED


def _on_accepted(qm: QueueManager, event: TransportAccepted, now: Now) -> None:
    qm.procedures.accept_transport(qm, event, now)


def _on_connected(qm: QueueManager, event: TransportConnected, now: Now) -> None:
    session = qm.transports.get(event.transport)
    if session is None:
        qm.emit(CloseTransport(event.transport, "its session was closed while it connected (MS-MQQB 3.1.5.9)"))
    else:
        qm.procedures.send_establish_request(qm, session, now)


def _on_failed(qm: QueueManager, event: TransportFailed, now: Now) -> None:
    session = qm.transports.pop(event.transport, None)
    if session is not None:
        status = ConnectionStatus.SOCKET_CONNECT_FAILURE
        qm.procedures.fail_to_establish(qm, session, status, f"{event.error} (MS-MQQB 3.1.5.2)", now)


def _on_lost(qm: QueueManager, event: TransportLost, now: Now) -> None:
    session = qm.transports.pop(event.transport, None)
    if session is not None:
        qm.procedures.on_transport_lost(qm, session, event.reason, now)


def _on_bytes(qm: QueueManager, event: BytesReceived, now: Now) -> None:
    session = qm.transports.get(event.transport)
    if session is not None:
        qm.procedures.receive_bytes(qm, session, event.data, now)


def _on_datagram(qm: QueueManager, event: DatagramReceived, now: Now) -> None:
    if event.socket is PingSocket.LISTENER:
        qm.procedures.receive_ping_request(qm, event.remote, event.data)
    else:
        qm.procedures.receive_ping_response(qm, event.data, now)


def _on_resolved(qm: QueueManager, event: HostResolved, now: Now) -> None:
    running.on_resolved(qm, event.host, event.addresses, now)
    for session in list(qm.sessions.values()):
        if session.opening is Opening.ADDRESSES and event.host not in session.addresses:
            qm.procedures.take_addresses(qm, session, event.host, event.addresses, now)


def _on_persisted(qm: QueueManager, event: Persisted, now: Now) -> None:
    saving = qm.savings.pop(event.token, None)
    if saving is not None:
        qm.procedures.on_persisted(qm, saving, now)
    commit = qm.disk.persisted(event.token)
    if commit is None:
        return
    result = commit.done()
    if commit.token is not None:
        qm.emit(Completed(commit.token, result))
    for session in commit.sessions:
        qm.procedures.dispatch_messages(qm, session, now)
    qm.disk.pass_barriers(event.token, None, now)


def _on_persist_failed(qm: QueueManager, event: PersistFailed, now: Now) -> None:
    saving = qm.savings.pop(event.token, None)
    if saving is not None:
        qm.procedures.on_persist_failed(qm, saving, event.error, now)
    commit = qm.disk.failed(event.token, event.error)
    if commit is None:
        return
    commit.undo()
    if commit.token is not None:
        qm.emit(Rejected(commit.token, f"it could not be saved: {event.error}; try again when the store works"))
    for session in commit.sessions:
        qm.procedures.dispatch_messages(qm, session, now)
    qm.disk.pass_barriers(event.token, event.error, now)


def _on_command(qm: QueueManager, event: Command, now: Now) -> None:
    if qm.halted is not None and type(event.request) not in TELLING:
        qm.emit(Rejected(event.token, qm.halted))
        return
    try:
        result = HANDLERS[type(event.request)](qm, event.request, event.token, now)
    except CommandError as error:
        qm.emit(Rejected(event.token, str(error)))
        return
    if result is not None:
        qm.emit(Completed(event.token, result))


def _of_sessions_or_bindings(on_session: OnInput, on_binding: OnInput) -> OnInput:
    """Let what a transport tells go to its session, or to the RPC binding handle that it is the connection of."""

    def on_input(qm: QueueManager, event: Any, now: Now) -> None:
        (on_binding if event.transport in qm.remote_client.bindings else on_session)(qm, event, now)

    return on_input


_ON_INPUT: dict[type, OnInput] = {
    Started: _on_started,
    Stopped: _on_stopped,
    TransportAccepted: _on_accepted,
    TransportConnected: _of_sessions_or_bindings(_on_connected, running.on_connected),
    TransportFailed: _of_sessions_or_bindings(_on_failed, running.on_failed),
    TransportLost: _of_sessions_or_bindings(_on_lost, running.on_lost),
    BytesReceived: _of_sessions_or_bindings(_on_bytes, running.on_bytes),
    DatagramReceived: _on_datagram,
    **RPC_INPUTS,
    HostResolved: _on_resolved,
    Persisted: _on_persisted,
    PersistFailed: _on_persist_failed,
    Command: _on_command,
}

_ON_QUEUE_MANAGER_TIMER = {
    TimerName.MESSAGE_ID_HISTORY_CLEANUP: "on_history_timer",
    TimerName.MESSAGE_EXPIRATION: "on_expiration_timer",
    TimerName.DIRECTORY_ONLINE: "on_directory_online_timer",
    TimerName.DIRECTORY_SITES_UPDATE: "on_directory_sites_update_timer",
    TimerName.DIRECTORY_SITE_GATES_UPDATE: "on_directory_site_gates_update_timer",
    TimerName.QUEUE_MANAGER_QUERY: "on_queue_manager_query_timer",
}
"""Spec: MS-MQQB 3.1.6.7, MS-MQDMPR 3.1.2, 3.1.6, MS-MQBR 3.1.6."""

_ON_SESSION_TIMER = {
    TimerName.SESSION_INITIALIZATION: "on_session_initialization_timer",
    TimerName.SESSION_CLEANUP: "on_session_cleanup_timer",
    TimerName.SESSION_RETRY_CONNECT: "on_session_retry_connect_timer",
    TimerName.SESSION_ACK_WAIT: "on_session_ack_wait_timer",
    TimerName.SESSION_ACK_SEND: "on_session_ack_send_timer",
    TimerName.TRANSACTIONAL_ACK_WAIT: "on_transactional_ack_wait_timer",
    TimerName.ORDER_ACK_SEND: "on_order_ack_send_timer",
    TimerName.PING_RESPONSE: "on_ping_response_timer",
}
"""Spec: MS-MQQB 3.1.6."""
