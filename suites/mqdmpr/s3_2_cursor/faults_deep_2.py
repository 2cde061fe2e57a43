"""Faults of MS-MQDMPR 3.2.7.4 Get Next Message for Dequeue with several messages, cursors and waits."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.queueing.cursors import Cursors, Got
from reference_qm.core.queueing.reading import Reading
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import CursorState
from reference_qm.model.statuses import CursorStatus, Status


def _rest(cursor: Cursor) -> list[MessagePosition]:
    queue = cursor.OpenQueueDescriptorReference.QueueReference
    return [] if queue is None else list(queue.MessagePositionList)


class _Dequeue(Cursors):
    """Change some receives by a cursor that has read no message."""

    def change(self, cursor: Cursor, no_wait: bool, got: Got) -> Got:
        raise NotImplementedError

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        return self.change(cursor, no_wait, super().get_next_message_for_dequeue(cursor, no_wait))


@fault("receiver-receive-by-cursor-at-end-not-found-status-io-timeout", breaks="MQDMPR-3.2.7.4-14")
class ReceiverReceiveByCursorAtEndNotFoundStatusIoTimeout(Reading):
    """A receive by a cursor behind the last message, with timeout zero, fails with MQ_ERROR_IO_TIMEOUT, if the queue
    contains a message before the cursor.
    """

    def _answer_or_wait(self, queue_desc: OpenQueueDescriptor, got: Got, *rest: Any) -> None:
        queue = queue_desc.QueueReference
        if got[0] is CursorStatus.NOT_FOUND and queue is not None and len(list(queue.MessagePositionList)):
            rest[2](Status.MQ_ERROR_IO_TIMEOUT, None)
        else:
            super()._answer_or_wait(queue_desc, got, *rest)


@fault("receiver-receive-by-unread-cursor-takes-last-message", breaks="MQDMPR-3.2.7.4-07")
class ReceiverReceiveByUnreadCursorTakesLastMessage(_Dequeue):
    """A receive by a cursor in the state UNREAD takes the last message, if at least three messages follow."""

    def change(self, cursor: Cursor, no_wait: bool, got: Got) -> Got:
        positions = _rest(cursor)
        if got[1] is None or len(positions) < 3 or got[1] is not positions[0]:
            return got
        return got[0], positions[-1]


@fault("receiver-second-receive-by-cursor-takes-first-message", breaks="MQDMPR-3.2.7.4-07")
class ReceiverSecondReceiveByCursorTakesFirstMessage(Cursors):
    """The second receive by a cursor in the state UNREAD searches from the start of the queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.used: set[Cursor] = set()

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        if cursor in self.used and cursor.CursorState is CursorState.UNREAD:
            self.rewind(cursor)
        self.used.add(cursor)
        return super().get_next_message_for_dequeue(cursor, no_wait)


@fault("receiver-waiting-receive-by-cursor-leaves-state-unread", breaks="MQDMPR-3.2.7.4-16")
class ReceiverWaitingReceiveByCursorLeavesStateUnread(_Dequeue):
    """A second receive that waits by a cursor does not set the cursor's state to waiting for a receive."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.waited: set[Cursor] = set()

    def change(self, cursor: Cursor, no_wait: bool, got: Got) -> Got:
        if got[0] is CursorStatus.WAITING:
            if cursor in self.waited:
                cursor.CursorState = CursorState.UNREAD
            self.waited.add(cursor)
        return got


@fault("receiver-receive-by-cursor-behind-last-message-does-not-wait", breaks="MQDMPR-3.2.7.4-17")
class ReceiverReceiveByCursorBehindLastMessageDoesNotWait(_Dequeue):
    """A receive by a cursor behind the last message of a queue with messages does not wait."""

    def change(self, cursor: Cursor, no_wait: bool, got: Got) -> Got:
        if got[0] is CursorStatus.WAITING and _rest(cursor):
            return CursorStatus.NOT_FOUND, None
        return got


@fault("receiver-receive-by-cursor-returns-message-of-other-cursor", breaks="MQDMPR-3.2.7.4-21")
class ReceiverReceiveByCursorReturnsMessageOfOtherCursor(_Dequeue):
    """A receive by a cursor returns the message at a different cursor of the same handle, if that cursor has read."""

    def change(self, cursor: Cursor, no_wait: bool, got: Got) -> Got:
        for one in cursor.OpenQueueDescriptorReference.CursorCollection.values():
            if one is not cursor and one.CursorState is CursorState.READ and got[1] is not None:
                place = one.MessagePositionReference
                if isinstance(place, MessagePosition) and place is not got[1]:
                    return got[0], place
        return got


@fault("receiver-receive-of-current-message-after-next-leaves-read", breaks="MQDMPR-3.2.7.4-26")
class ReceiverReceiveOfCurrentMessageAfterNextLeavesRead(Cursors):
    """A receive of the current message leaves the cursor in the state READ, if messages follow."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        read = cursor.CursorState is CursorState.READ
        got = super().get_next_message_for_dequeue(cursor, no_wait)
        if read and got[1] is not None and got[1] is not _rest(cursor)[-1]:
            cursor.CursorState = CursorState.READ
        return got


@fault("receiver-receive-of-current-last-message-returns-first", breaks="MQDMPR-3.2.7.4-27")
class ReceiverReceiveOfCurrentLastMessageReturnsFirst(Cursors):
    """A receive by a cursor at the last available message returns the first message of the queue."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        read = cursor.CursorState is CursorState.READ
        got = super().get_next_message_for_dequeue(cursor, no_wait)
        positions = _rest(cursor)
        return (got[0], positions[0]) if read and got[1] is not None and got[1] is positions[-1] else got
