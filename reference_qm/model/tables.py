"""Defines ordered and indexed collections of the abstract data model, in which frequent operations are fast."""

from __future__ import annotations

import heapq
from collections import OrderedDict
from collections.abc import Iterator
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from reference_qm.model.adm import MessageIDHistoryEntry, OutgoingMessagePosition

MESSAGE_ID_HISTORY_SIZE = 10_000
"""The maximum number of entries in the MessageIDHistoryTable (note <25>)."""


class OutgoingMessageTable:
    """The unsent and unacknowledged messages of a session, in the order in which they were added.

    Spec: MS-MQQB 3.1.1.3.1. The table has an index of the messages that were sent and are not acknowledged. A second
    index contains the messages that may be sent: the session's part of the DispatchCollection (MS-MQDMPR 3.1.1.18), in
    the order of MS-MQDMPR 3.1.7.3.9. With these indexes, an acknowledgment is handled quickly even if the table
    contains a million messages.
    """

    __slots__ = ("_added", "_position_by_message", "_positions", "_sent", "_unsent")

    def __init__(self) -> None:
        self._added = 0
        self._positions: dict[int, OutgoingMessagePosition] = {}
        self._position_by_message: dict[tuple[UUID, int], OutgoingMessagePosition] = {}
        self._sent: dict[int, OutgoingMessagePosition] = {}
        self._unsent: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return len(self._positions)

    def __iter__(self) -> Iterator[OutgoingMessagePosition]:
        return iter(list(self._positions.values()))

    def __contains__(self, position: OutgoingMessagePosition) -> bool:
        return self._positions.get(position.order) is position

    @property
    def awaiting_ack(self) -> list[OutgoingMessagePosition]:
        """The positions whose AwaitingAck is TRUE, in the order in which they were sent."""
        return list(self._sent.values())

    def add(self, position: OutgoingMessagePosition) -> None:
        """Append a position. The position may be sent after a call of ``dispatch``."""
        self._added += 1
        position.order = self._added
        self._positions[position.order] = position
        self._position_by_message[_build_message_key(position)] = position

    def find(self, source: UUID, ordinal: int) -> OutgoingMessagePosition | None:
        """Return the position of a message. ``source`` and ``ordinal`` are the queue manager and the number in the
        message identifier.
        """
        return self._position_by_message.get((source, ordinal))

    def get_next_unsent(self) -> OutgoingMessagePosition | None:
        """Return the position to send next: of the dispatched positions with the highest priority, the position
        that was added first.
        """
        while self._unsent:
            position = self._positions.get(self._unsent[0][1])
            if position is not None and not (position.AwaitingAck or position.ReceivedSessionAck):
                return position
            heapq.heappop(self._unsent)
        return None

    def note_position_sent(self, position: OutgoingMessagePosition) -> None:
        """Set AwaitingAck to TRUE for a position that was sent."""
        position.AwaitingAck = True
        self._sent[position.order] = position

    def remove(self, position: OutgoingMessagePosition) -> None:
        """Delete a position from the table."""
        self._positions.pop(position.order, None)
        self._position_by_message.pop(_build_message_key(position), None)
        self._sent.pop(position.order, None)

    def keep_message_until_order_ack(self, position: OutgoingMessagePosition) -> None:
        """Set AwaitingAck of a position to FALSE, but keep the position in the table, because it awaits a further
        acknowledgment.
        """
        position.AwaitingAck = False
        self._sent.pop(position.order, None)

    def mark_for_resending(self, position: OutgoingMessagePosition) -> None:
        """Set AwaitingAck and ReceivedSessionAck of a position to FALSE, so that the position can be sent again."""
        position.AwaitingAck = position.ReceivedSessionAck = False
        self._sent.pop(position.order, None)

    def move_cursor_to_start(self) -> None:
        """Set AwaitingAck of every message to FALSE. Afterwards a message is sent only after a new call of
        ``dispatch``.
        """
        self._sent.clear()
        self._unsent.clear()
        for position in self._positions.values():
            position.AwaitingAck = False

    def dispatch(self, position: OutgoingMessagePosition) -> None:
        """Permit the sending of a message that is in the table."""
        heapq.heappush(self._unsent, (-position.priority, position.order))

    def withhold_position(self, position: OutgoingMessagePosition) -> None:
        """Forbid the sending of a message if it is the next message to send. For a message that was already sent, no
        call is necessary.
        """
        if self._unsent and self._unsent[0][1] == position.order:
            heapq.heappop(self._unsent)

    def withhold_all_positions(self) -> None:
        """Forbid the sending of every message in the table until ``dispatch`` is called for the message."""
        self._unsent.clear()


def _build_message_key(position: OutgoingMessagePosition) -> tuple[UUID, int]:
    """Return the key of a message. The key contains the queue manager, because ordinals are unique only within a
    queue manager.
    """
    user = position.UserMessage.UserHeader
    return user.SourceQueueManager, user.MessageID


class MessageIDHistoryTable:
    """The identifiers of received messages, sorted by TimeStamp. The number of entries is limited. Spec: MS-MQQB
    3.1.1.3.
    """

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: OrderedDict[tuple[int, int], MessageIDHistoryEntry] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[MessageIDHistoryEntry]:
        return iter(list(self._entries.values()))

    def find(self, source: UUID, ordinal: int) -> MessageIDHistoryEntry | None:
        """Return the entry of a message, which ``source`` (its queue manager) and ``ordinal`` identify."""
        return self._entries.get((source.int, ordinal))

    def insert(self, entry: MessageIDHistoryEntry) -> MessageIDHistoryEntry | None:
        """Insert an entry, or replace the existing entry of the message. If the table was full, drop the earliest entry
        and return it.
        """
        key = _build_history_key(entry)
        self._entries[key] = entry
        self._entries.move_to_end(key)
        if len(self._entries) <= MESSAGE_ID_HISTORY_SIZE:
            return None
        return self._entries.popitem(last=False)[1]

    def remove(self, entry: MessageIDHistoryEntry) -> None:
        """Remove the entry of a message."""
        self._entries.pop(_build_history_key(entry), None)


def _build_history_key(entry: MessageIDHistoryEntry) -> tuple[int, int]:
    """Return the key of an entry. The key contains the GUID as an integer, because integers are hashed faster."""
    identifier = entry.MessageIdentifier
    return identifier.QueueManagerGuid.int, identifier.Ordinal
