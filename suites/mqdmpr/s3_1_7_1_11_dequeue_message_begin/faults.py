"""Faults of MS-MQDMPR 3.1.7.1.11 Dequeue Message Begin."""

from __future__ import annotations

from harness.faults.calls import with_arguments, with_status
from harness.faults.registry import add
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.model.statuses import Status

add(
    "receive-begun-without-tag",
    ("MQDMPR-3.1.7.1.11-12", "MQDMPR-3.1.7.1.10-27"),
    "A receive that is begun loses its tag.",
    with_arguments(TwoPhaseReading.dequeue_message_begin, tag=lambda given: None),
)
add(
    "receive-begun-told-as-timed-out",
    ("MQDMPR-3.1.7.1.11-15", "MQDMPR-3.1.7.1.10-D07"),
    "A receive that is begun and brings its message returns MQ_ERROR_IO_TIMEOUT.",
    with_status(TwoPhaseReading.dequeue_message_begin, Status.MQ_ERROR_IO_TIMEOUT),
)
