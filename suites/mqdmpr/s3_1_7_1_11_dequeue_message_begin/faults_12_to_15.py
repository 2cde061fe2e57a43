"""Faults that break the rules MQDMPR-3.1.7.1.11-12 and MQDMPR-3.1.7.1.11-15."""

from __future__ import annotations

from harness.faults.calls import change_step_arguments
from harness.faults.read_answers import change_read_answers
from harness.faults.registry import add
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.model.statuses import Status

add(
    "queue-manager-tag-of-second-two-phase-receive-lost",
    "MQDMPR-3.1.7.1.11-12",
    "The queue manager ignores the tag of a two-phase receive while another receive of the same handle waits.",
    change_step_arguments(
        TwoPhaseReading.dequeue_message_begin,
        tag=lambda given: None if given.queue_desc.WaitingMessageReadOperationCollection else given.tag,
    ),
    blind=True,
)


add(
    "queue-manager-two-phase-receive-by-cursor-at-end-returns-timeout",
    "MQDMPR-3.1.7.1.11-15",
    "A two-phase receive by a cursor with the timeout zero returns MQ_ERROR_IO_TIMEOUT instead of"
    " MQ_ERROR_MESSAGE_NOT_FOUND.",
    change_step_arguments(
        TwoPhaseReading.dequeue_message_begin,
        answered=change_read_answers(
            lambda given, status, position: (
                Status.MQ_ERROR_IO_TIMEOUT if status is Status.MQ_ERROR_MESSAGE_NOT_FOUND else status,
                position,
            )
        ),
    ),
    blind=True,
)
