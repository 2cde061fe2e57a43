"""Faults of MS-MQDMPR 3.1.7.1.12 Dequeue Message End."""

from __future__ import annotations

from harness.faults.calls import instead_if, with_arguments, with_status
from harness.faults.registry import add
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.model.statuses import Status

add(
    "receive-of-deleted-queue-ended",
    "MQDMPR-3.1.7.1.12-04",
    "A receive is ended with success although its queue was deleted meanwhile.",
    instead_if(
        TwoPhaseReading.dequeue_message_end,
        lambda given: given.queue_desc.QueueReference is None,
        lambda given: given.ended(Status.MQ_OK),
    ),
)
add(
    "receive-ended-always-deletes",
    "MQDMPR-3.1.7.1.12-18",
    "However a receive is ended, its message is deleted.",
    with_arguments(TwoPhaseReading.dequeue_message_end, delete_message=lambda given: True),
)
add(
    "receive-ended-never-deletes",
    "MQDMPR-3.1.7.1.12-13",
    "However a receive is ended, its message is there again.",
    with_arguments(TwoPhaseReading.dequeue_message_end, delete_message=lambda given: False),
)
add(
    "receive-ended-told-as-out-of-sequence",
    "MQDMPR-3.1.7.1.12-21",
    "To end a receive returns MQ_ERROR_TRANSACTION_SEQUENCE, though it is ended.",
    with_status(TwoPhaseReading.dequeue_message_end, Status.MQ_ERROR_TRANSACTION_SEQUENCE, callback="ended"),
)
