"""Faults of MS-MQDMPR 3.1.7.1.16 Move Message that only special cases show: priorities, acknowledgments, peeks and a
restart.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.core.store.entries import build_relocation
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.states import MessagePositionState


@fault("queue-manager-moved-message-before-messages-of-its-priority", breaks="MQDMPR-3.1.7.1.16-07")
class BeforeItsPriority(Positions):
    """A moved message is inserted before the messages of its priority in the target queue."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        priority = position.MessageReference.Priority
        same = [one for one in queue.MessagePositionList if one.MessageReference.Priority == priority]
        target = super().move_message(position, queue)
        for one in same if target is not None and one_is_available(same) else ():
            queue.MessagePositionList.remove(one)
            again = MessagePosition(one.MessageReference, queue, LookupIdentifier=one.LookupIdentifier)
            again.key, again.order_queue = one.key, one.order_queue
            queue.MessagePositionList.insert(again)
            again.State = MessagePositionState.AVAILABLE
        return target


def one_is_available(positions: list[MessagePosition]) -> bool:
    """Return whether all positions are available."""
    return all(one.State is MessagePositionState.AVAILABLE for one in positions)


@fault("receiver-moved-message-not-acknowledged", breaks="MQDMPR-3.1.7.1.16-06")
class MovedWithoutRequest(Positions):
    """A moved message loses its requests for acknowledgments."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        if queue.parent is not None or position.QueueReference.parent is not None:
            position.MessageReference = replace(position.MessageReference, AcknowledgementsRequested=0)
        return super().move_message(position, queue)


@fault("queue-manager-moved-message-in-both-queues-after-restart", breaks="MQDMPR-3.1.7.1.16-05")
class BothQueues(Positions):
    """After a restart, a moved message is also in its source queue."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        source, key = position.QueueReference, position.key
        target = super().move_message(position, queue)
        if key and queue.parent is not None:
            copy = MessagePosition(position.MessageReference, source, LookupIdentifier=position.LookupIdentifier)
            copy.key = self.qm.next_persist_token()
            self.qm.disk.save(build_relocation(copy))
        return target


@fault("queue-manager-move-completes-no-waiting-peek", breaks="MQDMPR-3.1.7.1.16-D01")
class ReceivesOnly(Waiting):
    """A move completes a pending receive of the target queue, but no pending peek."""

    def release_readers(self, position: MessagePosition) -> None:
        subqueue = position.QueueReference.parent is not None
        descriptors = position.QueueReference.OpenQueueDescriptorCollection.values() if subqueue else ()
        peeks = [
            (each, one)
            for each in descriptors
            for one in each.WaitingMessageReadOperationCollection
            if not one.DestructiveRead
        ]
        for each, one in peeks:
            del each.WaitingMessageReadOperationCollection[one]
        super().release_readers(position)
        for each, one in peeks:
            each.WaitingMessageReadOperationCollection[one] = None
