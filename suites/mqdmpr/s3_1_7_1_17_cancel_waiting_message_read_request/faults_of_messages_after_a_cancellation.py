"""Faults in which a cancelled read receives a message that arrives later (MQDMPR-3.1.7.1.17-06)."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import WaitingMessageReadOperation
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status


class CancelledReceiveContinuer(WaitingReads):
    """A part of the queue manager in which some cancelled receives lock the next message of their queue; a subclass
    selects which.
    """

    def does_cancelled_receive_continue(self, reader: WaitingMessageReadOperation, count: int) -> bool:
        """Return whether a cancelled receive still takes the next message. ``count`` is the number of earlier cancelled
        receives.
        """
        raise NotImplementedError

    def end_wait_without_message(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        queue = reader.descriptor.QueueReference
        super().end_wait_without_message(reader, status)
        if status is Status.MQ_ERROR_IO_TIMEOUT or queue is None or not reader.DestructiveRead:
            return
        count = self.__dict__["count"] = self.__dict__.get("count", -1) + 1
        if self.does_cancelled_receive_continue(reader, count):
            self.__dict__.setdefault("queues", []).append(queue)

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        queues = self.__dict__.get("queues", [])
        if position.QueueReference in queues and position.State is MessagePositionState.AVAILABLE:
            queues.remove(position.QueueReference)
            position.State = MessagePositionState.LOCKED
            return
        super().pass_new_message_to_waiting_readers(position)


@fault("queue-manager-cancelled-receive-by-cursor-locks-later-message", breaks="MQDMPR-3.1.7.1.17-06", blind=True)
class QueueManagerCancelledReceiveByCursorLocksLaterMessage(CancelledReceiveContinuer):
    """A cancelled receive by a cursor locks the message that arrives later, so that no reader receives it."""

    def does_cancelled_receive_continue(self, reader: WaitingMessageReadOperation, count: int) -> bool:
        return reader.CursorReference is not None


@fault("queue-manager-second-cancelled-receive-locks-later-message", breaks="MQDMPR-3.1.7.1.17-06", blind=True)
class QueueManagerSecondCancelledReceiveLocksLaterMessage(CancelledReceiveContinuer):
    """If several receives of a queue are cancelled, all of them except the first lock a message that arrives later."""

    def does_cancelled_receive_continue(self, reader: WaitingMessageReadOperation, count: int) -> bool:
        return count > 0
