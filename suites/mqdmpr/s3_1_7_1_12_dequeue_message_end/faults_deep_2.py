"""Further faults of MS-MQDMPR 3.1.7.1.12 Dequeue Message End: repeated ends, and ends after a purge."""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

from harness.faults.parts import fault
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status

_RETURNED_LOOKUP_IDS: WeakKeyDictionary[QueueManager, set[int]] = WeakKeyDictionary()
"""For each queue manager, the lookup identifiers of the messages that were returned."""


@fault("negative-end-after-purge-returns-express-message-to-queue", breaks="MQDMPR-3.1.7.1.12-13")
class NegativeEndAfterPurgeReturnsExpressMessageToQueue(TwoPhaseReading):
    """After a purge of the queue, a Dequeue Message End with iDeleteMessage False returns an express message to its
    queue.
    """

    def dequeue_message_end(
        self,
        queue_desc: OpenQueueDescriptor,
        position: MessagePosition,
        delete_message: bool,
        ended: Callable[[Status], None],
        transactional: bool = False,
    ) -> None:
        purged = position.State is MessagePositionState.PURGE_PENDING
        if purged and not delete_message and not position.key:
            position.State = MessagePositionState.LOCKED
        super().dequeue_message_end(queue_desc, position, delete_message, ended, transactional)


@fault("second-negative-end-of-same-message-leaves-it-locked", breaks="MQDMPR-3.1.7.1.12-18")
class SecondNegativeEndOfSameMessageLeavesItLocked(TwoPhaseReading):
    """A message that is received and returned twice stays locked after the second return."""

    def dequeue_message_end(
        self,
        queue_desc: OpenQueueDescriptor,
        position: MessagePosition,
        delete_message: bool,
        ended: Callable[[Status], None],
        transactional: bool = False,
    ) -> None:
        returned = _RETURNED_LOOKUP_IDS.setdefault(self.qm, set())
        again = position.LookupIdentifier in returned
        if position.State is MessagePositionState.LOCKED and not delete_message and not transactional:
            returned.add(position.LookupIdentifier)
            if again:
                ended(Status.MQ_OK)
                return
        super().dequeue_message_end(queue_desc, position, delete_message, ended, transactional)
