"""The linked list of the messages of a queue.

Spec: MS-MQDMPR 3.1.1.2 (MessagePositionList), 3.1.1.11 (Next, Previous).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

from reference_qm.model.states import MessagePositionState

if TYPE_CHECKING:
    from reference_qm.model.adm import Message, MessagePosition

PRIORITY_COUNT = 8
MIN_HEADERS_BYTES = 16 + 48 + 56
"""The size in bytes of the headers that every message has: BaseHeader, UserHeader and MessagePropertiesHeader."""


def compute_storage_size(message: Message) -> int:
    """Return the size in bytes of a message, which includes headers, label, extension and body. Spec: MS-MQDMPR
    3.1.7.2.1.
    """
    text = len(message.Label) + len(message.DestinationQueueFormatName)
    return MIN_HEADERS_BYTES + 2 * text + len(message.Extension) + len(message.Body)


@dataclass(slots=True)
class QueueStorageUse:
    """The total size in bytes of the messages in several queues (``used_bytes``). The lists of these queues update
    it.
    """

    used_bytes: int = 0


class Boundary:
    """One of the two reserved entries of a list: Start or End.

    ``passed`` is the entry up to which a search from the start has found no message to receive. The next search begins
    after this entry, because no message up to it has become available since that search.
    """

    __slots__ = ("Next", "Previous", "passed")

    Next: MessagePosition | Boundary
    Previous: MessagePosition | Boundary
    passed: MessagePosition | Boundary

    def __init__(self) -> None:
        self.passed = self


Entry: TypeAlias = "MessagePosition | Boundary"


class MessagePositionList:
    """The messages of a queue in descending order of priority, and in order of arrival within a priority. Spec:
    MS-MQDMPR 3.1.1.2.

    A deleted position stays linked while a cursor refers to it, because otherwise the cursor would not find its
    next message (3.1.1.11 removes a position from the system when nothing refers to it). A deleted position is not
    counted.
    """

    __slots__ = ("End", "Start", "TotalBytes", "_by_identifier", "_count", "_insertion_count", "_last", "storage")

    def __init__(self, storage: QueueStorageUse | None = None) -> None:
        self.Start, self.End = Boundary(), Boundary()
        self.Start.Next, self.Start.Previous = self.End, self.Start
        self.End.Next, self.End.Previous = self.End, self.Start
        self.TotalBytes = 0
        """The size in bytes of the messages.

        The document adds the size of a message at each Message Position Available (3.1.7.2.2) and subtracts it at each
        deletion (3.1.7.2.1). With these steps, a message that is unlocked would be counted twice, and the size of a
        message that is deleted before it becomes available would be subtracted without having been added. Here a
        message is counted from its insertion to its deletion.
        """
        self.storage = storage if storage is not None else QueueStorageUse()
        self._count = self._insertion_count = 0
        self._last: list[MessagePosition | None] = [None] * PRIORITY_COUNT
        self._by_identifier: dict[int, MessagePosition] = {}

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[MessagePosition]:
        """Yield every position in order. Positions may be added and removed during the iteration."""
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
        """The first entry, or End if the list is empty."""
        return self.Start.Next

    @property
    def Tail(self) -> Entry:  # noqa: N802 - as printed
        """The last entry, or Start if the list is empty."""
        return self.End.Previous

    def find(self, lookup_identifier: int) -> MessagePosition | None:
        """Return the position whose message has the given LookupIdentifier."""
        return self._by_identifier.get(lookup_identifier)

    def insert(self, position: MessagePosition) -> None:
        """Insert a position after the last position with the same priority."""
        priority = position.MessageReference.Priority
        self._link_position(next(filter(None, self._last[priority:]), self.Start), position)
        self._last[priority] = position
        self._insertion_count += 1
        position.order = self._insertion_count
        self._by_identifier[position.LookupIdentifier] = position
        position.size = compute_storage_size(position.MessageReference)
        self._count_storage(1, position.size)
        self.reset_search_start(position)

    def reset_search_start(self, position: MessagePosition) -> None:
        """Make sure that the next search from the start of the list finds the given position, which is new or has
        become available.
        """
        passed = self.Start.passed
        if (
            position.position_list_that_counts_size is self
            and not isinstance(passed, Boundary)
            and _build_sort_key(position) <= _build_sort_key(passed)
        ):
            self.Start.passed = cast("Entry", position.Previous)

    def remove(self, position: MessagePosition) -> None:
        """Remove the position of a message that was deleted or whose insertion was undone. Do nothing if the
        position is not in the list.
        """
        if position.position_list_that_counts_size is self:
            position.State = MessagePositionState.DELETED
            position.position_list_that_counts_size = None
            self._count_storage(-1, -position.size)
            if not position.reader_hold_count:
                self._unlink_position(position)

    def hold(self, entry: Entry) -> None:
        """Keep an entry linked in the list even if its message is deleted. The entry stays linked until ``release`` has
        been called for it as often as ``hold``.
        """
        if not isinstance(entry, Boundary):
            entry.reader_hold_count += 1

    def release(self, entry: Entry) -> None:
        """Undo one call of ``hold``."""
        if not isinstance(entry, Boundary):
            entry.reader_hold_count -= 1
            if not entry.reader_hold_count and entry.State is MessagePositionState.DELETED:
                self._unlink_position(entry)

    def _count_storage(self, count: int, size: int) -> None:
        self._count += count
        self.TotalBytes += size
        self.storage.used_bytes += size

    def _link_position(self, before: Entry, position: MessagePosition) -> None:
        after = cast("Entry", before.Next)
        position.Previous, position.Next = before, after
        before.Next = after.Previous = position
        position.position_list_that_counts_size = self

    def _unlink_position(self, position: MessagePosition) -> None:
        before, after = cast("Entry", position.Previous), cast("Entry", position.Next)
        before.Next, after.Previous = after, before
        if self.Start.passed is position:
            self.Start.passed = before
        position.Next = position.Previous = None
        if (
            self._by_identifier.get(position.LookupIdentifier) is position
        ):  # false if the message left the list and was inserted again
            del self._by_identifier[position.LookupIdentifier]
        priority = position.MessageReference.Priority
        if self._last[priority] is position:
            same = not isinstance(before, Boundary) and before.MessageReference.Priority == priority
            self._last[priority] = cast("MessagePosition", before) if same else None


def _build_sort_key(position: MessagePosition) -> tuple[int, int]:
    """Return the key by which a position is sorted in its list."""
    return -position.MessageReference.Priority, position.order
