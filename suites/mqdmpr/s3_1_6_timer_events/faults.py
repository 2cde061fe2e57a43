"""Faults of MS-MQDMPR 3.1.6 Timer Events."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import skip
from harness.faults.registry import add
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.statuses import Status

add(
    "read-waits-beyond-its-time",
    "MQDMPR-3.1.6.3-03",
    "A read goes on waiting when its time is over.",
    skip(Waiting.on_waiting_message_read_timer),
)


@fault("read-in-vain-found-nothing", breaks="MQDMPR-3.1.6.3-03")
class FoundNothing(Waiting):
    """A read whose time is over ends as one that found nothing."""

    def on_waiting_message_read_timer(self, number: int) -> None:
        self.stop_reader(self.qm.readers[number], Status.MQ_ERROR_MESSAGE_NOT_FOUND)
