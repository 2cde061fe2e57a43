"""Faults that break the rules MQDMPR-3.1.7.1.15-26 to MQDMPR-3.1.7.1.15-35."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault
from harness.faults.registry import Install, add
from reference_qm.core.queueing.queue_cursors import QueueCursors, _move_cursor
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, WaitingMessageReadOperation
from reference_qm.model.enums import CursorState
from reference_qm.model.position_list import Boundary, Entry
from reference_qm.model.statuses import Status
from suites.mqdmpr.s3_1_7_1_15_peek_message.fault_steps import (
    change_peek_results,
    change_status_of_ended_peek,
    has_large_body,
    is_express_message,
    is_peek_with_cursor,
    is_transactional,
    make_change_of_message_to_status,
    pass_message_to_chosen_pending_reads,
)


@fault("second-waiting-peek-by-cursor-not-released", breaks="MQDMPR-3.1.7.1.15-26", blind=True)
class SecondWaitingPeekByCursorNotReleased(WaitingReads):
    """An arriving message completes only the first of several pending peeks by cursors."""

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        served = False
        for descriptor in list(position.QueueReference.OpenQueueDescriptorCollection.values()):
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                by_cursor = reader.CursorReference is not None and not reader.DestructiveRead
                if reader.number not in self.qm.readers or (served and by_cursor):
                    continue
                found = self._find_message_for_reader(reader, position)
                if found is None:
                    return
                self.pass_message_to_waiting_reader(reader, found)
                served = served or by_cursor


add(
    "queue-manager-pending-peek-by-cursor-misses-large-message",
    "MQDMPR-3.1.7.1.15-26",
    "A pending peek by a cursor continues to wait when a message with a large body arrives.",
    pass_message_to_chosen_pending_reads(
        lambda readers, position: [
            one for one in readers if one.CursorReference is None or not has_large_body(position)
        ]
    ),
    blind=True,
)


add(
    "queue-manager-pending-peek-by-cursor-misses-transactional-message",
    "MQDMPR-3.1.7.1.15-26",
    "A pending peek by a cursor continues to wait when a transactional message arrives.",
    pass_message_to_chosen_pending_reads(
        lambda readers, position: [
            one for one in readers if one.CursorReference is None or not is_transactional(position)
        ]
    ),
    blind=True,
)


add(
    "queue-manager-pending-peek-by-cursor-misses-message-of-priority-0",
    "MQDMPR-3.1.7.1.15-26",
    "A pending peek by a cursor continues to wait when a message of priority 0 arrives.",
    pass_message_to_chosen_pending_reads(
        lambda readers, position: [
            one for one in readers if one.CursorReference is None or position.MessageReference.Priority > 0
        ]
    ),
    blind=True,
)


class _WaitingCursorPositionKeeper(QueueCursors):
    """Do not move some cursors to the message for which they waited; a subclass selects which."""

    def on_message_available(self, cursor: Cursor, message_position: MessagePosition) -> None:
        waited, before = cursor.CursorState is CursorState.WAIT_PEEK, cursor.MessagePositionReference
        positions = message_position.QueueReference.MessagePositionList
        positions.hold(before)
        super().on_message_available(cursor, message_position)
        if waited and self.is_position_kept(cursor, before, message_position):
            _move_cursor(cursor, before)
            if isinstance(before, Boundary):
                cursor.CursorState = CursorState.UNREAD
        positions.release(before)

    def is_position_kept(self, cursor: Cursor, before: Entry, arrived: MessagePosition) -> bool:
        raise NotImplementedError


@fault("queue-manager-second-cursor-of-pending-peeks-not-moved", breaks="MQDMPR-3.1.7.1.15-27", blind=True)
class QueueManagerSecondCursorOfPendingPeeksNotMoved(_WaitingCursorPositionKeeper):
    """When a message completes pending peeks by two cursors of a handle, the second cursor does not move."""

    def is_position_kept(self, cursor: Cursor, before: Entry, arrived: MessagePosition) -> bool:
        return min(cursor.OpenQueueDescriptorReference.CursorCollection) != cursor.Handle


@fault("queue-manager-cursor-of-pending-peek-at-later-message-not-moved", breaks="MQDMPR-3.1.7.1.15-27", blind=True)
class QueueManagerCursorOfPendingPeekAtLaterMessageNotMoved(_WaitingCursorPositionKeeper):
    """The cursor of a pending peek does not move to the message that arrives if the queue has other messages."""

    def is_position_kept(self, cursor: Cursor, before: Entry, arrived: MessagePosition) -> bool:
        return len(arrived.QueueReference.MessagePositionList) > 1


@fault(
    "queue-manager-cursor-of-pending-peek-not-moved-to-transactional-message", breaks="MQDMPR-3.1.7.1.15-27", blind=True
)
class QueueManagerCursorOfPendingPeekNotMovedToTransactionalMessage(_WaitingCursorPositionKeeper):
    """The cursor of a pending peek does not move to the message that arrives if that message is transactional."""

    def is_position_kept(self, cursor: Cursor, before: Entry, arrived: MessagePosition) -> bool:
        return is_transactional(arrived)


@fault("message-of-pending-cursor-peek-not-given-to-later-receive", breaks="MQDMPR-3.1.7.1.15-29")
class MessageOfPendingCursorPeekNotGivenToLaterReceive(WaitingReads):
    """A message that completes a pending peek by a cursor completes later peeks, but not a later receive."""

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        peeked = False
        for descriptor in list(position.QueueReference.OpenQueueDescriptorCollection.values()):
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                if reader.number not in self.qm.readers or (peeked and reader.DestructiveRead):
                    continue
                found = self._find_message_for_reader(reader, position)
                if found is None:
                    return
                peeked = peeked or (not reader.DestructiveRead and reader.CursorReference is not None)
                self.pass_message_to_waiting_reader(reader, found)


def _keep_later_reads_waiting(
    which: Callable[[WaitingMessageReadOperation, WaitingMessageReadOperation], bool],
) -> Install:
    """Return an installer of a fault: a message that completes a pending peek by a cursor does not complete a later
    read if a condition is true for the peek and the later read.
    """

    def choose_completed_reads(readers: list[Any], position: MessagePosition) -> list[Any]:
        if not readers or readers[0].CursorReference is None or readers[0].DestructiveRead:
            return readers
        return [readers[0], *(one for one in readers[1:] if not which(readers[0], one))]

    return pass_message_to_chosen_pending_reads(choose_completed_reads)


add(
    "queue-manager-pending-peek-by-cursor-keeps-read-of-other-handle-waiting",
    "MQDMPR-3.1.7.1.15-29",
    "A message that completes a pending peek by a cursor does not complete a pending read of a different handle.",
    _keep_later_reads_waiting(lambda first, later: later.descriptor is not first.descriptor),
    blind=True,
)


add(
    "queue-manager-pending-peek-by-cursor-keeps-receive-waiting",
    "MQDMPR-3.1.7.1.15-29",
    "A message that completes a pending peek by a cursor does not complete a pending receive.",
    _keep_later_reads_waiting(lambda first, later: later.DestructiveRead),
    blind=True,
)


add(
    "queue-manager-pending-peek-by-cursor-keeps-peek-without-cursor-waiting",
    "MQDMPR-3.1.7.1.15-29",
    "A message that completes a pending peek by a cursor does not complete a pending peek without a cursor.",
    _keep_later_reads_waiting(lambda first, later: later.CursorReference is None and not later.DestructiveRead),
    blind=True,
)


add(
    "queue-manager-second-pending-peek-by-cursor-returns-error-with-message",
    "MQDMPR-3.1.7.1.15-31",
    "A pending peek by a cursor that began while another read waited returns MQ_ERROR_IO_TIMEOUT when a message "
    "arrives.",
    change_peek_results(
        lambda peek: is_peek_with_cursor(peek) and peek.count_waiting_reads() > 0,
        arrived=make_change_of_message_to_status(Status.MQ_ERROR_IO_TIMEOUT),
    ),
    blind=True,
)


add(
    "queue-manager-pending-peek-by-cursor-returns-error-for-large-message",
    "MQDMPR-3.1.7.1.15-31",
    "A pending peek by a cursor returns MQ_ERROR_INSUFFICIENT_RESOURCES when a message with a large body arrives.",
    change_peek_results(
        is_peek_with_cursor,
        arrived=make_change_of_message_to_status(
            Status.MQ_ERROR_INSUFFICIENT_RESOURCES, lambda peek, position: has_large_body(position)
        ),
    ),
    blind=True,
)


add(
    "queue-manager-pending-peek-by-cursor-returns-error-after-vain-wait",
    "MQDMPR-3.1.7.1.15-31",
    "A pending peek by a cursor that has waited in vain before returns MQ_ERROR_IO_TIMEOUT when a message arrives.",
    change_peek_results(
        lambda peek: peek.state is CursorState.WAIT_PEEK,
        arrived=make_change_of_message_to_status(Status.MQ_ERROR_IO_TIMEOUT),
    ),
    blind=True,
)


add(
    "queue-manager-second-vain-peek-by-cursor-returns-not-found",
    "MQDMPR-3.1.7.1.15-35",
    "A second peek by a cursor that waits in vain returns MQ_ERROR_MESSAGE_NOT_FOUND instead of MQ_ERROR_IO_TIMEOUT.",
    change_status_of_ended_peek(
        lambda peek: peek.state is CursorState.WAIT_PEEK,
        lambda old: old is Status.MQ_ERROR_IO_TIMEOUT,
        Status.MQ_ERROR_MESSAGE_NOT_FOUND,
    ),
    blind=True,
)


add(
    "queue-manager-pending-peek-by-cursor-misses-express-message",
    "MQDMPR-3.1.7.1.15-26",
    "A pending peek by a cursor continues to wait when an express message arrives.",
    pass_message_to_chosen_pending_reads(
        lambda readers, position: [
            one for one in readers if one.CursorReference is None or not is_express_message(position)
        ]
    ),
)


add(
    "queue-manager-message-completes-at-most-three-peeks-by-cursors",
    "MQDMPR-3.1.7.1.15-29",
    "A message that completes three pending peeks by cursors does not complete the next pending read.",
    pass_message_to_chosen_pending_reads(lambda readers, position: readers[:3]),
)


add(
    "queue-manager-pending-peek-by-cursor-returns-error-for-express-message",
    "MQDMPR-3.1.7.1.15-31",
    "A pending peek by a cursor returns an error when an express message arrives.",
    change_peek_results(
        is_peek_with_cursor,
        arrived=make_change_of_message_to_status(
            Status.MQ_ERROR_IO_TIMEOUT, lambda peek, position: is_express_message(position)
        ),
    ),
)
