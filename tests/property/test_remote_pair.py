"""One reference queue manager reads the queues of another, both as cores, under random events.

MS-MQQP 3.1.4, 3.1.6, 3.2.4: the reader opens, reads, waits, cancels and closes in any order, while messages arrive,
connections break and either side restarts. No message is lost or received twice, and no state remains at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import core_bridge  # noqa: F401
from budgets import FEW, budget
from core_network import PLAIN, Network, direct
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from reference_qm.rpc.syntaxes import NDR, NDR64
from reference_qm.surface.commands import CancelWaiting, Inspect, ReceiveMessage, Request
from reference_qm.surface.effects import CommandCompleted
from reference_qm.surface.remote_commands import (
    RemoteClose,
    RemoteOpen,
    RemoteOpenCursor,
    RemotePeek,
    RemoteReadByLookupId,
    RemoteReceive,
)

INDEX = st.integers(0, 7)
WAIT_MS = 1_000
OPEN_LIMIT = 6


@dataclass(eq=False)
class Opened:
    """An open remote queue with its ``cursors``. ``broken``: whether its connection is lost."""

    number: int
    receives: bool
    cursors: list[int] = field(default_factory=list)
    broken: bool = False


@dataclass(eq=False)
class Waiting:
    """A read that waits for a message until ``due_ms``, or without limit if ``due_ms`` is None."""

    token: int
    opened: Opened
    receives: bool
    due_ms: int | None


class RemotePair(RuleBasedStateMachine):
    """The state machine of the test. ``sent``: all bodies in the order of arrival; ``received``: the bodies that a
    client received.
    """

    @initialize(wide=st.booleans())
    def begin(self, wide: bool) -> None:
        self.network = Network()
        self.near, self.far = self.network.pair()
        self.wide = wide
        self._speak()
        self.sent: list[str] = []
        self.received: list[str] = []
        self.opened: list[Opened] = []
        self.waiting: list[Waiting] = []

    def _speak(self) -> None:
        self.far.core.remote.associations.server.preferred = NDR64 if self.wide else NDR

    # -- what the far side does ---------------------------------------------------------------------------------

    @rule()
    def a_message_comes(self) -> None:
        body = f"message {len(self.sent)}"
        self.sent.append(body)
        self.far.send(direct(2), body.encode(), recoverable=True)
        self.network.settle()
        self.collect()

    @rule()
    def somebody_reads_it_there(self) -> None:
        message = self.far.ask(ReceiveMessage(PLAIN))["message"]
        if message is not None:
            self.take(message["body"])

    @rule()
    def the_far_side_restarts(self) -> None:
        self.far.restart()
        self._speak()
        self.broken()

    # -- what the near side does --------------------------------------------------------------------------------

    @precondition(lambda self: len(self.opened) < OPEN_LIMIT)
    @rule(receives=st.booleans())
    def a_queue_is_opened(self, receives: bool) -> None:
        number = self.near.ask(RemoteOpen(direct(2), "receive" if receives else "peek"))["remote"]
        self.opened.append(Opened(number, receives))

    @precondition(lambda self: self.opened)
    @rule(index=INDEX, receives=st.booleans(), waits=st.sampled_from([0, WAIT_MS, None]))
    def it_is_read(self, index: int, receives: bool, waits: int | None) -> None:
        opened = self.opened[index % len(self.opened)]
        kind = RemoteReceive if receives and opened.receives else RemotePeek
        self.read(opened, kind(opened.number, timeout_ms=waits), waits)

    @precondition(lambda self: self.opened)
    @rule(index=INDEX, seek=st.sampled_from(["first", "last"]), peek=st.booleans())
    def it_is_read_by_lookup_identifier(self, index: int, seek: str, peek: bool) -> None:
        opened = self.opened[index % len(self.opened)]
        peek = peek or not opened.receives
        left = self.left()
        token = self.near.begin(RemoteReadByLookupId(opened.number, 0, seek, peek))
        answer = self.near.answers[token]
        if opened.broken or not left:
            assert not isinstance(answer, CommandCompleted)
            return
        assert isinstance(answer, CommandCompleted), answer
        body = answer.result.values["message"]["body"]
        assert body == left[0 if seek == "first" else -1]
        if not peek:
            self.take(body)

    @precondition(lambda self: any(not one.broken for one in self.opened))
    @rule(index=INDEX)
    def a_cursor_is_opened(self, index: int) -> None:
        whole = [one for one in self.opened if not one.broken]
        opened = whole[index % len(whole)]
        opened.cursors.append(self.near.ask(RemoteOpenCursor(opened.number))["cursor"])

    @precondition(lambda self: any(one.cursors for one in self.opened))
    @rule(index=INDEX, receives=st.booleans())
    def a_message_is_read_through_it(self, index: int, receives: bool) -> None:
        with_cursor = [one for one in self.opened if one.cursors]
        opened = with_cursor[index % len(with_cursor)]
        kind = RemoteReceive if receives and opened.receives else RemotePeek
        token = self.near.begin(kind(cursor=opened.cursors[index % len(opened.cursors)]))
        answer = self.near.answers[token]  # a cursor at a message that is gone is refused
        if isinstance(answer, CommandCompleted) and answer.result.values["message"] is not None:
            body = answer.result.values["message"]["body"]
            assert body in self.left()
            if kind is RemoteReceive:
                self.take(body)

    @precondition(lambda self: self.waiting)
    @rule(index=INDEX)
    def a_read_that_waits_is_cancelled(self, index: int) -> None:
        waiting = self.waiting.pop(index % len(self.waiting))
        assert self.near.ask(CancelWaiting(waiting.token)) == {"cancelled": True}
        assert not isinstance(self.near.answers[waiting.token], CommandCompleted)

    @precondition(lambda self: self.opened)
    @rule(index=INDEX)
    def it_is_closed(self, index: int) -> None:
        opened = self.opened.pop(index % len(self.opened))
        token = self.near.begin(RemoteClose(opened.number))
        assert isinstance(self.near.answers[token], CommandCompleted) is not opened.broken
        for waiting in [one for one in self.waiting if one.opened is opened]:
            assert not isinstance(self.near.answers[waiting.token], CommandCompleted)
            self.waiting.remove(waiting)

    @rule()
    def the_near_side_restarts(self) -> None:
        self.near.restart()
        self.opened.clear()
        self.waiting.clear()

    # -- what the environment does ------------------------------------------------------------------------------------

    @rule()
    def every_connection_breaks(self) -> None:
        self.network.cut(self.near)
        self.broken()

    @rule(ms=st.integers(1, 2 * WAIT_MS))
    def time_passes(self, ms: int) -> None:
        self.network.advance(ms)
        self.collect()

    # -- the truth ----------------------------------------------------------------------------------------------

    def left(self) -> list[str]:
        """Return the messages in the queue, in order."""
        return [body for body in self.sent if body not in self.received]

    def take(self, body: str) -> None:
        assert body not in self.received
        self.received.append(body)

    def read(self, opened: Opened, request: Request, waits: int | None) -> None:
        receives = isinstance(request, RemoteReceive)
        left = self.left()
        token = self.near.begin(request)
        answer = self.near.answers.get(token)
        if opened.broken:
            assert answer is not None
            assert not isinstance(answer, CommandCompleted)
        elif left:
            assert isinstance(answer, CommandCompleted), answer
            assert answer.result.values["message"]["body"] == left[0]
            if receives:
                self.take(left[0])
        elif waits == 0:
            assert isinstance(answer, CommandCompleted), answer
            assert answer.result.values["message"] is None
        else:
            assert answer is None
            due_ms = None if waits is None else self.network.now.monotonic_ms + waits
            self.waiting.append(Waiting(token, opened, receives, due_ms))

    def collect(self) -> None:
        """Collect the answers to the waiting reads."""
        for waiting in list(self.waiting):
            answer = self.near.answers.get(waiting.token)
            if answer is None:
                continue
            self.waiting.remove(waiting)
            assert isinstance(answer, CommandCompleted), answer
            message = answer.result.values["message"]
            if message is None:
                assert waiting.due_ms is not None
                assert waiting.due_ms <= self.network.now.monotonic_ms
            elif waiting.receives:
                self.take(message["body"])
            else:
                assert message["body"] in self.sent

    def broken(self) -> None:
        """Cut every connection, and check that no waiting read succeeds."""
        for opened in self.opened:
            opened.broken = True
        for waiting in self.waiting:
            assert not isinstance(self.near.answers[waiting.token], CommandCompleted)
        self.waiting.clear()

    @invariant()
    def nothing_is_lost_and_nothing_is_there_twice(self) -> None:
        if hasattr(self, "far"):
            assert self.far.bodies() == self.left()

    @invariant()
    def both_sides_keep_what_is_open_and_nothing_else(self) -> None:
        if not hasattr(self, "far"):
            return
        whole = [one for one in self.opened if not one.broken]
        adm = self.near.ask(Inspect())["adm"]
        assert len(adm["RemoteOpenQueueEntryCollection"]) == len(self.opened)
        assert len(adm["PendingRemoteReadEntryCollection"]) == len(self.waiting)
        assert len(self.near.core.remote_client.binding_by_connection) == len(whole)
        assert len(self.near.core.remote_client.task_by_timer_number) == sum(
            one.due_ms is not None for one in self.waiting
        )
        assert len(self.far.core.descriptors) == len(whole)
        assert len(self.far.core.readers) == len(self.waiting)
        assert len(self.far.twins) == len(whole)


TestRemotePair = RemotePair.TestCase
TestRemotePair.settings = budget(FEW, stateful_step_count=30)
