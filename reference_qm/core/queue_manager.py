"""Defines the queue manager, which takes inputs and the time, and returns effects. The queue manager does no I/O
and does not read a clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from reference_qm.config import QueueManagerConfig
from reference_qm.core.dispatch import HANDLER_BY_INPUT_TYPE, HANDLER_BY_TIMER_NAME, HANDLERS_BY_EVENT_TYPE
from reference_qm.core.events import DirectoryBecameUnreachable, Event
from reference_qm.core.parts import QueueManagerParts
from reference_qm.core.queueing import message_lifetimes
from reference_qm.core.remote.client_model import RemoteReadingClientState
from reference_qm.core.remote.rpc_event_dispatching import RemoteReadingServerState
from reference_qm.core.store.disk import Disk
from reference_qm.core.store.enterprise import Enterprise
from reference_qm.core.transfer.message_arrival import UnsavedArrival
from reference_qm.model.adm import MessagePosition, OutgoingMessagePosition, QueueManagerState, Session
from reference_qm.model.attributes import ServiceState
from reference_qm.model.deadlines import DeadlineCollection
from reference_qm.model.elements import OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.timers import Timers
from reference_qm.model.unfinished import UnfinishedPacketByteCounts
from reference_qm.security import SecurityCaches
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import Effect
from reference_qm.surface.entropy import Entropy
from reference_qm.surface.inputs import DirectoryAnswered, DomainReported, Input, QueueManagerStarted, RpcListening

HIGHEST_HANDLE = 0xFFFFFFFF
MAX_KEPT_CLOSED_SESSIONS = 16
"""The maximum number of closed sessions that are kept for inspection."""


class QueueManager(QueueManagerParts):
    """A queue manager: its state, its methods for the host, and the parts that carry out the steps of the
    specifications.
    """

    def __init__(self, config: QueueManagerConfig, entropy: Entropy, *, is_restored: bool = False) -> None:
        """Create the queue manager. If ``is_restored`` is true, the caller then calls ``restore``, which creates
        the configured queues.
        """
        super().__init__(self)
        self.config = config
        self.entropy = entropy
        self.settings = config.timers
        self.security_settings = config.security.settings
        self.adm = QueueManagerState(
            Identifier=config.identifier,
            ComputerName=config.host_name.partition(".")[0],
            QualifiedComputerName=config.host_name,
            SendInsecureNacks=config.send_insecure_nacks,
            QueueManagerQuota=config.queue_manager_quota_kb,
            SupportingServer=config.supporting_server,
            ConnectedNetworkIdentifierList=config.connected_networks,
        )
        self.hardened_after_restart = False
        """The value to which HardenedSecurity is set at the next start. Spec: MS-MQDMPR note <7>."""
        self.events: deque[Event] = deque()
        """The posted events that are not handled yet, in order."""
        self.rpc_listening: RpcListening | None = None
        """The ports for DCE/RPC, or None if the ports are not open yet."""
        self._last_session_number = self._last_transport_number = self._last_persist_token = self._last_handle = 0
        self._last_directory_token = 0
        self._effects: list[Effect] = []
        self.disk = Disk(self.emit_effect, self.assign_persist_token)
        self.timers = Timers()
        self.caches = SecurityCaches(self.security_settings)
        self.enterprise = Enterprise(self.config, lambda: self.post_event(DirectoryBecameUnreachable()))
        self.sessions: dict[int, Session] = {}
        self.closed_sessions: deque[Session] = deque(maxlen=MAX_KEPT_CLOSED_SESSIONS)
        self.transports: dict[str, Session] = {}
        self.savings: dict[int, UnsavedArrival] = {}
        self.descriptors: dict[int, OpenQueueDescriptor] = {}
        self.readers: dict[int, WaitingMessageReadOperation] = {}
        self.unfinished = UnfinishedPacketByteCounts()
        self.remote: RemoteReadingServerState = RemoteReadingServerState(
            self.entropy,
            self.timers,
            self.unfinished,
            self.emit_effect,
            self.post_event,
            config.rpc_server,
            strict=config.checks_stub_values_strictly,
        )
        self.remote_client = RemoteReadingClientState()
        self.to_be_received: DeadlineCollection[MessagePosition] = DeadlineCollection(
            message_lifetimes.is_message_still_in_queue
        )
        self.to_be_sent: DeadlineCollection[tuple[Session, OutgoingMessagePosition]] = DeadlineCollection(
            message_lifetimes.is_message_still_in_session_table
        )
        self.begun = False
        """Whether the queue manager has started and its initialization no longer waits for the directory."""
        self.held: deque[Input] = deque()
        """The inputs that arrived before the initialization was complete. They are handled when it is complete."""
        self.coordinated = True
        """Whether the Transaction Coordinator, which decides external transactions, is available."""
        self.halted: str | None = None
        """The reason why the queue manager refuses all work until a restart, or None while the queue manager works."""
        for queue in () if is_restored else config.queues:
            if queue.is_private:
                self.surviving_queues.create_configured_queue(queue)

    # -- the surface --------------------------------------------------------------------------------------------------

    def handle(self, event: Input, now: Now) -> list[Effect]:
        """Process an input, and return the effects to carry out, in order.

        Inputs wait until the initialization is complete. In an enterprise, the initialization requires an answer of
        the directory.
        """
        if not self.begun and not isinstance(event, QueueManagerStarted | DirectoryAnswered | DomainReported):
            self.held.append(event)
            return []
        effects = self._handle_input(event, now)
        while self.held and self.begun:
            effects += self._handle_input(self.held.popleft(), now)
        return effects

    def _handle_input(self, event: Input, now: Now) -> list[Effect]:
        if self.begun and self.adm.QueueManagerState is ServiceState.STOPPED:
            self.input_dispatching.refuse_input_while_stopped(event, now)
        else:
            HANDLER_BY_INPUT_TYPE[type(event)](self)(event, now)
        self.handle_events(now)
        return self._take_effects()

    def next_due(self) -> int | None:
        """Return the time when ``handle_timer`` must be called next, in int ms of the monotonic clock, or None if
        no timer is running.
        """
        return self.timers.next_due()

    def handle_timer(self, now: Now) -> list[Effect]:
        """Handle every timer that is due, and return the effects to carry out, in order."""
        while (key := self.timers.pop_due_timer(now.monotonic_ms)) is not None:
            HANDLER_BY_TIMER_NAME[key.name](self, key.owner, now)
            self.handle_events(now)
        return self._take_effects()

    def restore(self, records: Mapping[str, object]) -> None:
        """Restore the state from the entries that an earlier process stored. The method is called before the first
        input.

        ``records`` contains the entries of the store, as the ``Persist`` effects of that process left them. Raises
        RestoreError for unusable entries.
        """
        self.state_restoring.restore(records)

    # -- for the parts ------------------------------------------------------------------------------------------------

    def emit_effect(self, effect: Effect) -> None:
        """Emit an effect. Effects are carried out in the order in which they were emitted."""
        self._effects.append(effect)

    def post_event(self, event: Event) -> None:
        """Add an event to the queue of events, unless the event equals the last event in the queue. Events are
        handled after the current input or timer.
        """
        if not self.events or self.events[-1] != event:
            self.events.append(event)

    def handle_events(self, now: Now) -> None:
        """Handle all queued events in order, including the events that are posted meanwhile.

        Events wait until the initialization is complete.
        """
        while self.events and self.begun:
            event = self.events.popleft()
            for hear in HANDLERS_BY_EVENT_TYPE[type(event)]:
                hear(self, event, now)

    def is_connected(self, session: Session, transport: str | None) -> bool:
        """Return whether a session still uses the given transport."""
        return transport is not None and self.transports.get(transport) is session

    def assign_session_number(self) -> int:
        """Return a new number for a session."""
        self._last_session_number += 1
        return self._last_session_number

    def assign_transport_name(self) -> str:
        """Return a new name for a connection."""
        self._last_transport_number += 1
        return f"out-{self._last_transport_number}"

    def assign_handle(self) -> int:
        """Return a number for a new descriptor, cursor or waiting read: a u32 that is not 0 and not in use."""
        while True:
            self._last_handle = self._last_handle % HIGHEST_HANDLE + 1
            if self._last_handle not in self.descriptors and self._last_handle not in self.readers:
                return self._last_handle

    def assign_persist_token(self) -> int:
        """Return a new token for a record that is to be written to the disk."""
        self._last_persist_token += 1
        return self._last_persist_token

    def assign_directory_token(self) -> int:
        """Return a new token for an effect that reads or changes the directory."""
        self._last_directory_token += 1
        return self._last_directory_token

    def skip_persist_tokens(self, number: int) -> None:
        """Do not assign the given token or a lower token, because a record on the disk uses the given token."""
        self._last_persist_token = max(self._last_persist_token, number)

    def _take_effects(self) -> list[Effect]:
        effects, self._effects = self._effects, []
        return effects
