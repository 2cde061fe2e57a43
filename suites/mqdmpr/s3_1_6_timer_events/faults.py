"""Faults of MS-MQDMPR 3.1.6 Timer Events."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import skip
from harness.faults.registry import add
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.statuses import Status

add(
    "pending-read-outlives-timeout",
    "MQDMPR-3.1.6.3-03",
    "A read continues to wait after its timeout.",
    skip(Waiting.on_waiting_message_read_timer),
)


@fault("expired-read-fails-with-not-found", breaks="MQDMPR-3.1.6.3-03")
class ExpiredReadFailsWithNotFound(Waiting):
    """A read whose timeout expires fails with MQ_ERROR_MESSAGE_NOT_FOUND."""

    def on_waiting_message_read_timer(self, number: int) -> None:
        self.stop_reader(self.qm.readers[number], Status.MQ_ERROR_MESSAGE_NOT_FOUND)
