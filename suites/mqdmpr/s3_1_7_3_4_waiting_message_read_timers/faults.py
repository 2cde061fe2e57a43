"""Faults that break rules of MS-MQDMPR 3.1.7.3.4 Waiting Message Read Timer Start and of 3.1.7.3.5."""

from __future__ import annotations

from harness.faults.calls import change_step_arguments
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.statuses import Status


@fault("expiry-of-one-read-ends-all-cursor-reads-of-handle", breaks="MQDMPR-3.1.7.3.4-03")
class ExpiryOfOneReadEndsAllCursorReadsOfHandle(WaitingReads):
    """When the timer of a pending read expires, the queue manager ends all pending reads by cursors of
    the same handle.
    """

    def on_waiting_message_read_timer(self, number: int) -> None:
        descriptor = self.qm.readers[number].descriptor
        super().on_waiting_message_read_timer(number)
        for reader in list(descriptor.WaitingMessageReadOperationCollection):
            if reader.CursorReference is not None:
                self.end_wait_without_message(reader, Status.MQ_ERROR_IO_TIMEOUT)


add(
    "timer-of-pending-read-has-half-duration",
    "MQDMPR-3.1.7.3.4-04",
    "The queue manager runs the timer of a pending read for half of the read's timeout.",
    change_step_arguments(
        WaitingReads.wait_for_new_message, timeout_ms=lambda given: given.timeout_ms and given.timeout_ms // 2
    ),
)


add(
    "queue-manager-timeout-of-read-16-bits",
    "MQDMPR-3.1.7.3.4-04",
    "The queue manager keeps only the low 16 bits of the timeout of a waiting read, in ms.",
    change_step_arguments(
        WaitingReads.wait_for_new_message, timeout_ms=lambda given: given.timeout_ms and given.timeout_ms & 0xFFFF
    ),
    blind=True,
)


add(
    "queue-manager-timeout-of-second-read-of-earlier-read",
    "MQDMPR-3.1.7.3.4-04",
    "The queue manager starts the timer of a new read with the timeout of a read that already waits.",
    change_step_arguments(
        WaitingReads.wait_for_new_message,
        timeout_ms=lambda given: (
            given.timeout_ms and max(given.timeout_ms, 1_500) if given.qm.readers else given.timeout_ms
        ),
    ),
    blind=True,
)
