from __future__ import annotations

from typing import cast

from reference_qm.core.part import QueueManagerPart
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.enums import MessageSeekAction, SeekDirection
from reference_qm.model.position_list import Boundary, Entry
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status


class MessageSearch(QueueManagerPart):
    """Finds messages that may be read. Spec: MS-MQDMPR 3.1.7.3.2, 3.1.7.3.3."""

    __slots__ = ()

    def seek_available(
        self,
        initial_position: Entry,
        peek_operation: bool,
        seek_direction: SeekDirection = SeekDirection.FORWARD,
    ) -> MessagePosition | None:
        """Return the next available message after or before an entry, or None if there is no such message. Spec:
        MS-MQDMPR 3.1.7.3.2.

        The search begins after the initial entry, so a search of the whole list must begin at Start. If it began at
        Head, as in 3.1.7.1.10 and 3.1.7.1.15, the first message would never be read. According to the document, an
        unsuccessful backward search returns Start, although the return value allows only End; this method returns None.
        A message that is not on disk yet ends the search; otherwise a later message could be received before it.
        """
        forward = seek_direction is SeekDirection.FORWARD
        start = initial_position if forward and not peek_operation and isinstance(initial_position, Boundary) else None
        entry = _get_neighbouring_entry(initial_position if start is None else start.passed, forward)
        found = None
        while not isinstance(entry, Boundary) and not (forward and entry.is_disk_write_pending):
            if self.is_message_readable(entry, peek_operation):
                found = entry
                break
            entry = _get_neighbouring_entry(entry, forward)
        if start is not None:
            start.passed = cast("Entry", entry.Previous)
        return found

    def is_message_readable(self, position: MessagePosition, peek_operation: bool) -> bool:
        """Return whether a message may be read. A message may be read if it is available. A locked message may be
        peeked at if its attribute AllowPeekWhenLocked is set.

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
        """Find the message with the given LookupIdentifier, or the message before or after that message. Spec:
        MS-MQDMPR 3.1.7.3.3.

        The document first searches for iLookupId even for SeekFirst and SeekLast. Here iLookupId is ignored for
        these actions, because remote readers then pass 0 and all ones (MS-MQQP). If there is no next or previous
        message, the status is MQ_ERROR_MESSAGE_NOT_FOUND, because no other status in the document fits. The
        document has no step for the receive of a locked message; here the receive is refused.
        """
        positions = queue.MessagePositionList
        if lookup_action in _EDGE_AND_DIRECTION_BY_SEEK_ACTION:
            from_start, direction = _EDGE_AND_DIRECTION_BY_SEEK_ACTION[lookup_action]
            edge = positions.Start if from_start else positions.End
            return _build_search_result(self.seek_available(edge, peek_operation, direction))
        position = positions.find(lookup_id)
        if position is None:
            return Status.MQ_ERROR_MESSAGE_NOT_FOUND, None
        if lookup_action is not MessageSeekAction.CURRENT:
            direction = _DIRECTION_BY_SEEK_ACTION[lookup_action]
            return _build_search_result(self.seek_available(position, peek_operation, direction))
        if self.is_message_readable(position, peek_operation):
            return Status.MQ_OK, position
        return _STATUS_OF_UNREADABLE_STATE.get(position.State, Status.MQ_ERROR_MESSAGE_NOT_FOUND), None


_EDGE_AND_DIRECTION_BY_SEEK_ACTION = {
    MessageSeekAction.FIRST: (True, SeekDirection.FORWARD),
    MessageSeekAction.LAST: (False, SeekDirection.BACKWARD),
}


_DIRECTION_BY_SEEK_ACTION = {
    MessageSeekAction.NEXT: SeekDirection.FORWARD,
    MessageSeekAction.PREVIOUS: SeekDirection.BACKWARD,
}


_STATUS_OF_UNREADABLE_STATE = {
    MessagePositionState.LOCKED: Status.MQ_ERROR_TRANSACTION_USAGE,
    MessagePositionState.DELETED: Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED,
}


def _build_search_result(position: MessagePosition | None) -> tuple[Status, MessagePosition | None]:
    return (Status.MQ_ERROR_MESSAGE_NOT_FOUND, None) if position is None else (Status.MQ_OK, position)


def _get_neighbouring_entry(entry: Entry, forward: bool) -> Entry:
    return cast("Entry", entry.Next if forward else entry.Previous)
