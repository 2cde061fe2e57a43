"""The messages of a queue, linked. Spec: MS-MQDMPR 3.1.1.2 (MessagePositionList), 3.1.1.11 (Next, Previous)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

from reference_qm.model.states import MessagePositionState

if TYPE_CHECKING:
    from reference_qm.model.adm import Message, MessagePosition

PRIORITIES = 8
HEADERS_SIZE = 16 + 48 + 56
"""Bytes of the headers that every message has: BaseHeader, UserHeader, MessagePropertiesHeader."""


def storage_size(message: Message) -> int:
    """Return the number of bytes that a message takes: headers, label, extension, body. Spec: MS-MQDMPR 3.1.7.2.1."""
    text = len(message.Label) + len(message.DestinationQueueFormatName)
    return HEADERS_SIZE + 2 * text + len(message.Extension) + len(message.Body)


@dataclass(slots=True)
class Storage:
    """The number of bytes that the messages of several queues take."""

    used: int = 0


class Boundary:
    """One of the two reserved entries of a list, Start and End.

    ``passed``: up to there a search from here found no message to receive, and none has become available since.
    """

    __slots__ = ("Next", "Previous", "passed")

    Next: MessagePosition | Boundary
    Previous: MessagePosition | Boundary
    passed: MessagePosition | Boundary

    def __init__(self) -> None:
        self.passed = self


Entry: TypeAlias = "MessagePosition | Boundary"


class MessagePositionList:
    """The messages of a queue: by arrival within priority, the highest priority first. Spec: MS-MQDMPR 3.1.1.2.

    A position that a cursor is at stays linked when it is deleted, until the cursor moves on (3.1.1.11: it is removed
    from the system when nothing refers to it): else nobody knew what is next after it. It is not counted any more.
    """

    __slots__ = ("End", "Start", "TotalBytes", "_by_identifier", "_count", "_inserted", "_last", "storage")

    def __init__(self, storage: Storage | None = None) -> None:
        self.Start, self.End = Boundary(), Boundary()
        self.Start.Next, self.Start.Previous = self.End, self.Start
        self.End.Next, self.End.Previous = self.End, self.Start
        self.TotalBytes = 0
        """The bytes that the messages take. Printed is to add with each Message Position Available (3.1.7.2.2) and to
        subtract when deleted (3.1.7.2.1): one unlocked again would count twice, one deleted before it was available
        would count negative. So it counts from insertion to deletion."""
        self.storage = storage if storage is not None else Storage()
        self._count = self._inserted = 0
        self._last: list[MessagePosition | None] = [None] * PRIORITIES
        self._by_identifier: dict[int, MessagePosition] = {}

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[MessagePosition]:
        """Yield every position in order; positions may come and go meanwhile."""
        entry = self.Head
        while not isinstance(entry, Boundary):
            self.hold(entry)
            try:
                if entry.State is not MessagePositionState.DELETED:
                    yield entry
                following = entry.Next
            finally:
                self.release(entry)
            assert following is not None
            entry = following

    @property
    def Head(self) -> Entry:  # noqa: N802 - as printed
        """The first entry; End when there is none."""
        return self.Start.Next

    @property
    def Tail(self) -> Entry:  # noqa: N802 - as printed
        """The last entry; Start when there is none."""
        return self.End.Previous

    def find(self, lookup_identifier: int) -> MessagePosition | None:
        """Return the position whose message has a LookupIdentifier."""
        return self._by_identifier.get(lookup_identifier)

    def insert(self, position: MessagePosition) -> None:
        """Insert a position after those of its priority."""
        priority = position.MessageReference.Priority
        self._link_position(next(filter(None, self._last[priority:]), self.Start), position)
        self._last[priority] = position
        self._inserted += 1
        position.order = self._inserted
        self._by_identifier[position.LookupIdentifier] = position
        position.size = storage_size(position.MessageReference)
        self._count_storage(1, position.size)
        self.reconsider(position)

    def reconsider(self, position: MessagePosition) -> None:
        """Let searches find a position that they passed: it is new, or available again."""
        passed = self.Start.passed
        if (
            position.counted_in is self
            and not isinstance(passed, Boundary)
            and _sort_key(position) <= _sort_key(passed)
        ):
            self.Start.passed = cast("Entry", position.Previous)

    def remove(self, position: MessagePosition) -> None:
        """Take a position out; nothing happens when it is out. It is deleted, or was never to be seen."""
        if position.counted_in is self:
            position.State = MessagePositionState.DELETED
            position.counted_in = None
            self._count_storage(-1, -position.size)
            if not position.held:
                self._unlink_position(position)

    def hold(self, entry: Entry) -> None:
        """Keep an entry linked, once for each call."""
        if not isinstance(entry, Boundary):
            entry.held += 1

    def release(self, entry: Entry) -> None:
        """Keep an entry linked no longer."""
        if not isinstance(entry, Boundary):
            entry.held -= 1
            if not entry.held and entry.State is MessagePositionState.DELETED:
                self._unlink_position(entry)

    def _count_storage(self, count: int, size: int) -> None:
        self._count += count
        self.TotalBytes += size
        self.storage.used += size

    def _link_position(self, before: Entry, position: MessagePosition) -> None:
        after = cast("Entry", before.Next)
        position.Previous, position.Next = before, after
        before.Next = after.Previous = position
        position.counted_in = self

    def _unlink_position(self, position: MessagePosition) -> None:
        before, after = cast("Entry", position.Previous), cast("Entry", position.Next)
        before.Next, after.Previous = after, before
        if self.Start.passed is position:
            self.Start.passed = before
        position.Next = position.Previous = None
        if self._by_identifier.get(position.LookupIdentifier) is position:  # else it was moved away and came back
            del self._by_identifier[position.LookupIdentifier]
        priority = position.MessageReference.Priority
        if self._last[priority] is position:
            same = not isinstance(before, Boundary) and before.MessageReference.Priority == priority
            self._last[priority] = cast("MessagePosition", before) if same else None


def _sort_key(position: MessagePosition) -> tuple[int, int]:
    """Return the sort key of a position in its list."""
    return -position.MessageReference.Priority, position.order
