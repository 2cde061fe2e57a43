"""Faults that break rules of MS-MQDMPR 3.1.2 Timers, written without knowledge of the checks."""

from __future__ import annotations

from harness.faults.calls import GivenStepArguments, change_step_arguments
from harness.faults.registry import add
from reference_qm.core.queueing.waiting_reads import WaitingReads

MS_PER_SECOND = 1_000


def _round_read_timeout_up_to_seconds(given: GivenStepArguments) -> int | None:
    timeout_ms: int | None = given.timeout_ms
    return None if timeout_ms is None else -(-timeout_ms // MS_PER_SECOND) * MS_PER_SECOND


add(
    "queue-manager-pending-read-timer-rounded-up-to-seconds",
    "MQDMPR-3.1.2.3-02",
    "The queue manager rounds the timeout of a pending read up to whole seconds, so that the timer expires late.",
    change_step_arguments(WaitingReads.wait_for_new_message, timeout_ms=_round_read_timeout_up_to_seconds),
    blind=True,
)
