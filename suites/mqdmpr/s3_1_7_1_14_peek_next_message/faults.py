"""Faults of MS-MQDMPR 3.1.7.1.14 Peek Next Message."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.queueing.cursors import Cursors, Got
from reference_qm.core.queueing.reading import Reading
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Answered, Cursor, OpenQueueDescriptor
from reference_qm.model.enums import CursorState
from reference_qm.model.statuses import CursorStatus, Status
from reference_qm.surface.clock import Now


@fault("next-message-is-the-same", breaks=("MQDMPR-3.1.7.1.14-08", "MQDMPR-3.1.7.1.14-10"))
class NextIsTheSame(Cursors):
    """The next message of a cursor is the one that it is at."""

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        if cursor.CursorState is CursorState.READ:
            return self.get_message_for_peek(cursor)
        return super().get_next_message_for_peek(cursor)


@fault("next-message-of-another-queue", breaks="MQDMPR-3.1.7.1.14-06")
class OfAnotherQueue(Reading):
    """The next message is that of the first cursor that there is, of whichever queue."""

    def peek_next_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        cursor: Cursor,
        timeout_ms: int | None = None,
        tag: Hashable | None = None,
    ) -> None:
        cursors = (one for opened in self.qm.descriptors.values() for one in opened.CursorCollection.values())
        first = next(cursors, cursor)
        descriptor = first.OpenQueueDescriptorReference
        super().peek_next_message(descriptor, answered, now, first, timeout_ms, tag)


@fault("next-message-told-as-illegal", breaks="MQDMPR-3.1.7.1.14-11")
class ToldAsIllegal(Reading):
    """The next message is brought with MQ_ERROR_ILLEGAL_CURSOR_ACTION."""

    def peek_next_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        cursor: Cursor,
        timeout_ms: int | None = None,
        tag: Hashable | None = None,
    ) -> None:
        def answer(status: Status, found: MessagePosition | None) -> None:
            answered(Status.MQ_ERROR_ILLEGAL_CURSOR_ACTION if status is Status.MQ_OK else status, found)

        super().peek_next_message(queue_desc, answer, now, cursor, timeout_ms, tag)


@fault("next-message-of-nothing-not-found", breaks="MQDMPR-3.1.7.1.14-14")
class OfNothingNotFound(Cursors):
    """That a cursor by which nothing was read has no next message is told as MQ_ERROR_MESSAGE_NOT_FOUND."""

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        status, position = super().get_next_message_for_peek(cursor)
        illegal = status is CursorStatus.ILLEGAL_CURSOR_ACTION
        return (CursorStatus.NOT_FOUND, None) if illegal else (status, position)


@fault("next-message-of-nothing-is-the-first", breaks=("MQDMPR-3.1.7.1.14-13", "MQDMPR-3.1.7.1.14-14"))
class OfNothingIsTheFirst(Cursors):
    """A cursor by which nothing was read has a next message: the first."""

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        return self._seek_for_peek(cursor)


@fault("peek-keeps-other-readers-waiting", breaks=("MQDMPR-3.1.7.1.14-27", "MQDMPR-3.1.7.1.15-29"))
class KeepsOthersWaiting(Waiting):
    """A message that comes goes to the first read that waits and to no other, also if that only peeks."""

    def release_readers(self, position: MessagePosition) -> None:
        for descriptor in list(position.QueueReference.OpenQueueDescriptorCollection.values()):
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                found = self._find_for(reader, position)
                if found is not None:
                    self.satisfy_reader(reader, found)
                    return
