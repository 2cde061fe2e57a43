"""Faults that break the rules MQDMPR-3.1.7.1.11-10 and MQDMPR-3.1.7.1.11-14."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.calls import GivenStepArguments, change_step_arguments
from harness.faults.registry import add
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OnReadAnswered
from reference_qm.model.enums import CursorState
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status


def _ignore_cursor_if_queue_has_locked_message(given: GivenStepArguments) -> Cursor | None:
    queue = given.queue_desc.QueueReference
    positions = () if queue is None else queue.MessagePositionList
    return None if any(one.State is MessagePositionState.LOCKED for one in positions) else given.cursor


add(
    "queue-manager-two-phase-receive-ignores-cursor-beside-locked-message",
    "MQDMPR-3.1.7.1.11-10",
    "A two-phase receive by a cursor returns the first available message if a message of the queue is locked.",
    change_step_arguments(TwoPhaseReading.dequeue_message_begin, cursor=_ignore_cursor_if_queue_has_locked_message),
    blind=True,
)


def _ignore_position_of_cursor(given: GivenStepArguments) -> Cursor | None:
    if given.cursor is not None and given.cursor.CursorState is CursorState.READ:
        given.cursor.CursorState = CursorState.UNREAD
    return given.cursor


add(
    "queue-manager-two-phase-receive-by-cursor-takes-message-after-peeked-message",
    "MQDMPR-3.1.7.1.11-10",
    "A two-phase receive by a cursor that has peeked at a message returns the message after the peeked message.",
    change_step_arguments(TwoPhaseReading.dequeue_message_begin, cursor=_ignore_position_of_cursor),
    blind=True,
)


def _make_returned_message_replacer(
    change: Callable[[GivenStepArguments, MessagePosition], MessagePosition],
) -> Callable[[GivenStepArguments], OnReadAnswered]:
    """Return a function that replaces the message that a two-phase receive returns."""

    def make_changed_completion_callback(given: GivenStepArguments) -> OnReadAnswered:
        def answer_with_changed_message(status: Status, position: MessagePosition | None) -> Any:
            given.answered(status, None if position is None else change(given, position))

        return answer_with_changed_message

    return make_changed_completion_callback


def _move_lock_to_other_message(position: MessagePosition, other: MessagePosition | None) -> None:
    if other is not None and other is not position and other.State is MessagePositionState.AVAILABLE:
        position.State, other.State = other.State, position.State


def _lock_following_message(given: GivenStepArguments, position: MessagePosition) -> MessagePosition:
    other = position.Next
    if given.cursor is not None and isinstance(other, MessagePosition):
        _move_lock_to_other_message(position, other)
    return position


add(
    "queue-manager-two-phase-receive-by-cursor-locks-next-message",
    "MQDMPR-3.1.7.1.11-14",
    "A two-phase receive by a cursor returns the message of the cursor, but locks the next message.",
    change_step_arguments(
        TwoPhaseReading.dequeue_message_begin, answered=_make_returned_message_replacer(_lock_following_message)
    ),
    blind=True,
)


def _return_preceding_locked_message(given: GivenStepArguments, position: MessagePosition) -> MessagePosition:
    before = position.Previous
    if isinstance(before, MessagePosition) and before.State is MessagePositionState.LOCKED:
        return before
    return position


add(
    "queue-manager-second-two-phase-receive-returns-message-of-first",
    "MQDMPR-3.1.7.1.11-14",
    "A two-phase receive returns the message before its message if that message is locked.",
    change_step_arguments(
        TwoPhaseReading.dequeue_message_begin,
        answered=_make_returned_message_replacer(_return_preceding_locked_message),
    ),
    blind=True,
)


def _make_completion_with_first_message(given: GivenStepArguments) -> OnReadAnswered:
    """Return a completion that passes the first message of the queue to a receive that waited."""
    queue = given.queue_desc.QueueReference
    waits = queue is not None and given.qm.message_search.seek_available(queue.MessagePositionList.Start, False) is None

    def answer_with_first_message(status: Status, position: MessagePosition | None) -> None:
        first = None if position is None else position.QueueReference.MessagePositionList.Start.Next
        given.answered(status, first if waits and isinstance(first, MessagePosition) else position)

    return answer_with_first_message


add(
    "queue-manager-two-phase-receive-that-waited-returns-first-position",
    "MQDMPR-3.1.7.1.11-14",
    "A two-phase receive that had to wait returns the first message of the queue, even if that message is locked.",
    change_step_arguments(TwoPhaseReading.dequeue_message_begin, answered=_make_completion_with_first_message),
    blind=True,
)
