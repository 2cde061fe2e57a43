"""A model of two queue managers whose disks a test controls: it records the commands, their answers, and the arrived
messages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise, zip_longest
from typing import Any
from uuid import UUID

import core_bridge  # noqa: F401
from core_network import PLAIN, TRANSACTIONAL, Host, Network

from harness.faults.parts import override_method
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.replacing import replace_part_by_subclass
from reference_qm.model.states import MessagePositionState
from reference_qm.surface.commands import ListQueues, PeekMessages, Request
from reference_qm.surface.effects import CommandCompleted, CommandRejected
from reference_qm.surface.inputs import BytesReceived, PersistFailed, RecordPersisted

EXPRESS, RECOVERABLE, TRANSACTED = "express", "recoverable", "transactional"
JOURNAL = "system$;journal"
NEVER = 10**9


class DelayingNetwork(Network):
    """A network that holds back the packets of some hosts until the test releases the packets or cuts the
    connection.
    """

    def __init__(self) -> None:
        super().__init__()
        self.held: dict[str, list[tuple[str, bytes]]] = {}

    def send(self, host: Host, transport: str, data: bytes) -> None:
        if host.address in self.held:
            host.sent.append((transport, data))
            self.held[host.address].append((transport, data))
        else:
            super().send(host, transport, data)

    def write_some(self, host: Host, works: list[bool]) -> None:
        """Let the disk carry out some of the pending writes and refuse the others; later writes succeed."""
        waiting, self.unwritten[host.address] = self.unwritten[host.address], []
        for effect, written in zip_longest(waiting, works[: len(waiting)], fillvalue=True):
            if written:
                self.apply(host, effect)
            self.later(host, RecordPersisted(effect.token) if written else PersistFailed(effect.token, "disk full"))
        self.settle()

    def hold(self, host: Host) -> None:
        self.held.setdefault(host.address, [])

    def let_go(self, host: Host) -> None:
        for transport, data in self.held.pop(host.address, []):
            if transport in host.twins:
                other, theirs = host.twins[transport]
                self.later(other, BytesReceived(theirs, data))
        self.settle()


@dataclass(eq=False)
class Sent:
    """A message. ``asked``, ``answered``: the times at which its sending (or the commit of its transaction) was
    requested and confirmed, or NEVER.
    """

    body: str
    source: int
    to: str
    target: int
    kind: str
    asked: int
    answered: int = NEVER
    refused: bool = False
    journaled: bool = False


@dataclass(eq=False)
class Unit:
    """A transaction. ``outcome``: None while it is open or in doubt."""

    number: int
    identifier: UUID
    external: bool
    sent: list[Sent] = field(default_factory=list)
    received: list[str] = field(default_factory=list)
    prepared: bool = False
    busy: bool = False
    outcome: str | None = None
    uncertain: bool = False
    """Whether the outcome of the transaction was on its way to the disk when the process ended."""


@dataclass(eq=False)
class Waiting:
    """A command that has no answer yet. ``on_crash``: a function that is called when the command's process ends."""

    host: Host
    number: int
    token: int
    on_answer: Callable[[CommandCompleted | CommandRejected], None]
    on_crash: Callable[[], None]
    takes: bool
    """Whether the command may already have taken a message out of a queue."""


class Environment:
    """Two hosts, and the record of the commands given to them."""

    def __init__(self, window: int, routes: dict[UUID, str]) -> None:
        self.network = DelayingNetwork()
        self.hosts = dict(enumerate(self.network.pair(window_size=window, routes=routes), 1))
        self.clock = 0
        self.waiting: list[Waiting] = []
        self.sent: dict[str, Sent] = {}
        self.units: list[Unit] = []
        self.delivered: dict[tuple[int, str], list[str]] = defaultdict(list)
        self.arrived: dict[int, list[str]] = {1: [], 2: []}
        """The transactional messages in the order in which they first became available."""
        self.in_doubt = 0
        """The number of receives that a crash left unanswered: each of them may have taken a message."""
        self.crashes = 0
        for number in self.hosts:
            self.watch(number)

    def tick(self) -> int:
        self.clock += 1
        return self.clock

    def ask(
        self,
        number: int,
        request: Request,
        on_answer: Callable[[CommandCompleted | CommandRejected], None],
        on_crash: Callable[[], None] = lambda: None,
        takes: bool = False,
    ) -> None:
        """Send a command to a host, and record its answer when the answer comes."""
        host = self.hosts[number]
        self.waiting.append(Waiting(host, number, host.begin(request), on_answer, on_crash, takes))
        self.note_answers()

    def note_answers(self) -> None:
        """Record the answers to commands that have come since the last call."""
        for one in list(self.waiting):
            answer = one.host.answers.get(one.token)
            if answer is not None:
                self.waiting.remove(one)
                one.on_answer(answer)

    def forget_asked(self, number: int) -> None:
        """Forget the unanswered commands of a process that ends: their results stay unknown."""
        self.note_answers()
        for one in [one for one in self.waiting if one.number == number]:
            self.waiting.remove(one)
            one.on_crash()
        self.crashes += 1

    # -- in which order messages could be received --------------------------------------------------------------

    def watch(self, number: int) -> None:
        """From now on, record the messages that become available on a host. Call this method again for a
        new process.
        """
        core = self.hosts[number].core

        def noting(available: Any) -> Any:
            return lambda qm, position: note(position) or available(qm, position)

        def note(position: Any) -> None:
            if position.QueueReference.Pathname == TRANSACTIONAL:
                self._note_arrivals(number, position)

        replace_part_by_subclass(core, override_method(MessagePositions.on_message_available, noting))
        self._note_arrivals(number)

    def _note_arrivals(self, number: int, newest: Any = None) -> None:
        for position in self.hosts[number].core.adm.QueueCollection[TRANSACTIONAL].MessagePositionList:
            body = position.MessageReference.Body.decode()
            there = position is newest or position.State is MessagePositionState.AVAILABLE
            if there and body not in self.arrived[number]:
                self.arrived[number].append(body)

    # -- what must be true at any time --------------------------------------------------------------------------

    def locked(self, number: int) -> list[str]:
        """Return the bodies of the messages that open transactions have received."""
        return [body for unit in self.units if unit.number == number and not unit.outcome for body in unit.received]

    def there(self, number: int, queue: str) -> list[str]:
        """Return the bodies of the messages that were received from a queue, followed by those that are in
        the queue.
        """
        positions = self.hosts[number].core.adm.QueueCollection[queue].MessagePositionList
        return self.delivered[number, queue] + [one.MessageReference.Body.decode() for one in positions]

    def check_at_most_once(self) -> None:
        for number in self.hosts:
            for queue in (PLAIN, TRANSACTIONAL):
                bodies = self.there(number, queue)
                assert len(bodies) == len(set(bodies)), f"a message came twice: {sorted(bodies)}"
                for body in bodies:
                    assert not self.sent[body].refused, f"{body} was not accepted, and is there"

    def check_order(self) -> None:
        """Check that a message that was confirmed before another message was sent is received before that message."""
        for number in self.hosts:
            streams: dict[tuple[int, str], list[Sent]] = defaultdict(list)
            for body in self.arrived[number]:
                one = self.sent[body]
                streams[one.source, one.to].append(one)
            for stream in streams.values():
                for earlier, later in pairwise(stream):
                    assert later.answered >= earlier.asked, f"{later.body} was confirmed before {earlier.body} was sent"

    def check_windows(self) -> None:
        for host in self.hosts.values():
            for session in host.core.sessions.values():
                sent = [one for one in session.OutgoingMessageTable.awaiting_ack if not one.ReceivedSessionAck]
                assert session.UnAckedMessageCount == len(sent) <= session.WindowSize

    def check_nothing_acknowledged_is_lost(self) -> None:
        """Check that each accepted message is at its receiver or still at its sender."""
        lost = {
            one.body
            for one in self.must_arrive()
            if one.kind != EXPRESS and one.body not in self.arrived_at(one) and one.body not in self._kept(one.source)
        }
        self.check_lost(lost)

    def must_arrive(self) -> list[Sent]:
        """Return the accepted messages, except those that a transaction with an unknown outcome received."""
        unknown = {body for unit in self.units if unit.outcome == "unknown" for body in unit.received}
        return [one for one in self.sent.values() if one.answered != NEVER and one.body not in unknown]

    def arrived_at(self, sent: Sent) -> list[str]:
        return self.there(sent.target, TRANSACTIONAL if sent.kind == TRANSACTED else PLAIN)

    def check_lost(self, lost: set[str]) -> None:
        """Check that at most one message is lost for each receive without an answer."""
        taken = self.in_doubt + sum(one.takes for one in self.waiting)
        assert len(lost) <= taken, f"{sorted(lost)} were accepted and are lost"

    def _kept(self, number: int) -> set[str]:
        return {
            position.MessagePosition.MessageReference.Body.decode(errors="replace")
            for queue in self.hosts[number].core.adm.OutgoingQueues.values()
            for position in queue.session.OutgoingMessageTable
        }

    # -- what must be true in the end ---------------------------------------------------------------------------

    def check_all_has_arrived(self) -> None:
        lost = {one.body for one in self.must_arrive() if one.body not in self.arrived_at(one)}
        self.check_lost({body for body in lost if self.sent[body].kind != EXPRESS or not self.crashes})

    def check_units(self) -> None:
        """Check that a transaction whose end was interrupted by a crash took effect completely or not at all."""
        for unit in self.units:
            if not unit.uncertain or self.in_doubt:
                continue
            others = {body for other in self.units if other is not unit for body in other.received}
            sent = {one.body in self.arrived_at(one) for one in unit.sent if one.body not in others}
            own = set(unit.received) - others  # what another one received since may be gone with that one
            gone = {body not in self.there(unit.number, TRANSACTIONAL) for body in own}
            assert len(sent | gone) <= 1, f"half of a transaction is done: {unit}"

    def check_journals(self) -> None:
        """Check that each message with a positive FinalAck is in the journal once."""
        for number, host in self.hosts.items():
            journal = [message["body"] for message in host.ask(PeekMessages(JOURNAL, 10_000))["messages"]]
            assert len(journal) == len(set(journal)), "a message was journaled twice"
            for one in self.sent.values():
                if one.source != number or not one.journaled or one.kind != TRANSACTED:
                    continue
                if one.body in self.delivered[one.target, TRANSACTIONAL] and one.answered != NEVER:
                    assert one.body in journal, f"{one.body} was received and is not journaled"

    def check_disks(self) -> None:
        """Check that disk and memory contain the same messages, and that a new process loads them."""
        for number, host in self.hosts.items():
            on_disk = [name for name in self.network.entries[host.address] if name.startswith("message:")]
            assert len(on_disk) == sum(position.key > 0 for position in positions(host)), "memory and disk differ"
            before = [host.bodies(PLAIN), host.bodies(TRANSACTIONAL)]
            self.network.kill(host)
            self.watch(number)
            express = {one.body for one in self.sent.values() if one.kind == EXPRESS}
            assert [host.bodies(PLAIN), host.bodies(TRANSACTIONAL)] == [
                [body for body in bodies if body not in express] for bodies in before
            ]

    def open_units(self, number: int) -> dict[str, str]:
        """Return the transactions that a host knows, each with its state."""
        units = self.hosts[number].ask(ListQueues())["transactions"]
        return {one["transaction"]: one["state"] for one in units}


def positions(host: Host) -> list[Any]:
    """Return every message that a host has."""
    adm = host.core.adm
    queues = (
        *adm.QueueCollection.values(),
        adm.SystemJournalQueue,
        adm.SystemDeadletterQueue,
        adm.SystemTransactionalDeadletterQueue,
    )
    found = [position for queue in queues for position in queue.MessagePositionList]
    for outgoing in adm.OutgoingQueues.values():
        found += [one.MessagePosition for one in outgoing.session.OutgoingMessageTable]
        found += [one.MessagePosition for one in outgoing.session.AwaitingFinalACKTable.values()]
    return found
