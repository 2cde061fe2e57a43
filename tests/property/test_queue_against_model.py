"""One queue with its subqueue against lists: order, cursors, reads that wait, lookup, locks, moves, purge, crash."""

from __future__ import annotations

from dataclasses import dataclass, field

import core_bridge  # noqa: F401
from budgets import SOME, budget
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from queueing_made import PLAIN, Reads, direct, one_host, open_, queue_of

from reference_qm.codec import MessageClass
from reference_qm.model.enums import MessageSeekAction as Seek
from reference_qm.model.statuses import Status
from reference_qm.surface.commands import CreateQueue, MoveMessage, PurgeQueue

SUB = f"{PLAIN};sub"
WAIT_MS = 1_000
INDEX = st.integers(0, 5)
OK = Status.MQ_OK
NOT_FOUND, TIMEOUT = Status.MQ_ERROR_MESSAGE_NOT_FOUND, Status.MQ_ERROR_IO_TIMEOUT
ALREADY, ILLEGAL = Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED, Status.MQ_ERROR_ILLEGAL_CURSOR_ACTION


@dataclass(eq=False)
class Entry:
    """A message in a list; ``order``: when it came there."""

    body: str
    priority: int
    recoverable: bool
    order: int
    state: str = "available"

    @property
    def key(self):
        return -self.priority, self.order


@dataclass(eq=False)
class Cursor:
    """The position of a cursor: before everything while ``at`` is None."""

    real: object
    at: Entry | None = None
    state: str = "unread"


@dataclass(eq=False)
class Reader:
    name: str
    destructive: bool
    due_ms: int
    cursor: Cursor | None = None


@dataclass
class Model:
    """The model of the queue."""

    entries: list[Entry] = field(default_factory=list)
    sub: list[Entry] = field(default_factory=list)
    readers: tuple[list[Reader], list[Reader]] = field(default_factory=lambda: ([], []))
    answers: dict[str, tuple[Status, str | None]] = field(default_factory=dict)
    made: int = 0

    def after(self, key):
        ordered = sorted(self.entries, key=lambda one: one.key)
        return [one for one in ordered if one.state == "available" and (key is None or one.key > key)]

    def first(self, cursor=None):
        return next(iter(self.after(cursor.at.key if cursor and cursor.at else None)), None)

    def add(self, entry):
        self.made += 1
        entry.order = self.made
        self.entries.append(entry)
        self.available(entry)

    def available(self, entry):
        entry.state = "available"
        for readers in self.readers:
            for reader in list(readers):
                found = self.first(reader.cursor)
                if found is None and reader.cursor is not None and entry.state == "available":
                    found = entry
                if found is None:
                    return
                readers.remove(reader)
                if reader.cursor is not None:
                    reader.cursor.at = found
                    reader.cursor.state = {"wait peek": "read", "wait receive": "unread"}.get(
                        reader.cursor.state, reader.cursor.state
                    )
                self.give(reader.name, found, reader.destructive)

    def give(self, name, entry, destructive):
        self.answers[name] = (OK, entry.body)
        if destructive:
            self.remove(entry)

    def remove(self, entry):
        self.entries.remove(entry)
        entry.state = "gone"

    def stop(self, reader, status):
        for readers in self.readers:
            if reader in readers:
                readers.remove(reader)
        cursor = reader.cursor
        if cursor is not None and cursor.state == "wait receive":
            cursor.at = max(self.everything(cursor), key=lambda one: one.key, default=None)
            cursor.state = "unread"
        self.answers[reader.name] = (status, None)

    def everything(self, cursor):
        return [*self.entries, *([cursor.at] if cursor.at is not None else [])]


class OneQueue(RuleBasedStateMachine):
    """Rules act on both; what they answer and hold must be the same."""

    @initialize()
    def begin(self):
        self.host = one_host()
        self.host.ask(CreateQueue(SUB))
        self.model = Model()
        self.calls = 0
        self.open()

    def open(self):
        self.reads = Reads(self.host)
        self.descriptors = (open_(self.host), open_(self.host))
        self.cursors = []
        self.locked = []
        self.model.readers = ([], [])
        self.model.answers = {}

    def name(self):
        self.calls += 1
        return str(self.calls)

    def find(self, entry):
        (found,) = [
            one for one in queue_of(self.host).MessagePositionList if one.MessageReference.Body == entry.body.encode()
        ]
        return found

    @rule(priority=st.sampled_from((0, 3, 3, 7)), recoverable=st.booleans())
    def enqueue(self, priority, recoverable):
        entry = Entry(self.name(), priority, recoverable, 0)
        self.host.send(direct(1), entry.body.encode(), priority=priority, recoverable=recoverable)
        self.model.add(entry)

    @rule(which=st.integers(0, 1), destructive=st.booleans(), waits=st.booleans())
    def read(self, which, destructive, waits):
        name = self.name()
        event = "dequeue_message" if destructive else "peek_message"
        self.reads.call(name, event, self.descriptors[which], timeout_ms=WAIT_MS if waits else 0)
        self.expect(name, self.model.first(), destructive, which, waits)

    def expect(self, name, entry, destructive, which, waits, cursor=None):
        if entry is not None:
            self.model.give(name, entry, destructive)
        elif waits:
            due = self.host.network.now.monotonic_ms + WAIT_MS
            self.model.readers[which].append(Reader(name, destructive, due, cursor))
        elif destructive and cursor is not None:
            self.model.answers[name] = (NOT_FOUND, None)
        else:
            self.model.answers[name] = (TIMEOUT, None)

    @precondition(lambda self: len(self.cursors) < 4)
    @rule()
    def open_cursor(self):
        self.cursors.append(Cursor(self.host.core.cursors.open(self.descriptors[0])))

    def idle(self, index):
        waiting = {reader.cursor for reader in self.model.readers[0]}
        idle = [cursor for cursor in self.cursors if cursor not in waiting]
        return idle[index % len(idle)] if idle else None

    @rule(index=INDEX)
    def close_cursor(self, index):
        cursor = self.idle(index)
        if cursor is not None:
            self.cursors.remove(cursor)
            self.host.core.queue_opening.close_cursor(cursor.real)

    @rule(index=INDEX, waits=st.booleans())
    def peek_at_cursor(self, index, waits):
        cursor, name = self.idle(index), self.name()
        if cursor is None:
            return
        timeout_ms = WAIT_MS if waits else 0
        self.reads.call(name, "peek_message", self.descriptors[0], cursor=cursor.real, timeout_ms=timeout_ms)
        if cursor.state == "read":
            there = cursor.at.state == "available"
            self.model.answers[name] = (OK, cursor.at.body) if there else (ALREADY, None)
        else:
            self.peek_on(name, cursor, waits)

    @rule(index=INDEX, waits=st.booleans())
    def peek_next(self, index, waits):
        cursor, name = self.idle(index), self.name()
        if cursor is None:
            return
        timeout_ms = WAIT_MS if waits else 0
        self.reads.call(name, "peek_next_message", self.descriptors[0], cursor.real, timeout_ms=timeout_ms)
        if cursor.state == "unread":
            self.model.answers[name] = (ILLEGAL, None)
        else:
            self.peek_on(name, cursor, waits)

    def peek_on(self, name, cursor, waits):
        found = self.model.first(cursor)
        cursor.state = "wait peek" if found is None else "read"
        cursor.at = cursor.at if found is None else found
        self.expect(name, found, False, 0, waits, cursor)

    @rule(index=INDEX, waits=st.booleans())
    def receive_at_cursor(self, index, waits):
        cursor, name = self.idle(index), self.name()
        if cursor is None:
            return
        timeout_ms = WAIT_MS if waits else 0
        self.reads.call(name, "dequeue_message", self.descriptors[0], cursor=cursor.real, timeout_ms=timeout_ms)
        if cursor.state == "read":
            if cursor.at.state == "available":
                cursor.state = "unread"
                self.model.give(name, cursor.at, True)
            else:
                self.model.answers[name] = (ALREADY, None)
            return
        found = self.model.first(cursor)
        if found is not None:
            cursor.at = found
        elif waits:
            cursor.state = "wait receive"
        self.expect(name, found, True, 0, waits, cursor)

    @precondition(lambda self: self.model.first() is not None)
    @rule(index=INDEX, action=st.sampled_from(Seek), peek=st.booleans())
    def look_up(self, index, action, peek):
        there, name = self.model.after(None), self.name()
        place = index % len(there)
        wanted = {
            Seek.FIRST: 0,
            Seek.LAST: len(there) - 1,
            Seek.CURRENT: place,
            Seek.NEXT: place + 1,
            Seek.PREVIOUS: place - 1,
        }[action]
        identifier = self.find(there[place]).LookupIdentifier
        self.reads.call(name, "read_by_lookup_identifier", self.descriptors[1], identifier, action, peek_operation=peek)
        if 0 <= wanted < len(there):
            self.model.give(name, there[wanted], not peek)
        else:
            self.model.answers[name] = (NOT_FOUND, None)

    @precondition(lambda self: self.model.first() is not None)
    @rule()
    def lock(self):
        entry, name = self.model.first(), self.name()
        self.reads.call(name, "dequeue_message", self.descriptors[1], timeout_ms=0, two_phase_read=True)
        self.model.answers[name] = (OK, entry.body)
        entry.state = "locked"
        self.locked.append((entry, self.reads.positions[name]))

    @precondition(lambda self: self.locked)
    @rule(delete=st.booleans())
    def unlock(self, delete):
        entry, position = self.locked.pop(0)
        core = self.host.core
        if delete:
            core.positions.delete_message(position, MessageClass.MQMSG_CLASS_ACK_RECEIVE)
            self.host.core.disk.save({f"message:{position.key}": None} if position.key else {})
            self.model.remove(entry)
        else:
            core.positions.unlock_message(position)
            if entry.state == "purge pending":
                self.model.remove(entry)
            else:
                self.model.available(entry)
        self.reads.flush()

    @precondition(lambda self: self.model.first() is not None)
    @rule(index=INDEX)
    def move_away(self, index):
        there = self.model.after(None)
        entry = there[index % len(there)]
        self.host.ask(MoveMessage(PLAIN, self.find(entry).LookupIdentifier, SUB))
        self.model.remove(entry)
        self.model.made += 1
        self.model.sub.append(Entry(entry.body, entry.priority, entry.recoverable, self.model.made))

    @precondition(lambda self: self.model.sub)
    @rule()
    def move_back(self):
        entry = min(self.model.sub, key=lambda one: one.key)
        first = next(iter(queue_of(self.host).SubqueueCollection["sub"].MessagePositionList))
        self.host.ask(MoveMessage(SUB, first.LookupIdentifier, PLAIN))
        self.model.sub.remove(entry)
        self.model.add(Entry(entry.body, entry.priority, entry.recoverable, 0))

    @rule()
    def purge(self):
        there = self.model.after(None)
        assert self.host.ask(PurgeQueue(PLAIN)) == {"purged": len(there)}
        for entry in there:
            self.model.remove(entry)
        for entry in self.model.entries:
            entry.state = "purge pending"

    @rule(ms=st.sampled_from((1, 500, WAIT_MS)))
    def wait(self, ms):
        self.host.network.advance(ms)
        now_ms = self.host.network.now.monotonic_ms
        readers = [reader for readers in self.model.readers for reader in readers]
        for reader in sorted(readers, key=lambda one: (one.due_ms, int(one.name))):
            if reader.due_ms <= now_ms:
                self.model.stop(reader, TIMEOUT)

    @rule(crash=st.booleans())
    def restart(self, crash):
        """Express messages are gone; nothing is locked; what was purged while it was locked is gone too."""
        if crash:
            self.host.network.kill(self.host)
        else:
            self.host.restart()
        kept = [one for one in self.model.entries if one.recoverable and one.state != "purge pending"]
        self.model.entries = [Entry(one.body, one.priority, True, one.order) for one in kept]
        self.model.sub = [one for one in self.model.sub if one.recoverable]
        self.open()

    @invariant()
    def the_same_messages_in_the_same_order(self):
        bodies = [entry.body for entry in self.model.after(None)]
        assert self.host.bodies() == bodies
        positions = queue_of(self.host).MessagePositionList
        assert len(positions) == len(self.model.entries)
        assert self.host.bodies(SUB) == [one.body for one in sorted(self.model.sub, key=lambda one: one.key)]
        subqueue = queue_of(self.host).SubqueueCollection["sub"]
        assert self.host.core.adm.storage.used == positions.TotalBytes + subqueue.TotalBytes
        assert positions.TotalBytes == sum(one.size for one in positions)

    @invariant()
    def the_same_answers(self):
        assert self.reads.answers == self.model.answers
        assert len(self.host.core.readers) == sum(map(len, self.model.readers))


TestOneQueue = OneQueue.TestCase
TestOneQueue.settings = budget(SOME, stateful_step_count=40)
