"""Faults that break rules of MS-MQDMPR 3.2 Cursor. Each fault breaks one transition of the table states.toml. The
author of the faults knew the section, but not the checks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from harness.faults.parts import fault
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import Cursor
from reference_qm.model.enums import CursorState
from reference_qm.model.statuses import Status
from reference_qm.surface.commands import Result


def _list_cursors_of_queue(queue: Queue) -> Iterator[Cursor]:
    for descriptor in queue.OpenQueueDescriptorCollection.values():
        yield from descriptor.CursorCollection.values()


@fault("cursor-of-purged-message-is-unread", breaks="MQDMPR-3.2.7.2-27")
class CursorOfPurgedMessageIsUnread(QueueLifecycle):
    """A purge sets the state of a cursor whose message it deletes to UNREAD."""

    def purge(
        self,
        queue: Queue,
        token: int | None,
        done: Callable[[int], Result],
        failed: Callable[[], None] | None = None,
    ) -> Result | None:
        for cursor in _list_cursors_of_queue(queue):
            if cursor.CursorState is CursorState.READ:
                cursor.CursorState = CursorState.UNREAD
        return super().purge(queue, token, done, failed)


class _PurgerEndingReadsByCursors(QueueLifecycle):
    state: CursorState

    def purge(
        self,
        queue: Queue,
        token: int | None,
        done: Callable[[int], Result],
        failed: Callable[[], None] | None = None,
    ) -> Result | None:
        for descriptor in queue.OpenQueueDescriptorCollection.values():
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                if reader.CursorReference is not None and reader.CursorReference.CursorState is self.state:
                    self.qm.waiting_reads.end_wait_without_message(reader, Status.MQ_ERROR_OPERATION_CANCELLED)
        return super().purge(queue, token, done, failed)


@fault("purge-ends-pending-peek-of-cursor", breaks="MQDMPR-3.2.7.3-16")
class PurgeEndsPendingPeekOfCursor(_PurgerEndingReadsByCursors):
    """A purge of the queue cancels a pending peek by a cursor."""

    state = CursorState.WAIT_PEEK


@fault("purge-ends-pending-receive-of-cursor", breaks="MQDMPR-3.2.7.4-17")
class PurgeEndsPendingReceiveOfCursor(_PurgerEndingReadsByCursors):
    """A purge of the queue cancels a pending receive by a cursor."""

    state = CursorState.WAIT_RECEIVE


@fault("cursor-of-returned-message-is-unread", breaks="MQDMPR-3.2.7.2-23")
class CursorOfReturnedMessageIsUnread(MessagePositions):
    """When a reader returns a message to the queue, the state of a cursor at that message becomes UNREAD."""

    def unlock_message(self, position: MessagePosition) -> None:
        for cursor in _list_cursors_of_queue(position.QueueReference):
            if cursor.MessagePositionReference is position:
                cursor.CursorState = CursorState.UNREAD
        super().unlock_message(position)
