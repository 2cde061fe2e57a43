"""Faults in the status that Dequeue Message End returns after a purge or while other reads are pending."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.neighbouring_reads import list_waiting_reads
from harness.faults.parts import fault
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status


class DequeueMessageEndErrorReporter(TwoPhaseReading):
    """A part of the queue manager whose event Dequeue Message End carries out its steps, but sometimes returns an
    error.
    """

    def is_dequeue_end_error_reported(self, position: MessagePosition, delete_message: bool) -> bool:
        raise NotImplementedError

    def dequeue_message_end(
        self,
        queue_desc: OpenQueueDescriptor,
        position: MessagePosition,
        delete_message: bool,
        ended: Callable[[Status], None],
        transactional: bool = False,
    ) -> None:
        if self.is_dequeue_end_error_reported(position, delete_message):
            super().dequeue_message_end(
                queue_desc, position, delete_message, lambda _: ended(Status.MQ_ERROR_TRANSACTION_SEQUENCE)
            )
            return
        super().dequeue_message_end(queue_desc, position, delete_message, ended, transactional)


@fault("queue-manager-dequeue-end-of-purged-message-fails", breaks="MQDMPR-3.1.7.1.12-21", blind=True)
class QueueManagerDequeueEndOfPurgedMessageFails(DequeueMessageEndErrorReporter):
    """The event Dequeue Message End returns MQ_ERROR_TRANSACTION_SEQUENCE if the queue was purged while the message was
    locked.
    """

    def is_dequeue_end_error_reported(self, position: MessagePosition, delete_message: bool) -> bool:
        return position.State is MessagePositionState.PURGE_PENDING


@fault("queue-manager-dequeue-end-fails-while-other-read-is-pending", breaks="MQDMPR-3.1.7.1.12-21", blind=True)
class QueueManagerDequeueEndFailsWhileOtherReadIsPending(DequeueMessageEndErrorReporter):
    """The event Dequeue Message End returns MQ_ERROR_TRANSACTION_SEQUENCE if it returns the message to the queue while
    a read of the queue is pending.
    """

    def is_dequeue_end_error_reported(self, position: MessagePosition, delete_message: bool) -> bool:
        return not delete_message and bool(list_waiting_reads(position.QueueReference))
