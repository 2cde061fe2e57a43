"""Faults that break rules of MS-MQDMPR 3.2.7.1 and 3.2.7.5 for some descriptors, cursors, reads or messages."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.core.queueing.queue_cursors import QueueCursors
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import CursorState, QueueAccessType

ReadCompletionCondition = Callable[[Cursor, MessagePosition], bool]


@fault("cursor-of-second-descriptor-belongs-to-first", breaks="MQDMPR-3.2.7.1-06", blind=True)
class CursorOfSecondDescriptorBelongsToFirst(QueueCursors):
    """A cursor that is created for the second OpenQueueDescriptor of a queue belongs to the first one."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        queue = queue_desc.QueueReference
        first = queue_desc if queue is None else next(iter(queue.OpenQueueDescriptorCollection.values()))
        return super().open(first)


@fault("cursor-belongs-to-descriptor-opened-last", breaks="MQDMPR-3.2.7.1-06", blind=True)
class CursorBelongsToDescriptorOpenedLast(QueueCursors):
    """A new cursor belongs to the OpenQueueDescriptor of its queue that was opened last."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        queue = queue_desc.QueueReference
        last = queue_desc if queue is None else list(queue.OpenQueueDescriptorCollection.values())[-1]
        return super().open(last)


@fault("cursor-for-peek-belongs-to-descriptor-for-receive", breaks="MQDMPR-3.2.7.1-06", blind=True)
class CursorForPeekBelongsToDescriptorForReceive(QueueCursors):
    """A cursor that is created for a descriptor with PeekAccess belongs to a descriptor of its queue with
    ReceiveAccess, if there is one.
    """

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        queue = queue_desc.QueueReference
        others = [] if queue is None else list(queue.OpenQueueDescriptorCollection.values())
        receiving = [one for one in others if one.AccessType is QueueAccessType.RECEIVE]
        is_peek = queue_desc.AccessType is QueueAccessType.PEEK
        return super().open(receiving[0] if is_peek and receiving else queue_desc)


def _leave_cursor_unread(condition: ReadCompletionCondition) -> Install:
    """Return an installer of a fault that leaves a cursor UNREAD when a message completes the cursor's pending peek, if
    a condition is true.
    """

    class LeftUnread(QueueCursors):
        def on_message_available(self, cursor: Cursor, message_position: MessagePosition) -> None:
            waited = cursor.CursorState is CursorState.WAIT_PEEK
            super().on_message_available(cursor, message_position)
            if waited and condition(cursor, message_position):
                cursor.CursorState = CursorState.UNREAD

    return replace_part(LeftUnread)


def _is_not_first_cursor(cursor: Cursor, position: MessagePosition) -> bool:
    return cursor.Handle != min(cursor.OpenQueueDescriptorReference.CursorCollection)


def _is_transactional(cursor: Cursor, position: MessagePosition) -> bool:
    return position.MessageReference.TransactionIdentifier is not None


def _is_recoverable(cursor: Cursor, position: MessagePosition) -> bool:
    return position.MessageReference.DeliveryGuarantee.value.lower() == "recoverable"


def _is_behind_other_message(cursor: Cursor, position: MessagePosition) -> bool:
    return len(list(position.QueueReference.MessagePositionList)) > 1


for _name, _says, _condition in (
    (
        "cursor-state-unread-after-pending-peek-by-second-cursor",
        "A message that completes the pending peek by a second cursor of a descriptor leaves the cursor UNREAD.",
        _is_not_first_cursor,
    ),
    (
        "cursor-state-unread-after-pending-peek-at-transactional-message",
        "A transactional message that completes a pending peek by a cursor leaves the cursor UNREAD.",
        _is_transactional,
    ),
    (
        "cursor-state-unread-after-pending-peek-at-recoverable-message",
        "A recoverable message that completes a pending peek by a cursor leaves the cursor UNREAD.",
        _is_recoverable,
    ),
    (
        "cursor-state-unread-after-pending-peek-at-later-message",
        "A message that completes a pending peek by a cursor and arrives behind other messages leaves the "
        "cursor UNREAD.",
        _is_behind_other_message,
    ),
):
    add(_name, "MQDMPR-3.2.7.5-04", _says, _leave_cursor_unread(_condition), blind=True)
