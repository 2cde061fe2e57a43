"""Faults of MS-MQDMPR 3.1.7.1.14 Peek Next Message."""

from __future__ import annotations

from harness.faults.calls import Given, with_arguments, with_status
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.core.queueing.cursors import Cursors, Got
from reference_qm.core.queueing.reading import Reading
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor
from reference_qm.model.enums import CursorState
from reference_qm.model.statuses import CursorStatus, Status


@fault("peek-next-returns-current-message", breaks=("MQDMPR-3.1.7.1.14-08", "MQDMPR-3.1.7.1.14-10"))
class PeekNextReturnsCurrentMessage(Cursors):
    """A peek at the next message returns the current message of the cursor."""

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        if cursor.CursorState is CursorState.READ:
            return self.get_message_for_peek(cursor)
        return super().get_next_message_for_peek(cursor)


def _get_first_cursor(given: Given) -> Cursor:
    cursors = (one for opened in given.qm.descriptors.values() for one in opened.CursorCollection.values())
    return next(cursors, given.cursor)


add(
    "peek-next-uses-first-cursor",
    "MQDMPR-3.1.7.1.14-06",
    "A peek at the next message uses the cursor that was opened first, even if that is a cursor of a different queue.",
    with_arguments(
        Reading.peek_next_message,
        queue_desc=lambda given: _get_first_cursor(given).OpenQueueDescriptorReference,
        cursor=lambda given: _get_first_cursor(given),
    ),
)
add(
    "successful-peek-next-returns-status-illegal-action",
    "MQDMPR-3.1.7.1.14-11",
    "A peek at the next message returns its message with MQ_ERROR_ILLEGAL_CURSOR_ACTION.",
    with_status(Reading.peek_next_message, Status.MQ_ERROR_ILLEGAL_CURSOR_ACTION),
)


@fault("peek-next-of-new-cursor-returns-not-found", breaks="MQDMPR-3.1.7.1.14-14")
class PeekNextOfNewCursorReturnsNotFound(Cursors):
    """A peek at the next message by a cursor that has read no message returns MQ_ERROR_MESSAGE_NOT_FOUND."""

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        status, position = super().get_next_message_for_peek(cursor)
        illegal = status is CursorStatus.ILLEGAL_CURSOR_ACTION
        return (CursorStatus.NOT_FOUND, None) if illegal else (status, position)


@fault("peek-next-of-new-cursor-returns-first", breaks=("MQDMPR-3.1.7.1.14-13", "MQDMPR-3.1.7.1.14-14"))
class PeekNextOfNewCursorReturnsFirst(Cursors):
    """A peek at the next message by a cursor that has read no message returns the first message."""

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        return self._seek_for_peek(cursor)


@fault("arriving-message-completes-one-peek-only", breaks=("MQDMPR-3.1.7.1.14-27", "MQDMPR-3.1.7.1.15-29"))
class ArrivingMessageCompletesOnePeekOnly(Waiting):
    """An arriving message completes only the first pending read, even if that read is a peek, which does not remove the
    message.
    """

    def release_readers(self, position: MessagePosition) -> None:
        for descriptor in list(position.QueueReference.OpenQueueDescriptorCollection.values()):
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                found = self._find_message_for(reader, position)
                if found is not None:
                    self.satisfy_reader(reader, found)
                    return
