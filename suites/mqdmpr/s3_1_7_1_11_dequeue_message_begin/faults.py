"""Faults of MS-MQDMPR 3.1.7.1.11 Dequeue Message Begin."""

from __future__ import annotations

from harness.faults.calls import with_arguments, with_status
from harness.faults.registry import add
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.model.statuses import Status

add(
    "two-phase-receive-ignores-its-cancel-tag",
    ("MQDMPR-3.1.7.1.11-12", "MQDMPR-3.1.7.1.10-27"),
    "The queue manager loses the tag of a two-phase receive.",
    with_arguments(TwoPhaseReading.dequeue_message_begin, tag=lambda given: None),
)
add(
    "two-phase-receive-returns-timeout-status",
    ("MQDMPR-3.1.7.1.11-15", "MQDMPR-3.1.7.1.10-D07"),
    "The event Dequeue Message Begin returns its message with MQ_ERROR_IO_TIMEOUT.",
    with_status(TwoPhaseReading.dequeue_message_begin, Status.MQ_ERROR_IO_TIMEOUT),
)
