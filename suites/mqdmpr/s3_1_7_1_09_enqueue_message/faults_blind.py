"""Faults of MS-MQDMPR 3.1.7.1.9 Enqueue Message, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.lifetimes import Lifetimes
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.transfer.enqueueing import Enqueueing
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.surface.clock import Now


@fault(
    "queue-manager-message-inserted-before-its-priority-while-last-is-locked", breaks="MQDMPR-3.1.7.1.9-14", blind=True
)
class QueueManagerMessageInsertedBeforeItsPriorityWhileLastIsLocked(Positions):
    """While a transaction has locked the last message of a priority, the queue manager inserts a new message of that
    priority before all messages of the priority.
    """

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        last, priority = queue.MessagePositionList._last, message.Priority
        tail = last[priority]
        if tail is None or tail.State is not MessagePositionState.LOCKED or tail.awaits_disk:
            return super().insert_message(queue, message)
        last[priority] = None
        position = super().insert_message(queue, message)
        last[priority] = tail
        return position


@fault("queue-manager-local-message-time-to-be-received-not-started", breaks="MQDMPR-3.1.7.1.9-15", blind=True)
class QueueManagerLocalMessageTimeToBeReceivedNotStarted(Lifetimes):
    """The queue manager does not start the timer of TimeToBeReceived for a message of a local application."""

    def watch_received(self, position: MessagePosition) -> None:
        if position.MessageReference.Identifier.QueueManagerGuid != self.qm.adm.Identifier:
            super().watch_received(position)


@fault("queue-manager-throttled-local-message-accepted", breaks="MQDMPR-3.1.7.1.9-04", blind=True)
class QueueManagerThrottledLocalMessageAccepted(Enqueueing):
    """A throttled queue manager refuses messages from other computers, but stores messages of its own applications."""

    def admit_message(self, queue: Queue, message: Message, now: Now) -> EnqueueStatus:
        throttled, self.qm.adm.Throttled = self.qm.adm.Throttled, False
        try:
            return super().admit_message(queue, message, now)
        finally:
            self.qm.adm.Throttled = throttled
