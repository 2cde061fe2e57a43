"""Faults of searches from the start, and of backward searches past several unavailable messages."""

from __future__ import annotations

from typing import cast

from harness.faults.parts import fault
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.model.adm import MessagePosition
from reference_qm.model.enums import SeekDirection
from reference_qm.model.position_list import Boundary, Entry
from reference_qm.model.states import MessagePositionState


@fault("queue-manager-search-skips-messages-before-end-of-last-search", breaks="MQDMPR-3.1.7.3.2-09", blind=True)
class QueueManagerSearchSkipsMessagesBeforeEndOfLastSearch(MessagePositions):
    """A search from the start does not check messages in front of the place where the last search ended, even if one of
    them has become available again.
    """

    def unlock_message(self, position: MessagePosition) -> None:
        positions = position.QueueReference.MessagePositionList
        passed = positions.Start.passed
        super().unlock_message(position)
        if position.State is MessagePositionState.AVAILABLE and positions.Head is position:
            positions.Start.passed = position if passed is positions.Start else passed


@fault("queue-manager-search-from-start-skips-message-of-top-priority", breaks="MQDMPR-3.1.7.3.2-09", blind=True)
class QueueManagerSearchFromStartSkipsMessageOfTopPriority(MessageSearch):
    """A search from the start begins at the second message if the first message arrived later than the second, because
    of its priority.
    """

    def seek_available(
        self,
        initial_position: Entry,
        peek_operation: bool,
        seek_direction: SeekDirection = SeekDirection.FORWARD,
    ) -> MessagePosition | None:
        if isinstance(initial_position, Boundary) and seek_direction is SeekDirection.FORWARD:
            first = initial_position.Next
            second = None if isinstance(first, Boundary) else first.Next
            both = isinstance(first, MessagePosition) and isinstance(second, MessagePosition)
            if both and first.order > second.order:  # type: ignore[union-attr]
                initial_position = first
        return super().seek_available(initial_position, peek_operation, seek_direction)


class BackwardSearchChanger(MessageSearch):
    """A part of the queue manager in which a backward search stops at some messages that are not available; a subclass
    selects which.
    """

    def does_search_stop_at_message(self, position: MessagePosition, skipped: int) -> bool:
        """Return whether the search returns an unavailable message. ``skipped``: the number of messages it skipped."""
        raise NotImplementedError

    def seek_available(
        self,
        initial_position: Entry,
        peek_operation: bool,
        seek_direction: SeekDirection = SeekDirection.FORWARD,
    ) -> MessagePosition | None:
        if seek_direction is SeekDirection.FORWARD:
            return super().seek_available(initial_position, peek_operation, seek_direction)
        entry, skipped = cast("Entry", initial_position.Previous), 0
        while not isinstance(entry, Boundary):
            if self.is_message_readable(entry, peek_operation) or self.does_search_stop_at_message(entry, skipped):
                return entry
            entry, skipped = cast("Entry", entry.Previous), skipped + 1
        return None


@fault("queue-manager-backward-search-skips-only-one-locked-message", breaks="MQDMPR-3.1.7.3.2-26", blind=True)
class QueueManagerBackwardSearchSkipsOnlyOneLockedMessage(BackwardSearchChanger):
    """A backward search skips one message that is not available, and returns the second such message."""

    def does_search_stop_at_message(self, position: MessagePosition, skipped: int) -> bool:
        return skipped > 0


@fault("queue-manager-backward-search-returns-locked-purged-message", breaks="MQDMPR-3.1.7.3.2-26", blind=True)
class QueueManagerBackwardSearchReturnsLockedPurgedMessage(BackwardSearchChanger):
    """A backward search returns a locked message of a queue that was purged."""

    def does_search_stop_at_message(self, position: MessagePosition, skipped: int) -> bool:
        return position.State is MessagePositionState.PURGE_PENDING
