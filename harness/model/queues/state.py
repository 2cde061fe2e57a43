"""Define the contents of queues. Spec: MS-MQDMPR 3.1.1.2, 3.1.1.10, 3.1.1.11, 3.1.1.14, 3.1.1.16, 3.2."""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass, field
from typing import Any

AVAILABLE_MESSAGE_STATE, LOCKED_MESSAGE_STATE, PURGE_PENDING_MESSAGE_STATE, DELETED_MESSAGE_STATE = (
    "available",
    "locked",
    "purge pending",
    "deleted",
)
UNREAD_CURSOR_STATE, READ_CURSOR_STATE, WAIT_PEEK_CURSOR_STATE, WAIT_RECEIVE_CURSOR_STATE = (
    "unread",
    "read",
    "wait peek",
    "wait receive",
)
INFINITE_LIFETIME_S = 0xFFFFFFFF
NO_QUEUE_TYPE = "00000000-0000-0000-0000-000000000000"
"""The Type of a queue for which its creator gives no Type (MS-MQDMPR 3.1.1.2)."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message as it was sent to a queue. ``time_to_be_received_s``: its TimeToBeReceived. ``class_name``: its
    class.
    """

    name: str
    queue: str
    priority: int = 3
    delivery: str = "express"
    size: int = 0
    requested_acknowledgments: tuple[str, ...] = ()
    application_tag: int = 0
    time_to_be_received_s: int = INFINITE_LIFETIME_S
    class_name: str = "NORMAL"
    journal: tuple[str, ...] = ()
    other_properties: tuple[tuple[str, Any], ...] = ()
    """The values of further visible properties, by name."""

    @property
    def recoverable(self) -> bool:
        return self.delivery != "express"

    def list_visible_properties(self) -> dict[str, Any]:
        """Return the properties of the message that its receiver can read. For an acknowledgment, return only
        the properties that MS-MQQB 3.1.7.15 sets.
        """
        if self.class_name != "NORMAL":
            without_body = self.class_name in ("ACK_REACH_QUEUE", "ACK_RECEIVE")
            return {
                "message": self.name,
                "class": self.class_name,
                "delivery": self.delivery,
                "acks": [],
                "journal": [],
                "answers_to": self.queue,
                "time_to_be_received_s": INFINITE_LIFETIME_S,
                "time_to_reach_queue_s": INFINITE_LIFETIME_S,
                "size": 0 if without_body else self.size,
            }
        return {
            "message": self.name,
            "class": self.class_name,
            "priority": self.priority,
            "delivery": self.delivery,
            "size": self.size,
            "acks": sorted(self.requested_acknowledgments),
            "journal": sorted(self.journal),
            "application_tag": self.application_tag,
            "time_to_be_received_s": self.time_to_be_received_s,
            **dict(self.other_properties),
        }


@dataclass(eq=False, slots=True)
class MessagePosition:
    """The position of a message in a queue. ``step``: the step that put the message there. ``expires_ms``: the time
    at which the message expires. ``was_ever_visible``: whether the message was ever visible.
    """

    message: Message
    queue: Queue
    arrival_number: int
    step: int
    state: str = AVAILABLE_MESSAGE_STATE
    expires_ms: int | None = None
    was_ever_visible: bool = False

    @property
    def sort_key(self) -> tuple[int, int]:
        """The sort key of the position. Positions are sorted by priority, then by arrival (MS-MQDMPR 3.1.1.2)."""
        return -self.message.priority, self.arrival_number


@dataclass(eq=False, slots=True)
class Queue:
    """A queue, a subqueue (``parent``), or the journal of a queue (``journal``)."""

    name: str
    transactional: bool = False
    journaling: bool = False
    quota_kb: int | None = None
    journal_quota_kb: int | None = None
    label: str = ""
    type: str = NO_QUEUE_TYPE
    base_priority: int = 0
    parent: Queue | None = None
    journal: Queue | None = None
    subqueues: list[Queue] = field(default_factory=list)
    positions: list[MessagePosition] = field(default_factory=list)
    handles: list[OpenQueueHandle] = field(default_factory=list)
    exists: bool = True

    def insert(self, position: MessagePosition) -> None:
        insort(self.positions, position, key=lambda one: one.sort_key)

    def list_available_positions(self, after: tuple[int, int] | None = None) -> list[MessagePosition]:
        """Return the positions of the available messages, in order. ``after``: the key after which the positions
        must be.
        """
        return [
            one
            for one in self.positions
            if one.state == AVAILABLE_MESSAGE_STATE and (after is None or one.sort_key > after)
        ]

    def list_queue_and_parts(self) -> list[Queue]:
        """Return the queue, and the subqueues and the journal that are deleted together with it."""
        return [self, *([self.journal] if self.journal else []), *self.subqueues]


@dataclass(eq=False, slots=True)
class OpenQueueHandle:
    """An OpenQueueDescriptor. ``queue`` is None if the queue was deleted. A handle without a name belongs to a
    single read.
    """

    name: str | None
    queue: Queue | None
    access_mode: str = "receive"
    deny_receive: bool = False
    cursors: list[Cursor] = field(default_factory=list)
    readers: list[WaitingRead] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Cursor:
    """A cursor. ``sort_key_of_position``: the key of its position, or None at Start. ``position``: the message position
    at ``sort_key_of_position``.
    """

    name: str
    handle: OpenQueueHandle
    sort_key_of_position: tuple[int, int] | None = None
    position: MessagePosition | None = None
    state: str = UNREAD_CURSOR_STATE

    def move(self, position: MessagePosition) -> None:
        self.position, self.sort_key_of_position = position, position.sort_key


@dataclass(eq=False, slots=True)
class WaitingRead:
    """A read that waits for a message."""

    name: str
    handle: OpenQueueHandle
    is_receive: bool
    due_ms: int
    cursor: Cursor | None = None
    transaction: Transaction | None = None


@dataclass(eq=False, slots=True)
class TransactionOperation:
    """An operation in a transaction, which enqueues a message, dequeues a message, or moves a message to
    ``target``. ``reason``: the DequeueReason of a dequeue.
    """

    kind: str
    position: MessagePosition
    target: Queue | None = None
    reason: str = "ACK_RECEIVE"


@dataclass(eq=False, slots=True)
class Transaction:
    """A transaction of an application, or of a coordinator (``is_external``)."""

    name: str
    is_external: bool
    state: str = "active"
    operations: list[TransactionOperation] = field(default_factory=list)
