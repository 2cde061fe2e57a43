"""Faults of MS-MQDMPR 3.1.7.3.4 Waiting Message Read Timer Start."""

from __future__ import annotations

from harness.faults.calls import with_arguments
from harness.faults.registry import add
from reference_qm.core.queueing.waiting import Waiting

add(
    "time-out-runs-half",
    "MQDMPR-3.1.7.3.4-04",
    "A read that waits waits half as long as it was to.",
    with_arguments(Waiting.wait_for_new_message, timeout_ms=lambda given: given.timeout_ms and given.timeout_ms // 2),
)
