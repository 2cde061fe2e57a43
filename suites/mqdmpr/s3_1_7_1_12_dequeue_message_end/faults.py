"""Faults that break rules of MS-MQDMPR 3.1.7.1.12 Dequeue Message End."""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

from harness.faults.calls import change_step_arguments, replace_step_if, replace_step_status
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.codec import MessageClass
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status

add(
    "end-of-receive-from-deleted-queue-succeeds",
    "MQDMPR-3.1.7.1.12-04",
    "The event Dequeue Message End returns MQ_OK although the queue was deleted after the message was received.",
    replace_step_if(
        TwoPhaseReading.dequeue_message_end,
        lambda given: given.queue_desc.QueueReference is None,
        lambda given: given.ended(Status.MQ_OK),
    ),
)


add(
    "end-of-receive-never-deletes",
    "MQDMPR-3.1.7.1.12-13",
    "The event Dequeue Message End always makes the message available again.",
    change_step_arguments(TwoPhaseReading.dequeue_message_end, delete_message=lambda given: False),
)


@fault("queue-manager-dequeue-end-deletes-first-locked-message", breaks="MQDMPR-3.1.7.1.12-13")
class QueueManagerDequeueEndDeletesFirstLockedMessage(TwoPhaseReading):
    """Dequeue Message End with iDeleteMessage True deletes the first locked message of the queue instead of
    the message that was received.
    """

    def dequeue_message_end(
        self,
        queue_desc: OpenQueueDescriptor,
        position: MessagePosition,
        delete_message: bool,
        ended: Callable[[Status], None],
        transactional: bool = False,
    ) -> None:
        queue = queue_desc.QueueReference
        if queue is not None and delete_message:
            locked = [one for one in queue.MessagePositionList if one.State is MessagePositionState.LOCKED]
            position = locked[0] if locked else position
        super().dequeue_message_end(queue_desc, position, delete_message, ended, transactional)


@fault("queue-manager-message-deleted-by-dequeue-end-restored-at-restart", breaks="MQDMPR-3.1.7.1.12-13", blind=True)
class QueueManagerMessageDeletedByDequeueEndRestoredAtRestart(TwoPhaseReading):
    """After a restart, the queue manager restores a message that Dequeue Message End deleted."""

    def dequeue_message_end(
        self,
        queue_desc: OpenQueueDescriptor,
        position: MessagePosition,
        delete_message: bool,
        ended: Callable[[Status], None],
        transactional: bool = False,
    ) -> None:
        if delete_message and not transactional and position.State is MessagePositionState.LOCKED:
            position.key = 0
        super().dequeue_message_end(queue_desc, position, delete_message, ended, transactional)


@fault("dequeue-end-after-purge-returns-purged-express-message-to-queue", breaks="MQDMPR-3.1.7.1.12-13")
class DequeueEndAfterPurgeReturnsPurgedExpressMessageToQueue(TwoPhaseReading):
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


add(
    "end-of-receive-always-deletes",
    "MQDMPR-3.1.7.1.12-18",
    "The event Dequeue Message End always deletes the message.",
    change_step_arguments(TwoPhaseReading.dequeue_message_end, delete_message=lambda given: True),
)


@fault("returned-message-given-to-no-waiting-read", breaks=("MQDMPR-3.1.7.1.12-18", "MQDMPR-3.1.7.2.2-07"))
class ReturnedMessageGivenToNoWaitingRead(MessagePositions):
    """A message that a reader returns to its queue completes no waiting read."""

    def unlock_message(self, position: MessagePosition) -> None:
        queue = position.QueueReference
        opened, queue.OpenQueueDescriptorCollection = queue.OpenQueueDescriptorCollection, {}
        try:
            super().unlock_message(position)
        finally:
            queue.OpenQueueDescriptorCollection = opened


@fault("queue-manager-dequeue-end-returns-first-locked-message", breaks="MQDMPR-3.1.7.1.12-18")
class QueueManagerDequeueEndReturnsFirstLockedMessage(TwoPhaseReading):
    """Dequeue Message End with iDeleteMessage False returns the first locked message of the queue instead of
    the message that was received.
    """

    def dequeue_message_end(
        self,
        queue_desc: OpenQueueDescriptor,
        position: MessagePosition,
        delete_message: bool,
        ended: Callable[[Status], None],
        transactional: bool = False,
    ) -> None:
        queue = queue_desc.QueueReference
        if queue is not None and not delete_message:
            locked = [one for one in queue.MessagePositionList if one.State is MessagePositionState.LOCKED]
            position = locked[0] if locked else position
        super().dequeue_message_end(queue_desc, position, delete_message, ended, transactional)


@fault("queue-manager-dequeue-end-puts-message-at-end", breaks="MQDMPR-3.1.7.1.12-18")
class QueueManagerDequeueEndPutsMessageAtEnd(TwoPhaseReading):
    """Dequeue Message End with iDeleteMessage False puts the message after the other messages of its priority."""

    def dequeue_message_end(
        self,
        queue_desc: OpenQueueDescriptor,
        position: MessagePosition,
        delete_message: bool,
        ended: Callable[[Status], None],
        transactional: bool = False,
    ) -> None:
        queue = queue_desc.QueueReference
        if queue is None or delete_message or transactional or position.State is not MessagePositionState.LOCKED:
            super().dequeue_message_end(queue_desc, position, delete_message, ended, transactional)
            return
        self.qm.message_positions.move_message(position, queue)
        ended(Status.MQ_OK)


@fault("queue-manager-message-returned-by-dequeue-end-journaled", breaks="MQDMPR-3.1.7.1.12-18", blind=True)
class QueueManagerMessageReturnedByDequeueEndJournaled(TwoPhaseReading):
    """When a reader returns a message to its queue, the queue manager also copies the message into the journal."""

    def dequeue_message_end(
        self,
        queue_desc: OpenQueueDescriptor,
        position: MessagePosition,
        delete_message: bool,
        ended: Callable[[Status], None],
        transactional: bool = False,
    ) -> None:
        if not delete_message and position.State is MessagePositionState.LOCKED:
            self.qm.message_journaling.journal_received_message(position, MessageClass.MQMSG_CLASS_ACK_RECEIVE)
        super().dequeue_message_end(queue_desc, position, delete_message, ended, transactional)


_RETURNED_LOOKUP_IDS_BY_QUEUE_MANAGER: WeakKeyDictionary[QueueManager, set[int]] = WeakKeyDictionary()
"""For each queue manager, the lookup identifiers of the messages that were returned."""


@fault("message-returned-twice-by-dequeue-end-stays-locked", breaks="MQDMPR-3.1.7.1.12-18")
class MessageReturnedTwiceByDequeueEndStaysLocked(TwoPhaseReading):
    """A message that is received and returned twice stays locked after the second return."""

    def dequeue_message_end(
        self,
        queue_desc: OpenQueueDescriptor,
        position: MessagePosition,
        delete_message: bool,
        ended: Callable[[Status], None],
        transactional: bool = False,
    ) -> None:
        returned = _RETURNED_LOOKUP_IDS_BY_QUEUE_MANAGER.setdefault(self.qm, set())
        again = position.LookupIdentifier in returned
        if position.State is MessagePositionState.LOCKED and not delete_message and not transactional:
            returned.add(position.LookupIdentifier)
            if again:
                ended(Status.MQ_OK)
                return
        super().dequeue_message_end(queue_desc, position, delete_message, ended, transactional)


add(
    "end-of-receive-returns-sequence-error",
    "MQDMPR-3.1.7.1.12-21",
    "The event Dequeue Message End returns MQ_ERROR_TRANSACTION_SEQUENCE although it succeeds.",
    replace_step_status(TwoPhaseReading.dequeue_message_end, Status.MQ_ERROR_TRANSACTION_SEQUENCE, callback="ended"),
)


@fault("queue-manager-dequeue-end-of-purged-message-refused", breaks="MQDMPR-3.1.7.1.12-21")
class QueueManagerDequeueEndOfPurgedMessageRefused(TwoPhaseReading):
    """If the queue was purged, Dequeue Message End deletes the message but returns MQ_ERROR_TRANSACTION_SEQUENCE."""

    def dequeue_message_end(
        self,
        queue_desc: OpenQueueDescriptor,
        position: MessagePosition,
        delete_message: bool,
        ended: Callable[[Status], None],
        transactional: bool = False,
    ) -> None:
        purged = position.State is MessagePositionState.PURGE_PENDING

        def report_refusal_if_purged(status: Status) -> None:
            ended(Status.MQ_ERROR_TRANSACTION_SEQUENCE if purged else status)

        super().dequeue_message_end(queue_desc, position, delete_message, report_refusal_if_purged, transactional)


@fault("queue-manager-returned-message-wakes-no-reader", breaks="MQDMPR-3.1.7.1.12-18", blind=True)
class QueueManagerReturnedMessageWakesNoReader(TwoPhaseReading):
    """Dequeue Message End does not pass a message that it makes available again to the reads that wait."""

    def dequeue_message_end(
        self,
        queue_desc: OpenQueueDescriptor,
        position: MessagePosition,
        delete_message: bool,
        ended: Callable[[Status], None],
        transactional: bool = False,
    ) -> None:
        queue, locked = queue_desc.QueueReference, position.State is MessagePositionState.LOCKED
        if queue is not None and locked and not (delete_message or transactional):
            position.State = MessagePositionState.AVAILABLE
            queue.MessagePositionList.reset_search_start(position)
            ended(Status.MQ_OK)
        else:
            super().dequeue_message_end(queue_desc, position, delete_message, ended, transactional)


add(
    "queue-manager-negative-end-of-receive-from-deleted-queue-succeeds",
    "MQDMPR-3.1.7.1.12-04",
    "The queue manager returns MQ_OK for the negative end of a receive whose queue was deleted.",
    change_step_arguments(
        TwoPhaseReading.dequeue_message_end,
        ended=lambda given: given.ended if given.delete_message else lambda status: given.ended(Status.MQ_OK),
    ),
    blind=True,
)


@fault("queue-manager-dequeue-end-for-deleted-and-recreated-queue-succeeds", breaks="MQDMPR-3.1.7.1.12-04", blind=True)
class QueueManagerDequeueEndForDeletedAndRecreatedQueueSucceeds(TwoPhaseReading):
    """The end of a receive returns MQ_OK if the queue was deleted and a queue with its name was created."""

    def dequeue_message_end(
        self,
        queue_desc: OpenQueueDescriptor,
        position: MessagePosition,
        delete_message: bool,
        ended: Callable[[Status], None],
        transactional: bool = False,
    ) -> None:
        again = self.qm.queue_names.find_queue_by_path(position.QueueReference.Pathname)
        if queue_desc.QueueReference is None and again is not None:
            ended(Status.MQ_OK)
        else:
            super().dequeue_message_end(queue_desc, position, delete_message, ended, transactional)


@fault("queue-manager-second-dequeue-end-for-deleted-queue-succeeds", breaks="MQDMPR-3.1.7.1.12-04", blind=True)
class QueueManagerSecondDequeueEndForDeletedQueueSucceeds(TwoPhaseReading):
    """For two receives from a queue that was deleted, only the end of the first receive returns
    MQ_ERROR_QUEUE_NOT_AVAILABLE.
    """

    handles_of_refused_dequeue_ends: frozenset[int] = frozenset()

    def dequeue_message_end(
        self,
        queue_desc: OpenQueueDescriptor,
        position: MessagePosition,
        delete_message: bool,
        ended: Callable[[Status], None],
        transactional: bool = False,
    ) -> None:
        if queue_desc.QueueReference is None and queue_desc.Handle in self.handles_of_refused_dequeue_ends:
            ended(Status.MQ_OK)
            return
        if queue_desc.QueueReference is None:
            self.handles_of_refused_dequeue_ends |= {queue_desc.Handle}
        super().dequeue_message_end(queue_desc, position, delete_message, ended, transactional)
