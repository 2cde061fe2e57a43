"""Remote readers under random events: no message is lost or given to two readers, and a client that vanishes leaves no
state.

MS-MQQP 3.1.4, 3.1.6: clients open, read, wait, acknowledge, refuse, cancel, close and vanish in any order, while
messages arrive, local applications read, and the queue manager restarts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import core_bridge  # noqa: F401
from budgets import FEW, SOME, budget
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from remote_reader import CONTEXTS, LICENCE, PLAIN, ZEROED, Faulted, Opened, Reader, Server

from reference_qm.codec import parse_packet
from reference_qm.model.statuses import Status
from reference_qm.rpc import FaultStatus
from reference_qm.surface.commands import ReceiveMessage

INDEX = st.integers(0, 7)
WAIT_MS = 1_000
RECEIVE, PEEK, PEEK_NEXT = 0, 0x80000000, 0x80000001
RECEIVE_NEXT, FIRST = 0x40000021, 0
NACK, ACK = 1, 2
METHODS = ("RemoteQMStartReceive", "RemoteQMStartReceive2")
CANCELED = Status.MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT


@dataclass(eq=False)
class Waiting:
    """A waiting read: its call, its request id, and the time at which it times out."""

    client: Client
    queue: Queue
    call_id: int
    request_id: int
    receives: bool
    due_ms: int


@dataclass(eq=False)
class Held:
    """A message that a client has received and has not yet acknowledged or refused."""

    body: str
    context: UUID
    queue: Queue


@dataclass(eq=False)
class Queue:
    """A queue that a client has opened."""

    opened: Opened
    cursor: int | None = None
    closed: bool = False


@dataclass(eq=False)
class Client:
    """A client, its open handles and the messages that it holds."""

    reader: Reader
    queues: list[Queue] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)
    requests: int = 0


class RemoteReaders(RuleBasedStateMachine):
    """The state machine of the test. ``messages``: all bodies in the order of arrival; ``gone``: the bodies that were
    received finally.
    """

    @initialize(wide=st.booleans())
    def begin(self, wide: bool) -> None:
        self.wide = wide
        self.server = Server()
        self.messages: list[str] = []
        self.recoverable: set[str] = set()
        self.gone: set[str] = set()
        self.clients: list[Client] = []
        self.waiting: list[Waiting] = []

    # -- the truth ----------------------------------------------------------------------------------------------

    @property
    def held(self) -> list[Held]:
        return [one for client in self.clients for one in client.held]

    @property
    def available(self) -> list[str]:
        taken = self.gone | {one.body for one in self.held}
        return [body for body in self.messages if body not in taken]

    def queues(self) -> list[tuple[Client, Queue]]:
        return [(client, queue) for client in self.clients for queue in client.queues if not queue.closed]

    def take(self, client: Client, queue: Queue, results: dict[str, Any], receives: bool) -> str:
        """Record the message in the answer of a successful read; return its body."""
        both = results.get("lpRemoteReadDesc2")
        desc = results["lpRemoteReadDesc"] if both is None else both["pRemoteReadDesc"]
        body = parse_packet(desc["lpBuffer"]).MessagePropertiesHeader.MessageBody.decode()
        assert body in self.available
        assert (results["pphContext"] is not None) is receives
        if receives:
            client.held.append(Held(body, results["pphContext"], queue))
        return body

    def take_answers(self) -> None:
        """Record the answers to all waiting reads that have arrived."""
        for one in list(self.waiting):
            results = one.client.reader.answer(one.call_id)
            if results is None:
                continue
            self.waiting.remove(one)
            if results["Return"] == Status.MQ_OK:
                self.take(one.client, one.queue, results, one.receives)
            else:
                assert results["pphContext"] is None
                if Status(results["Return"]) is Status.MQ_ERROR_IO_TIMEOUT:
                    assert one.due_ms <= self.server.now.monotonic_ms
                else:
                    assert Status(results["Return"]) is CANCELED
                    assert one.queue.closed

    # -- messages -----------------------------------------------------------------------------------------------

    @rule(recoverable=st.booleans())
    def send(self, recoverable: bool) -> None:
        body = f"m{len(self.messages)}"
        self.messages.append(body)
        if recoverable:
            self.recoverable.add(body)
        self.server.send(body.encode(), recoverable=recoverable)
        self.take_answers()

    @rule()
    def receive_here(self) -> None:
        first = next(iter(self.available), None)
        message = self.server.ask(ReceiveMessage(queue=PLAIN))["message"]
        assert (message and message["body"]) == first
        if first is not None:
            self.gone.add(first)

    # -- clients ------------------------------------------------------------------------------------------------

    @precondition(lambda self: len(self.clients) < 3)
    @rule()
    def connect(self) -> None:
        self.clients.append(Client(self.server.connect(f"192.0.2.{len(self.clients) + 1}", self.wide)))

    @precondition(lambda self: self.clients)
    @rule(which=INDEX, with_cursor=st.booleans())
    def open(self, which: int, with_cursor: bool) -> None:
        client = self.clients[which % len(self.clients)]
        queue = Queue(client.reader.open())
        if with_cursor:
            queue.cursor = client.reader.open_cursor(queue.opened.handle)["phCursor"]
        client.queues.append(queue)

    @precondition(lambda self: self.queues())
    @rule(which=INDEX, method=st.sampled_from(METHODS), action=st.sampled_from([RECEIVE, PEEK]), waits=st.booleans())
    def read(self, which: int, method: str, action: int, waits: bool) -> None:
        client, queue = self.queues()[which % len(self.queues())]
        first = next(iter(self.available), None)
        client.requests += 1
        change = {"ulAction": action, "ulTimeout": WAIT_MS if waits else 0, "dwRequestID": client.requests}
        call_id = client.reader.begin_read(queue.opened.handle, method, **change)
        results = client.reader.answer(call_id)
        if first is not None:
            assert results["Return"] == Status.MQ_OK
            assert self.take(client, queue, results, action == RECEIVE) == first
        elif waits:
            assert results is None
            due_ms = self.server.now.monotonic_ms + WAIT_MS
            self.waiting.append(Waiting(client, queue, call_id, client.requests, action == RECEIVE, due_ms))
        else:
            assert Status(results["Return"]) is Status.MQ_ERROR_IO_TIMEOUT

    @precondition(lambda self: any(queue.cursor for _, queue in self.queues()))
    @rule(which=INDEX, action=st.sampled_from([RECEIVE, PEEK, PEEK_NEXT]))
    def read_by_cursor(self, which: int, action: int) -> None:
        """Check that the message which a cursor returns is in the queue, and that no other client holds the message.
        The model of one queue checks the position of the cursor.
        """
        queues = [one for one in self.queues() if one[1].cursor]
        client, queue = queues[which % len(queues)]
        client.requests += 1
        change = {"ulAction": action, "hCursor": queue.cursor, "dwRequestID": client.requests}
        results = client.reader.read(queue.opened.handle, **change)
        if results["Return"] == Status.MQ_OK:
            self.take(client, queue, results, action == RECEIVE)

    @precondition(lambda self: self.queues())
    @rule(which=INDEX)
    def read_first_by_lookup_id(self, which: int) -> None:
        client, queue = self.queues()[which % len(self.queues())]
        first = next(iter(self.available), None)
        method = "RemoteQMStartReceiveByLookupId"
        results = client.reader.read(queue.opened.handle, method, ulAction=RECEIVE_NEXT, LookupId=FIRST)
        if first is None:
            assert Status(results["Return"]) is Status.MQ_ERROR_MESSAGE_NOT_FOUND
        else:
            assert self.take(client, queue, results, True) == first

    @precondition(lambda self: self.held)
    @rule(which=INDEX, ack=st.sampled_from([NACK, ACK]))
    def end(self, which: int, ack: int) -> None:
        held = self.held[which % len(self.held)]
        client = next(one for one in self.clients if held in one.held)
        client.held.remove(held)
        expected = Status.MQ_ERROR_INVALID_PARAMETER if held.queue.closed else Status.MQ_OK
        if ack == ACK and expected is Status.MQ_OK:
            self.gone.add(held.body)
        assert Status(client.reader.end(held.context, ack)) is expected
        self.take_answers()

    @precondition(lambda self: self.waiting)
    @rule(which=INDEX, how=st.sampled_from(["method", "cancel", "orphan"]))
    def cancel(self, which: int, how: str) -> None:
        one = self.waiting.pop(which % len(self.waiting))
        reader, handle = one.client.reader, one.queue.opened.handle
        if how == "method":
            given = {"hQueue": handle, "pQueue": handle, "dwRequestID": one.request_id}
            assert reader.call("RemoteQMCancelReceive", **given)["Return"] == Status.MQ_OK
            assert Status(reader.answer(one.call_id)["Return"]) is CANCELED
        elif how == "cancel":
            reader.cancel(one.call_id)
            try:
                raise AssertionError(f"not a fault: {reader.answer(one.call_id)}")
            except Faulted as fault:
                assert fault.status == FaultStatus.NCA_S_FAULT_CANCEL
        else:
            reader.orphan(one.call_id)
            assert reader.answer(one.call_id) is None

    @precondition(lambda self: self.queues())
    @rule(which=INDEX)
    def close(self, which: int) -> None:
        client, queue = self.queues()[which % len(self.queues())]
        queue.closed = True
        results = client.reader.call("RemoteQMCloseQueue", pphContext=queue.opened.session)
        assert results["Return"] == Status.MQ_OK
        self.take_answers()

    @precondition(lambda self: self.clients)
    @rule(which=INDEX)
    def vanish(self, which: int) -> None:
        client = self.clients.pop(which % len(self.clients))
        self.waiting = [one for one in self.waiting if one.client is not client]
        client.reader.vanish()
        self.take_answers()

    @rule(ms=st.sampled_from([1, WAIT_MS // 2, WAIT_MS]))
    def wait(self, ms: int) -> None:
        self.server.wait(ms)
        self.take_answers()

    @rule()
    def restart(self) -> None:
        """Restart: express messages are lost, and recoverable messages remain, also those that a client held."""
        self.clients.clear()
        self.waiting.clear()
        self.gone |= set(self.messages) - self.recoverable
        self.server.restart()

    # -- what always holds --------------------------------------------------------------------------------------

    @invariant()
    def every_message_is_in_its_place(self) -> None:
        assert self.server.bodies() == self.available

    @invariant()
    def nobody_waits_for_what_is_there(self) -> None:
        assert not (self.waiting and self.available)

    @invariant()
    def books_are_kept(self) -> None:
        remote = self.server.core.remote
        assert len(remote.associations) == len(self.clients)
        assert len(remote.RemoteReadEntryCollection) == len(remote.reads) == len(self.waiting)
        assert len(remote.OpenQueueEntryCollection) == len(self.queues())
        assert len(self.server.core.descriptors) == len(self.queues())
        assert len(self.server.core.readers) == len(self.waiting)

    def teardown(self) -> None:
        if not hasattr(self, "clients"):
            return
        for client in self.clients:
            client.reader.vanish()
        self.clients.clear()
        assert self.server.bodies() == self.available
        assert self.server.core.remote.associations.server.groups.handle_count == 0


TestRemoteReaders = RemoteReaders.TestCase
TestRemoteReaders.settings = budget(FEW, stateful_step_count=30)


# -- whatever clients call -------------------------------------------------------------------------------------

SMALL = st.sampled_from([0, 1, 2, 3, 4, 5, 0xFFFF, 0x80000000, 0x80000001, 0x40000020, 0x40000021, 0xFFFFFFFF])
NAMES = sorted(CONTEXTS.keys() - {"R_QMGetObjectProperties"})
CALLS = st.lists(st.tuples(st.sampled_from(NAMES), st.lists(SMALL, min_size=8, max_size=8)), max_size=25)


@given(CALLS)
@budget(FEW)
def test_arbitrary_remote_calls_end_or_wait_and_leave_no_state(calls) -> None:
    server = Server()
    for body in (b"one", b"two"):
        server.send(body)
    reader = server.connect()
    handles: list[UUID | None] = [None, reader.open().session]
    for name, numbers in calls:
        call_id = reader.begin(name, **_arguments(name, numbers, handles))
        try:
            results = reader.answer(call_id) or {}
        except Faulted:
            continue
        handles += [value for value in results.values() if isinstance(value, UUID)]
    reader.vanish()
    remote = server.core.remote
    left = (remote.RemoteReadEntryCollection, remote.OpenQueueEntryCollection, remote.reads, server.core.descriptors)
    assert [len(one) for one in left] == [0] * len(left)
    server.wait(10_000)
    assert len(server.core.readers) == 0


STUBS = st.one_of(st.binary(max_size=120), st.integers(0, 120).map(bytes), st.binary(max_size=8).map(lambda b: b * 12))


@given(st.lists(st.tuples(st.sampled_from(sorted(CONTEXTS)), STUBS), max_size=12), st.booleans())
@budget(SOME)
def test_arbitrary_stubs_are_answered_or_wait_and_leave_no_state(calls, wide) -> None:
    server = Server()
    server.send(b"one")
    reader = server.connect(wide=wide)
    reader.open()
    for name, stub in calls:
        call_id = reader.begin_stub(name, stub)
        answers = [pdu for pdu in reader.pdus if pdu.call_id == call_id]
        assert answers or name in METHODS
    assert reader.closed is None
    reader.vanish()
    assert server.bodies() == ["one"]
    assert len(server.core.descriptors) == server.core.remote.associations.server.groups.handle_count == 0


def _arguments(name: str, numbers: list[int], handles: list[UUID | None]) -> dict[str, Any]:
    """Return arguments of a method, made from the drawn numbers and from handles that the server returned."""
    ordinary = {
        "pLicGuid": LICENCE,
        "ptb1": ZEROED,
        "dwMQS": numbers[0] % 17,
        "dwAck": numbers[0] % 2 + 1,
        "dwPortType": numbers[0] % 4,
        "pQueueFormat": None,
        "obj": None,
        "map_tower": None,
        "entry_handle": None,
        "max_towers": 1,
        "pphContext": handles[numbers[1] % len(handles)],
        "lpRemoteReadDesc": _desc(numbers),
        "lpRemoteReadDesc2": {"pRemoteReadDesc": _desc(numbers) if numbers[7] else None, "SequentialId": numbers[6]},
    }
    taken = [one.name for one in CONTEXTS[name][2].parameters if one.direction.value & 1]
    return {one: ordinary.get(one, numbers[place % 8]) for place, one in enumerate(taken)}


def _desc(numbers: list[int]) -> dict[str, Any]:
    fields = ("hRemoteQueue", "hCursor", "ulAction", "ulTimeout", "dwRequestID", "dwArriveTime")
    desc = dict(zip(fields, numbers, strict=False))
    same_queue = desc["hRemoteQueue"] if numbers[6] % 2 else numbers[7]
    return {**desc, "dwQueue": same_queue, "dwSize": 0, "Reserved": 0, "eAckNack": 0, "lpBuffer": None}
