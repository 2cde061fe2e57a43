"""Steps that several fault files of this section share."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import change_step
from harness.faults.registry import Install
from reference_qm.core.queueing.queue_cursors import (
    CursorResult,
    QueueCursors,
    _get_positions_of_cursor_queue,
    _move_cursor,
)
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor
from reference_qm.model.enums import CursorState, QueueAccessType
from reference_qm.model.position_list import Boundary, Entry, MessagePositionList
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState
from reference_qm.model.statuses import CursorStatus

LARGE_BODY_BYTES = 3000
"""The number of bytes from which faults treat a body as large."""


PEEK_METHOD, PEEK_NEXT_METHOD = QueueCursors.get_message_for_peek, QueueCursors.get_next_message_for_peek
RECEIVE_METHOD = QueueCursors.get_next_message_for_dequeue
NOT_FOUND_STATUS, WAITING_STATUS = CursorStatus.NOT_FOUND, CursorStatus.WAITING


def get_start_position(cursor: Cursor) -> Entry:
    """Return the first entry in the list of message positions of a cursor's queue."""
    positions = _get_positions_of_cursor_queue(cursor)
    assert positions is not None
    return positions.Start


class CursorReceiveChanger(QueueCursors):
    """Change the receives by a cursor, according to the state of the cursor."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        unread = cursor.CursorState is not CursorState.READ
        before = cursor.MessagePositionReference
        got: CursorResult = super().get_next_message_for_dequeue(cursor, no_wait)
        return self.change_unread_receive(cursor, got, before, no_wait) if unread else self.read(cursor, got)

    def change_unread_receive(self, cursor: Cursor, got: CursorResult, before: Entry, no_wait: bool) -> CursorResult:
        """Change the result of a receive by a cursor whose state is not READ."""
        return got

    def read(self, cursor: Cursor, got: CursorResult) -> CursorResult:
        """Change the result of a receive by a cursor whose state is READ."""
        return got


def get_message_positions_of_queue(cursor: Cursor) -> MessagePositionList:
    """Return the list of message positions of a cursor's queue."""
    queue = cursor.OpenQueueDescriptorReference.QueueReference
    assert queue is not None
    return queue.MessagePositionList


def list_messages_of_cursor(cursor: Cursor) -> list[MessagePosition]:
    """Return the messages in the queue of a cursor."""
    queue = cursor.OpenQueueDescriptorReference.QueueReference
    return [] if queue is None else list(queue.MessagePositionList)


class UnreadCursorReceiveChanger(QueueCursors):
    """Change some receives by a cursor that has read no message."""

    def change(self, cursor: Cursor, no_wait: bool, got: CursorResult) -> CursorResult:
        raise NotImplementedError

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        return self.change(cursor, no_wait, super().get_next_message_for_dequeue(cursor, no_wait))


class CursorRead:
    """One read by a cursor: the cursor, its state and position before the read, and the result of the read."""

    def __init__(self, part: QueueCursors, cursor: Cursor, state: CursorState, before: Entry) -> None:
        self.part, self.cursor, self.state, self.before = part, cursor, state, before
        self.got: CursorResult = (CursorStatus.WAITING, None)

    @property
    def found_position(self) -> MessagePosition | None:
        """The message that the read found, or None."""
        return self.got[1]

    @property
    def messages(self) -> list[MessagePosition]:
        """The messages in the queue of the cursor."""
        return list_messages_of_cursor(self.cursor)

    @property
    def available(self) -> list[MessagePosition]:
        """The available messages in the queue of the cursor."""
        return [one for one in self.messages if one.State is MessagePositionState.AVAILABLE]

    def is_not_first_cursor_of_queue(self) -> bool:
        """Return whether the queue has another cursor that was opened before this cursor."""
        queue = self.cursor.OpenQueueDescriptorReference.QueueReference
        opened = () if queue is None else queue.OpenQueueDescriptorCollection.values()
        return min(handle for one in opened for handle in one.CursorCollection) < self.cursor.Handle

    def has_received_message_at_position(self) -> bool:
        """Return whether the cursor has received the message at its position."""
        return self.state is CursorState.UNREAD and not isinstance(self.before, Boundary)

    def is_message_received_by_other_reader(self) -> bool:
        """Return whether another reader has received the message at the cursor."""
        return (
            self.state is CursorState.READ
            and isinstance(self.before, MessagePosition)
            and self.before.State is not MessagePositionState.AVAILABLE
        )

    def is_any_message_locked(self) -> bool:
        """Return whether a message in the queue is locked."""
        return any(one.State is MessagePositionState.LOCKED for one in self.messages)

    def has_skipped_locked_message(self) -> bool:
        """Return whether the read has skipped a locked message."""
        following = self.before.Next
        return isinstance(following, MessagePosition) and following.State is MessagePositionState.LOCKED

    def is_last_message_found(self) -> bool:
        """Return whether the read found the last available message."""
        return self.found_position is not None and self.available[-1:] == [self.found_position]

    def is_large_message_found(self) -> bool:
        """Return whether the read found a message with a large body."""
        return self.found_position is not None and len(self.found_position.MessageReference.Body) >= LARGE_BODY_BYTES

    def is_transactional_message_found(self) -> bool:
        """Return whether the read found a transactional message."""
        return (
            self.found_position is not None and self.found_position.MessageReference.TransactionIdentifier is not None
        )

    def is_express_message_found(self) -> bool:
        """Return whether the read found an express message."""
        return (
            self.found_position is not None
            and self.found_position.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS
        )

    def is_handle_opened_to_peek(self) -> bool:
        """Return whether the handle of the cursor was opened to peek."""
        return self.cursor.OpenQueueDescriptorReference.AccessType is QueueAccessType.PEEK

    def is_lower_priority_found(self) -> bool:
        """Return whether the read found a message of a lower priority than the first message of the queue."""
        messages = self.messages
        return (
            self.found_position is not None
            and bool(messages)
            and self.found_position.MessageReference.Priority < messages[0].MessageReference.Priority
        )

    def count_reads_of_cursor(self) -> int:
        """Count the reads of this kind by the cursor, including this read."""
        counts = self.part.__dict__.setdefault("counts", {})
        counts[self.cursor.Handle] = counts.get(self.cursor.Handle, 0) + 1
        return int(counts[self.cursor.Handle])

    def list_messages_of_other_queues(self) -> list[MessagePosition]:
        """Return the available messages of the other open queues."""
        own = self.cursor.OpenQueueDescriptorReference.QueueReference
        queues = {
            id(one.QueueReference): one.QueueReference
            for one in self.part.qm.descriptors.values()
            if one.QueueReference is not None and one.QueueReference is not own
        }
        return [
            one
            for queue in queues.values()
            for one in queue.MessagePositionList
            if one.State is MessagePositionState.AVAILABLE
        ]


def has_read_found_no_message(step: CursorRead) -> bool:
    """Return whether a read found no message."""
    return step.got[0] is WAITING_STATUS


def is_cursor_not_at_read_message(step: CursorRead) -> bool:
    """Return whether the cursor of a read was not at a message that the cursor had already read."""
    return step.state is not CursorState.READ


def has_unread_cursor_found_message(step: CursorRead) -> bool:
    """Return whether a read of a cursor that had read no message found a message."""
    return step.found_position is not None and is_cursor_not_at_read_message(step)


def is_read_message_found_again(step: CursorRead) -> bool:
    """Return whether a read found the message that its cursor had already read."""
    return step.found_position is not None and step.state is CursorState.READ


CursorReadCondition = Callable[[CursorRead], bool]
CursorReadChange = Callable[[CursorRead], CursorResult]


def change_cursor_reads(
    method: Callable[..., CursorResult], when: CursorReadCondition, change: CursorReadChange
) -> Install:
    """Return an installer of a fault that changes some reads by cursors after the read."""

    def read_with_changed_result(
        part: QueueCursors, original: Callable[..., CursorResult], cursor: Cursor, *rest: bool
    ) -> CursorResult:
        step = CursorRead(part, cursor, cursor.CursorState, cursor.MessagePositionReference)
        get_message_positions_of_queue(cursor).hold(step.before)
        step.got = original(cursor, *rest)
        got = change(step) if when(step) else step.got
        get_message_positions_of_queue(cursor).release(step.before)
        return got

    return change_step(method, read_with_changed_result)


def make_change_to_cursor_status(status: CursorStatus) -> CursorReadChange:
    """Return a change that ends the read with a status instead of a message, and leaves the cursor unchanged."""

    def return_status_instead_of_message(step: CursorRead) -> CursorResult:
        _move_cursor(step.cursor, step.before)
        step.cursor.CursorState = step.state
        return status, None

    return return_status_instead_of_message


def keep_cursor_position(step: CursorRead) -> CursorResult:
    """Leave the cursor where it was. A cursor at the start of the queue moves to the first message of the queue."""
    place = step.before if not isinstance(step.before, Boundary) else get_message_positions_of_queue(step.cursor).Head
    if not isinstance(place, Boundary):
        _move_cursor(step.cursor, place)
    return step.got


def make_cursor_state_setter(state: CursorState) -> CursorReadChange:
    """Return a change that sets the state of the cursor after the read."""

    def set_state_after_read(step: CursorRead) -> CursorResult:
        step.cursor.CursorState = state
        return step.got

    return set_state_after_read


def keep_cursor_state(step: CursorRead) -> CursorResult:
    """Leave the state of the cursor as it was before the read."""
    step.cursor.CursorState = step.state
    return step.got


def make_change_of_found_message(choose: Callable[[CursorRead], MessagePosition | None]) -> CursorReadChange:
    """Return a change that answers with a different message, if there is such a message. The cursor stays where the
    read moved it.
    """

    def return_other_message(step: CursorRead) -> CursorResult:
        chosen = choose(step)
        return step.got if chosen is None else (CursorStatus.SUCCEEDED, chosen)

    return return_other_message


def get_first_available_message(step: CursorRead) -> MessagePosition | None:
    """Return the first available message of the queue."""
    return next(iter(step.available), None)


def get_last_available_message(step: CursorRead) -> MessagePosition | None:
    """Return the last available message of the queue."""
    return next(reversed(step.available), None)


def get_first_message_of_other_queue(step: CursorRead) -> MessagePosition | None:
    """Return the first available message of another open queue."""
    return next(iter(step.list_messages_of_other_queues()), None)
