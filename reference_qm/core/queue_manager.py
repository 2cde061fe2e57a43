"""The queue manager: takes what happens and the time, says what is to be done. It does no I/O and reads no clock."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from reference_qm.config import QueueManagerConfig
from reference_qm.core.dispatch import ON_EVENT, ON_INPUT, ON_TIMER
from reference_qm.core.events import DirectoryLost, Event
from reference_qm.core.parts import Parts
from reference_qm.core.queueing import lifetimes
from reference_qm.core.remote.client_model import RemoteClient
from reference_qm.core.remote.rpc_serving import RemoteReading
from reference_qm.core.store.disk import Disk
from reference_qm.core.store.enterprise import Enterprise
from reference_qm.core.transfer.arrival import Saving
from reference_qm.model.adm import MessagePosition, OutgoingMessagePosition, QueueManagerState, Session
from reference_qm.model.attributes import ServiceState
from reference_qm.model.deadlines import Deadlines
from reference_qm.model.elements import OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.timers import Timers
from reference_qm.model.unfinished import Unfinished
from reference_qm.security import SecurityCaches
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import Effect
from reference_qm.surface.entropy import Entropy
from reference_qm.surface.inputs import DirectoryAnswered, DomainTold, Input, RpcListening, Started

LAST_HANDLE = 0xFFFFFFFF
CLOSED_SESSIONS = 16
"""Closed sessions kept for inspection."""


class QueueManager(Parts):
    """One queue manager: its state, its surface, and its parts, which carry out the steps of the specifications."""

    def __init__(self, config: QueueManagerConfig, entropy: Entropy) -> None:
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
        """What HardenedSecurity will be when it starts again. Spec: MS-MQDMPR note <7>."""
        self.events: deque[Event] = deque()
        """Events that are yet to be heard, in order."""
        self.rpc_listening: RpcListening | None = None
        """The ports of DCE/RPC; None while there are none."""
        self._sessions_made = self._transports_made = self._persists_made = self._handles_made = 0
        self._directory_asked = 0
        self._effects: list[Effect] = []
        self.disk = Disk(self.emit, self.next_persist_token)
        self.timers = Timers()
        self.caches = SecurityCaches(self.security_settings)
        self.enterprise = Enterprise(self.config, lambda: self.post(DirectoryLost()))
        self.sessions: dict[int, Session] = {}
        self.closed_sessions: deque[Session] = deque(maxlen=CLOSED_SESSIONS)
        self.transports: dict[str, Session] = {}
        self.savings: dict[int, Saving] = {}
        self.descriptors: dict[int, OpenQueueDescriptor] = {}
        self.readers: dict[int, WaitingMessageReadOperation] = {}
        self.unfinished = Unfinished()
        self.remote: RemoteReading = RemoteReading(
            self.entropy,
            self.timers,
            self.unfinished,
            self.emit,
            self.post,
            config.rpc_server,
            strict=config.strict_stubs,
        )
        self.remote_client = RemoteClient()
        self.to_be_received: Deadlines[MessagePosition] = Deadlines(lifetimes.in_queue)
        self.to_be_sent: Deadlines[tuple[Session, OutgoingMessagePosition]] = Deadlines(lifetimes.in_transit)
        self.begun = False
        """Whether it was started and nothing of the initialization waits for the directory."""
        self.held: deque[Input] = deque()
        """Inputs before it has begun."""
        self.coordinated = True
        """Whether the Transaction Coordinator is there."""
        self.halted: str | None = None
        """The reason for which it does nothing until it is restarted; None while it works."""
        for queue in config.queues:
            if queue.is_private:
                self.surviving_queues.create_configured(queue)

    # -- the surface --------------------------------------------------------------------------------------------------

    def handle(self, event: Input, now: Now) -> list[Effect]:
        """Take an input; return what is to be done, in order.

        What happens before it has begun waits: until it is started, in an enterprise until the directory has answered.
        """
        if not self.begun and not isinstance(event, Started | DirectoryAnswered | DomainTold):
            self.held.append(event)
            return []
        effects = self._take_in(event, now)
        while self.held and self.begun:
            effects += self._take_in(self.held.popleft(), now)
        return effects

    def _take_in(self, event: Input, now: Now) -> list[Effect]:
        if self.begun and self.adm.QueueManagerState is ServiceState.STOPPED:
            self.inputs.on_anything_while_stopped(event, now)
        else:
            ON_INPUT[type(event)](self)(event, now)
        self.hear_events(now)
        return self._take_effects()

    def next_due(self) -> int | None:
        """Return when ``handle_timer`` wants to be called: int ms of the monotonic clock, None for never."""
        return self.timers.next_due()

    def handle_timer(self, now: Now) -> list[Effect]:
        """Let every timer expire that is due; return what is to be done, in order."""
        while (key := self.timers.pop_due(now.monotonic_ms)) is not None:
            ON_TIMER[key.name](self, key.owner, now)
            self.hear_events(now)
        return self._take_effects()

    def restore(self, records: Mapping[str, object]) -> None:
        """Begin with what an earlier process put on disk, before the first input; from now on all is put there.

        ``records``: the entries that the records of its ``Persist`` effects left. RestoreError when they make no sense.
        """
        self.restoring.restore(records)

    # -- for the parts ------------------------------------------------------------------------------------------------

    def emit(self, effect: Effect) -> None:
        """Emit an effect, carried out after everything emitted before."""
        self._effects.append(effect)

    def post(self, event: Event) -> None:
        """Let an event be heard after the input or timer that is taken now; one like the last is not doubled."""
        if not self.events or self.events[-1] != event:
            self.events.append(event)

    def hear_events(self, now: Now) -> None:
        """Let all events be heard in order, also those that follow from them; before it has begun they wait."""
        while self.events and self.begun:
            event = self.events.popleft()
            for hear in ON_EVENT[type(event)]:
                hear(self, event, now)

    def is_connected(self, session: Session, transport: str | None) -> bool:
        """Return whether a session still has this transport."""
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

    def next_directory_token(self) -> int:
        """Number a new effect that concerns the directory."""
        self._directory_asked += 1
        return self._directory_asked

    def skip_persist_tokens(self, number: int) -> None:
        """Use no number again up to this one: it is on disk."""
        self._persists_made = max(self._persists_made, number)

    def _take_effects(self) -> list[Effect]:
        effects, self._effects = self._effects, []
        return effects
