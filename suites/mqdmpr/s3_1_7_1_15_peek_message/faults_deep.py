"""Faults of MS-MQDMPR 3.1.7.1.15 Peek Message that only special cases reveal: other causes and several peeks."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from harness.faults.parts import fault
from reference_qm.core.queueing.cursors import Cursors, Got
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.queueing.queues import Queues
from reference_qm.core.queueing.reading import Reading
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import Answered, Cursor, OpenQueueDescriptor
from reference_qm.model.enums import CursorState
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus, Status
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("queue-manager-peek-by-cursor-of-deleted-queue-times-out", breaks="MQDMPR-3.1.7.1.15-04", blind=True)
class QueueManagerPeekByCursorOfDeletedQueueTimesOut(Reading):
    """A peek by a cursor of a deleted queue returns MQ_ERROR_IO_TIMEOUT."""

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        if queue_desc.QueueReference is None and cursor is not None:
            answered(Status.MQ_ERROR_IO_TIMEOUT, None)
            return
        super().peek_message(queue_desc, answered, now, timeout_ms, cursor, tag)


@fault("queue-manager-cursor-at-returned-message-finds-next", breaks="MQDMPR-3.1.7.1.15-12", blind=True)
class QueueManagerCursorAtReturnedMessageFindsNext(Cursors):
    """A peek by a cursor at a message that another reader received and returned finds the next message."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        status, position = super().get_message_for_peek(cursor)
        if status is CursorStatus.ALREADY_RECEIVED:
            cursor.CursorState = CursorState.UNREAD
        return status, position


@fault("queue-manager-cursor-at-purged-message-finds-next", breaks="MQDMPR-3.1.7.1.15-16", blind=True)
class QueueManagerCursorAtPurgedMessageFindsNext(Queues):
    """A peek by a cursor at a message that was purged does not fail, but reads the next message."""

    def purge(
        self,
        queue: Queue,
        token: int | None,
        done: Callable[[int], Result],
        failed: Callable[[], None] | None = None,
    ) -> Result | None:
        for descriptor in queue.OpenQueueDescriptorCollection.values():
            for cursor in descriptor.CursorCollection.values():
                cursor.CursorState = CursorState.UNREAD
        return super().purge(queue, token, done, failed)


@fault("queue-manager-returned-message-completes-no-peek", breaks="MQDMPR-3.1.7.1.15-51", blind=True)
class QueueManagerReturnedMessageCompletesNoPeek(Positions):
    """A message that a reader returns, or that an abort unlocks, completes no waiting peek."""

    def unlock_message(self, position: MessagePosition) -> None:
        queue = position.QueueReference
        waiting = {
            descriptor: [one for one in descriptor.WaitingMessageReadOperationCollection if not one.DestructiveRead]
            for descriptor in queue.OpenQueueDescriptorCollection.values()
        }
        for descriptor, readers in waiting.items():
            for reader in readers:
                del descriptor.WaitingMessageReadOperationCollection[reader]
        super().unlock_message(position)
        for descriptor, readers in waiting.items():
            for reader in readers:
                descriptor.WaitingMessageReadOperationCollection[reader] = None


@fault("queue-manager-waiting-peek-of-second-handle-not-completed", breaks="MQDMPR-3.1.7.1.15-51", blind=True)
class QueueManagerWaitingPeekOfSecondHandleNotCompleted(Waiting):
    """A message that becomes available completes only the pending peeks with the first handle of the queue."""

    def release_readers(self, position: MessagePosition) -> None:
        done: OpenQueueDescriptor | None = None
        for descriptor in list(position.QueueReference.OpenQueueDescriptorCollection.values()):
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                if reader.number not in self.qm.readers:
                    continue
                if not reader.DestructiveRead and done not in (None, descriptor):
                    continue
                found = self._find_message_for(reader, position)
                if found is None:
                    return
                if not reader.DestructiveRead:
                    done = descriptor
                self.satisfy_reader(reader, found)


@fault("queue-manager-peek-past-locked-first-message-waits", breaks="MQDMPR-3.1.7.1.15-58", blind=True)
class QueueManagerPeekPastLockedFirstMessageWaits(Reading):
    """A peek at a queue whose first message is locked waits, although a second message is available."""

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        queue = queue_desc.QueueReference
        head = None if queue is None else queue.MessagePositionList.Head
        if cursor is None and isinstance(head, MessagePosition) and head.State is MessagePositionState.LOCKED:
            self.qm.waiting.wait_for_new_message(queue_desc, timeout_ms, False, answered, now, tag, cursor)
            return
        super().peek_message(queue_desc, answered, now, timeout_ms, cursor, tag)


@fault("queue-manager-peek-unlocks-first-message", breaks="MQDMPR-3.1.7.1.15-59", blind=True)
class QueueManagerPeekUnlocksFirstMessage(Reading):
    """A peek without a cursor unlocks the first message of the queue if another reader has locked the message."""

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        queue = queue_desc.QueueReference
        head = None if queue is None else queue.MessagePositionList.Head
        super().peek_message(queue_desc, answered, now, timeout_ms, cursor, tag)
        if isinstance(head, MessagePosition) and head.State is MessagePositionState.LOCKED:
            head.State = MessagePositionState.AVAILABLE
