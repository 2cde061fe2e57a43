"""Steps that several fault files of this section share."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from harness.faults.parts import change_step
from harness.faults.registry import Install
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.enums import CursorState, QueueAccessType
from reference_qm.model.position_list import Boundary, Entry
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now

PeekAnswer = tuple[Status, MessagePosition | None]
LARGE_BODY_BYTES = 3000
"""The number of bytes from which faults treat a body as large."""


@dataclass
class PeekRequest:
    """A peek as it begins: its arguments, and the state and the position of its cursor."""

    descriptor: OpenQueueDescriptor
    queue: Queue
    timeout_ms: int | None
    cursor: Cursor | None
    state: CursorState | None
    entry: Entry | None

    def list_available_messages(self) -> list[MessagePosition]:
        """Return the available messages of the queue."""
        return [one for one in self.queue.MessagePositionList if one.State is MessagePositionState.AVAILABLE]

    def list_cursors_of_queue(self) -> list[Cursor]:
        """Return the cursors of the queue, in the order of their handles."""
        cursors = (
            one
            for opened in self.queue.OpenQueueDescriptorCollection.values()
            for one in opened.CursorCollection.values()
        )
        return sorted(cursors, key=lambda one: one.Handle)

    def count_waiting_reads(self) -> int:
        """Return the number of reads that wait for a message of the queue."""
        return sum(
            len(opened.WaitingMessageReadOperationCollection)
            for opened in self.queue.OpenQueueDescriptorCollection.values()
        )

    def is_not_first_cursor_of_queue(self) -> bool:
        """Return whether the cursor of the peek is not the first cursor of the queue."""
        return self.cursor is not None and self.list_cursors_of_queue()[0] is not self.cursor

    def is_handle_opened_to_peek(self) -> bool:
        """Return whether the handle of the peek was opened to peek."""
        return self.descriptor.AccessType is QueueAccessType.PEEK


PeekCondition = Callable[[PeekRequest], bool]
PeekChange = Callable[[PeekRequest, MessagePosition], PeekAnswer]


def is_peek_with_cursor(peek: PeekRequest) -> bool:
    """Return whether a peek has a cursor."""
    return peek.cursor is not None


def is_peek_without_cursor(peek: PeekRequest) -> bool:
    """Return whether a peek has no cursor."""
    return peek.cursor is None


def change_peek_results(
    when: PeekCondition,
    *,
    found: PeekChange | None = None,
    arrived: PeekChange | None = None,
    ended: Callable[[PeekRequest, Status], PeekAnswer] | None = None,
    timeout_ms: Callable[[PeekRequest], int | None] | None = None,
    without_cursor: bool = False,
) -> Install:
    """Return an installer of a fault that changes some peeks. ``found`` computes the answer with a message that the
    peek found at once, ``arrived`` the answer with a message for which the peek waited, and ``ended`` the answer
    without a message.
    """

    def peek_with_changed_result(
        part: MessageReading,
        original: Callable[..., None],
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        queue = queue_desc.QueueReference
        if queue is None:
            original(queue_desc, answered, now, timeout, cursor, tag)
            return
        state, entry = (None, None) if cursor is None else (cursor.CursorState, cursor.MessagePositionReference)
        peek = PeekRequest(queue_desc, queue, timeout, cursor, state, entry)
        if not when(peek):
            original(queue_desc, answered, now, timeout, cursor, tag)
            return
        waits: list[bool] = []

        def answer_with_changed_result(status: Status, position: MessagePosition | None) -> None:
            change = arrived if waits else found
            if position is not None and change is not None:
                answered(*change(peek, position))
            elif position is None and ended is not None:
                answered(*ended(peek, status))
            else:
                answered(status, position)

        given = timeout if timeout_ms is None else timeout_ms(peek)
        original(queue_desc, answer_with_changed_result, now, given, None if without_cursor else cursor, tag)
        waits.append(True)

    return change_step(MessageReading.peek_message, peek_with_changed_result)


def change_status_of_ended_peek(when: PeekCondition, of: Callable[[Status], bool], status: Status) -> Install:
    """Return an installer of a fault that changes the status with which some peeks end without a message."""
    return change_peek_results(when, ended=lambda peek, old: (status if of(old) else old, None))


def get_neighbor_message(entry: Entry | None, *, forward: bool) -> MessagePosition | None:
    """Return the available message directly after or before an entry, or None if there is no such message."""
    near: Any = None if entry is None else entry.Next if forward else entry.Previous
    available = near is not None and not isinstance(near, Boundary) and near.State is MessagePositionState.AVAILABLE
    return near if available else None


def make_change_of_peeked_message(
    choose: Callable[[PeekRequest, MessagePosition], MessagePosition | None],
) -> PeekChange:
    """Return a change that answers with a different message, if there is such a message."""
    return lambda peek, position: (Status.MQ_OK, choose(peek, position) or position)


def make_change_of_message_to_status(
    status: Status, only: Callable[[PeekRequest, MessagePosition], bool] = lambda peek, position: True
) -> PeekChange:
    """Return a change that answers with a status instead of the message, if a condition of the message is true."""
    return lambda peek, position: (status, None) if only(peek, position) else (Status.MQ_OK, position)


def is_transactional(position: MessagePosition) -> bool:
    """Return whether a message was sent in a transaction."""
    return position.MessageReference.TransactionIdentifier is not None


def is_express_message(position: MessagePosition) -> bool:
    """Return whether a message is an express message."""
    return position.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS


def has_large_body(position: MessagePosition) -> bool:
    """Return whether a message has a large body."""
    return len(position.MessageReference.Body) >= LARGE_BODY_BYTES


def pass_message_to_chosen_pending_reads(choose: Callable[[list[Any], MessagePosition], list[Any]]) -> Install:
    """Return an installer of a fault that passes an available message only to some of the reads that wait.
    ``choose`` selects these reads from all waiting reads of the queue.
    """

    def release_chosen_readers(part: WaitingReads, original: Callable[..., None], position: MessagePosition) -> None:
        opened = list(position.QueueReference.OpenQueueDescriptorCollection.values())
        waiting = [reader for one in opened for reader in one.WaitingMessageReadOperationCollection]
        chosen = choose(waiting, position)
        for reader in waiting:
            if reader not in chosen:
                part.qm.readers.pop(reader.number, None)
        original(position)
        for reader in waiting:
            if reader not in chosen:
                part.qm.readers[reader.number] = reader

    return change_step(WaitingReads.pass_new_message_to_waiting_readers, release_chosen_readers)
