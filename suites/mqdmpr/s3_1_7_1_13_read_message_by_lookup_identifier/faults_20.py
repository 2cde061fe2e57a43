"""Faults that break the rule MQDMPR-3.1.7.1.13-20."""

from __future__ import annotations

from typing import cast

from harness.faults.parts import fault, faulty_only_if
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.position_list import Boundary, Entry
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status

StatusAndPosition = tuple[Status, MessagePosition | None]


def _find_locked_neighbour(queue: Queue, lookup_id: int, forward: bool) -> StatusAndPosition | None:
    position = queue.MessagePositionList.find(lookup_id)
    if position is None:
        return None
    entry = cast("Entry", position.Next if forward else position.Previous)
    locked = not isinstance(entry, Boundary) and entry.State is MessagePositionState.LOCKED
    return (Status.MQ_OK, cast("MessagePosition", entry)) if locked else None


@fault("queue-manager-receive-next-by-lookup-id-returns-locked-message", breaks="MQDMPR-3.1.7.1.13-20", blind=True)
class QueueManagerReceiveNextByLookupIdReturnsLockedMessage(MessageSearch):
    """A receive of the message after a LookupIdentifier returns a locked message."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> StatusAndPosition:
        wanted = lookup_action is MessageSeekAction.NEXT and not peek_operation
        locked = _find_locked_neighbour(queue, lookup_id, True) if wanted else None
        return locked or super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-peek-previous-by-lookup-id-returns-locked-message", breaks="MQDMPR-3.1.7.1.13-20", blind=True)
class QueueManagerPeekPreviousByLookupIdReturnsLockedMessage(MessageSearch):
    """A peek at the message before a LookupIdentifier returns a locked message."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> StatusAndPosition:
        wanted = lookup_action is MessageSeekAction.PREVIOUS and peek_operation
        locked = _find_locked_neighbour(queue, lookup_id, False) if wanted else None
        return locked or super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


def _is_receive_of_current_message(
    self: MessageSearch, queue: Queue, lookup_id: int, peek: bool, action: MessageSeekAction
) -> bool:
    return action is MessageSeekAction.CURRENT and not peek


@fault("queue-manager-receive-by-lookup-id-returns-locked-message", breaks="MQDMPR-3.1.7.1.13-20", blind=True)
class QueueManagerReceiveByLookupIdReturnsLockedMessage(MessageSearch):
    """A receive of the message with a LookupIdentifier returns a locked message."""

    @faulty_only_if(_is_receive_of_current_message)
    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> StatusAndPosition:
        position = queue.MessagePositionList.find(lookup_id)
        if position is not None and position.State is MessagePositionState.LOCKED:
            return Status.MQ_OK, position
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
