from __future__ import annotations

from typing import cast

from reference_qm.core.part import Part
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.enums import MessageSeekAction, SeekDirection
from reference_qm.model.position_list import Boundary, Entry
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status


class Seeking(Part):
    """Finding a message that may be read. Spec: MS-MQDMPR 3.1.7.3.2, 3.1.7.3.3."""

    __slots__ = ()

    def seek_available(
        self,
        initial_position: Entry,
        peek_operation: bool,
        seek_direction: SeekDirection = SeekDirection.FORWARD,
    ) -> MessagePosition | None:
        """Find the next message that is available, seen from an entry; None at the end. Spec: MS-MQDMPR 3.1.7.3.2.

        The search begins behind the initial entry, so a search of the whole list begins at Start: begun at Head, as
        3.1.7.1.10 and 3.1.7.1.15 print it, the first message would never be read. None is also what the printed
        backward search gives as Start, where its return value allows only End. A message that is not on disk yet ends
        the search: one behind it would be received before it.
        """
        forward = seek_direction is SeekDirection.FORWARD
        start = initial_position if forward and not peek_operation and isinstance(initial_position, Boundary) else None
        entry = _neighbour_of(initial_position if start is None else start.passed, forward)
        found = None
        while not isinstance(entry, Boundary) and not (forward and entry.awaits_disk):
            if self.is_readable(entry, peek_operation):
                found = entry
                break
            entry = _neighbour_of(entry, forward)
        if start is not None:
            start.passed = cast("Entry", entry.Previous)
        return found

    def is_readable(self, position: MessagePosition, peek_operation: bool) -> bool:
        """Return whether a message may be read: available, or locked but to be seen.

        Spec: MS-MQDMPR 3.1.7.3.2, 3.1.1.12.
        """
        if position.State is MessagePositionState.AVAILABLE:
            return True
        locked = position.State is MessagePositionState.LOCKED
        return locked and peek_operation and position.MessageReference.AllowPeekWhenLocked

    def seek_with_identifier(
        self,
        queue: Queue,
        lookup_id: int,
        peek_operation: bool,
        lookup_action: MessageSeekAction,
    ) -> tuple[Status, MessagePosition | None]:
        """Find a message by a LookupIdentifier, or beside one. Spec: MS-MQDMPR 3.1.7.3.3.

        SeekFirst and SeekLast do not look for iLookupId, although printed before them: remote readers give 0 and all
        ones then (MS-MQQP). Nothing found beside a message is MQ_ERROR_MESSAGE_NOT_FOUND: no other status printed means
        it. A message that is locked is refused to a receive too, for which nothing is printed: it may be neither MQ_OK
        nor found.
        """
        positions = queue.MessagePositionList
        if lookup_action in _FROM_EDGE:
            from_start, direction = _FROM_EDGE[lookup_action]
            edge = positions.Start if from_start else positions.End
            return _result_of_search(self.seek_available(edge, peek_operation, direction))
        position = positions.find(lookup_id)
        if position is None:
            return Status.MQ_ERROR_MESSAGE_NOT_FOUND, None
        if lookup_action is not MessageSeekAction.CURRENT:
            direction = _BESIDE[lookup_action]
            return _result_of_search(self.seek_available(position, peek_operation, direction))
        if self.is_readable(position, peek_operation):
            return Status.MQ_OK, position
        return _NOT_READABLE.get(position.State, Status.MQ_ERROR_MESSAGE_NOT_FOUND), None


_FROM_EDGE = {
    MessageSeekAction.FIRST: (True, SeekDirection.FORWARD),
    MessageSeekAction.LAST: (False, SeekDirection.BACKWARD),
}


_BESIDE = {
    MessageSeekAction.NEXT: SeekDirection.FORWARD,
    MessageSeekAction.PREVIOUS: SeekDirection.BACKWARD,
}


_NOT_READABLE = {
    MessagePositionState.LOCKED: Status.MQ_ERROR_TRANSACTION_USAGE,
    MessagePositionState.DELETED: Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED,
}


def _result_of_search(position: MessagePosition | None) -> tuple[Status, MessagePosition | None]:
    return (Status.MQ_ERROR_MESSAGE_NOT_FOUND, None) if position is None else (Status.MQ_OK, position)


def _neighbour_of(entry: Entry, forward: bool) -> Entry:
    return cast("Entry", entry.Next if forward else entry.Previous)
