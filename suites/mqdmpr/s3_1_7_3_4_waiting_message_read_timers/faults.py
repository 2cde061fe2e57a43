"""Faults of MS-MQDMPR 3.1.7.3.4 Waiting Message Read Timer Start."""

from __future__ import annotations

from harness.faults.calls import with_arguments
from harness.faults.registry import add
from reference_qm.core.queueing.waiting import Waiting

add(
    "timer-of-pending-read-has-half-duration",
    "MQDMPR-3.1.7.3.4-04",
    "The queue manager runs the timer of a pending read for half of the read's timeout.",
    with_arguments(Waiting.wait_for_new_message, timeout_ms=lambda given: given.timeout_ms and given.timeout_ms // 2),
)
