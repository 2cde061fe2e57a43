"""Faults of MS-MQDMPR 3.1.7.1.12 Dequeue Message End."""

from __future__ import annotations

from harness.faults.calls import replace_step_if, with_arguments, with_status
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.model.adm import MessagePosition
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
    "end-of-receive-always-deletes",
    "MQDMPR-3.1.7.1.12-18",
    "The event Dequeue Message End always deletes the message.",
    with_arguments(TwoPhaseReading.dequeue_message_end, delete_message=lambda given: True),
)
add(
    "end-of-receive-never-deletes",
    "MQDMPR-3.1.7.1.12-13",
    "The event Dequeue Message End always makes the message available again.",
    with_arguments(TwoPhaseReading.dequeue_message_end, delete_message=lambda given: False),
)
add(
    "end-of-receive-returns-sequence-error",
    "MQDMPR-3.1.7.1.12-21",
    "The event Dequeue Message End returns MQ_ERROR_TRANSACTION_SEQUENCE although it succeeds.",
    with_status(TwoPhaseReading.dequeue_message_end, Status.MQ_ERROR_TRANSACTION_SEQUENCE, callback="ended"),
)


@fault("returned-message-given-to-no-waiting-read", breaks=("MQDMPR-3.1.7.1.12-18", "MQDMPR-3.1.7.2.2-07"))
class ReturnedMessageGivenToNoWaitingRead(Positions):
    """A message that a reader returns to its queue completes no waiting read."""

    def unlock_message(self, position: MessagePosition) -> None:
        queue = position.QueueReference
        opened, queue.OpenQueueDescriptorCollection = queue.OpenQueueDescriptorCollection, {}
        try:
            super().unlock_message(position)
        finally:
            queue.OpenQueueDescriptorCollection = opened
