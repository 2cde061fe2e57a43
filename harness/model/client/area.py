"""The area `client`, in which applications of the system read queues of the peer remotely, and the peer is the
server.

Spec: MS-MQQP 3.2, MS-MQMP 3.1.4.2 to 3.1.4.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from harness.model.agreement import ExpectedRefusal
from harness.model.client.rules import END_RULES_BY_KIND_OF_READ, RULES_BY_KIND_OF_READ
from harness.model.steps import ImpossibleStep, Model, Step, draw_one_value_or_refuse_step, transition

NEEDED_CAPABILITIES = ("remote_read", "qm2qm", "later methods")
"""The facilities and capabilities that this area needs: the control channel can read remotely, and the system has
all methods of qm2qm.
"""
MAX_QUEUES, MAX_CURSORS, MAX_WAITING_READS = 3, 3, 4
START_RECEIVE_METHOD, START_RECEIVE2_METHOD, START_RECEIVE_BY_LOOKUP_ID_METHOD = (
    "RemoteQMStartReceive",
    "RemoteQMStartReceive2",
    "RemoteQMStartReceiveByLookupId",
)
RECEIVE_ACTION, PEEK_ACTION, PEEK_NEXT_ACTION = "receive", "peek", "next"
VERSIONS_WITHOUT_START_RECEIVE2, VERSIONS_WITH_START_RECEIVE2 = (
    ((4, 0, 1_381), (5, 0, 950), (5, 0, 2_195)),
    ((5, 1, 2_600), (6, 0, 6_000), (6, 1, 7_600)),
)
"""The version of a server without RemoteQMStartReceive2, and the version of a server with it (MS-MQQP 3.2.4.2)."""
SEEK_DIRECTIONS = ("first", "previous", "current", "next", "last")
LOOKUP_ID_BEFORE_FIRST, LOOKUP_ID_BEHIND_LAST = 0, 0xFFFF_FFFF_FFFF_FFFF
MESSAGE_ANSWER, PEER_HAS_NOT_ANSWERED_TEXT, TIMEOUT_ANSWER, ERROR_STATUS_ANSWER = "message", "wait", "timeout", "error"
"""The server's possible answers to a read: a message, no answer yet, MQ_ERROR_IO_TIMEOUT, or another status."""
INVALID_PARAMETER_ANSWER, MESSAGE_OF_RECEIVE_THAT_CANNOT_END = "invalid parameter", "message without an end"
"""Further answers: MQ_ERROR_INVALID_PARAMETER, and a message for which the server then refuses the call of
RemoteQMEndReceive.
"""
_FAILURE_ANSWERS = (ERROR_STATUS_ANSWER, INVALID_PARAMETER_ANSWER)
READ_TIMEOUTS_TO_DRAW_FROM_MS = (60_000, 70_001, 600_000)
_LONG_TIMEOUTS_MS = (0x8000_0000, 0xFFFF_FFFE)
"""int ms: timeouts that are longer than the greatest signed number of 32 bits."""
BODY_SIZES_OF_DRAWN_MESSAGES = (0, 0, 10, 3_000, 70_000)
INFINITE_READ_TIMEOUT_MS = 0xFFFF_FFFF


@dataclass(eq=False, slots=True)
class RemoteReadInProgress:
    """A read that the server has not answered yet. ``method``: the method with which the client began the read."""

    name: str
    queue: str
    removes_message: bool
    uses_cursor: bool = False


@dataclass(eq=False, slots=True)
class Queue:
    """A queue of the peer that the system has opened."""

    name: str
    cursors: list[str] = field(default_factory=list)
    pending_reads: list[RemoteReadInProgress] = field(default_factory=list)


class ClientModel(Model):
    """The model of the remote calls that a system makes when its applications read queues of the peer."""

    def __init__(self, decisions: Mapping[str, int] | None = None) -> None:
        super().__init__(decisions)
        self.queues: dict[str, Queue] = {}
        self.version = VERSIONS_WITH_START_RECEIVE2[-1]
        self.calls: list[dict[str, Any]] = []
        """The calls that the system made in the last step."""

    def take(self, step: Step) -> None:
        self.calls = []
        super().take(step)

    def find(self, queue: str) -> Queue:
        """Return a queue of the peer that the system has opened; raise ImpossibleStep if the queue is not open."""
        if queue not in self.queues:
            raise ImpossibleStep
        return self.queues[queue]

    def find_read(self, read: str) -> tuple[Queue, RemoteReadInProgress]:
        """Return a waiting read and its queue; raise ImpossibleStep if no read with this name is waiting."""
        for queue in self.queues.values():
            for one in queue.pending_reads:
                if one.name == read:
                    return queue, one
        raise ImpossibleStep

    def record_remote_call(self, method: str, **fields: Any) -> None:
        """Record an RPC call that the system must make."""
        self.calls.append({"call": method, **fields})

    # -- queues -----------------------------------------------------------------------------------------------------

    @transition(
        *("MQQP-3.2.4.1-03", "MQQP-3.2.4.1-08", "MQQP-3.2.4.1-10", "MQQP-3.2.4.1-11", "MQQP-3.2.4.1-12"),
        *("MQQP-3.2.4.1-13", "MQQP-3.2.4.1-14", "MQQP-3.2.4.1-09", "MQQP-3.2.4.1-05"),
        needs=NEEDED_CAPABILITIES,
        weight=4,
        fails=False,
    )
    def open(self, queue: str, fails: bool) -> None:
        """Let an application open a queue of the peer. ``fails``: whether the peer refuses RemoteQMOpenQueue."""
        self.record_remote_call(
            "RemoteQMOpenQueue", hQueue=queue, pQueue=queue, dwpContext=queue, pLicGuid="own", dwMQS=0, bound=True
        )
        if fails:
            self.answers["answer"] = ExpectedRefusal()
        else:
            self.queues[queue] = Queue(queue)
            self.answers["answer"] = "done"

    def draw_open(self, chance: Random) -> dict[str, Any]:
        if len(self.queues) >= MAX_QUEUES:
            raise ImpossibleStep
        return {"queue": f"q{self.steps}", "fails": chance.random() < 0.1}

    @transition(
        *("MQQP-3.2.4.9-02", "MQQP-3.2.4.9-05", "MQQP-3.2.4.9-06", "MQQP-3.2.4.1-07", "MQQP-3.2.4.9-07"),
        needs=NEEDED_CAPABILITIES,
        weight=1,
        fails=False,
    )
    def close(self, queue: str, fails: bool) -> None:
        """Let an application close a queue, which cancels the waiting reads of the queue. ``fails``: whether the peer
        refuses RemoteQMCloseQueue. If it does, the documents leave open which result the application gets.
        """
        closed = self.find(queue)
        if closed.pending_reads:
            self.cite_rules("MQQP-3.2.4.9-03", "MQQP-3.2.4.9-04")
        for read in closed.pending_reads:
            self.record_remote_call("RemoteQMCancelReceive", queue=queue, descriptor=queue, read=read.name)
            self.answers[read.name] = ExpectedRefusal()
        self.record_remote_call("RemoteQMCloseQueue", handle=queue)
        del self.queues[queue]
        refused = fails and not self.choose_reading("answer to a close that the server refuses")
        self.answers["answer"] = ExpectedRefusal() if refused else "done"

    def draw_close(self, chance: Random) -> dict[str, Any]:
        return {"queue": draw_one_value_or_refuse_step(chance, self.queues), "fails": chance.random() < 0.3}

    @transition("MQQP-3.2.4.4-D01", needs=NEEDED_CAPABILITIES, weight=1)
    def purge(self, queue: str) -> None:
        """Have an application purge a queue of the peer."""
        self.find(queue)
        self.record_remote_call("RemoteQMPurgeQueue", queue=queue)
        self.answers["answer"] = "done"

    def draw_purge(self, chance: Random) -> dict[str, Any]:
        return {"queue": draw_one_value_or_refuse_step(chance, self.queues)}

    @transition("MQQP-3.2.4.5-16", needs=NEEDED_CAPABILITIES, weight=2)
    def open_cursor(self, cursor: str, queue: str) -> None:
        """Let an application create a cursor for a queue of the peer."""
        self.find(queue).cursors.append(cursor)
        self.record_remote_call("R_QMCreateRemoteCursor", queue=queue)
        self.answers["answer"] = "done"

    def draw_open_cursor(self, chance: Random) -> dict[str, Any]:
        queue = draw_one_value_or_refuse_step(
            chance, (name for name, one in self.queues.items() if len(one.cursors) < MAX_CURSORS)
        )
        return {"cursor": f"c{self.steps}", "queue": queue}

    @transition("MQQP-3.2.4.8-02", "MQQP-3.2.4.8-03", "MQQP-3.2.4.8-04", needs=NEEDED_CAPABILITIES, weight=1)
    def close_cursor(self, cursor: str) -> None:
        """Let an application close a cursor."""
        queue = self.find_queue_of_cursor(cursor)
        queue.cursors.remove(cursor)
        self.record_remote_call("RemoteQMCloseCursor", queue=queue.name, cursor=cursor)
        self.answers["answer"] = "done"

    def draw_close_cursor(self, chance: Random) -> dict[str, Any]:
        return {"cursor": self._draw_cursor(chance)}

    def find_queue_of_cursor(self, cursor: str) -> Queue:
        """Return the queue that a cursor belongs to; raise ImpossibleStep if the cursor is closed."""
        queue = next((one for one in self.queues.values() if cursor in one.cursors), None)
        if queue is None:
            raise ImpossibleStep
        return queue

    def _draw_cursor(self, chance: Random) -> str:
        return str(
            draw_one_value_or_refuse_step(chance, (name for one in self.queues.values() for name in one.cursors))
        )

    # -- reads --------------------------------------------------------------------------------------------------------

    @transition(
        "MQQP-3.2.4.2-08", "MQQP-3.2.4.3-08", "MQQP-3.2.4.5-08", "MQQP-3.2.4.6-07", needs=NEEDED_CAPABILITIES, weight=1
    )
    def upgrade(self, version: list[int]) -> None:
        """Let the peer return a different version from now on."""
        self.version = tuple(version)  # type: ignore[assignment]
        self.answers["answer"] = "done"

    def draw_upgrade(self, chance: Random) -> dict[str, Any]:
        return {"version": list(chance.choice(VERSIONS_WITHOUT_START_RECEIVE2 + VERSIONS_WITH_START_RECEIVE2))}

    @transition("MQQP-3.2.1.2-01", "MQQP-2.2.2.1-D03", needs=NEEDED_CAPABILITIES, weight=10)
    def read(
        self, read: str, queue: str, action: str, cursor: str | None, timeout_ms: int, served: str, message: Any
    ) -> None:
        """Let an application peek or receive, with or without a cursor. ``served``: the answer from the peer."""
        opened = self.find(queue)
        if cursor is not None and cursor not in opened.cursors:
            raise ImpossibleStep
        one = RemoteReadInProgress(read, queue, action == RECEIVE_ACTION, cursor is not None)
        self.cite_rules(*RULES_BY_KIND_OF_READ[one.removes_message, one.uses_cursor])
        self.record_remote_call("RemoteQmGetVersion")
        fields = self._describe_read(queue, action, cursor, timeout_ms)
        self.record_remote_call(START_RECEIVE2_METHOD if self.version >= (5, 1, 0) else START_RECEIVE_METHOD, **fields)
        opened.pending_reads.append(one)
        if served != PEER_HAS_NOT_ANSWERED_TEXT:
            self._complete_served_read(one, served, message)

    def _describe_read(self, queue: str, action: str, cursor: str | None, timeout_ms: int) -> dict[str, Any]:
        """Return the required fields of the description of a read."""
        return {
            "queue": queue,
            "descriptor": queue,
            "cursor": cursor,
            "action": action,
            "timeout_ms": timeout_ms,
            "size": 0,
            "buffer": None,
            "sequential id": 0,
            "reserved": 0,
            "unused id": True,
        }

    def draw_read(self, chance: Random) -> dict[str, Any]:
        queue = draw_one_value_or_refuse_step(chance, self.queues.values())
        cursor = (
            draw_one_value_or_refuse_step(chance, queue.cursors) if queue.cursors and chance.random() < 0.6 else None
        )
        action = chance.choice(
            (RECEIVE_ACTION, PEEK_ACTION, PEEK_NEXT_ACTION) if cursor is not None else (RECEIVE_ACTION, PEEK_ACTION)
        )
        kinds = (
            MESSAGE_ANSWER,
            MESSAGE_ANSWER,
            MESSAGE_ANSWER,
            self._draw_message_answer(chance, action == RECEIVE_ACTION),
            TIMEOUT_ANSWER,
            *_FAILURE_ANSWERS,
            PEER_HAS_NOT_ANSWERED_TEXT,
            PEER_HAS_NOT_ANSWERED_TEXT,
        )
        served = chance.choice(kinds if len(queue.pending_reads) < MAX_WAITING_READS else kinds[:-2])
        simple = (
            (0, 1, 1_500, INFINITE_READ_TIMEOUT_MS, *_LONG_TIMEOUTS_MS)
            if served != PEER_HAS_NOT_ANSWERED_TEXT
            else (INFINITE_READ_TIMEOUT_MS,)
        )
        return {
            "read": f"r{self.steps}",
            "queue": queue.name,
            "action": action,
            "cursor": cursor,
            "timeout_ms": chance.choice((*READ_TIMEOUTS_TO_DRAW_FROM_MS, *simple)),
            "served": served,
            "message": self._draw_message(chance),
        }

    @transition(
        *("MQQP-3.1.4.11-08", "MQQP-3.1.4.11-11", "MQQP-3.1.4.11-13", "MQQP-3.1.4.11-16"),
        needs=NEEDED_CAPABILITIES,
        weight=4,
    )
    def look_up(
        self, read: str, queue: str, lookup_id: int, seek: str, receives: bool, served: str, message: Any
    ) -> None:
        """Let an application read a message by its LookupIdentifier."""
        opened = self.find(queue)
        one = RemoteReadInProgress(read, queue, receives)
        self.record_remote_call("RemoteQmGetVersion")
        way = {"first": "next", "last": "previous"}.get(seek, seek)
        fields = self._describe_read(queue, f"{way} {'receive' if receives else 'peek'}", None, 0)
        place = {"first": LOOKUP_ID_BEFORE_FIRST, "last": LOOKUP_ID_BEHIND_LAST}.get(seek, lookup_id)
        self.record_remote_call(START_RECEIVE_BY_LOOKUP_ID_METHOD, **fields, lookup_id=place)
        opened.pending_reads.append(one)
        self._complete_served_read(one, served, message)

    def draw_look_up(self, chance: Random) -> dict[str, Any]:
        if self.version not in VERSIONS_WITH_START_RECEIVE2:
            raise ImpossibleStep  # the documents leave open how a client looks up messages of an old server
        return {
            "read": f"r{self.steps}",
            "queue": draw_one_value_or_refuse_step(chance, self.queues),
            "lookup_id": chance.choice((1, 0x0300_0000_0000_0005, chance.getrandbits(59))),
            "seek": chance.choice(SEEK_DIRECTIONS),
            "receives": chance.random() < 0.5,
            "served": chance.choice((MESSAGE_ANSWER, MESSAGE_ANSWER, *_FAILURE_ANSWERS)),
            "message": self._draw_message(chance),
        }

    def _draw_message_answer(self, chance: Random, receives: bool) -> str:
        """Choose at random an answer that contains a message. If the read is a receive, the server may refuse the
        client's request to end it.
        """
        return MESSAGE_OF_RECEIVE_THAT_CANNOT_END if receives and chance.random() < 0.5 else MESSAGE_ANSWER

    @transition("MQQP-3.2.1.2-01", needs=NEEDED_CAPABILITIES, weight=5)
    def serve(self, read: str, served: str, message: Any) -> None:
        """Let the peer answer a waiting read."""
        _, one = self.find_read(read)
        self._complete_served_read(one, served, message)

    def draw_serve(self, chance: Random) -> dict[str, Any]:
        reads = [read for queue in self.queues.values() for read in queue.pending_reads]
        read = draw_one_value_or_refuse_step(chance, reads)
        return {
            "read": read.name,
            "served": chance.choice(
                (
                    MESSAGE_ANSWER,
                    self._draw_message_answer(chance, read.removes_message),
                    TIMEOUT_ANSWER,
                    *_FAILURE_ANSWERS,
                )
            ),
            "message": self._draw_message(chance),
        }

    def _complete_served_read(self, read: RemoteReadInProgress, served: str, message: Any) -> None:
        """Complete a read. If the peer answers with a message, the client delivers the message and, if the read is
        a receive, ends the receive.
        """
        if served == MESSAGE_OF_RECEIVE_THAT_CANNOT_END and not read.removes_message:
            raise ImpossibleStep
        self.queues[read.queue].pending_reads.remove(read)
        if served in _FAILURE_ANSWERS:
            self.answers[read.name] = ExpectedRefusal()
        elif served == TIMEOUT_ANSWER:
            self.answers[read.name] = {"message": None}
        else:
            self.cite_rules(*END_RULES_BY_KIND_OF_READ[read.removes_message, read.uses_cursor])
            self.answers[read.name] = {"message": dict(message)}
            if served == MESSAGE_OF_RECEIVE_THAT_CANNOT_END:
                self.cite_rules("MQQP-3.2.4.3-39", "MQQP-3.2.4.6-38")
                if not self.choose_reading("answer to a receive whose end the server refuses"):
                    self.answers[read.name] = ExpectedRefusal()
            if read.removes_message:
                self.record_remote_call("RemoteQMEndReceive", handle=read.name, ack="RR_ACK")

    def _draw_message(self, chance: Random) -> dict[str, Any]:
        """Choose at random the visible properties of a message from the peer."""
        kind = chance.choice(("express", "recoverable", "transactional"))
        return {
            "label": chance.choice(("", "m", "l" * 249, "a label")),
            "size": chance.choice(BODY_SIZES_OF_DRAWN_MESSAGES),
            "body_type": chance.choice((0, 8, 0x1011)),
            "priority": 0 if kind == "transactional" else chance.randrange(8),
            "delivery": kind,
            "application_tag": chance.choice((0, 1, 0xFFFF_FFFF, chance.getrandbits(32))),
            "correlation_id": bytes(chance.getrandbits(8) for _ in range(20)).hex(),
            "extension": bytes(chance.getrandbits(8) for _ in range(chance.choice((0, 0, 5, 300)))).hex(),
            "acks": sorted(chance.sample(("positive_arrival", "positive_receive"), chance.randrange(3))),
            "journal": sorted(chance.sample(("negative", "positive"), chance.randrange(3))),
            "arrived_time": chance.choice((1_700_000_123, 1_600_000_000)),
        }

    @transition(
        *("MQQP-3.2.4.7-02", "MQQP-3.2.4.7-03", "MQQP-3.2.4.7-04", "MQQP-3.2.4.7-05", "MQQP-3.2.4.7-06"),
        needs=NEEDED_CAPABILITIES,
        weight=3,
    )
    def cancel(self, read: str) -> None:
        """Let an application cancel a waiting read."""
        queue, one = self.find_read(read)
        self.record_remote_call("RemoteQMCancelReceive", queue=queue.name, descriptor=queue.name, read=read)
        queue.pending_reads.remove(one)
        self.answers["answer"] = "done"
        self.answers[read] = ExpectedRefusal()

    def draw_cancel(self, chance: Random) -> dict[str, Any]:
        return {
            "read": draw_one_value_or_refuse_step(
                chance, (read.name for queue in self.queues.values() for read in queue.pending_reads)
            )
        }

    # -- visible state ------------------------------------------------------------------------------------------------

    def describe_visible_state(self) -> dict[str, Any]:
        """Return the calls of the last step and the elements of the client's data model (MS-MQQP 3.2.1)."""
        return {
            "calls": list(self.calls),
            "bindings": len(self.queues),
            "pending reads": sum(len(one.pending_reads) for one in self.queues.values()),
            "open queues": len(self.queues),
        }
