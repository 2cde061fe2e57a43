"""Faults of MS-MQDMPR 3.1.7.3.2 Seek Available Message Position."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.seeking import Seeking, _get_neighbour
from reference_qm.model.adm import MessagePosition
from reference_qm.model.enums import SeekDirection
from reference_qm.model.position_list import Boundary, Entry
from reference_qm.model.states import MessagePositionState


@fault(
    "message-search-from-position-returns-that-message",
    breaks=("MQDMPR-3.1.7.3.2-11", "MQDMPR-3.1.7.3.2-21"),
)
class MessageSearchFromPositionReturnsThatMessage(Seeking):
    """A search that starts at an available message returns this message instead of the following or preceding one."""

    def seek_available(
        self,
        initial_position: Entry,
        peek_operation: bool,
        seek_direction: SeekDirection = SeekDirection.FORWARD,
    ) -> MessagePosition | None:
        if not isinstance(initial_position, Boundary) and self.is_readable(initial_position, peek_operation):
            return initial_position
        return super().seek_available(initial_position, peek_operation, seek_direction)


@fault(
    "message-search-always-forward",
    breaks=("MQDMPR-3.1.7.3.2-04", "MQDMPR-3.1.7.3.2-21", "MQDMPR-3.1.7.3.2-22", "MQDMPR-3.1.7.3.3-17"),
)
class MessageSearchAlwaysForward(Seeking):
    """A search always proceeds forward, even if its caller requests a backward search."""

    def seek_available(
        self,
        initial_position: Entry,
        peek_operation: bool,
        seek_direction: SeekDirection = SeekDirection.FORWARD,
    ) -> MessagePosition | None:
        forward = seek_direction if isinstance(initial_position, Boundary) else SeekDirection.FORWARD
        return super().seek_available(initial_position, peek_operation, forward)


@fault("message-search-from-position-always-backward", breaks=("MQDMPR-3.1.7.3.2-03", "MQDMPR-3.1.7.3.3-41"))
class MessageSearchFromPositionAlwaysBackward(Seeking):
    """A search that starts at a message always proceeds backward, even if its caller requests a forward search."""

    def seek_available(
        self,
        initial_position: Entry,
        peek_operation: bool,
        seek_direction: SeekDirection = SeekDirection.FORWARD,
    ) -> MessagePosition | None:
        backward = seek_direction if isinstance(initial_position, Boundary) else SeekDirection.BACKWARD
        return super().seek_available(initial_position, peek_operation, backward)


@fault(
    "message-search-ends-at-locked-message",
    breaks=(
        "MQDMPR-3.1.7.3.2-12",
        "MQDMPR-3.1.7.3.2-16",
        "MQDMPR-3.1.7.3.2-22",
        "MQDMPR-3.1.7.3.2-26",
        "MQDMPR-3.1.7.3.2-27",
    ),
)
class MessageSearchEndsAtLockedMessage(Seeking):
    """A search ends without a message when it reaches a locked message."""

    def seek_available(
        self,
        initial_position: Entry,
        peek_operation: bool,
        seek_direction: SeekDirection = SeekDirection.FORWARD,
    ) -> MessagePosition | None:
        entry = _get_neighbour(initial_position, seek_direction is SeekDirection.FORWARD)
        if not isinstance(entry, Boundary) and entry.State is MessagePositionState.LOCKED:
            return None
        return super().seek_available(initial_position, peek_operation, seek_direction)


@fault("locked-message-found-by-lookup", breaks=("MQDMPR-3.1.7.3.2-16", "MQDMPR-3.1.7.1.13-20"))
class LockedMessageFoundByLookup(Seeking):
    """A peek at a locked message, and a receive of a locked message by its LookupIdentifier, return the message."""

    def is_readable(self, position: MessagePosition, peek_operation: bool) -> bool:
        return super().is_readable(position, peek_operation) or position.State is MessagePositionState.LOCKED


@fault("message-search-from-end-skips-last-message", breaks=("MQDMPR-3.1.7.3.2-19", "MQDMPR-3.1.7.3.3-53"))
class MessageSearchFromEndSkipsLastMessage(Seeking):
    """A search from the end of the queue skips the last message if the queue has further messages."""

    def seek_available(
        self,
        initial_position: Entry,
        peek_operation: bool,
        seek_direction: SeekDirection = SeekDirection.FORWARD,
    ) -> MessagePosition | None:
        found: MessagePosition | None = super().seek_available(initial_position, peek_operation, seek_direction)
        if found is None or seek_direction is SeekDirection.FORWARD or not isinstance(initial_position, Boundary):
            return found
        return super().seek_available(found, peek_operation, seek_direction) or found
